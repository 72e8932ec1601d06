"""The Bokeh figures of the served page, drawn from the same calculation as the tables.

A figure is built once a session and then only its data sources change. Every colour is
named in the model's ``tags``, so that the page can swap light for dark without the server.

A Bokeh model costs about a millisecond of server time a session, so the figures are plain
`Plot` objects that share what can be shared: `bokeh.plotting.figure` makes twice as many.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from bokeh.core.properties import value
from bokeh.events import DoubleTap, Tap
from bokeh.models import (
    BasicTickFormatter,
    ColumnDataSource,
    FixedTicker,
    Grid,
    HoverTool,
    LinearAxis,
    LinearColorMapper,
    LinearScale,
    LogAxis,
    LogScale,
    Plot,
    Range1d,
    Rect,
    Scatter,
    Segment,
    Text,
)

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.theme import LIGHT, figure_colours

Pick = Callable[[Mapping[str, int]], None]
"""Called with the part of the choice that a click selects, such as ``{"head": 4}``."""


class Figures(Protocol):
    """The figures of one section in one session."""

    names: tuple[str, ...]
    """Names of the figures, ``section.figure``."""

    models: tuple[Plot, ...]
    """Bokeh figures, in the order of `names`."""

    def __init__(self, calculation: Calculation, pick: Pick) -> None: ...

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        """Bring the data sources that depend on `changed` up to date."""


_COLOURS = figure_colours(LIGHT)
_FONT = "system-ui, sans-serif"


class HeadFigures:
    """Four heatmaps of one head: bias, weights with and without ALiBi, and their difference."""

    names = tuple(f"head.{name}" for name in HEATMAPS)

    def __init__(self, calculation: Calculation, pick: Pick) -> None:
        self._cells = ColumnDataSource(_cells(calculation))
        self._chosen = ColumnDataSource(_chosen_cell(calculation))
        shared = _Grid(calculation)
        self.models = tuple(
            _heatmap(name, shared, self._cells, self._chosen, pick) for name in HEATMAPS
        )

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        if "slope" in changed:
            self._cells.data = _cells(calculation)
        if not {"query", "key"}.isdisjoint(changed):
            self._chosen.data = _chosen_cell(calculation)


class HeadsFigure:
    """The slope of every head on a log scale, in head order."""

    names: tuple[str, ...] = ("heads.slopes",)

    def __init__(self, calculation: Calculation, pick: Pick) -> None:
        self._heads = ColumnDataSource(_heads(calculation))
        self._chosen = ColumnDataSource(_chosen_head(calculation))
        self.models: tuple[Plot, ...] = (_slope_figure(self._heads, self._chosen, pick),)

    def update(self, calculation: Calculation, changed: Collection[str]) -> None:
        if "num_heads" in changed:
            self._heads.data = _heads(calculation)
        if not {"num_heads", "head"}.isdisjoint(changed):
            self._chosen.data = _chosen_head(calculation)


def _themed(model: Any, **names: str) -> Any:
    """Give `model` the named colours of the light theme and note the names for the page."""
    model.update(**{attribute: _COLOURS[name] for attribute, name in names.items()})
    model.tags = [names]
    return model


def _plot(label: str, **options: Any) -> Plot:
    plot = Plot(
        title=None,
        toolbar_location=None,
        sizing_mode="stretch_width",
        min_border=4,
        outline_line_color=None,
        html_attributes={"role": "img", "aria-label": label},
        **options,
    )
    return _themed(plot, background_fill_color="surface", border_fill_color="surface")


def _axis(kind: type[LinearAxis | LogAxis], colour: str, **options: Any) -> Any:
    axis = kind(
        axis_line_color=None,
        major_tick_line_color=None,
        minor_tick_line_color=None,
        major_label_text_font=_FONT,
        major_label_text_font_size="13px",
        axis_label_text_font=_FONT,
        axis_label_text_font_size="13px",
        axis_label_text_font_style="normal",
        **options,
    )
    return _themed(axis, major_label_text_color=colour, axis_label_text_color=colour)


def _hover(renderers: list[Any], **columns: str) -> HoverTool:
    """A tooltip of labelled columns, in the colours of the page that it stands on."""
    rows = "".join(
        f'<div><span style="color:var(--muted)">{name.replace("_", " ")}:</span> {shown}</div>'
        for name, shown in columns.items()
    )
    style = "margin:-5px;padding:8px;background:var(--surface);color:var(--text);font-size:13px"
    return HoverTool(renderers=renderers, tooltips=f'<div style="{style}">{rows}</div>')


def _on_tap(plot: Plot, tapped: Callable[[Tap], None]) -> None:
    """Bokeh calls a quick second tap a double one, wherever it goes."""
    plot.on_event(Tap, tapped)
    plot.on_event(DoubleTap, tapped)


class _Grid:
    """What the four heatmaps share: positions, labels, and the masked cells."""

    def __init__(self, calculation: Calculation) -> None:
        size = len(calculation.tokens)
        self.size = size
        self.ranges = {
            "x_range": Range1d(-0.5, size - 0.5),
            "y_range": Range1d(size - 0.5, -0.5),
            "x_scale": LinearScale(),
            "y_scale": LinearScale(),
        }
        self.labels = {
            "ticker": FixedTicker(ticks=list(range(size))),
            "formatter": BasicTickFormatter(),
            "major_label_overrides": {
                position: f"{position} {word}" for position, word in enumerate(calculation.tokens)
            },
        }
        self.masked = ColumnDataSource(_masked_cells(calculation))


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


def _masked_cells(calculation: Calculation) -> dict[str, list[Any]]:
    """One entry a masked cell; it shows the mask where an allowed cell shows numbers."""
    positions = range(len(calculation.tokens))
    pairs = [
        calculation.pair_at(query, key)
        for query in positions
        for key in positions
        if not calculation.allowed[query, key]
    ]
    return {
        "x": [pair.key for pair in pairs],
        "y": [pair.query for pair in pairs],
        "key": [text.token(calculation, pair.key) for pair in pairs],
        "query": [text.token(calculation, pair.query) for pair in pairs],
        "distance": [f"{text.tokens_apart(pair.tokens_apart)} ahead" for pair in pairs],
        "content": [text.number(pair.content_logit) for pair in pairs],
        "bias_full": ["masked" for _ in pairs],
        "logit_full": [text.number(pair.biased_logit) for pair in pairs],
        "alibi_full": [text.percent(pair.alibi_weight) for pair in pairs],
        "plain_full": [text.percent(pair.plain_weight) for pair in pairs],
    }


def _chosen_cell(calculation: Calculation) -> dict[str, list[int]]:
    return {"x": [calculation.selection.key], "y": [calculation.selection.query]}


def _heatmap(
    name: str,
    grid: _Grid,
    cells: ColumnDataSource,
    chosen: ColumnDataSource,
    pick: Pick,
) -> Plot:
    heatmap = HEATMAPS[name]
    plot = _plot(
        f"Heatmap of query by key. {heatmap.caption}. The same numbers stand in a table below.",
        height=300,
        **grid.ranges,
    )
    plot.add_layout(_axis(LinearAxis, "key", axis_label="key", **grid.labels), "above")
    plot.add_layout(_axis(LinearAxis, "query", axis_label="query", **grid.labels), "left")

    low, high = heatmap.scale
    mapper = _themed(LinearColorMapper(low=low, high=high), palette=heatmap.colours)
    square = {"x": "x", "y": "y", "width": 1, "height": 1}
    shades = plot.add_glyph(
        cells,
        _themed(Rect(**square, fill_color={"field": name, "transform": mapper}), line_color="line"),
    )
    hatch = plot.add_glyph(
        grid.masked,
        _themed(
            Rect(**square, hatch_pattern="right_diagonal_line", hatch_scale=8),
            fill_color="raised",
            hatch_color="hatch",
            line_color="line",
        ),
    )
    numbers = Text(
        x="x",
        y="y",
        text=f"{name}_text",
        text_align="center",
        text_baseline="middle",
        text_font=value(_FONT),
        text_font_size="12px",
    )
    plot.add_glyph(cells, _themed(numbers, text_color="text"))
    outline = _themed(Rect(**square, fill_color=None, line_width=3), line_color="text")
    plot.add_glyph(chosen, outline)

    plot.add_tools(
        _hover(
            [shades, hatch],
            query="@query",
            key="@key",
            distance="@distance",
            content_logit="@content",
            distance_bias="@bias_full",
            biased_logit="@logit_full",
            with_ALiBi="@alibi_full",
            without="@plain_full",
        )
    )

    def tapped(event: Tap) -> None:
        if event.x is None or event.y is None:
            return
        key, query = round(event.x), round(event.y)
        if 0 <= key < grid.size and 0 <= query < grid.size:
            pick({"query": query, "key": key})

    _on_tap(plot, tapped)
    return plot


def _heads(calculation: Calculation) -> dict[str, list[Any]]:
    """One entry a head; those appended from the longer schedule have a mark of their own."""
    heads = range(len(calculation.slopes))
    return {
        "x": list(heads),
        "y": calculation.slopes.tolist(),
        "marker": ["diamond" if head in calculation.appended_heads else "circle" for head in heads],
        "slope": [text.exact(slope) for slope in calculation.slopes.tolist()],
        "place": [text.place(source) for source in calculation.slope_sources],
        "rank": [f"{rank} of {len(heads)}" for rank in calculation.slope_ranks.tolist()],
    }


def _chosen_head(calculation: Calculation) -> dict[str, list[Any]]:
    return {"x": [calculation.selection.head], "y": [calculation.slope]}


def _slope_figure(heads: ColumnDataSource, chosen: ColumnDataSource, pick: Pick) -> Plot:
    floor = 2**-8.6
    plot = _plot(
        "Slope of every head on a log scale. The same numbers stand in a table below.",
        height=280,
        x_range=Range1d(-0.6, 15.6),
        y_range=Range1d(floor, 1.2),
        x_scale=LinearScale(),
        y_scale=LogScale(),
    )
    exponents = range(-8, 1)
    ticks = FixedTicker(ticks=[2.0**exponent for exponent in exponents])
    labels = {
        2.0**exponent: "1" if exponent == 0 else f"1/{2**-exponent}" for exponent in exponents
    }
    slopes = _axis(
        LogAxis,
        "text",
        axis_label="slope, logits per token",
        ticker=ticks,
        major_label_overrides=labels,
    )
    plot.add_layout(slopes, "left")
    positions = FixedTicker(ticks=list(range(16)))
    heads_axis = _axis(LinearAxis, "text", axis_label="head", ticker=positions)
    heads_axis.major_label_text_font_size = "11px"  # sixteen of them fit on a phone
    plot.add_layout(heads_axis, "below")
    plot.add_layout(_themed(Grid(dimension=1, axis=slopes), grid_line_color="line"))

    stems = _themed(Segment(x0="x", y0=floor, x1="x", y1="y", line_width=2), line_color="line")
    plot.add_glyph(heads, stems)
    dots = _themed(
        Scatter(x="x", y="y", marker="marker", size=12), fill_color="control", line_color="surface"
    )
    shown = plot.add_glyph(heads, dots)
    ring = Scatter(x="x", y="y", marker="circle", size=22, fill_color=None, line_width=3)
    plot.add_glyph(chosen, _themed(ring, line_color="text"))
    plot.add_tools(
        _hover(
            [shown],
            head="@x",
            slope="@slope logits per token",
            comes_from="@place",
            by_steepness="@rank",
        )
    )

    def tapped(event: Tap) -> None:
        if event.x is not None and round(event.x) in heads.data["x"]:
            pick({"head": round(event.x)})

    _on_tap(plot, tapped)
    return plot
