"""The Bokeh figures: clicks, hover, data, and what a change sends."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from alibi_explorer import formatting
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.sections import ALL_SECTIONS, fill_all

OUTLINE = {"x", "y"}


def by_columns(figure, *names):
    """The renderers whose data source has these columns."""
    return [part for part in figure["renderers"] if set(names) <= set(part["columns"])]


def shades(figure):
    """The one renderer that maps values to colours."""
    (found,) = [part for part in figure["renderers"] if part["mapper"]]
    return found


def outlines(figure):
    """Data of the renderers that mark the choice: they have a place and nothing else."""
    found = [part["columns"] for part in figure["renderers"] if set(part["columns"]) == OUTLINE]
    assert found
    return found


def test_one_figure_a_place(explorer):
    """Each figure stands at its place, on a canvas, with a name for those who cannot see it."""
    explorer.open()
    places = explorer.page.locator("[data-figure]")
    names = explorer.draw()
    assert names == [*(f"head.{name}" for name in HEATMAPS), "heads.slopes"]
    expect(places).to_have_count(len(names))
    for name in names:
        place = explorer.page.locator(f'[data-figure="{name}"]')
        picture = place.get_by_role("img")
        expect(picture).to_have_count(1)
        expect(picture).to_have_accessible_name(explorer.figure(name)["label"])
        assert place.locator("canvas").first.bounding_box()["width"] > 200


@pytest.mark.parametrize("name", HEATMAPS)
def test_click_on_a_cell(explorer, name):
    """A click on a cell of a heatmap chooses its query and key, masked or not."""
    explorer.open()
    explorer.draw()
    for query, key in ((3, 1), (2, 4), (0, 5)):
        explorer.page.mouse.click(*explorer.place(f"head.{name}", key, query))
        explorer.shows(query=query, key=key)


def test_click_on_a_head(explorer):
    """A click in the figure of slopes chooses the head above the pointer; beside them nothing."""
    explorer.open("?heads=6")
    explorer.draw()
    for head in (4, 1, 5):
        calculation = explorer.shows(heads=6, head={4: 0, 1: 4, 5: 1}[head])
        place = explorer.place("heads.slopes", head, calculation.slopes[head].item())
        explorer.page.mouse.click(*place)
    explorer.shows(heads=6, head=5)
    explorer.page.mouse.click(*explorer.place("heads.slopes", 12, 0.1))
    explorer.page.mouse.click(*explorer.place("heads.slopes", 2, 0.1))
    explorer.shows(heads=6, head=2)


def test_hover_on_a_cell(explorer):
    """Over an allowed cell the full numbers of its pair are shown."""
    explorer.open("?heads=6&head=5")
    explorer.draw()
    pair = explorer.shows(heads=6, head=5).pair_at(4, 1)
    explorer.page.mouse.move(*explorer.place("head.alibi", 1, 4))
    explorer.page.wait_for_function("probe.hovered().length > 0")
    texts = explorer.page.evaluate("probe.hovered()")
    assert texts[:2] == ["the (4)", "cat (1)"]
    numbers = [float(text.replace("−", "-").split()[0]) for text in texts[2:]]
    weights = [100 * pair.alibi_weight, 100 * pair.plain_weight]
    logits = [pair.content_logit, pair.distance_bias, pair.biased_logit]
    np.testing.assert_allclose(numbers, [pair.distance, *logits, *weights], rtol=0, atol=5e-7)


def test_hover_on_a_masked_cell(explorer):
    """Over a masked cell the hover names the pair, the mask and the logit −∞."""
    explorer.open()
    explorer.draw()
    explorer.page.mouse.move(*explorer.place("head.bias", 4, 1))
    explorer.page.wait_for_function("probe.hovered().length > 0")
    texts = explorer.page.evaluate("probe.hovered()")
    assert texts[:2] == ["cat (1)", "the (4)"]
    assert "masked" in " ".join(texts)
    assert "−∞" in " ".join(texts)


def test_hover_on_a_head(explorer):
    """Over a head its slope, its origin and its rank are shown."""
    explorer.open("?heads=6")
    explorer.draw()
    slope = explorer.shows(heads=6).slopes[4].item()
    explorer.page.mouse.move(*explorer.place("heads.slopes", 4, slope))
    explorer.page.wait_for_function("probe.hovered().length > 0")
    assert explorer.page.evaluate("probe.hovered()") == [
        "4",
        f"{formatting.exact(slope)} logits per token",
        "entry 1 of the 8-head schedule",
        "1 of 6",
    ]


def test_data_of_the_figures(explorer, choices):
    """After every change the figures hold the arrays of the core and outline the choice."""
    explorer.open()
    explorer.draw()
    for choice in choices:
        explorer.choose(**choice)
        calculation = explorer.shows(**choice)
        allowed = calculation.allowed
        for name, heatmap in HEATMAPS.items():
            figure = explorer.figure(f"head.{name}")
            part = shades(figure)
            assert part["field"] == name
            at = part["columns"]["y"], part["columns"]["x"]
            assert len(at[0]) == allowed.sum()
            assert allowed[at].all()
            array = getattr(calculation, heatmap.values)
            assert part["columns"][name] == array[at].tolist()
            (hatched,) = [
                part["columns"]
                for part in by_columns(figure, "key", "query")
                if name not in part["columns"]
            ]
            cells = zip(hatched["y"], hatched["x"], strict=True)
            assert set(cells) == set(map(tuple, np.argwhere(~allowed).tolist()))
            for outline in outlines(figure):
                assert outline == {"x": [choice["key"]], "y": [choice["query"]]}
        figure = explorer.figure("heads.slopes")
        points = {
            (head, slope)
            for part in by_columns(figure, "slope")
            for head, slope in zip(part["columns"]["x"], part["columns"]["y"], strict=True)
        }
        assert points == set(enumerate(calculation.slopes.tolist()))
        for outline in outlines(figure):
            assert outline == {"x": [choice["head"]], "y": [calculation.slope]}


def test_colour_scales_stay(explorer, choices):
    """A shade means the same in every choice: no colour scale changes its range or colours."""
    explorer.open()
    explorer.draw()

    def scales():
        return {name: shades(explorer.figure(f"head.{name}"))["mapper"] for name in HEATMAPS}

    first = scales()
    assert {name: (scale["low"], scale["high"]) for name, scale in first.items()} == {
        "bias": (-4, 0),
        "alibi": (0, 1),
        "plain": (0, 1),
        "difference": (-0.5, 0.5),
    }
    for choice in choices[::2]:
        explorer.choose(**choice)
        explorer.shows(**choice)
        assert scales() == first


def test_every_figure_has_a_table(explorer, choices):
    """The texts in a figure are the texts in the cells of its table."""
    explorer.open()
    explorer.draw()
    texts = "(cells) => cells.map((cell) => cell.textContent)"
    for choice in choices[::2]:
        explorer.choose(**choice)
        calculation = explorer.shows(**choice)
        for name in HEATMAPS:
            (numbers,) = [
                part for part in explorer.figure(f"head.{name}")["renderers"] if part["text"]
            ]
            columns = numbers["columns"]
            written = np.full((6, 6), "masked", dtype=object)
            written[columns["y"], columns["x"]] = columns[numbers["text"]]
            cells = explorer.slot(f"head.{name}").locator("tbody td").evaluate_all(texts)
            assert cells == written.ravel().tolist()
        drawn = {}
        for part in by_columns(explorer.figure("heads.slopes"), "slope"):
            columns = part["columns"]
            rows = zip(columns["slope"], columns["place"], columns["rank"], strict=True)
            drawn |= dict(zip(columns["x"], rows, strict=True))
        rows = explorer.slot("heads.table").locator("tbody tr")
        count = len(calculation.slopes)
        for head in range(count):
            slope, _, place, rank = rows.nth(head).locator("td").evaluate_all(texts)
            assert drawn[head][0] == slope
            assert set(re.findall(r"\d+", drawn[head][1])) == set(re.findall(r"\d+", place))
            assert drawn[head][2] == f"{rank} of {count}"


def test_only_what_changed_is_sent(explorer, choices):
    """A change of key sends no table, a change of query none of the head, and a change of the
    number of heads with the same slope none of the pair, the row and the head."""
    explorer.open("?heads=4&head=0&query=5&key=0")
    explorer.draw()

    def sent_by(calculation, **change):
        """Slots and columns of figures in the messages that a change brings."""
        explorer.frames.clear()
        explorer.choose(**change)
        slots = fill_all(explorer.shows(**(calculation | change)))
        message = "".join(explorer.frames)
        columns = ("alibi", "bias_text", "plain_full", "slope", "rank")
        return {name for name in (*slots, *columns) if f'"{name}"' in message}

    start = {"heads": 4, "head": 0, "query": 5, "key": 0}
    explorer.shows(**start)
    assert not {name.split(".")[0] for name in following("key")} & {"head", "heads"}
    assert not {name.split(".")[0] for name in following("num_heads")} & {"pair", "row"}
    assert sent_by(start, key=2) == following("key")
    start["key"] = 2
    assert sent_by(start, query=3) == following("query")
    start["query"] = 3
    assert sent_by(start, heads=6) == following("num_heads") | {"slope", "rank"}
    start["heads"] = 6
    sent = sent_by(start, head=4)
    figures = {"alibi", "bias_text", "plain_full"}
    assert sent == following("head", "slope") | figures


def following(*values):
    """The slots that depend on one of these values."""
    return {
        f"{section.name}.{slot}"
        for section in ALL_SECTIONS
        for slot, names in section.depends_on.items()
        if not set(names).isdisjoint(values)
    }
