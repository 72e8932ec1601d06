"""The mask and the bias: access against preference, each alone and both together."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.heatmaps import HEATMAPS, SYMMETRIC_BIAS
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import matrix, weight

CORNERS = (
    ("neither", "without"),
    ("mask alone", "without"),
    ("bias alone", "with"),
    ("mask and bias", "with"),
)
"""Column, and the kind of its bar."""


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "corners": _corners(calculation),
        "matrix": matrix(calculation, SYMMETRIC_BIAS, masked=False),
        "weights": matrix(calculation, HEATMAPS["alibi"]),
    }


def _corners(calculation: Calculation) -> str:
    query = calculation.selection.query
    header = "".join(f'<th scope="col">{name} <small>weight</small></th>' for name, _ in CORNERS)
    weights = (
        calculation.mask_and_bias.neither,
        calculation.plain_weights,
        calculation.mask_and_bias.bias_alone,
        calculation.alibi_weights,
    )
    rows = []
    for key in range(len(calculation.tokens)):
        cells = []
        for (name, kind), values in zip(CORNERS, weights, strict=True):
            share = values[query, key].item()
            hidden = "mask" in name and not calculation.allowed[query, key]
            cells.append(
                f'<td class="masked">{text.percent(share)}</td>'
                if hidden
                else f"<td>{weight(share, kind)}</td>"
            )
        name = text.key_token(calculation, key)
        rows.append(f'<tr data-key="{key}"><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return (
        f"<table><caption>Weights of {text.query_token(calculation, query)}</caption><thead><tr>"
        f'<th scope="col">key</th>{header}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


SECTION = Section(
    name="mask",
    title="The mask and the bias",
    kind="illustrative",
    depends_on={"corners": ("slope", "query"), "matrix": ("slope",), "weights": ("slope",)},
    fill=fill,
)
