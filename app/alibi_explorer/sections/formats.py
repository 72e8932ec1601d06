"""Number formats: what 16 bits leave of the two forms of the bias in a long text."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.theme import weight_shade


def fill(calculation: Calculation) -> dict[str, str]:
    formats = calculation.number_formats
    return {
        "remark": _remark(calculation),
        "distance": _table(
            calculation,
            "Distance form",
            formats.distance_weights.tolist(),
            formats.distance_moved.tolist(),
        ),
        "position": _table(
            calculation,
            "Key-position form",
            formats.key_position_weights.tolist(),
            formats.key_position_moved.tolist(),
        ),
    }


def _remark(calculation: Calculation) -> str:
    formats = calculation.number_formats
    spacings = dict(zip(formats.formats, formats.spacings.tolist(), strict=True))
    half, brain = (text.grouped_significant(spacings[name]) for name in ("float16", "bfloat16"))
    if formats.coarse_formats:
        names = text.listed(formats.coarse_formats)
        verb = "gives" if len(formats.coarse_formats) == 1 else "give"
        end = f"So {names} {verb} some neighbouring keys the same bias."
    else:
        end = "So every format tells neighbouring keys apart."
    length = calculation.selection.length
    return (
        f"At key {text.grouped(length - 1)}, the last, the key-position form stands at "
        f"{text.grouped_significant(formats.last_key_bias)} logits. Numbers of that size lie "
        f"{half} apart in float16 and {brain} in bfloat16, and the biases of neighbouring keys "
        f"{text.about(calculation.slope)}. {end}"
    )


def _table(
    calculation: Calculation, form: str, weights: list[list[float]], moved: list[float]
) -> str:
    formats = calculation.number_formats
    header = "".join(f'<th scope="col">{distance}</th>' for distance in formats.distances)
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(
            f'<td class="{weight_shade(share)}">{text.percent_digits(share)}</td>'
            for share in shares
        )
        + f"<td>{text.percent_digits(elsewhere)}</td></tr>"
        for name, shares, elsewhere in zip(formats.formats, weights, moved, strict=True)
    )
    return (
        f"<table class=matrix><caption>{form}: weights of the nearest keys, % of the row"
        f'</caption><thead><tr><th scope="col">format, distance</th>{header}'
        f'<th scope="col">moved</th></tr></thead><tbody>{rows}</tbody></table>'
    )


SECTION = Section(
    name="formats",
    title="Number formats",
    kind="arithmetic",
    depends_on=dict.fromkeys(("remark", "distance", "position"), ("slope", "length")),
    fill=fill,
)
