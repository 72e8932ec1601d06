"""Contents, tour and worksheet, on the page without a server and on the served one."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from alibi_core import calculate
from alibi_explorer.embed import embedded_page
from alibi_explorer.layout import SECTION_NAMES
from alibi_explorer.sections import SERVED_SECTIONS
from alibi_explorer.state import URL_NAMES
from alibi_explorer.tour import STOPS

COUNT = len(STOPS)
STEPS = range(1, COUNT + 1)
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("file") / "explorer.html"
    file.write_text(embedded_page(), "utf-8")
    return file


@pytest.fixture(params=["embedded", "served"])
def either(request, page, embedded_of):
    """The page without a server, then the served one."""
    if request.param == "served":
        return request.getfixturevalue("explorer")
    return embedded_of(page, request.getfixturevalue("file").as_uri())


def links(page):
    return [
        link.get_attribute("href").removeprefix("#section-")
        for link in page.locator(".guide:not([hidden]) li:not([hidden]) a").all()
    ]


def is_below_controls(page, selector):
    """Wait until it stands at the top of the view or, at the end of the page, anywhere in it."""
    page.wait_for_function(
        """(selector) => {
            const controls = document.querySelector(".controls")
            const isSticky = getComputedStyle(controls).position === "sticky"
            const top = isSticky ? controls.getBoundingClientRect().bottom : 0
            const place = document.querySelector(selector).getBoundingClientRect().top
            const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 1
            return place >= top && place < (isAtEnd ? innerHeight : top + 24)
        }""",
        arg=selector,
    )


def chosen(page, stop):
    """Wait until the controls of the page have the choice of the step."""
    wanted = {name: getattr(stop.selection, of) for name, of in URL_NAMES.items()}
    page.wait_for_function(
        """(wanted) => Object.entries(wanted).every(([name, value]) =>
            [...document.querySelectorAll(`[name=${name}]`)].some(({value: has, type, checked}) =>
                has === String(value) && (type !== "radio" || checked)))""",
        arg=wanted,
    )


def at_step(page, step, of=COUNT):
    expect(page.locator(".tour .at")).to_have_text(f"Step {step} of {of}")
    expect(page.locator(".tour li:visible")).to_have_count(1)


# Contents


def test_contents_follow_the_sections_shown(either):
    """The links are those of the sections shown, in their order; one or two need no list."""
    page = either.page
    either.open()
    served_alone = [section.name for section in SERVED_SECTIONS if page.url.startswith("http")]
    assert links(page) == [*SECTION_NAMES, *served_alone]
    either.open("?sections=far,pair,row")
    assert links(page) == ["far", "pair", "row"]
    for few in ("far,pair", "row"):
        either.open(f"?sections={few}")
        expect(page.locator(".guide")).to_be_hidden()
        expect(page.locator("[data-tour-start]")).to_be_hidden()


@WIDTHS
def test_a_link_lands_on_its_section(either, width):
    """From the top of the page to any section: its heading is in view, not below the controls."""
    page = either.page
    page.set_viewport_size({"width": width, "height": 800})
    either.open()
    for name in (SECTION_NAMES[-1], "compete", "pair"):
        page.evaluate("scrollTo(0, 0)")
        page.locator(".guide summary").click()
        page.locator(f".guide a[href='#section-{name}']").click()
        is_below_controls(page, f"#section-{name}")
        expect(page.locator(f"#section-{name}")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_address_with_a_section_lands_on_it(either):
    """A fragment in the address finds its section, though this is laid out later."""
    either.open("#section-compete")
    is_below_controls(either.page, "#section-compete")


# Tour


@WIDTHS
def test_every_step_sets_what_it_says(either, width):
    """By keyboard from first to last: choice, place, text, address and focus follow."""
    page = either.page
    page.set_viewport_size({"width": width, "height": 800})
    either.open()
    page.locator("[data-tour-start]").click()
    for step, stop in zip(STEPS, STOPS, strict=True):
        at_step(page, step)
        chosen(page, stop)
        either_section = page.locator(f"aside + section[data-section='{stop.section}']")
        expect(either_section).to_be_visible()
        is_below_controls(page, ".tour")
        expect(page.locator(".controls")).to_be_visible()
        page.wait_for_url(re.compile(rf"[?&]tour={step}\b"))
        expect(page.get_by_role("button", name="Next", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
    at_step(page, COUNT)
    page.get_by_role("button", name="Back", exact=True).last.click()
    at_step(page, COUNT - 1)
    chosen(page, STOPS[-2])


def test_the_sections_follow_the_tour(either):
    """The shared sections show what the core says of the step's choice."""
    either.open("?tour=7")
    choice = {
        name: getattr(STOPS[6].selection, URL_NAMES[name])
        for name in ("heads", "head", "query", "key")
    }
    at_step(either.page, 7)
    chosen(either.page, STOPS[6])
    sentence = f"Head {choice['head']} of {choice['heads']} heads, slope "
    expect(either.slot("head.caption").first).to_contain_text(sentence)


@pytest.mark.parametrize("step", STEPS)
def test_a_link_opens_its_step(page, file, embedded_of, step):
    """`?tour=3` opens step 3, whatever else the address chooses; no line is shown."""
    embedded_of(page, file.as_uri()).open(f"?tour={step}&query=1&far=5")
    at_step(page, step)
    chosen(page, STOPS[step - 1])
    is_below_controls(page, ".tour")
    expect(page.locator(".notice")).to_have_text("")


def test_a_link_opens_its_step_on_the_served_page(explorer):
    """The same on the served page."""
    explorer.open("?tour=11")
    at_step(explorer.page, 11)
    chosen(explorer.page, STOPS[10])
    is_below_controls(explorer.page, ".tour")


@pytest.mark.parametrize(
    ("asked", "step"), [("99", COUNT), ("0", 1), ("-3", 1), ("2.4", 2), ("abc", 1), ("", 1)]
)
def test_a_bad_step_gives_the_nearest(either, asked, step):
    """One readable line tells it, and the address is put right."""
    either.open(f"?tour={asked}")
    at_step(either.page, step)
    chosen(either.page, STOPS[step - 1])
    expect(either.page.locator(".notice")).to_have_text(
        f"Tour “{asked}” is not one of 1 to {COUNT}, so {step} is shown."
    )
    either.page.wait_for_url(re.compile(rf"[?&]tour={step}\b"))


def test_steps_of_hidden_sections_are_skipped(either):
    """Where only some sections are shown the tour has their steps, or none."""
    stops = [stop for stop in STOPS if stop.section in ("far", "row")]
    either.open("?sections=row,far&tour=1")
    for step, stop in enumerate(stops, 1):
        at_step(either.page, step, len(stops))
        chosen(either.page, stop)
        either.page.get_by_role("button", name="Next", exact=True).press("Enter")
    either.open("?sections=slopes&tour=2")
    expect(either.page.locator(".tour")).to_be_hidden()
    expect(either.page.locator(".notice")).to_contain_text("Tour “2” is not a step here")


def test_leaving(either):
    """The panel goes, the choice stays, the address forgets the tour."""
    either.open("?tour=4")
    chosen(either.page, STOPS[3])
    either.page.get_by_role("button", name="Leave").click()
    expect(either.page.locator(".tour")).to_be_hidden()
    either.page.wait_for_url(lambda url: "tour" not in url and "head=2" in url)
    chosen(either.page, STOPS[3])
    heading = either.page.locator(f"#section-{STOPS[3].section}")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()


def test_a_copied_link_is_of_the_choice(page, file, embedded_of):
    """A step would set its own choice, so the link that is copied names no step."""
    embedded = embedded_of(page, file.as_uri())
    embedded.open("?tour=4")
    embedded.choose(key=2)
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text }")
    page.locator("[data-copy=link]").click()
    page.wait_for_function("() => window.copied")
    assert "key=2" in page.evaluate("copied")
    assert "tour" not in page.evaluate("copied")


def test_without_scripts_there_is_no_tour(browser, file):
    """The panel and the button that starts it are not shown; the contents are."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    for name in (".tour", "[data-tour-start]"):
        expect(page.locator(name)).to_be_hidden()
    expect(page.locator(".guide")).to_be_visible()
    context.close()


def test_in_a_sandboxed_frame(page, file, allowed_problems):
    """Without an address and without modals: contents, tour and the refused print break nothing."""
    allowed_problems.append("Ignored call to 'print()'")
    page.set_content('<iframe sandbox="allow-scripts" width="1200" height="700"></iframe>')
    page.locator("iframe").evaluate(
        "(frame, html) => { frame.srcdoc = html }", file.read_text("utf-8")
    )
    frame = page.frame_locator("iframe")
    frame.locator(".guide summary").click()
    frame.locator(".guide a[href='#section-far']").click()
    expect(frame.locator("#section-far")).to_be_focused()
    expect(frame.locator("#section-far")).to_be_in_viewport()
    frame.locator("[data-tour-start]").click()
    frame.get_by_role("button", name="Next", exact=True).click()
    expect(frame.locator(".tour .at")).to_have_text(f"Step 2 of {COUNT}")
    frame.locator("[data-print-alone]").click()
    frame.get_by_role("button", name="Next", exact=True).click()
    expect(frame.locator(".alibi")).not_to_have_attribute("data-print", "worksheet")
    expect(frame.locator(".tour .at")).to_have_text(f"Step 3 of {COUNT}")


# Worksheet


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_the_worksheet_is_printed_alone(either):
    """Two pages, blanks and then answers, with the numbers of the choice; then all is back."""
    page = either.page
    either.open("?query=4&key=1")
    page.evaluate("window.print = () => {}")
    page.locator("[data-print-alone]").click()
    page.emulate_media(media="print")
    shown = page.locator(".alibi").inner_text()
    calculation = calculate(STOPS[0].selection)  # the head of the opening
    pair = calculation.pair_at(4, 1)
    for number in (pair.alibi_exponential, calculation.alibi_denominators[4]):
        assert f"{number:.4f}" in shown
    assert f"{100 * pair.alibi_weight:.1f}\u202f%" in shown
    assert shown.startswith(
        "One attention weight with ALiBi, by hand\n\nQuery the (4), key cat (1), slope 0.25"
    )
    assert shown.count("…………") == 10 + 6 * 4 + 2
    assert "Print the worksheet" not in shown
    break_before = "(answers) => getComputedStyle(answers).breakBefore"
    assert page.locator(".answers").evaluate(break_before) == "page"
    assert pages_of(page.pdf(format="A4")) == 2
    expect(page.locator(".alibi")).not_to_have_attribute("data-print", "worksheet")
    page.emulate_media(media="screen")
    expect(either.slot("pair.sentence")).to_be_visible()


def test_the_page_is_printed_without_the_worksheet(page, file, embedded_of):
    """Who prints the page gets its sections; who shows the worksheet alone gets that."""
    embedded = embedded_of(page, file.as_uri())
    embedded.open()
    page.emulate_media(media="print")
    expect(page.locator("section.worksheet")).to_be_hidden()
    embedded.open("?sections=worksheet")
    expect(page.locator("section.worksheet")).to_be_visible()
    assert pages_of(page.pdf(format="A4")) <= 3


# For every reader


@pytest.mark.parametrize("scheme", ["light", "dark"])
@WIDTHS
def test_axe(page, file, embedded_of, width, scheme):
    """axe finds nothing in the contents, the tour and the worksheet; targets are large enough."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    embedded = embedded_of(page, file.as_uri())
    embedded.open("?tour=8")
    embedded.open_details()
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]][:3]) for v in found] == []


def test_targets_are_large_on_touch(browser, file):
    """A finger gets 44 px in height for each link and each button of the tour."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(file.as_uri() + "?tour=2")
    for target in (
        page.locator(".guide :is(a, summary), .tour button, [data-tour-start]")
        .filter(visible=True)
        .all()
    ):
        assert target.bounding_box()["height"] >= 44
        assert target.bounding_box()["width"] >= 44
    context.close()
