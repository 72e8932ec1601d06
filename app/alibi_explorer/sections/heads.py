"""All heads: their slopes in head order, where each comes from, and what each does."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.figures import HeadsFigure
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import dot, miniature
from alibi_explorer.theme import weight_shade


def fill(calculation: Calculation) -> dict[str, str]:
    heads = range(calculation.selection.num_heads)
    return {
        "remark": _remark(calculation),
        "strip": "".join(_card(calculation, head) for head in heads),
        "table": _slope_table(calculation),
        "weights": _weight_table(calculation),
    }


def _remark(calculation: Calculation) -> str:
    head = calculation.selection.head
    source = calculation.slope_sources[head]
    slope = text.exact(calculation.slope)
    rank = calculation.slope_ranks[head].item()
    origin = (
        f"Head {head}: slope {slope} {text.equals(calculation.slope)} {text.power(source)}, "
        f"{text.place(source)}, number {rank} of {calculation.selection.num_heads} by steepness."
    )
    appended = calculation.appended_heads
    if calculation.selection.num_heads == 1:
        return f"{origin} One head gets the shallowest slope of the lesson."
    if not appended:
        return f"{origin} In this schedule each head is less steep than the one before it."
    first = appended[0]
    return (
        f"{origin} The list is not sorted: head {first} (slope "
        f"{text.exact(calculation.slopes[first].item())}, "
        f"{text.place(calculation.slope_sources[first])}) is steeper than head 0 (slope "
        f"{text.exact(calculation.slopes[0].item())})."
    )


def _card(calculation: Calculation, head: int) -> str:
    slope = text.exact(calculation.slopes[head].item())
    drawing = miniature(calculation.head_weights[head].tolist(), calculation.allowed.tolist())
    return (
        f'<button type="button" class="card" data-head="{head}" data-pick>{drawing}'
        f"<span>head {head}</span> <small>slope {slope}</small></button>"
    )


def _slope_table(calculation: Calculation) -> str:
    rows = "".join(
        f'<tr data-head="{head}" data-pick>'
        f'<th scope="row"><button type="button">{head}</button></th>'
        f"<td>{text.exact(slope)}{dot(source.exponent)}</td><td>{text.power(source)}</td>"
        f"<td>{text.short_place(source)}</td><td>{rank}</td></tr>"
        for head, (slope, source, rank) in enumerate(
            zip(
                calculation.slopes.tolist(),
                calculation.slope_sources,
                calculation.slope_ranks.tolist(),
                strict=True,
            )
        )
    )
    return (
        "<table><caption>Slopes in head order; dots on a log scale</caption><thead><tr>"
        '<th scope="col">head</th><th scope="col">slope <small>logits per token</small></th>'
        '<th scope="col">exactly</th><th scope="col">from schedule</th>'
        '<th scope="col">rank <small>1 = steepest</small></th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _weight_table(calculation: Calculation) -> str:
    positions = range(len(calculation.tokens))
    header = "".join(
        f'<th scope="col">{text.key_token(calculation, key)}</th>' for key in positions
    )
    bodies = []
    for head, weights in enumerate(calculation.head_weights.tolist()):
        rows = "".join(
            f'<tr><th scope="row">head {head}, {text.query_token(calculation, query)}</th>'
            + "".join(
                _weight_cell(calculation, query, key, weights[query][key]) for key in positions
            )
            + "</tr>"
            for query in positions
        )
        bodies.append(f'<tbody data-head="{head}">{rows}</tbody>')
    return (
        "<table><caption>Weight with ALiBi of every head, percent of the row</caption>"
        f'<thead><tr><th scope="col">head, query</th>{header}</tr></thead>{"".join(bodies)}</table>'
    )


def _weight_cell(calculation: Calculation, query: int, key: int, weight: float) -> str:
    if not calculation.allowed[query, key]:
        return '<td class="masked"><span class="mask-word">masked</span></td>'
    return f'<td class="{weight_shade(weight)}">{text.percent_digits(weight)}</td>'


SECTION = Section(
    name="heads",
    title="All heads",
    kind="arithmetic",
    depends_on={
        "remark": ("num_heads", "head"),
        "strip": ("num_heads",),
        "table": ("num_heads",),
        "weights": ("num_heads",),
    },
    fill=fill,
    figures=HeadsFigure,
)
