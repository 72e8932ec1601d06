"""Padding: positions count tokens, the mask hides padding, and the weights stay as they were."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED, weight


def fill(calculation: Calculation) -> dict[str, str]:
    return {"table": _table(calculation), "remark": _remark(calculation)}


def _table(calculation: Calculation) -> str:
    padded = calculation.padding
    rows = []
    for slot, token in enumerate(padded.tokens):
        is_future = slot > padded.query_slot
        hidden = f'<td class="masked">{MASKED}</td>'
        if padded.allowed[slot]:
            bias, share = padded.bias[slot].item(), padded.weights[slot].item()
            cells = f"<td>{text.exact(bias)}</td><td>{weight(share, 'with')}</td>"
        else:
            cells = 2 * hidden
        forgotten = weight(padded.unmasked_weights[slot].item(), "with")
        cells += hidden if is_future else f"<td>{forgotten}</td>"
        name = "padding" if token is None else text.key_token(calculation, token)
        choice = "" if token is None else f' data-key="{token}"'
        rows.append(f'<tr{choice}><th scope="row">{slot}</th><td>{name}</td>{cells}</tr>')
    query = text.query_token(calculation, calculation.selection.query)
    return (
        f"<table><caption>The padded row of {query}, which stands in slot {padded.query_slot}"
        '</caption><thead><tr><th scope="col">slot</th><th scope="col">token'
        ' <small>position</small></th><th scope="col">bias <small>−m(i − j), logits</small></th>'
        '<th scope="col">weight</th><th scope="col">weight <small>padding not masked</small></th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _remark(calculation: Calculation) -> str:
    padded, slots = calculation.padding, calculation.selection.padding
    if slots < 0:
        start = (
            f"Slots count {-slots} more than positions, for query and key alike, so no distance "
            "and no bias changes. Only the mask keeps padding out: without it, padding takes "
            f"{text.percent(padded.padding_weight)} of this row."
        )
    elif slots > 0:
        start = (
            "Padding behind the sentence is in every query's future, where the causal mask hides "
            "it anyway. But the last slot is padding: the newest token stands before it."
        )
    else:
        start = "Without padding every token stands in the slot of its position."
    agree = "✓ yes" if padded.agrees else "✗ no"
    return (
        f"{start} Do the weights equal those of the run without padding, up to a difference "
        f"of {text.power_of_ten(padded.tolerance)}? {agree}."
    )


SECTION = Section(
    name="padding",
    title="Padding",
    kind="illustrative",
    depends_on=dict.fromkeys(("table", "remark"), ("slope", "query", "padding")),
    fill=fill,
)
