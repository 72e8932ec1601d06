"""Where things stand: in view together, never moving, never cut short."""

import re

import pytest
from playwright.sync_api import expect

WIDTHS = [1280, 390]


@pytest.fixture
def at_width(explorer):
    """Opens the page at a width, with its tables open."""

    def open_at(width):
        explorer.page.set_viewport_size({"width": width, "height": 800})
        explorer.open()
        explorer.open_details()
        explorer.draw()

    return open_at


def test_first_view(explorer):
    """At 1280 by 800 the controls, the pair's steps and the row's table are in view together."""
    explorer.open()
    for name in ("form.controls", ".pair .sentence", ".pair .worked", ".row table"):
        box = explorer.page.locator(name).bounding_box()
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 1280, name
        assert box["y"] >= 0, name
        assert box["y"] + box["height"] <= 800, name


def test_controls_stay_in_view(explorer):
    """On a large screen the controls stay in view while the page is scrolled."""
    explorer.open()
    explorer.page.locator(".card").first.scroll_into_view_if_needed()
    assert explorer.page.evaluate("scrollY") > 400
    box = explorer.page.locator("form.controls").bounding_box()
    assert 0 <= box["y"] < 10


@pytest.mark.parametrize("width", [1280, 768, 390, 320])
def test_no_sideways_scrolling(explorer, at_width, width):
    """The page is never wider than the window."""
    at_width(width)
    for choice in ({"heads": 16, "head": 15, "query": 5}, {"heads": 1, "query": 0, "key": 5}):
        explorer.choose(**choice)
        explorer.shows(**({"heads": 4, "head": 0, "query": 5, "key": 0} | choice))
        root = "document.documentElement"
        assert explorer.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_moves(explorer, choices, width):
    """Whatever is chosen, every heading stays where it is."""
    explorer.page.set_viewport_size({"width": width, "height": 800})
    explorer.open()
    first = explorer.page.evaluate("probe.headings()")
    assert len(first) >= 10
    explorer.draw()
    assert explorer.page.evaluate("probe.headings()") == first
    for choice in choices:
        explorer.choose(**choice)
        explorer.shows(**choice)
        assert explorer.page.evaluate("probe.headings()") == first, choice


@pytest.mark.parametrize("width", WIDTHS)
def test_a_choice_of_one_section_moves_nothing(explorer, width):
    """Whatever a section's own list is set to, every heading stays where it is."""
    page = explorer.page
    page.set_viewport_size({"width": width, "height": 800})
    explorer.open()
    explorer.draw()
    first = page.evaluate("probe.headings()")
    lists = page.locator("section .choose select")
    assert lists.count() >= 3
    for select in lists.all():
        for value in select.locator("option").evaluate_all("(all) => all.map((of) => of.value)"):
            name = select.get_attribute("name")
            select.select_option(value)
            expect(page).to_have_url(re.compile(rf"[?&]{name}={value}\b|^(?!.*\b{name}=)"))
            assert page.evaluate("probe.headings()") == first, (name, value)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_cut_short(explorer, at_width, choices, width):
    """Whatever is chosen, every label and number fits its box."""
    at_width(width)
    for choice in choices:
        explorer.choose(**choice)
        explorer.shows(**choice)
        assert explorer.page.evaluate("probe.cutShort()") == [], choice


@pytest.mark.parametrize("query", [0, 3])
def test_touch_targets(explorer, at_width, query):
    """On a phone everything to touch is at least 44 pixels high; a key's row counts whole."""
    at_width(390)
    explorer.choose(heads=16, query=query)
    explorer.shows(heads=16, query=query)
    small = explorer.page.locator(".alibi").evaluate(
        """(root) => [...root.querySelectorAll(".chip, select, button, summary")]
            .filter((target) => target.checkVisibility())
            .map((target) => target.closest("[data-pick]") ?? target)
            .map((target) => [target.textContent, target.getBoundingClientRect().height])
            .filter(([text, height]) => height < 44)"""
    )
    assert small == []
