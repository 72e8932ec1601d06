"""The Bokeh figures of the served page, drawn from the same calculation as the tables.

A figure is built once a session and then only its data sources change. Every colour is
named in the model's ``tags``, so that the page can swap light for dark without the server.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from bokeh.core.properties import value
from bokeh.events import Tap
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Plot,
    Range1d,
)
from bokeh.plotting import figure

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.theme import LIGHT, figure_colours

Pick = Callable[[Mapping[str, int]], None]
"""Called with the part of the choice that a click selects, such as ``{"head": 4}``."""


class Figures(Protocol):
    """The figures of one section in one session."""

    models: dict[str, Plot]
    """Bokeh figures by ``section.figure``."""

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        """Bring the data sources that depend on `changed` up to date."""


_COLOURS = figure_colours(LIGHT)
_FONT = "system-ui, sans-serif"


class HeadFigures:
    """Four heatmaps of one head: bias, weights with and without ALiBi, and their difference."""

    def __init__(self, calculation: Calculation, pick: Pick) -> None:
        self._cells = ColumnDataSource(_cells(calculation))
        self._chosen = ColumnDataSource(_chosen_cell(calculation))
        masked = _masked_cells(calculation)
        self.models = {
            f"head.{name}": _heatmap(name, calculation, self._cells, masked, self._chosen, pick)
            for name in HEATMAPS
        }

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        if "slope" in changed:
            self._cells.data = _cells(calculation)
        if not {"query", "key"}.isdisjoint(changed):
            self._chosen.data = _chosen_cell(calculation)


class HeadsFigure:
    """The slope of every head on a log scale, in head order."""

    def __init__(self, calculation: Calculation, pick: Pick) -> None:
        self._kept = ColumnDataSource(_slopes(calculation, appended=False))
        self._appended = ColumnDataSource(_slopes(calculation, appended=True))
        self._chosen = ColumnDataSource(_chosen_head(calculation))
        self.models = {
            "heads.slopes": _slope_figure(self._kept, self._appended, self._chosen, pick)
        }

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        if "num_heads" in changed:
            self._kept.data = _slopes(calculation, appended=False)
            self._appended.data = _slopes(calculation, appended=True)
        if not {"num_heads", "head"}.isdisjoint(changed):
            self._chosen.data = _chosen_head(calculation)


def _themed(model: Any, **names: str) -> Any:
    """Give `model` the named colours of the light theme and note the names for the page."""
    model.update(**{attribute: _COLOURS[name] for attribute, name in names.items()})
    model.tags = [names]
    return model


def _plot(label: str, **options: Any) -> Any:
    plot = figure(
        toolbar_location=None,
        tools="",
        sizing_mode="stretch_width",
        min_border=4,
        html_attributes={"role": "img", "aria-label": label},
        **options,
    )
    _themed(
        plot,
        background_fill_color="surface",
        border_fill_color="surface",
        outline_line_color="surface",
    )
    plot.grid.visible = False
    for axis in plot.axis:
        _themed(
            axis,
            axis_line_color="surface",
            major_tick_line_color="surface",
            major_label_text_color="text",
            axis_label_text_color="text",
        )
        axis.minor_tick_line_color = None
        axis.major_tick_in = 0
        axis.major_tick_out = 3
        axis.major_label_text_font = axis.axis_label_text_font = _FONT
        axis.major_label_text_font_size = axis.axis_label_text_font_size = "13px"
        axis.axis_label_text_font_style = "normal"
    return plot


def _cells(calculation: Calculation) -> dict[str, list[Any]]:
    """One entry an allowed cell: its place, its values and the texts that the figures show."""
    positions = range(len(calculation.tokens))
    pairs = [
        calculation.pair_at(query, key)
        for query in positions
        for key in positions
        if calculation.allowed[query, key]
    ]
    columns: dict[str, list[Any]] = {
        "x": [pair.key for pair in pairs],
        "y": [pair.query for pair in pairs],
        "key": [text.token(calculation, pair.key) for pair in pairs],
        "query": [text.token(calculation, pair.query) for pair in pairs],
        "distance": [text.tokens_apart(pair.distance) for pair in pairs],
        "content": [text.number(pair.content_logit) for pair in pairs],
        "bias_full": [text.number(pair.distance_bias, 8) for pair in pairs],
        "logit_full": [text.number(pair.biased_logit, 8) for pair in pairs],
        "alibi_full": [f"{100 * pair.alibi_weight:.6f} %" for pair in pairs],
        "plain_full": [f"{100 * pair.plain_weight:.6f} %" for pair in pairs],
    }
    for name, heatmap in HEATMAPS.items():
        array = getattr(calculation, heatmap.values)
        values = [array[pair.query, pair.key].item() for pair in pairs]
        columns[name] = values
        columns[f"{name}_text"] = [heatmap.written(value) for value in values]
    return columns


def _masked_cells(calculation: Calculation) -> ColumnDataSource:
    positions = range(len(calculation.tokens))
    pairs = [(q, k) for q in positions for k in positions if not calculation.allowed[q, k]]
    return ColumnDataSource(
        {
            "x": [key for _, key in pairs],
            "y": [query for query, _ in pairs],
            "key": [text.token(calculation, key) for _, key in pairs],
            "query": [text.token(calculation, query) for query, _ in pairs],
        }
    )


def _chosen_cell(calculation: Calculation) -> dict[str, list[int]]:
    return {"x": [calculation.selection.key], "y": [calculation.selection.query]}


def _heatmap(
    name: str,
    calculation: Calculation,
    cells: ColumnDataSource,
    masked: ColumnDataSource,
    chosen: ColumnDataSource,
    pick: Pick,
) -> Plot:
    heatmap = HEATMAPS[name]
    size = len(calculation.tokens)
    plot = _plot(
        f"Heatmap of query by key. {heatmap.caption}. The same numbers stand in a table below.",
        height=300,
        x_range=Range1d(-0.5, size - 0.5),
        y_range=Range1d(size - 0.5, -0.5),
        x_axis_location="above",
        x_axis_label="key",
        y_axis_label="query",
    )
    labels = {position: f"{position} {word}" for position, word in enumerate(calculation.tokens)}
    for axis, colour in ((plot.xaxis[0], "key"), (plot.yaxis[0], "query")):
        axis.ticker = FixedTicker(ticks=list(labels))
        axis.major_label_overrides = labels
        axis.major_tick_line_color = None
        _themed(
            axis,
            axis_line_color="surface",
            major_label_text_color=colour,
            axis_label_text_color=colour,
        )

    low, high = heatmap.scale
    mapper = _themed(LinearColorMapper(low=low, high=high), palette=heatmap.colours)
    shades = plot.rect(
        "x", "y", 1, 1, source=cells, fill_color={"field": name, "transform": mapper}
    )
    _themed(shades.glyph, line_color="line")
    hatch = plot.rect(
        "x", "y", 1, 1, source=masked, hatch_pattern="right_diagonal_line", hatch_scale=8
    )
    _themed(hatch.glyph, fill_color="raised", hatch_color="hatch", line_color="line")
    numbers = plot.text(
        "x",
        "y",
        f"{name}_text",
        source=cells,
        text_align="center",
        text_baseline="middle",
        text_font=value(_FONT),
        text_font_size="12px",
    )
    _themed(numbers.glyph, text_color="text")
    outer = plot.rect("x", "y", 1, 1, source=chosen, fill_color=None, line_width=5)
    _themed(outer.glyph, line_color="surface")
    inner = plot.rect("x", "y", 1, 1, source=chosen, fill_color=None, line_width=3)
    _themed(inner.glyph, line_color="text")
    for renderer in (shades, hatch, numbers, outer, inner):
        renderer.nonselection_glyph = renderer.selection_glyph = None

    plot.add_tools(
        HoverTool(
            renderers=[shades],
            tooltips=[
                ("query", "@query"),
                ("key", "@key"),
                ("distance", "@distance"),
                ("content logit", "@content"),
                ("distance bias", "@bias_full"),
                ("biased logit", "@logit_full"),
                ("with ALiBi", "@alibi_full"),
                ("without", "@plain_full"),
            ],
        ),
        HoverTool(
            renderers=[hatch],
            tooltips=[
                ("query", "@query"),
                ("key", "@key"),
                ("causal mask", f"masked: logit {text.MINUS}{text.INFINITY}, weight 0"),
            ],
        ),
    )

    def tapped(event: Tap) -> None:
        if event.x is None or event.y is None:
            return
        key, query = round(event.x), round(event.y)
        if 0 <= key < size and 0 <= query < size:
            pick({"query": query, "key": key})

    plot.on_event(Tap, tapped)
    return plot


def _slopes(calculation: Calculation, *, appended: bool) -> dict[str, list[Any]]:
    heads = [
        head
        for head in range(len(calculation.slopes))
        if (head in calculation.appended_heads) == appended
    ]
    return {
        "x": heads,
        "y": [calculation.slopes[head].item() for head in heads],
        "slope": [text.slope(calculation.slopes[head].item()) for head in heads],
        "place": [text.place(calculation.slope_sources[head]) for head in heads],
        "rank": [
            f"{calculation.slope_ranks[head].item()} of {len(calculation.slopes)}" for head in heads
        ],
    }


def _chosen_head(calculation: Calculation) -> dict[str, list[Any]]:
    return {"x": [calculation.selection.head], "y": [calculation.slope]}


def _slope_figure(
    kept: ColumnDataSource, appended: ColumnDataSource, chosen: ColumnDataSource, pick: Pick
) -> Plot:
    plot = _plot(
        "Slope of every head on a log scale. The same numbers stand in a table below.",
        height=280,
        y_axis_type="log",
        x_range=Range1d(-0.6, 15.6),
        y_range=Range1d(2**-8.6, 1.2),
        x_axis_label="head",
        y_axis_label="slope, logits per token",
    )
    plot.xaxis[0].ticker = FixedTicker(ticks=list(range(16)))
    exponents = range(-8, 1)
    plot.yaxis[0].ticker = FixedTicker(ticks=[2.0**exponent for exponent in exponents])
    plot.yaxis[0].major_label_overrides = {
        2.0**exponent: "1" if exponent == 0 else f"1/{2**-exponent}" for exponent in exponents
    }
    plot.ygrid.visible = True
    _themed(plot.ygrid[0], grid_line_color="line")
    renderers = []
    for source, marker, colour in ((kept, "circle", "control"), (appended, "diamond", "text")):
        stems = plot.segment("x", 2**-8.6, "x", "y", source=source, line_width=2)
        _themed(stems.glyph, line_color="line")
        dots = plot.scatter(
            "x", "y", source=source, marker=marker, size=13 if marker == "diamond" else 10
        )
        _themed(dots.glyph, fill_color=colour, line_color="surface")
        renderers.append(dots)
    ring = plot.scatter(
        "x", "y", source=chosen, marker="circle", size=22, fill_color=None, line_width=3
    )
    _themed(ring.glyph, line_color="text")
    plot.add_tools(
        HoverTool(
            renderers=renderers,
            tooltips=[
                ("head", "@x"),
                ("slope", "@slope logits per token"),
                ("comes from", "@place"),
                ("by steepness", "@rank"),
            ],
        )
    )

    def tapped(event: Tap) -> None:
        heads = [*kept.data["x"], *appended.data["x"]]
        if event.x is not None and round(event.x) in heads:
            pick({"head": round(event.x)})

    plot.on_event(Tap, tapped)
    return plot
