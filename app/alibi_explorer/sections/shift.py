"""Row shift: three rows of logits that softmax cannot tell apart, and where that ends."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED, weight

FIRST = 0
"""The query that always stands beside the chosen one: the last one alone would show no failure."""


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "forms": _forms(calculation),
        "constants": _constants(calculation),
        "weights": _weights(calculation),
        "agree": _agree(calculation),
        "unmasked": _unmasked(calculation),
        "winners": _winners(calculation),
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
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _shifted(calculation: Calculation, form: str, key: int) -> str:
    """A bias with the constant of its row taken away before the reader's eyes."""
    query = calculation.selection.query
    bias = getattr(calculation.forms, f"{form}_bias")[key].item()
    constant = getattr(calculation.forms, f"{form}_constants")[query].item()
    shifted = getattr(calculation.forms, f"{form}_shifted")[query, key].item()
    taken = f"({text.number(constant)})" if constant < 0 else text.number(constant)
    is_true = bias == constant or all(map(text.is_exact, (bias, constant, shifted)))
    sign = "=" if is_true else "≈"
    return f"{text.number(bias)} {text.MINUS} {taken} {sign} <b>{text.number(shifted)}</b>"


def _constants(calculation: Calculation) -> str:
    query, forms = calculation.selection.query, calculation.forms
    by_key, last = (
        text.number(constants[query].item())
        for constants in (forms.key_position_constants, forms.last_row_constants)
    )
    return (
        f"The constant of this row is m·i, {by_key} logits, in the key-position form and "
        f"m(i − T + 1), {last} logits, in the last-row form."
    )


def _weights(calculation: Calculation) -> str:
    query, forms = calculation.selection.query, calculation.forms
    arrays = (calculation.alibi_weights, forms.key_position_weights, forms.last_row_weights)
    rows = []
    for key in range(len(calculation.tokens)):
        allowed = calculation.allowed[query, key]
        cells = "".join(
            f"<td>{weight(array[query, key].item(), 'with') if allowed else MASKED}</td>"
            for array in arrays
        )
        rows.append(
            f'<tr data-key="{key}"{"" if allowed else " class=masked"}>'
            f'<th scope="row">{text.key_token(calculation, key)}</th>{cells}</tr>'
        )
    return (
        f"<table><caption>Weights of {text.query_token(calculation, query)} from each form as it "
        'is, under the causal mask</caption><thead><tr><th scope="col">key</th>'
        '<th scope="col">distance form <small>−m(i − j)</small></th>'
        '<th scope="col">key-position form <small>m·j</small></th>'
        '<th scope="col">last-row form <small>m(j − T + 1)</small></th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _agree(calculation: Calculation) -> str:
    forms = calculation.forms
    agree = "✓ yes" if forms.agree else "✗ no"
    return (
        "Are the three the same for every query, up to a difference of "
        f"{text.power_of_ten(forms.tolerance)}? {agree}."
    )


def _unmasked(calculation: Calculation) -> str:
    query = calculation.selection.query
    right, shortcut = calculation.mask_and_bias, calculation.forms
    columns = (
        (right.bias_alone[FIRST], right.bias_alone_winners[FIRST]),
        (right.bias_alone[query], right.bias_alone_winners[query]),
        (shortcut.shortcut_weights[query], shortcut.shortcut_winner),
    )
    rows = []
    for key in range(len(calculation.tokens)):
        cells = "".join(f"<td>{weight(row[key].item(), 'with')}</td>" for row, _ in columns)
        name = text.key_token(calculation, key)
        rows.append(f'<tr data-key="{key}"><th scope="row">{name}</th>{cells}</tr>')
    largest = "".join(f"<td>{text.key_token(calculation, winner)}</td>" for _, winner in columns)
    header = "".join(
        f'<th scope="col">−m·|i − j| <small>right for '
        f"{text.query_token(calculation, position)}</small></th>"
        for position in (FIRST, query)
    )
    return (
        "<table><caption>Weights without the causal mask</caption><thead><tr>"
        f'<th scope="col">key</th>{header}'
        '<th scope="col">m·j <small>the shortcut, every query</small></th>'
        f'</tr></thead><tbody>{"".join(rows)}</tbody><tfoot><tr><th scope="row">largest</th>'
        f"{largest}</tr></tfoot></table>"
    )


def _winners(calculation: Calculation) -> str:
    right, forms = calculation.mask_and_bias, calculation.forms
    winner, by_shortcut = right.bias_alone_winners[FIRST], forms.shortcut_winner
    shares = (right.bias_alone[FIRST, winner], forms.shortcut_weights[FIRST, by_shortcut])
    known = [text.query_token(calculation, query) for query in forms.shortcut_right_for]
    return (
        f"By −m·|i − j| {text.query_token(calculation, FIRST)} gives most to "
        f"{text.key_token(calculation, winner)}, {text.percent(shares[0].item())}; by the shortcut "
        f"to {text.key_token(calculation, by_shortcut)}{' too' if winner == by_shortcut else ''}, "
        f"{text.percent(shares[1].item())}. The row of the shortcut is right, to a difference of "
        f"{text.power_of_ten(forms.tolerance)}, for {text.listed(known)} alone."
    )


SECTION = Section(
    name="shift",
    title="Row shift",
    kind="arithmetic",
    depends_on={
        "forms": ("slope", "query"),
        "constants": ("slope", "query"),
        "weights": ("slope", "query"),
        "agree": (),
        "unmasked": ("slope", "query"),
        "winners": ("slope",),
    },
    fill=fill,
)
