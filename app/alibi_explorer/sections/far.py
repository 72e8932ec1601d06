"""Far away: what the bias is at any distance, and how much of a head's reach that is."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import ruler


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "table": _table(calculation),
        "marks": _marks(calculation),
        "learned": _learned(calculation),
    }


def _table(calculation: Calculation) -> str:
    far, away = calculation.selection.far, calculation.far_away
    rows = "".join(
        f'<tr data-head="{head}"><th scope="row">{head}</th><td>{text.exact(slope)}</td>'
        f"<td>{text.grouped(bias, 8)}</td><td>{text.tiny(relative, exponent)}</td>"
        f"<td>{text.grouped(half, 1)}</td><td>{text.grouped(e_fold, 1)}{ruler(e_fold, far)}</td>"
        f"<td>{text.percent(share)}</td></tr>"
        for head, (slope, bias, relative, exponent, half, e_fold, share) in enumerate(
            zip(
                calculation.slopes.tolist(),
                away.biases.tolist(),
                away.relative_weights.tolist(),
                away.relative_exponents.tolist(),
                away.half_distances.tolist(),
                away.e_distances.tolist(),
                away.nearest_shares.tolist(),
                strict=True,
            )
        )
    )
    distance = text.grouped(far)
    return (
        f"<table><caption>At distance {distance}, content being equal</caption><thead><tr>"
        '<th scope="col">head</th><th scope="col">slope <small>logits per token</small></th>'
        '<th scope="col">bias <small>logits</small></th>'
        '<th scope="col">against the query\'s own key <small>weight ratio</small></th>'
        '<th scope="col">down to half <small>tokens, one decimal</small></th>'
        '<th scope="col">down to 1/e <small>tokens, one decimal</small></th>'
        f'<th scope="col">keys up to here <small>share of {text.grouped(away.num_keys)}</small>'
        f"</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _marks(calculation: Calculation) -> str:
    away = calculation.far_away
    marks = [text.grouped(mark) for mark in away.marks]
    header = "".join(f'<th scope="col">{mark}</th>' for mark in marks)
    rows = []
    for head, biases in enumerate(away.mark_biases.tolist()):
        cells = "".join(
            f'<td data-at="{mark}">{text.grouped_significant(bias)}</td>'
            for mark, bias in zip(marks, biases, strict=True)
        )
        rows.append(f'<tr data-head="{head}"><th scope="row">{head}</th>{cells}</tr>')
    return (
        "<table><caption>Bias by distance in tokens; longer numbers to four digits</caption>"
        "<thead><tr>"
        f'<th scope="col">head</th>{header}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _learned(calculation: Calculation) -> str:
    far, away = calculation.selection.far, calculation.far_away
    answer = "has one" if away.in_table else "has none"
    rows = text.grouped(away.table_rows)
    return (
        f"A query at position {text.grouped(far)} needs a row of its own in a learned "
        f"table of positions; one with {rows} rows {answer}. The bias is a product, defined at any "
        "distance. Defined is not the same as good: longer texts bring other content, more keys, "
        "and distances that the model has never met."
    )


SECTION = Section(
    name="far",
    title="Far away",
    kind="arithmetic",
    depends_on={"table": ("num_heads", "far"), "marks": ("num_heads",), "learned": ("far",)},
    fill=fill,
)
