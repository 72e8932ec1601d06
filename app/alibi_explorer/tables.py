"""The HTML twins: real tables with the numbers in the cells and a shade behind them.

Marks are classes (``s0`` to ``s100``), never inline styles, so that the same HTML works under a
strict Content-Security-Policy. A cell that can be chosen names its query, key or head in
``data-`` attributes; the page marks the chosen one, so no table depends on the choice in it.
"""

import math
from collections.abc import Callable
from operator import attrgetter

from alibi_core import Calculation, Check
from alibi_explorer import formatting as text
from alibi_explorer.heatmaps import Heatmap
from alibi_explorer.theme import DISTANCE_RANGE, EXPONENT_RANGE, WEIGHT_RANGE, level

MASKED = '<span class="mask-word">masked</span>'
_COLUMNS = (
    ("content", "logits"),
    ("bias", "−m(i − j), logits"),
    ("biased logit", "sum, logits"),
    ("exponential", "e to the logit"),
    ("share", "of the sum"),
)


def weight(share: float, kind: str) -> str:
    """A weight with its bar."""
    return f"{text.percent(share)}{bar(share, kind)}"


def matrix(calculation: Calculation, heatmap: Heatmap, *, masked: bool = True) -> str:
    """One array of the head as a (query, key) table, under the causal mask or without it."""
    array = attrgetter(heatmap.values)(calculation)
    positions = range(len(calculation.tokens))
    header = "".join(
        f'<th scope="col">{text.key_token(calculation, key)}</th>' for key in positions
    )
    rows = []
    for query in positions:
        cells = []
        for key in positions:
            at = f'data-query="{query}" data-key="{key}" tabindex="-1"'
            if calculation.allowed[query, key] or not masked:
                value = array[query, key].item()
                cells.append(
                    f'<td class="{heatmap.shade(value)}" {at}>{heatmap.written(value)}</td>'
                )
            else:
                cells.append(f'<td class="masked" {at}>{MASKED}</td>')
        name = text.query_token(calculation, query)
        rows.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return (
        f'<table role="grid" class="matrix"><caption>{heatmap.caption}</caption>'
        '<thead><tr><th scope="col"><span class="q">query</span>, <span class="k">key</span></th>'
        f"{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def comparison(check: Check) -> str:
    """The numbers that were checked around the first that differs, with the right ones there."""
    place = check.place or (0,) * check.given.ndim
    unit = "logits per token" if check.what == "slopes" else "logits"
    told = f"Yours, {unit}" + (
        "; ≠ differs, and below it stands the right one" if check.place else ""
    )
    if check.given.ndim == 1:
        heads = _around(place[0], len(check.given), 16)
        rows = "".join(
            f'<tr><th scope="row">{head}</th>{_compared(check, (head,))}</tr>' for head in heads
        )
        shown = _shown("heads", heads, len(check.given))
        header = f'<th scope="col">head</th><th scope="col">slope <small>{unit}</small></th>'
    else:
        num_heads, num_queries, num_keys = check.given.shape
        queries = _around(place[1], num_queries, _MOST_TOKENS)
        keys = _around(place[2], num_keys, _MOST_TOKENS)
        rows = "".join(
            f'<tr><th scope="row"><span class="q">{query}</span></th>'
            f"{''.join(_compared(check, (place[0], query, key)) for key in keys)}</tr>"
            for query in queries
        )
        shown = f", head {place[0]} of {num_heads}" if num_heads > 1 else ""
        shown += _shown("queries", queries, num_queries) + _shown("keys", keys, num_keys)
        header = '<th scope="col"><span class="q">query</span>, <span class="k">key</span></th>'
        header += "".join(f'<th scope="col"><span class="k">{key}</span></th>' for key in keys)
    return (
        f'<table class="matrix compared"><caption>{told}{shown}</caption>'
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    )


_MOST_TOKENS = 8


def _compared(check: Check, place: tuple[int, ...]) -> str:
    got, right = check.given[place].item(), check.right[place].item()
    if not check.differs[place]:
        hidden = ' class="masked"' if got == -math.inf else ""
        return f"<td{hidden}>{text.told_apart(got)[0]}</td>"
    yours, expected = text.told_apart(got, right)
    return f'<td class="differs"><b>≠ {yours}</b><small>{expected}</small></td>'


def _around(place: int, count: int, most: int) -> range:
    """At most so many of the positions 0 to count - 1, with `place` among them."""
    first = max(min(place - most // 2, count - most), 0)
    return range(first, min(first + most, count))


def _shown(name: str, part: range, count: int) -> str:
    return "" if len(part) == count else f", {name} {part[0]} to {part[-1]} of {count}"


def worked_row(calculation: Calculation, write: Callable[[str], str] = str) -> str:
    """The row of the query from content logit to share; `write` may leave a result blank."""
    query = calculation.selection.query
    columns = (f'<th scope="col">{name} <small>{unit}</small></th>' for name, unit in _COLUMNS)
    rows = []
    for key in range(len(calculation.tokens)):
        pair = calculation.pair_at(query, key)
        cells = (
            text.number(pair.content_logit),
            write(text.exact(pair.distance_bias) if pair.allowed else MASKED),
            write(text.exact(pair.biased_logit)),
            write(text.fixed(pair.alibi_exponential, 4)),
            write(weight(pair.alibi_weight, "with")),
        )
        is_shown_masked = not pair.allowed and write is str  # a blank gives no answer away
        rows.append(
            f'<tr data-key="{key}"{" class=masked" if is_shown_masked else ""}>'
            f'<th scope="row">{text.key_token(calculation, key)}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        )
    denominator = text.fixed(calculation.alibi_denominators[query].item(), 4)
    total = text.number(calculation.alibi_sums[query].item(), 12)
    return (
        f"<table><caption>Keys of {text.query_token(calculation, query)}</caption>"
        f'<thead><tr><th scope="col">key</th>{"".join(columns)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>"
        '<tfoot><tr><th scope="row">sum</th><td>–</td><td>–</td><td>–</td>'
        f"<td>{write(denominator)}</td><td>{write(total)}</td></tr></tfoot></table>"
    )


def bar(share: float, kind: str) -> str:
    """A bar of a weight on a fixed track of 0 to 100 %; `kind` is ``with`` or ``without``."""
    return f'<span class="bar {kind} s{level(share, WEIGHT_RANGE)}" aria-hidden="true"></span>'


def dot(exponent: float) -> str:
    """A dot on a fixed log scale, for a slope given as its power of two."""
    placed = f'<span class="dot s{level(exponent, EXPONENT_RANGE)}"></span>'
    return f'<span class="rail" aria-hidden="true">{placed}</span>'


def ruler(distance: float, chosen: float) -> str:
    """A dot and a mark on a fixed log scale of distances in tokens."""
    places = [level(math.log10(tokens), DISTANCE_RANGE) for tokens in (distance, chosen)]
    return (
        f'<span class="rail" aria-hidden="true"><span class="dot s{places[0]}"></span>'
        f'<span class="mark s{places[1]}"></span></span>'
    )


def miniature(weights: list[list[float]], allowed: list[list[bool]]) -> str:
    """A small heatmap of one head's weights as an SVG drawing; its numbers stand in a table."""
    cells = "".join(
        f'<rect x="{key}" y="{query}" width="1" height="1" class="s{level(weight, WEIGHT_RANGE)}"/>'
        if allowed[query][key]
        else f'<rect x="{key}" y="{query}" width="1" height="1" class="masked"/>'
        for query, row in enumerate(weights)
        for key, weight in enumerate(row)
    )
    size = len(weights)
    return f'<svg viewBox="0 0 {size} {size}" aria-hidden="true" focusable="false">{cells}</svg>'
