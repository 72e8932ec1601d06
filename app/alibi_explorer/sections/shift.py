"""Row shift: three rows of logits that softmax cannot tell apart, and where that ends."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED, weight


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "forms": _forms(calculation),
        "constants": _constants(calculation),
        "unmasked": _unmasked(calculation),
    }


def _forms(calculation: Calculation) -> str:
    query = calculation.selection.query
    rows = []
    for key in range(len(calculation.tokens)):
        pair = calculation.pair_at(query, key)
        cells = (
            text.number(pair.distance_bias),
            _shifted(calculation, "key_position", key),
            _shifted(calculation, "last_row", key),
            weight(pair.alibi_weight, "with"),
        )
        shown = cells if pair.allowed else [MASKED] * len(cells)
        rows.append(
            f'<tr data-key="{key}"{"" if pair.allowed else " class=masked"}>'
            f'<th scope="row">{text.key_token(calculation, key)}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in shown)}</tr>"
        )
    return (
        f"<table><caption>Bias of {text.query_token(calculation, query)}, logits</caption>"
        "<thead><tr>"
        '<th scope="col">key</th><th scope="col">distance form <small>−m(i − j)</small></th>'
        '<th scope="col">key-position form <small>m·j − m·i</small></th>'
        '<th scope="col">last-row form <small>m(j − T + 1) − m(i − T + 1)</small></th>'
        '<th scope="col">weight <small>of all three</small></th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _shifted(calculation: Calculation, form: str, key: int) -> str:
    """A bias with the constant of its row taken away before the reader's eyes."""
    query = calculation.selection.query
    bias = getattr(calculation.forms, f"{form}_bias")[key].item()
    constant = getattr(calculation.forms, f"{form}_constants")[query].item()
    shifted = getattr(calculation.forms, f"{form}_shifted")[query, key].item()
    taken = f"({text.number(constant)})" if constant < 0 else text.number(constant)
    return (
        f"{text.number(bias)} {text.MINUS} {taken} {text.equals(shifted)} "
        f"<b>{text.number(shifted)}</b>"
    )


def _constants(calculation: Calculation) -> str:
    query, forms = calculation.selection.query, calculation.forms
    agree = "✓ the same" if forms.agree else "✗ not the same"
    return (
        "The constant of this row is m·i, "
        f"{text.number(forms.key_position_constants[query].item())} logits, in the key-position "
        "form and m(i − T + 1), "
        f"{text.number(forms.last_row_constants[query].item())}, in the last-row form. "
        f"Weights from the three forms under the causal mask, every query, compared by the core "
        f"to a difference of 10<sup>−12</sup>: {agree}."
    )


def _unmasked(calculation: Calculation) -> str:
    query = calculation.selection.query
    rows = "".join(
        f'<tr data-key="{key}"><th scope="row">{text.key_token(calculation, key)}</th>'
        f"<td>{weight(calculation.mask_and_bias.bias_alone[query, key].item(), 'with')}</td>"
        f"<td>{weight(calculation.forms.shortcut_weights[query, key].item(), 'with')}</td></tr>"
        for key in range(len(calculation.tokens))
    )
    return (
        "<table><caption>Without the causal mask, weights of "
        f"{text.query_token(calculation, query)}</caption><thead><tr>"
        '<th scope="col">key</th><th scope="col">−m·|i − j| <small>right</small></th>'
        '<th scope="col">m·j <small>the shortcut</small></th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


SECTION = Section(
    name="shift",
    title="Row shift",
    kind="arithmetic",
    depends_on={
        "forms": ("slope", "query"),
        "constants": ("slope", "query"),
        "unmasked": ("slope", "query"),
    },
    fill=fill,
)
