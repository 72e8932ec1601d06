"""The choice in the URL, good and bad, and the theme."""

import re
from html import unescape

import pytest
from playwright.sync_api import expect

from alibi_core import Selection, calculate
from alibi_explorer.sections import fill_all
from alibi_explorer.theme import DARK, LIGHT, figure_colours


def test_every_choice_by_url(explorer, choices):
    """A URL with a choice opens the page at it, every slot as the core has it."""
    for choice in choices[3:9]:
        search = "&".join(f"{name}={value}" for name, value in choice.items())
        explorer.open(f"?{search}")
        explorer.shows(**choice)
        expect(explorer.page.locator(".notice")).to_have_text("")


def test_every_choice_by_change(explorer, choices):
    """From one choice to the next, every slot becomes what the core has for it."""
    explorer.open()
    for choice in (*choices, choices[0]):
        explorer.choose(**choice)
        explorer.shows(**choice)


@pytest.mark.browser_context_args(java_script_enabled=False)
def test_first_html(explorer):
    """Where no script runs the page still shows the whole choice that its URL asks for."""
    explorer.page.goto(explorer.url + "?heads=6&head=4&query=5&key=0")
    fills = fill_all(calculate(Selection(num_heads=6, head=4, query=5, key=0)))
    assert fills
    for name, html in fills.items():
        text = unescape(re.sub("<[^>]*>", "", html))
        assert explorer.slot(name).first.text_content() == text


def test_url_follows(explorer):
    """The URL follows every change, keeps what else is in it, and a reload gives the choice."""
    explorer.open("?lesson=3&query=4&note=a%26b#section-row")
    explorer.choose(heads=6, head=4, key=2)
    explorer.shows(heads=6, head=4, query=4, key=2)
    search = explorer.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    assert search == {
        "lesson": "3",
        "note": "a&b",
        "heads": "6",
        "head": "4",
        "query": "4",
        "key": "2",
    }
    assert explorer.page.url.endswith("#section-row")
    explorer.reload()
    explorer.shows(heads=6, head=4, query=4, key=2)
    explorer.open(
        "?" + "&".join(f"{name}={value}" for name, value in search.items() if "&" not in value)
    )
    explorer.shows(heads=6, head=4, query=4, key=2)


def test_no_history_entries(explorer):
    """Choices do not fill the history: one step back leaves the page."""
    explorer.page.goto("about:blank")
    explorer.open()
    length = explorer.page.evaluate("history.length")
    for query in (1, 2, 3):
        explorer.choose(query=query)
        explorer.shows(query=query)
    assert explorer.page.evaluate("history.length") == length


BAD = {
    "too many heads": ("heads=99", {"heads": 16}, "99"),
    "no heads": ("heads=0", {"heads": 1}, "0"),
    "a head that does not exist": ("heads=6&head=6", {"heads": 6, "head": 5}, "6"),
    "a query below": ("query=-1", {"query": 0}, "-1"),
    "a key above": ("key=6", {"key": 5}, "6"),
    "a word": ("key=cat", {"key": 0}, "cat"),
    "nothing": ("query=", {"query": 5}, ""),
    "a null byte": ("query=%00", {"query": 5}, "\N{REPLACEMENT CHARACTER}"),
    "no UTF-8": ("query=%FF", {"query": 5}, "\N{REPLACEMENT CHARACTER}"),
    "very long": (f"query={'9' * 4000}", {"query": 5}, "9" * 23 + "…"),
    "very long word": (f"key={'x' * 4000}", {"key": 0}, "x" * 23 + "…"),
    "markup": ("key=<b>1</b>", {"key": 0}, "<b>1</b>"),
    "a script": ("key=<script>alert(1)</script>", {"key": 0}, "<script>alert(1)</scrip…"),
    "a handler": ("key=<img src=x onerror=alert()>", {"key": 0}, "<img src=x onerror=aler…"),
    "quotes": ("query=\"'`{{7*7}}", {"query": 5}, "\"'`{{7*7}}"),
    "unicode": ("query=é∞🙂", {"query": 5}, "é∞🙂"),
    "not a number": ("query=nan", {"query": 5}, "nan"),
    "infinite": ("key=1e999", {"key": 5}, "1e999"),
    "a fraction": ("query=2.5", {"query": 2}, "2.5"),
    "a space": ("query=+3", {"query": 5}, " 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_url(explorer, case):
    """A bad URL gives the nearest valid choice, one line that says so, and a corrected URL."""
    search, choice, shown = BAD[case]
    explorer.open(f"?{search}")
    explorer.shows(**choice)
    notice = explorer.page.locator(".notice")
    expect(notice).to_have_count(1)
    text = notice.text_content()
    assert f"“{shown}”" in text
    assert "is not one of" in text
    assert len(text) < 120
    expect(notice).to_be_visible()
    expect(notice.locator("*")).to_have_count(0)


def test_bad_url_with_many_faults(explorer):
    """Several faults still make one line, which goes away with the next choice."""
    explorer.open("?heads=x&head=9&query=7&key=-3")
    explorer.shows(heads=4, head=3, query=5, key=0)
    notice = explorer.page.locator(".notice")
    expect(notice).to_have_text(
        "Heads “x” is not one of 1 to 16, so 4 is shown; "
        "head “9” is not one of 0 to 3, so 3 is shown; "
        "query “7” is not one of 0 to 5, so 5 is shown; "
        "key “-3” is not one of 0 to 5, so 0 is shown."
    )
    explorer.choose(query=2)
    explorer.shows(heads=4, head=3, query=2, key=0)
    expect(notice).to_have_text("")


def test_repeated_names(explorer):
    """Where a name is repeated the last one counts, and the URL is left with one."""
    explorer.open("?query=1&key=9&query=3&key=2")
    explorer.shows(query=3, key=2)


# The theme


def is_shown_in(explorer, palette):
    """Wait until figures, page and text have the colours of a palette."""
    colours = figure_colours(palette)
    names = explorer.draw()
    explorer.page.wait_for_function(
        "(colour) => probe.figure('head.alibi').background === colour", arg=colours["surface"]
    )
    for name in names:
        figure = explorer.figure(name)
        assert figure["background"] == colours["surface"]
        assert set(figure["axes"]) <= {colours["text"], colours["query"], colours["key"]}
        for part in figure["renderers"]:
            assert part["text"] is None or part["textColour"] == colours["text"]
            if part["mapper"]:
                assert part["mapper"]["palette"] in [
                    colours[ramp] for ramp in ("weight_ramp", "bias_ramp", "difference_ramp")
                ]
    expect(explorer.page.locator(".alibi")).to_have_css("color", rgb(palette.text))
    expect(explorer.page.locator("body")).to_have_css("background-color", rgb(palette.page))
    expect(explorer.page.locator(".query input:checked + .chip")).to_have_css(
        "background-color", rgb(palette.query)
    )


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


@pytest.mark.parametrize("system", ["light", "dark"])
def test_theme_of_the_system(explorer, system):
    """Without a wish the page and its figures follow the system, also when it changes."""
    palettes = {"light": LIGHT, "dark": DARK}
    other = {"light": "dark", "dark": "light"}[system]
    explorer.page.emulate_media(color_scheme=system)
    explorer.open()
    is_shown_in(explorer, palettes[system])
    explorer.page.emulate_media(color_scheme=other)
    is_shown_in(explorer, palettes[other])


@pytest.mark.parametrize("system", ["light", "dark"])
def test_theme_switch(explorer, system):
    """The switch of the theme overrides the system, and stands in the URL."""
    explorer.page.emulate_media(color_scheme=system)
    explorer.open()
    for theme, palette in (("dark", DARK), ("light", LIGHT)):
        explorer.select("theme", theme)
        is_shown_in(explorer, palette)
        explorer.page.wait_for_url(f"**/app?*theme={theme}*")
    explorer.select("theme", "auto")
    is_shown_in(explorer, {"light": LIGHT, "dark": DARK}[system])


@pytest.mark.parametrize(("theme", "palette"), [("dark", DARK), ("light", LIGHT)])
def test_theme_in_the_url(explorer, theme, palette):
    """A theme in the URL overrides the system, before and after choices are made."""
    explorer.page.emulate_media(color_scheme={"dark": "light", "light": "dark"}[theme])
    explorer.open(f"?theme={theme}")
    is_shown_in(explorer, palette)
    expect(explorer.control("theme")).to_have_value(theme)
    explorer.choose(heads=6, head=4)
    explorer.shows(heads=6, head=4)
    is_shown_in(explorer, palette)


@pytest.mark.parametrize("theme", ["auto", "sepia", '"><script>alert(1)</script>'])
def test_automatic_theme_in_the_url(explorer, theme):
    """With theme=auto, or a theme that does not exist, the page follows the system."""
    explorer.page.emulate_media(color_scheme="dark")
    explorer.open(f"?theme={theme}")
    is_shown_in(explorer, DARK)
    expect(explorer.control("theme")).to_have_value("auto")


HOST = """<!doctype html><iframe src="{url}" width="900" height="600"></iframe><script>
  const heard = []
  addEventListener("message", ({{data}}) => heard.push(data))
</script>"""


def test_the_served_page_talks_to_the_page_around(page, server, tmp_path):
    """In a frame it tells its height and the reader's changes, and takes a choice and a theme."""
    host = tmp_path / "host.html"
    host.write_text(HOST.format(url=f"{server.url}?heads=6"), "utf-8")
    page.goto(host.as_uri())
    heard = (
        "(wanted) => heard.some((data) => Object.entries(wanted).every(([k, v]) => data[k] === v))"
    )
    page.wait_for_function(
        "heard.some(({type, height}) => type?.endsWith(':height') && height > 999)"
    )
    page.wait_for_function("heard.some(({subject}) => subject === 'lti.frameResize')")
    frame = page.frame_locator("iframe")
    sentence = frame.locator('[data-slot="pair.sentence"]')

    frame.locator("label:has(input[name=query][value='3'])").click()
    change = {"type": "alibi-explorer:change", "heads": 6, "head": 0, "query": 3, "key": 0}
    page.wait_for_function(heard, arg=change)

    page.evaluate(
        """() => {
            const frame = document.querySelector("iframe").contentWindow
            for (const part of [{query: 9}, {query: "2"}, {head: 6}, {depth: 1}, {theme: "red"}]) {
                frame.postMessage({type: "alibi-explorer:set", ...part}, "*")
            }
            frame.postMessage({type: "alibi-explorer:set", head: 4, key: 1, theme: "dark"}, "*")
        }"""
    )
    expected = fill_all(calculate(Selection(6, 4, 3, 1)))["pair.sentence"]
    expect(sentence).to_have_text(re.sub("<[^>]+>", "", expected))
    expect(frame.locator(".alibi")).to_have_attribute("data-theme", "dark")
    changes = page.evaluate("heard.filter(({type}) => type === 'alibi-explorer:change').length")
    assert changes == 1, "what the host asked for itself is no news to it"
