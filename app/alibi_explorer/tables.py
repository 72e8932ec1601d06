"""The HTML twins: real tables with the numbers in the cells and a shade behind them.

Marks are classes (``s0`` to ``s100``), never inline styles, so that the same HTML works under a
strict Content-Security-Policy. A cell that can be chosen names its query, key or head in
``data-`` attributes; the page marks the chosen one, so no table depends on the choice in it.
"""

import math
from collections.abc import Callable
from operator import attrgetter

from alibi_core import Calculation
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
