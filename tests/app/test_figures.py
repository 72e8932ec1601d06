"""The Bokeh figures hold what the core computes, and change only what changed."""

import numpy as np
import pytest
from bokeh.events import Tap

from alibi_core import Selection, calculate
from alibi_explorer.figures import HeadFigures, HeadsFigure
from alibi_explorer.heatmaps import HEATMAPS


def nowhere(part):
    raise AssertionError(f"nothing was to be picked, got {part}")


def named(figures):
    return dict(zip(figures.names, figures.models, strict=True))


@pytest.mark.parametrize("selection", [Selection(), Selection(6, 4, 3, 1), Selection(16, 0, 2, 5)])
def test_heatmaps_hold_the_arrays_of_the_core(selection):
    """Each allowed cell carries the core's value to the last digit, and its text."""
    calculation = calculate(selection)
    cells = HeadFigures(calculation, nowhere)._cells.data
    assert len(cells["x"]) == calculation.allowed.sum()
    for name, heatmap in HEATMAPS.items():
        expected = getattr(calculation, heatmap.values)[cells["y"], cells["x"]]
        np.testing.assert_array_equal(cells[name], expected)
        assert cells[f"{name}_text"] == [heatmap.written(value) for value in expected]


def test_an_update_equals_a_new_figure():
    """After any change the data sources are what a freshly built figure would hold."""
    before, after = calculate(Selection()), calculate(Selection(6, 4, 3, 1))
    for build in (HeadFigures, HeadsFigure):
        updated, fresh = build(before, nowhere), build(after, nowhere)
        updated.update(after, {"num_heads", "head", "slope", "query", "key"})
        for attribute in ("_cells", "_chosen", "_heads"):
            if hasattr(fresh, attribute):
                assert getattr(updated, attribute).data == getattr(fresh, attribute).data


def test_choosing_a_pair_leaves_the_cells_alone():
    """A change of query and key moves the outline and sends no heatmap data."""
    figures = HeadFigures(calculate(Selection()), nowhere)
    cells, chosen = figures._cells.data, figures._chosen.data
    figures.update(calculate(Selection(query=3)), {"query"})
    assert figures._cells.data is cells
    assert figures._chosen.data is not chosen
    assert figures._chosen.data == {"x": [0], "y": [3]}


def test_colour_ranges_are_fixed():
    """A shade means the same in every choice."""

    def ranges(selection):
        figures = HeadFigures(calculate(selection), nowhere)
        figures.update(calculate(Selection(16, 0)), {"slope"})
        return {
            name: [
                (renderer.glyph.fill_color.transform.low, renderer.glyph.fill_color.transform.high)
                for renderer in model.renderers
                if hasattr(getattr(renderer.glyph, "fill_color", None), "transform")
            ]
            for name, model in named(figures).items()
        }

    assert (
        ranges(Selection())
        == ranges(Selection(16, 15))
        == {
            "head.bias": [(-4, 0)],
            "head.alibi": [(0, 1)],
            "head.plain": [(0, 1)],
            "head.difference": [(-0.5, 0.5)],
        }
    )


def tap(figure, x, y):
    figure._trigger_event(Tap(figure, x=x, y=y))


def test_a_tap_on_a_cell_selects_its_pair():
    """The cell under the tap is chosen, masked or not; outside the grid nothing happens."""
    picked = []
    figure = named(HeadFigures(calculate(Selection()), picked.append))["head.alibi"]
    for x, y in ((1.3, 3.8), (5.49, 0.2), (5.6, 1), (1, -0.6), (None, None)):
        tap(figure, x, y)
    assert picked == [{"query": 4, "key": 1}, {"query": 0, "key": 5}]


def test_a_tap_in_the_slope_chart_selects_the_head():
    """The head nearest to the tap is chosen; where no head stands nothing happens."""
    picked = []
    figure = HeadsFigure(calculate(Selection(6)), picked.append).models[0]
    for x in (4.2, 0.4, 6.0, -0.6):
        tap(figure, x, 0.1)
    assert picked == [{"head": 4}, {"head": 0}]


def test_two_sessions_share_no_model():
    """Bokeh models belong to one document: nothing is kept at module scope."""
    calculation = calculate(Selection())
    for build in (HeadFigures, HeadsFigure):
        one, other = build(calculation, nowhere), build(calculation, nowhere)
        for a, b in zip(one.models, other.models, strict=True):
            assert not set(a.references()) & set(b.references())
