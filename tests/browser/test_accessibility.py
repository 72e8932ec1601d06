"""For readers with a keyboard, a screen reader, or wishes of their own."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

ALLOWED = {"heads": 6, "head": 4, "query": 5, "key": 0}
MASKED = {"heads": 6, "head": 4, "query": 2, "key": 4}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe(explorer, width, scheme):
    """axe finds nothing: wide and narrow, light and dark, tables open and closed, masked or not."""
    explorer.page.set_viewport_size({"width": width, "height": 800})
    explorer.page.emulate_media(color_scheme=scheme)
    explorer.open()
    explorer.draw()
    for choice in (ALLOWED, MASKED):
        explorer.choose(**choice)
        explorer.shows(**choice)
        if choice is MASKED:
            explorer.open_details()
        found = Axe().run(explorer.page).response["violations"]
        assert [
            (violation["id"], [node["html"][:120] for node in violation["nodes"]][:3])
            for violation in found
        ] == [], choice


def test_keyboard_only(explorer):
    """Tab reaches every control in reading order, opens the tables, and always shows the focus."""
    explorer.open("?heads=2")
    explorer.draw()
    explorer.page.evaluate("scrollTo(0, 0)")
    press = explorer.page.keyboard.press
    stops, faint = [], []
    for _ in range(200):
        press("Tab")
        name, outline = explorer.page.evaluate("probe.focused()")
        if name == "body":
            break
        if outline < (1 if name == "figure" else 2):  # a figure's outline is Bokeh's
            faint.append(name)
        if name == "details":
            press("Enter")
        if stops[-1:] != [name]:
            stops.append(name)
    assert faint == []
    assert [name for name in stops if name not in ("table", "figure")] == [
        "details",
        "link",
        "button",  # to take the tour
        "theme",
        "query",
        "key",
        "heads",
        "head",
        "button",  # to copy a link, to copy the embed code
        "key row",
        "details",
        "grid cell",
        "details",
        "head row",
        "details",
        "card",
        "button",  # to the next step
        "other",
        "equal",
        "grid cell",
        "count",
        "button",  # for a published model
        "details",
        "button",  # for each published model of the table
        "far",
        "padding",
        "length",
        "question",
        "button",  # to print the worksheet
        "details",
        *["details", "button"] * 4,  # to copy the code
        "yours",
        "file",
        "num_heads",
        "max_bias",
        "schedule",
        "attention",
        "button",  # to check
    ]
    assert explorer.page.locator("section details:not([open])").count() == 0


def test_one_tab_stop_a_grid(explorer):
    """Each table of a head is one tab stop, at the chosen pair, after any change."""
    explorer.open()
    explorer.open_details()
    grids = explorer.page.get_by_role("grid")
    expect(grids).to_have_count(6)
    for choice in (ALLOWED, MASKED):
        explorer.choose(**choice)
        explorer.shows(**choice)
        for grid in grids.all():
            stop = grid.locator("[tabindex='0']")
            expect(stop).to_have_count(1)
            expect(stop).to_have_attribute("aria-current", "true")


def test_names_and_roles(explorer):
    """Controls have the names that are printed beside them."""
    explorer.open()
    page = explorer.page
    for group in ("Query", "Key"):
        expect(
            page.get_by_role("group", name=group, exact=True).get_by_role("radio")
        ).to_have_count(6)
    query = page.get_by_role("group", name="Query", exact=True)
    expect(query.get_by_role("radio", name="5 mat")).to_be_checked()
    expect(page.get_by_role("combobox", name="Number of heads")).to_have_value("4")
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value("0")
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_have_count(1)
    for section in ("One pair", "The row", "The head", "All heads"):
        expect(page.get_by_role("region", name=section, exact=True).first).to_be_visible()
    expect(page).to_have_title("ALiBi explorer")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_live_region(explorer):
    """One sentence is read out after a change: that of the pair, in the same element."""
    explorer.open()
    explorer.page.evaluate("window.live = document.querySelectorAll('[aria-live=polite]')")
    assert explorer.page.evaluate("live.length") == 1
    assert explorer.page.evaluate("live[0].closest('section').className") == "pair"
    before = explorer.page.evaluate("live[0].textContent")
    explorer.choose(query=3)
    explorer.shows(query=3)
    after = explorer.page.evaluate("live[0].isConnected && live[0].textContent")
    assert after != before
    assert after.startswith("on (3) looks back 3 tokens to The (0)")


def test_nothing_moves_by_itself(explorer):
    """No reader has to ask for less motion: there is none."""
    explorer.open()
    assert explorer.page.evaluate("probe.moving()") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print(explorer, scheme):
    """Printed, the page is as wide as the paper, and the sentence and the row stand on it."""
    explorer.page.emulate_media(media="print", color_scheme=scheme)
    explorer.page.set_viewport_size({"width": 718, "height": 1000})
    explorer.open()
    sentence = explorer.slot("pair.sentence")
    expect(sentence).to_be_visible()
    expect(sentence).to_contain_text("20.0\u202f% of the attention with ALiBi")
    for part in (sentence, explorer.page.locator(".row table")):
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 718


def test_forced_colours(explorer):
    """With the system's own few colours the chosen token and card still look chosen."""
    explorer.page.emulate_media(forced_colors="active")
    explorer.open()
    expect(explorer.slot("pair.sentence")).to_be_visible()
    look = """(element) => {
        const {backgroundColor, borderTopColor, borderTopWidth, outlineStyle, outlineWidth}
            = getComputedStyle(element)
        return [backgroundColor, borderTopColor, borderTopWidth, outlineStyle, outlineWidth]
    }"""
    for chosen, other in (
        (".query input:checked + .chip", ".query input:not(:checked) + .chip"),
        (".card[aria-current]", ".card:not([aria-current])"),
    ):
        looks = [explorer.page.locator(name).first.evaluate(look) for name in (chosen, other)]
        assert looks[0] != looks[1], chosen
