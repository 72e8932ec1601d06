"""Cached decoding: one new query over the stored keys stands at the last position, not at 0."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import weight


def fill(calculation: Calculation) -> dict[str, str]:
    return {"steps": _steps(calculation), "tick": _tick(calculation)}


def _steps(calculation: Calculation) -> str:
    query = calculation.selection.query
    rows = []
    for key in range(len(calculation.tokens)):
        step = calculation.cached_step
        shares = (step.weights[key].item(), step.restarted_weights[key].item())
        stored = calculation.allowed[query, key]
        cells = "".join(
            f"<td>{weight(share, 'with')}</td>" if stored else "<td>not stored yet</td>"
            for share in shares
        )
        rows.append(
            f'<tr data-key="{key}"{"" if stored else " class=masked"}>'
            f'<th scope="row">{text.key_token(calculation, key)}</th>{cells}</tr>'
        )
    name = text.query_token(calculation, query)
    verdict = f"{'wrong' if query else 'right for the first token'}, −m·|i − j|"
    return (
        f"<table><caption>{name} as the newest token, weights over the stored keys</caption>"
        f'<thead><tr><th scope="col">key</th><th scope="col">query at position {query} '
        '<small>right</small></th><th scope="col">query taken for position 0 '
        f"<small>{verdict}</small></th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _tick(calculation: Calculation) -> str:
    query = calculation.selection.query
    agree = "✓ yes" if calculation.cached_step.agrees else "✗ no"
    keys = text.tokens_apart(calculation.allowed_counts[query].item())
    return (
        f"With {keys} in the cache the new query stands at position {query}. Does this cached step "
        "equal the query's row of the full pass, up to a difference of "
        f"{text.power_of_ten(calculation.cached_step.tolerance)}? {agree}."
    )


SECTION = Section(
    name="cache",
    title="Cached decoding",
    kind="illustrative",
    depends_on={"steps": ("slope", "query"), "tick": ("query",)},
    fill=fill,
)
