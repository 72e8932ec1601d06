"""One choice as a picture, for print and for hosts that show a picture first."""

import io
import re
from html import escape, unescape
from urllib.parse import quote

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections import fill_all
from alibi_explorer.theme import DARK, LIGHT, WEIGHT_RANGE, Palette


def caption(calculation: Calculation) -> str:
    """What the picture shows, with its figures, as plain text; it serves as alt text too."""
    fills = fill_all(calculation)
    parts = (fills["head.caption"], fills["pair.sentence"])
    return ". ".join(unescape(re.sub(r"<[^>]+>", "", part)) for part in parts)


def picture(calculation: Calculation, kind: str, *, dark: bool = False) -> bytes:
    """The row and the head of a choice, drawn.

    Parameters
    ----------
    calculation : Calculation
    kind : str
        ``svg`` or ``png``.
    dark : bool
        Whether to draw it for a dark page.

    Returns
    -------
    bytes
        The file's content; the same choice gives the same bytes.
    """
    palette = DARK if dark else LIGHT
    settings = {
        "font.size": 10,
        "svg.hashsalt": "alibi-explorer",  # the same drawing has the same names each time
        "svg.fonttype": "none",  # text stays text
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color"), palette.text),
    }
    with rc_context(settings):
        figure = Figure(figsize=(9, 3.6), facecolor=palette.surface, layout="constrained")
        row, head = figure.subplots(1, 2, width_ratios=(1, 1))
        _draw_row(row, calculation, palette)
        _draw_head(head, calculation, palette)
        content = io.BytesIO()
        metadata: dict[str, str | None] = {"Title": "ALiBi explorer"}
        if kind == "svg":
            metadata |= {"Description": caption(calculation), "Date": None}
        figure.savefig(content, format=kind, dpi=160, metadata=metadata)
    return content.getvalue()


def figure_html(calculation: Calculation, src: str) -> str:
    """What to paste: the picture with its alt text and its caption."""
    said = escape(caption(calculation))
    return (
        f'<figure>\n  <img src="{escape(quote(src))}" alt="{said}">\n'
        f"  <figcaption>{said}</figcaption>\n</figure>"
    )


def _words(calculation: Calculation) -> list[str]:
    return [unescape(text.token(calculation, at)) for at in range(len(calculation.tokens))]


def _draw_row(axes: Axes, calculation: Calculation, palette: Palette) -> None:
    """Weights of every key of the query: with ALiBi filled, without outlined."""
    pairs = [
        calculation.pair_at(calculation.selection.query, key)
        for key in range(len(calculation.tokens))
    ]
    words = _words(calculation)
    for share, offset, fill, label in (
        ([pair.alibi_weight for pair in pairs], -0.2, palette.weight_strong, "with ALiBi"),
        ([pair.plain_weight for pair in pairs], 0.2, "none", "without"),
    ):
        places = [pair.key + offset for pair in pairs]
        bars = axes.barh(
            places, share, 0.34, facecolor=fill, edgecolor=palette.weight_strong, label=label
        )
        written = [
            text.percent(weight) if pair.allowed else "masked"
            for weight, pair in zip(share, pairs, strict=True)
        ]
        axes.bar_label(bars, written, padding=3, fontsize=8, color=palette.text)
    axes.set_yticks(range(len(words)), words, color=palette.key)
    axes.invert_yaxis()
    axes.set_xlim(*WEIGHT_RANGE)
    axes.xaxis.set_major_formatter(PercentFormatter(WEIGHT_RANGE[1]))
    axes.set_facecolor(palette.surface)
    axes.set_title(f"Keys of {words[calculation.selection.query]}", color=palette.query, loc="left")
    axes.legend(loc="lower right", frameon=False, labelcolor=palette.text)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _draw_head(axes: Axes, calculation: Calculation, palette: Palette) -> None:
    """Weights with ALiBi of every pair; masked cells hatched, the chosen one outlined."""
    words = _words(calculation)
    colours = LinearSegmentedColormap.from_list("weight", [palette.surface, palette.weight])
    low, high = WEIGHT_RANGE
    axes.imshow(calculation.alibi_weights, cmap=colours, vmin=low, vmax=high, aspect="auto")
    for query, key in ((q, k) for q in range(len(words)) for k in range(len(words))):
        corner = (key - 0.5, query - 0.5)
        if calculation.allowed[query, key]:
            share = text.percent_digits(calculation.alibi_weights[query, key].item())
            axes.text(key, query, share, ha="center", va="center", fontsize=8)
        else:
            cell = axes.fill_between(
                (corner[0], corner[0] + 1), corner[1], corner[1] + 1, facecolor=palette.raised
            )
            cell.set(hatch="///", edgecolor=palette.hatch, linewidth=0)
    selection = calculation.selection
    left, top = selection.key - 0.5, selection.query - 0.5
    axes.plot(
        [left, left + 1, left + 1, left, left],
        [top, top, top + 1, top + 1, top],
        color=palette.text,
        linewidth=2.5,
        clip_on=False,
    )
    axes.set_xticks(range(len(words)), words, color=palette.key, fontsize=8)
    axes.set_yticks(range(len(words)), words, color=palette.query, fontsize=8)
    axes.xaxis.tick_top()
    axes.set_xlabel("Weight with ALiBi, % of the row; hatched: masked")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
