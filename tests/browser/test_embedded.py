"""The explorer as one file, without a server: alone, offline, in frames, by keyboard, on paper."""

import base64
import gzip
import itertools
import json
import random
import re
from html import escape, unescape
from urllib.parse import quote, urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from alibi_core import Selection, calculate
from alibi_explorer.embed import embedded_page
from alibi_explorer.layout import SECTION_NAMES, View
from alibi_explorer.sections import fill_all
from alibi_explorer.state import nearest_selection, url_choice
from alibi_explorer.theme import DARK, LIGHT

EVERY = ", ".join(SECTION_NAMES)
NAMES = ("heads", "head", "query", "key")
ALLOWED = {"heads": 6, "head": 4, "query": 5, "key": 0}
MASKED = {"heads": 6, "head": 4, "query": 2, "key": 4}
CELL = "[data-slot='head.{}'] tr:nth-child(4) td"
GRIDS = ("bias", "alibi", "plain", "difference")
ROOT_ELEMENT = "document.documentElement"


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    """The file as `alibi-explorer embed` writes it, in a folder of its own."""
    file = tmp_path_factory.mktemp("file") / "explorer.html"
    file.write_text(embedded_page(), "utf-8")
    return file


@pytest.fixture
def embedded(page, file, embedded_of):
    """The file opened from the disk."""
    return embedded_of(page, file.as_uri())


@pytest.fixture(scope="session")
def site(file, serve_folder):
    """The address of the file's folder, served."""
    return serve_folder(file.parent)


@pytest.fixture
def host(page, file, site, embedded_of, request):
    """Opens a page around frames of the file that notes what they say; the explorers in them."""

    def open_host(*searches, attributes=""):
        frames = "".join(
            f'<iframe src="explorer.html{escape(search)}" title="Explorer {number}" '
            f'width="100%" height="300" style="border: 0" {attributes}></iframe>'
            for number, search in enumerate(searches or [""])
        )
        name = f"{re.sub(r'[^a-z0-9]+', '-', request.node.name)}.html"
        file.with_name(name).write_text(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Course</title>"
            "<script>const heard = []\n"
            "addEventListener('message', ({data, source}) =>"
            " heard.push({...data, from: Array.from(frames).indexOf(source)}))"
            f"</script><body>{frames}",
            "utf-8",
        )
        page.goto(f"{site}/{name}")
        frames = [
            embedded_of(frame.content_frame()) for frame in page.locator("iframe").element_handles()
        ]
        for embedded in frames:
            embedded.wait()
        return frames

    return open_host


def search(**asked):
    return "?" + urlencode(asked)


def heard(page, kind):
    """What the host has heard of one kind, oldest first."""
    return page.evaluate("(kind) => heard.filter(({type}) => type === kind)", kind)


def say(page, message, frame=0):
    """Send a message from the host into a frame."""
    page.evaluate("([message, frame]) => frames[frame].postMessage(message, '*')", [message, frame])


def settle(frame):
    """Let messages arrive and layouts follow: ten frames painted, and every task before them."""
    frame.evaluate("""async () => {
        for (let count = 0; count < 10; count += 1) {
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
        }
    }""")


# The same page as the served one


@pytest.fixture
def served_texts(browser, server):
    """What the served page says for a choice, slot by slot."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()

    def texts(choice):
        page.goto(server.url + search(**choice))
        return page.evaluate(TEXTS)

    yield texts
    context.close()


TEXTS = """() => Object.fromEntries([...document.querySelectorAll("[data-slot]")]
    .map((slot) => [slot.dataset.slot, slot.textContent]))"""


def test_every_choice_by_control(embedded, served_texts, choices):
    """From choice to choice, every slot shows what the core says and what the served page says."""
    embedded.open()
    embedded.shows()
    for choice in choices:
        embedded.choose(**choice)
        embedded.shows(**choice)
        said = embedded.page.evaluate(TEXTS)
        assert set(said) == set(fill_all(calculate(Selection())))
        assert said == served_texts(choice)


def test_a_stored_number_is_what_the_page_shows(page, tmp_path, embedded_of):
    """A number changed in the table is changed on the page: it looks up and never computes.

    "The mask and the bias" shows the weights of the head again, from the same blocks.
    """
    before, table, after = re.split(
        r'(?<=id="lesson">)(.*?)(?=</script>)', embedded_page(), maxsplit=1
    )
    lesson = json.loads(gzip.decompress(base64.b64decode(table)))

    def numbers(rows, place):
        """Of the blocks of one row: stored as differences, the first from the row before."""
        first = sum(row[0] for row in rows[:place] if row)
        return [*itertools.accumulate(rows[place], initial=first)][1:]

    places_of_blocks = [
        (form, at)
        for form, gaps in enumerate(lesson["blocks"])
        for at in range(len(gaps[0].split("\t")) if gaps else 1)
    ]
    slope = lesson["slopes"]["4"][0]
    places = {
        "pair.sentence": (slope * 6 + 5) * 6 + 0,
        "row.keys": slope * 6 + 5,
        "head.alibi": slope,
    }
    for slot, place in places.items():
        stored = []
        for number in numbers(lesson["slots"][slot]["rows"], place):
            form, at = places_of_blocks[number]
            for gap, column in enumerate(lesson["blocks"][form]):
                pieces = column.split("\t")
                if "20.0" in pieces[at]:
                    pieces[at] = pieces[at].replace("20.0", "77.7")
                    stored.append(pieces[at])
                    lesson["blocks"][form][gap] = "\t".join(pieces)
        assert len(stored) == 1
    changed = tmp_path / "changed.html"
    packed = base64.b64encode(gzip.compress(json.dumps(lesson).encode())).decode()
    changed.write_text(before + packed + after, "utf-8")

    embedded = embedded_of(page, changed.as_uri())
    embedded.open("?head=1&query=3&key=3")
    embedded.shows(head=1, query=3, key=3)
    embedded.choose(head=0, query=5, key=0)
    for slot in places:
        expect(embedded.slot(slot)).to_contain_text("77.7")
    differences = embedded.differences(heads=4, head=0, query=5, key=0)
    assert [line.split()[0] for line in differences] == [*places, "mask.weights"]


# Alone: from the disk, offline, under its own policy, without scripts, printed


def test_a_change_leaves_what_does_not_differ(embedded):
    """A row of the table stays the same element from choice to choice, and keeps its focus."""
    embedded.open()
    page = embedded.page
    button = embedded.slot("row.keys").locator("button").nth(1)
    button.focus()
    page.evaluate("window.row = document.activeElement.closest('tr')")
    for query in (3, 0, 5):
        page.evaluate(
            """(query) => {
                const radio = document.querySelector(`input[name=query][value="${query}"]`)
                radio.checked = true
                radio.dispatchEvent(new Event("change", {bubbles: true}))
            }""",
            query,
        )
        embedded.shows(query=query)
        assert page.evaluate("window.row === document.activeElement.closest('tr')")
        assert page.evaluate("window.row.classList.contains('masked')") == (query < 1)


def test_without_network(embedded):
    """From the disk with the network off it works, and asks for nothing but itself."""
    asked = []
    embedded.page.on("request", lambda request: asked.append(request.url))
    embedded.page.context.set_offline(True)
    embedded.open(search(**MASKED))
    embedded.shows(**MASKED)
    embedded.choose(**ALLOWED)
    embedded.shows(**ALLOWED)
    assert asked == [embedded.url + search(**MASKED)]


VIOLATIONS = """
window.violations = []
document.addEventListener("securitypolicyviolation", ({violatedDirective, sample, blockedURI}) =>
  violations.push([violatedDirective, blockedURI, sample]))
"""


def test_its_policy_refuses_nothing_of_its_own(embedded, choices):
    """Every control changes the page without one violation of the file's own policy."""
    page = embedded.page
    page.add_init_script(VIOLATIONS)
    embedded.open("?query=9&theme=dark&sections=pair,row,head,heads")
    embedded.open_details()
    for choice in choices[:4]:
        embedded.choose(**choice)
        embedded.shows(**choice)
    embedded.select("theme", "light")
    page.locator(".row button").last.click()
    page.locator(".card").last.click()
    for table in page.locator("table:has(tbody)").filter(visible=True).all():
        table.locator("tbody td").last.click()
    for button in page.locator("[data-copy]").filter(visible=True).all():
        button.click()
    assert page.evaluate("violations") == []


def test_its_policy_refuses_what_is_not_its_own(embedded, allowed_problems):
    """A script, a style, a picture or a request that comes in from elsewhere is refused."""
    page = embedded.page
    page.add_init_script(VIOLATIONS)
    embedded.open()
    page.evaluate("""async () => {
        const add = (name, properties) =>
            document.body.append(Object.assign(document.createElement(name), properties))
        add("script", {textContent: "window.injected = true"})
        add("style", {textContent: ".alibi { display: none }"})
        add("img", {src: "data:image/gif;base64,R0lGODlhAQABAAAAACw="})
        add("p", {innerHTML: "<b style='color: red' onclick='injected = true'>x</b>"})
        document.querySelector("b[style]").click()
        await fetch("data:,x").catch(() => {})
    }""")
    refused = {directive for directive, *_ in page.evaluate("violations")}
    assert refused == {
        "script-src-elem",
        "script-src-attr",
        "style-src-elem",
        "style-src-attr",
        "img-src",
        "connect-src",
    }
    assert page.evaluate("window.injected") is None
    allowed_problems.append("Content Security Policy")


@pytest.mark.browser_context_args(java_script_enabled=False)
def test_without_scripts(page, tmp_path, embedded_of):
    """With JavaScript off the opening state is a static page, with a line that says so."""
    selection = Selection(num_heads=6, head=4, query=3, key=1)
    view = View(("row", "pair"), ("query",), "dark", title=False)
    static = tmp_path / "static.html"
    static.write_text(embedded_page(selection, view), "utf-8")
    embedded = embedded_of(page, static.as_uri())
    page.goto(static.as_uri())
    for name, html in fill_all(calculate(selection)).items():
        text = unescape(re.sub("<[^>]*>", "", html))
        assert embedded.slot(name).first.text_content() == text
    line = page.locator("noscript p")
    expect(line).to_have_text(re.compile("^Scripts are off in this browser"))
    expect(line).to_be_visible()
    assert visible(page, "section") == ["row", "pair"]
    assert visible(page, "control") == ["query"]
    expect(page.locator(".title")).to_be_hidden()
    expect(page.locator("body")).to_have_css("background-color", rgb(DARK.page))
    for name, value in url_choice(selection).items():
        expect(embedded.control(name)).to_have_value(str(value))


def visible(page, kind):
    """Names of the sections or controls that are shown, in the order of the document."""
    return [
        element.get_attribute(f"data-{kind}")
        for element in page.locator(f"[data-{kind}]").all()
        if element.is_visible()
    ]


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


@pytest.mark.parametrize(
    ("scheme", "theme"), [("light", "auto"), ("dark", "auto"), ("light", "dark")]
)
def test_print(embedded, tmp_path, scheme, theme):
    """On paper all tables are open, light, and without what only a screen can use."""
    page = embedded.page
    page.emulate_media(color_scheme=scheme)
    embedded.open(f"{search(**ALLOWED)}&theme={theme}")
    assert page.locator("details:not([open])").count() > 0
    page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=True)
    printed = (tmp_path / "page.pdf").read_bytes()
    assert 20_000 < len(printed) < 2_000_000
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 14
    expect(page.locator("details:not([open])")).to_have_count(0)

    page.set_viewport_size({"width": 718, "height": 1000})  # A4 with margins
    page.emulate_media(media="print", color_scheme=scheme)
    for name in (".selects", ".theme", ".share", ".notice"):
        expect(page.locator(name)).to_be_hidden()
    for name in ("pair.sentence", "row.keys", "head.alibi", "heads.weights"):
        expect(embedded.slot(name)).to_be_visible()
    expect(page.locator(".alibi")).to_have_css("color", rgb(LIGHT.text))
    expect(page.locator("body")).to_have_css("background-color", rgb(LIGHT.page))
    assert page.evaluate(f"{ROOT_ELEMENT}.scrollWidth <= {ROOT_ELEMENT}.clientWidth")


# The URL

VIEWS = {
    "two sections in another order": ("sections=row,pair", {"section": ["row", "pair"]}, ""),
    "one section": ("sections=heads", {"section": ["heads"]}, ""),
    "spaces and a repeated name": ("sections= row,%20pair,row,", {"section": ["row", "pair"]}, ""),
    "a section that does not exist": (
        "sections=pair,rows",
        {"section": ["pair"]},
        f"Sections “rows” is not one of {EVERY}.",
    ),
    "no section that exists": (
        "sections=<b>x</b>",
        {"section": list(SECTION_NAMES)},
        f"Sections “<b>x</b>” is not one of {EVERY}.",
    ),
    "an empty list of sections": (
        "sections=",
        {"section": list(SECTION_NAMES)},
        f"Sections “” is not one of {EVERY}.",
    ),
    "two controls": ("controls=query,key", {"control": ["query", "key"]}, ""),
    "one list": ("controls=head", {"control": ["head"]}, ""),
    "no controls": ("controls=none", {"control": []}, ""),
    "a dark theme": ("theme=dark", {"theme": "dark"}, ""),
    "a light theme": ("theme=light", {"theme": "light"}, ""),
    "no theme that exists": (
        "theme=Dark",
        {"theme": "auto"},
        "Theme “Dark” is not one of auto, light, dark.",
    ),
    "no title": ("title=off", {"title": False}, ""),
    "a title": ("title=on", {"title": True}, ""),
    "neither": ("title=no", {"title": True}, "Title “no” is not one of on, off."),
    "the last of a repeated name": (
        "theme=light&theme=dark&sections=pair&sections=row",
        {"theme": "dark", "section": ["row"]},
        "",
    ),
    "several faults": (
        "query=9&theme=x&title=",
        {"theme": "auto", "title": True},
        "Query “9” is not one of 0 to 5, so 5 is shown. "
        "Theme “x” is not one of auto, light, dark; title “” is not one of on, off.",
    ),
}


@pytest.mark.parametrize("case", VIEWS)
def test_view_by_url(embedded, case):
    """The URL says which sections, controls, theme and title are shown; what is not known is."""
    asked, wanted, notice = VIEWS[case]
    page = embedded.page
    page.emulate_media(color_scheme="light")
    embedded.open(f"?{asked}")
    embedded.shows()
    expect(page.locator(".notice")).to_have_text(notice)
    if "section" in wanted:
        assert visible(page, "section") == wanted["section"]
    if "control" in wanted:
        shown = [name for name in visible(page, "control") if name in (*NAMES, "theme")]
        assert sorted(shown) == sorted(wanted["control"])
    if "theme" in wanted:
        assert page.locator(".alibi").get_attribute("data-theme") == wanted["theme"]
        palette = DARK if wanted["theme"] == "dark" else LIGHT
        expect(page.locator("body")).to_have_css("background-color", rgb(palette.page))
        expect(embedded.control("theme")).to_have_value(wanted["theme"])
    if "title" in wanted:
        expect(page.locator(".title")).to_be_visible(visible=wanted["title"])


NASTY = [
    *("", " ", "05", "5 ", "+3", "--3", "2.5", "0.5", "4.5", "2.", ".5", ".", "-0", "0x5", "1e1"),
    *("1e999", "-1e999", "1e-999", "1E0", "1e", "nan", "Infinity", "1_0", "1,5", "٣", "３", "²"),
    *("−1", "16", "17", "true", "null", "\0", "\t3", "3\n", "\x1b[31m", "\x7f\x80\x9f", "\u202e5"),
    *("\ufeff5", "\u2028", "5\u00a0", "🙂" * 30, "e\u0301", "x" * 24, "x" * 25, "9" * 4000),
    *(
        "0" * 400 + "3",
        "__proto__",
        "<b>1</b>",
        "${1}",
        "{name}",
        "$&",
        "a&b=c",
        "0.49999999999999994",
    ),
]


def test_the_url_is_read_as_the_server_reads_it(embedded):
    """Any value of any name gives the choice and the line that the served page gives for it."""
    page = embedded.page
    for number in range(len(NASTY)):
        values = NASTY[number:] + NASTY[:number]
        asked = dict(zip(NAMES, values[:4], strict=True))
        selection, notice = nearest_selection(asked)
        embedded.open("?" + urlencode(asked, quote_via=quote))
        said = page.locator(".notice").text_content()
        assert [embedded.choice(), said] == [url_choice(selection), notice], asked
    embedded.shows(**url_choice(selection))
    assert page.locator(".notice *").count() == 0
    asked = {"length": "1000", "padding": "9", "far": "x"}  # of lists with gaps
    embedded.open("?" + urlencode(asked))
    expect(page.locator(".notice")).to_have_text(nearest_selection(asked)[1])


def test_the_last_of_a_repeated_name_counts(embedded):
    """Where the URL repeats a name the last one counts, as on the served page."""
    embedded.open("?query=1&key=9&query=3&key=2&HEADS=7&heads[]=8&constructor=1")
    embedded.shows(query=3, key=2)
    expect(embedded.page.locator(".notice")).to_have_text("")


@pytest.mark.parametrize("name", [*NAMES, "sections", "controls", "theme", "title", "x"])
@pytest.mark.parametrize(
    "attack", ["<script>injected = 1</script>", "<img src=x onerror=injected=1>"]
)
def test_nothing_of_the_url_becomes_html(embedded, name, attack):
    """Markup in the URL is shown as text, or not at all."""
    page = embedded.page
    page.add_init_script(VIOLATIONS)
    embedded.open(search(**{name: attack}))
    embedded.shows()
    said = page.locator(".notice").text_content()
    assert (f"“{attack[:23]}…” is not" in said) is (name != "x")
    assert page.locator(".notice *").count() == 0
    assert page.evaluate("[window.injected, violations, document.images.length]") == [None, [], 0]


def test_a_bad_url_is_forgotten_with_the_next_choice(embedded):
    """The line goes away with the next choice, and the URL then holds the choice."""
    embedded.open("?query=9&note=a%26b#section-row")
    embedded.choose(key=2)
    embedded.shows(key=2)
    expect(embedded.page.locator(".notice")).to_have_text("")
    held = "?query=5&note=a%26b&heads=4&head=0&key=2#section-row"
    embedded.page.wait_for_function("(held) => location.href.endsWith(held)", arg=held)
    embedded.page.reload()
    embedded.shows(key=2)


# The page around it


def test_a_sandboxed_frame(host, page):
    """With scripts and nothing else allowed it changes by click and key; copying is by hand."""
    (embedded,) = host("?heads=6", attributes='sandbox="allow-scripts"')
    assert embedded.page.evaluate("origin") == "null"
    embedded.choose(query=3)
    embedded.shows(heads=6, query=3)
    embedded.control("key").focus()
    page.keyboard.press("ArrowRight")
    embedded.shows(heads=6, query=3, key=1)
    choice = {"heads": 6, "head": 0, "query": 3, "key": 1}
    for button, start in (("Copy link", "http://"), ("Copy embed code", '<iframe src="http://')):
        embedded.page.get_by_role("button", name=button).click()
        by_hand = embedded.page.locator(".controls").get_by_label("Copying is not allowed here")
        expect(by_hand).to_have_value(re.compile("^" + re.escape(start)))
        for name, value in choice.items():
            assert re.search(rf"[?;&]{name}={value}\b", by_hand.input_value())
        expect(by_hand).to_be_focused()
        selected = "({selectionStart, selectionEnd}) => selectionEnd - selectionStart"
        assert by_hand.evaluate(selected) == len(by_hand.input_value())


def test_the_frame_gets_the_height_of_its_content(host, page):
    """Height goes out once ready and at each change of size, in both forms, and comes to rest."""
    (embedded,) = host()
    follow = """() => addEventListener("message", ({data}) => {
        if (data.type === "alibi-explorer:height") {
            document.querySelector("iframe").style.height = `${data.height}px`
        }
    })"""
    page.evaluate(follow)
    settle(embedded.page)
    first = heard(page, "alibi-explorer:height")[-1]["height"]
    page.evaluate(
        "(height) => document.querySelector('iframe').style.height = height", f"{first}px"
    )
    heights = [first]
    for change in (
        lambda: page.set_viewport_size({"width": 700, "height": 800}),
        lambda: page.set_viewport_size({"width": 320, "height": 800}),
        lambda: embedded.page.locator("summary").last.click(),
        lambda: page.set_viewport_size({"width": 1280, "height": 800}),
        lambda: say(page, {"type": "alibi-explorer:set", "heads": 16}),
    ):
        settle(embedded.page)
        before = len(heard(page, "alibi-explorer:height"))
        inside = embedded.page.evaluate(
            f"[{ROOT_ELEMENT}.scrollHeight, {ROOT_ELEMENT}.clientHeight, "
            f"{ROOT_ELEMENT}.getBoundingClientRect().height, innerHeight]"
        )
        assert inside[0] == inside[1] == inside[3] == heights[-1], "the frame scrolls"
        assert inside[3] - 1 < inside[2] <= inside[3], "the frame is higher than its content"
        settle(embedded.page)
        assert len(heard(page, "alibi-explorer:height")) == before, "the height feeds itself"
        change()
        embedded.page.locator(".heads").scroll_into_view_if_needed()  # what is near has its height
        page.wait_for_function(
            "(count) => heard.filter(({type}) => type === 'alibi-explorer:height').length > count",
            arg=before,
        )
        settle(embedded.page)
        heights.append(heard(page, "alibi-explorer:height")[-1]["height"])
    assert len(set(heights)) >= 4
    canvas = page.evaluate("heard.filter(({subject}) => subject === 'lti.frameResize')")
    assert canvas == [
        {"subject": "lti.frameResize", "height": message["height"], "from": 0}
        for message in heard(page, "alibi-explorer:height")
    ]


def test_a_message_of_the_host_changes_the_choice(host, page):
    """The host sets parts of the choice and the theme; that is no change by the reader."""
    (embedded,) = host()
    theme = embedded.page.locator(".alibi")
    for message, choice, shown in (
        ({"query": 3, "theme": "dark"}, {"query": 3}, "dark"),
        ({"heads": 6, "head": 5}, {"heads": 6, "head": 5, "query": 3}, "dark"),
        ({"heads": 2}, {"heads": 2, "query": 3}, "dark"),
        (
            {"head": 1, "key": 5, "theme": "auto"},
            {"heads": 2, "head": 1, "query": 3, "key": 5},
            "auto",
        ),
        ({"theme": "light"}, {"heads": 2, "head": 1, "query": 3, "key": 5}, "light"),
    ):
        say(page, {"type": "alibi-explorer:set", **message})
        embedded.shows(**choice)
        expect(theme).to_have_attribute("data-theme", shown)
        expect(embedded.page.locator("select[name=theme]")).to_have_value(shown)
    settle(embedded.page)
    assert heard(page, "alibi-explorer:change") == []


def test_a_message_that_changes_the_choice_takes_the_notice_away(host, page):
    """What was said of a bad URL does not stand beside another choice."""
    (embedded,) = host("?query=9")
    expect(embedded.page.locator(".notice")).to_have_text(re.compile("so 5 is shown"))
    say(page, {"type": "alibi-explorer:set", "query": 3})
    embedded.shows(query=3)
    expect(embedded.page.locator(".notice")).to_have_text("")


SET = 'type: "alibi-explorer:set"'
MALFORMED = [
    *("null", "undefined", "0", "NaN", "true", '""', '"alibi-explorer:set"', "10n", "new Date()"),
    *(
        "[]",
        '["alibi-explorer:set"]',
        "{}",
        "{query: 3}",
        "new Map([['query', 3]])",
        "[{query: 3}]",
    ),
    *("{type: null, query: 3}", '{type: ["alibi-explorer:set"], query: 3}'),
    *('{type: "alibi-explorer:SET", query: 3}', '{type: "alibi-explorer:change", query: 3}'),
    *('{type: "alibi-explorer:height", height: 3}', '{subject: "lti.frameResize", height: 3}'),
    *(f"{{{SET}, query: {value}}}" for value in ('"3"', "9", "-1", "2.5", "NaN", "null", "true")),
    *(f"{{{SET}, query: {value}}}" for value in ("[3]", "{}", "3n", "new Number(3)", "undefined")),
    *(f"{{{SET}, {part}}}" for part in ("heads: 0", "heads: 17", "head: 4", "key: Infinity")),
    *(f"{{{SET}, {part}}}" for part in ("heads: 2, head: 2", 'heads: "2", head: 1', "slope: 0.5")),
    *(f"{{{SET}, query: 3, {part}}}" for part in ("key: 6", "colour: 1", "constructor: 1")),
    *(f"{{{SET}, query: 3, theme: {value}}}" for value in ('"sepia"', "null", "1", '["dark"]')),
    *(f"{{{SET}, query: 3, {part}}}" for part in ('["__proto__"]: {}', '["__proto__"]: 3')),
    *(f"{{{SET}, {part}}}" for part in ('theme: "<img>"', "toString: 3", "num_heads: 6")),
    f"Object.assign([], {{{SET}, 0: 3}})",
]


def test_malformed_messages_change_nothing(host, page):
    """What is no sound message of the host is ignored as a whole, without an error."""
    (embedded,) = host("?theme=light")
    html = embedded.page.evaluate("document.body.innerHTML")
    for message in MALFORMED:
        page.evaluate(f"() => frames[0].postMessage({message}, '*')")
    settle(embedded.page)
    embedded.shows()
    assert embedded.page.evaluate("document.body.innerHTML") == html
    assert embedded.page.evaluate("({}).query") is None
    say(page, {"type": "alibi-explorer:set", "query": 3})
    embedded.shows(query=3)


def test_messages_of_others_change_nothing(host, page):
    """Only the page around may set the choice: not a neighbour in it, nor the frame itself."""
    first, second = host("", "?query=2")
    message = '{type: "alibi-explorer:set", query: 3, theme: "dark"}'
    second.page.evaluate(f"() => parent.frames[0].postMessage({message}, '*')")
    first.page.evaluate(f"() => window.postMessage({message}, '*')")
    settle(first.page)
    first.shows()
    second.shows(query=2)
    expect(first.page.locator(".alibi")).to_have_attribute("data-theme", "auto")


def test_the_host_hears_of_each_change_by_the_reader(host, page):
    """After each change the host is told the whole choice, however the reader made it."""
    (embedded,) = host("?heads=6&head=4")
    inside = embedded.page
    choice = {"heads": 6, "head": 4, "query": 5, "key": 0}
    for change, part in (
        (lambda: embedded.choose(query=3), {"query": 3}),
        (lambda: page.keyboard.press("ArrowLeft"), {"query": 2}),
        (lambda: embedded.select("head", 1), {"head": 1}),
        (lambda: inside.locator(".row tr[data-key='1'] button").click(), {"key": 1}),
        (lambda: inside.locator(".card").nth(5).click(), {"head": 5}),
        (
            lambda: embedded.slot("head.plain").locator("td").nth(3 * 6 + 2).click(),
            {"query": 3, "key": 2},
        ),
        (lambda: embedded.select("heads", 4), {"heads": 4, "head": 0}),
    ):
        count = len(heard(page, "alibi-explorer:change"))
        change()
        choice |= part
        embedded.shows(**choice)
        page.wait_for_function(
            "(count) => heard.filter(({type}) => type === 'alibi-explorer:change').length > count",
            arg=count,
        )
        assert heard(page, "alibi-explorer:change")[count:] == [
            {"type": "alibi-explorer:change", **choice, "from": 0}
        ]


def test_alone_it_tells_nobody(embedded):
    """Opened by itself it sends no message, not even to itself."""
    embedded.page.add_init_script("window.heard = []; addEventListener('message', heard.push)")
    embedded.open()
    embedded.choose(query=3)
    settle(embedded.page)
    assert embedded.page.evaluate("heard") == []


def test_three_on_one_page(host, page):
    """Three frames of the file keep their own choices; a change in one is a change in one."""
    choices = [
        {"heads": 4, "head": 0, "query": 5, "key": 0},
        {"heads": 6, "head": 4, "query": 2, "key": 1},
        {"heads": 16, "head": 9, "query": 3, "key": 5},
    ]
    explorers = host(*(search(**choice) for choice in choices))
    for number, change in ((1, {"query": 4}), (0, {"key": 3}), (2, {"head": 2})):
        explorers[number].choose(**change)
        choices[number] |= change
        for explorer, choice in zip(explorers, choices, strict=True):
            explorer.shows(**choice)
    say(page, {"type": "alibi-explorer:set", "heads": 7}, frame=2)
    choices[2] |= {"heads": 7}
    for explorer, choice in zip(explorers, choices, strict=True):
        explorer.shows(**choice)


def test_the_copied_link_opens_the_choice(page, site, embedded_of):
    """Copy link puts an address on the clipboard that opens the same choice in the same view."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    embedded = embedded_of(page, f"{site}/explorer.html")
    embedded.open("?sections=row,pair&query=9&note=%22%26")
    embedded.choose(**MASKED)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".share [role=status]")).to_have_text("Copied.")
    expect(page.locator(".controls textarea")).to_be_hidden()
    address = page.evaluate("navigator.clipboard.readText()")
    embedded_of(page, address).open()
    embedded.shows(**MASKED)
    assert visible(page, "section") == ["row", "pair"]
    expect(page.locator(".notice")).to_have_text("")


def test_the_copied_link_has_the_theme(page, tmp_path, embedded_of):
    """A theme other than the file's own is in the link, auto as well; its own is not."""
    dark = tmp_path / "dark.html"
    dark.write_text(embedded_page(view=View(theme="dark")), "utf-8")
    embedded = embedded_of(page, dark.as_uri())
    embedded.open()
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    for theme, asked in (("auto", "&theme=auto"), ("light", "&theme=light"), ("dark", "")):
        embedded.control("theme").select_option(theme)
        page.get_by_role("button", name="Copy link").click()
        assert page.evaluate("copied").endswith(f"?heads=4&head=0&query=5&key=0{asked}")


def test_the_copied_code_embeds_the_choice(page, site, file, embedded_of):
    """Copy embed code puts a frame on the clipboard that opens the same choice in any page."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    embedded = embedded_of(page, f"{site}/explorer.html")
    embedded.open("?note=%22%3E%26amp;")
    embedded.choose(**MASKED)
    page.get_by_role("button", name="Copy embed code").click()
    expect(page.locator(".share [role=status]")).to_have_text("Copied.")
    code = page.evaluate("navigator.clipboard.readText()")
    assert code.startswith("<iframe ")
    assert code.endswith("></iframe>")
    assert not re.search("&(?!amp;)", code)
    file.with_name("pasted.html").write_text(f"<!doctype html><title>Course</title>{code}", "utf-8")
    page.goto(f"{site}/pasted.html")
    assert page.locator("body > *").count() == 1
    frame = page.locator("iframe")
    embedded_of(frame.element_handle().content_frame()).shows(**MASKED)
    assert frame.get_attribute("title") == "ALiBi explorer"


# Keyboard


def test_tab_reaches_everything(embedded):
    """Tab goes through all controls and tables in reading order and always shows where it is."""
    embedded.open("?heads=2")
    stops, hidden = [], []
    for _ in range(250):
        embedded.page.keyboard.press("Tab")
        name, outline = embedded.page.evaluate("probe.focused()")
        if name == "body":
            break
        if outline == 0:
            hidden.append(name)
        if name == "details" and not embedded.page.evaluate(
            "document.activeElement.parentElement.open"
        ):
            embedded.page.keyboard.press("Enter")
        if stops[-1:] != [name]:
            stops.append(name)
    assert name == "body"
    assert hidden == []
    controls = ["details", "link", "button", "theme", "query", "key", "heads", "head", "button"]
    tables = ["key row", "grid cell", "details", "head row", "details", "card"]
    single = ["button", "other", "equal", "grid cell", "count", "button"]
    single += ["details", "button", "far", "padding", "length", "question", "button", "details"]
    code = 4 * ["details", "button"]
    assert embedded.page.locator("section details:not([open])").count() == 0
    assert [stop for stop in stops if stop != "table"] == controls + tables + single + code


@pytest.mark.parametrize("grid", GRIDS)
def test_keyboard_through_every_cell(embedded, grid):
    """The arrows reach all 36 cells of a grid, Enter chooses each, the sentence follows."""
    page = embedded.page
    embedded.open("?query=0&key=0")
    table = embedded.slot(f"head.{grid}")
    expect(table.locator("td[tabindex='0']")).to_have_count(1)
    table.locator("td[tabindex='0']").focus()
    sentence = embedded.slot("pair.sentence").element_handle()
    walk = 5 * [*(5 * ["ArrowRight"]), "ArrowDown", "Home"] + 5 * ["ArrowRight"]
    places = [(query, key) for query in range(6) for key in range(6)]
    presses = ["", *(press for press in walk if press != "Home")]
    assert len(presses) == len(places)
    for (query, key), press in zip(places, presses, strict=True):
        for part in (press, "Home" if press == "ArrowDown" else ""):
            if part:
                page.keyboard.press(part)
        name, outline = page.evaluate("probe.focused()")
        assert (name, outline) == ("grid cell", 3)
        page.keyboard.press("Enter")
        embedded.shows(query=query, key=key)
        assert focused_cell(table) == [str(query), str(key)]
        fills = fill_all(calculate(Selection(query=query, key=key)))
        assert sentence.inner_html() == fills["pair.sentence"]


def focused_cell(table):
    """Query and key of the cell that has the focus, which is the one tab stop of its table."""
    return table.evaluate("""(table) => {
        const cells = table.querySelectorAll("td[tabindex='0']")
        const {query, key} = table.querySelector("td:focus").dataset
        return cells.length === 1 && cells[0].matches(":focus") ? [query, key] : [cells.length]
    }""")


def test_keyboard_at_the_edges_of_a_grid(embedded):
    """Home and End go to the ends of the row, arrows stop at the edges, other keys are free."""
    embedded.open("?query=2&key=1")
    table = embedded.slot("head.difference")
    table.locator("td[tabindex='0']").focus()
    for press, place in (
        ("End", ["2", "5"]),
        ("ArrowRight", ["2", "5"]),
        ("Home", ["2", "0"]),
        ("ArrowLeft", ["2", "0"]),
        ("ArrowUp", ["1", "0"]),
        ("ArrowUp", ["0", "0"]),
        ("ArrowUp", ["0", "0"]),
        ("Control+End", ["0", "0"]),
        ("x", ["0", "0"]),
    ):
        embedded.page.keyboard.press(press)
        assert focused_cell(table) == place, press
    embedded.shows(query=2, key=1)
    for _ in range(6):
        embedded.page.keyboard.press("ArrowDown")
    embedded.page.keyboard.press("Space")
    embedded.shows(query=5, key=0)
    assert focused_cell(table) == ["5", "0"]


@pytest.mark.parametrize(
    ("target", "press", "choice"),
    [
        ("input[name=query]:checked", "ArrowLeft", {"query": 4}),
        ("input[name=key]:checked", "ArrowRight", {"key": 1}),
        ("select[name=heads]", "ArrowDown", {"heads": 7}),
        ("select[name=head]", "ArrowDown", {"head": 1}),
        (".row tr[data-key='2'] button", "Enter", {"key": 2}),
        (".row tr[data-key='3'] button", "Space", {"key": 3}),
        (".heads tr[data-head='3'] button", "Enter", {"head": 3}),
        (".card[data-head='4']", "Enter", {"head": 4}),
        (".card[data-head='5']", "Space", {"head": 5}),
        (f"{CELL.format('bias')}:nth-child(3)", "Enter", {"query": 3, "key": 1}),
        (f"{CELL.format('plain')}:nth-child(6)", "Space", {"query": 3, "key": 4}),
    ],
)
def test_a_change_keeps_the_focus(embedded, target, press, choice):
    """After a change by key the focus is seen where it was: same control, row, card or cell."""
    embedded.open("?heads=6")
    embedded.page.locator(target).focus()
    embedded.page.keyboard.press(press)
    embedded.shows(**({"heads": 6} | choice))
    expect(embedded.page.locator(target)).to_be_focused()
    assert embedded.page.evaluate("probe.focused()")[1] >= 2


# Every reader


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe(embedded, width, scheme):
    """axe finds nothing: wide or narrow, light or dark, masked or not, everything or one table."""
    page = embedded.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for view in ({}, {"sections": "row", "controls": "none"}):
        for choice in (ALLOWED, MASKED):
            embedded.open(search(**choice, **view))
            if choice is MASKED:
                embedded.open_details()
            assert axe(page) == [], (view, choice)


def axe(page):
    return [
        (violation["id"], violation["impact"], [node["html"][:120] for node in violation["nodes"]])
        for violation in Axe().run(page).response["violations"]
    ]


def test_axe_in_a_frame_without_its_title(host, page):
    """In a course page, with the title left out, axe finds nothing either."""
    (embedded,) = host("?title=off&theme=dark")
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
    assert found.response["violations"] == []
    embedded.shows()


def test_forced_colours(embedded):
    """Where the system sets the colours what is chosen has an outline, and the rest has none."""
    embedded.page.emulate_media(forced_colors="active")
    embedded.open(search(**ALLOWED))
    for chosen, other in (
        (".query input:checked + .chip", ".query input:not(:checked) + .chip"),
        (".key input:checked + .chip", ".key input:not(:checked) + .chip"),
        ("[role=grid] td[aria-current]", "[role=grid] td:not([aria-current])"),
        (".card[aria-current]", ".card:not([aria-current])"),
        (".row tr[aria-current]", ".row tr:not([aria-current])"),
    ):
        for name, width in ((chosen, "3px"), (other, None)):
            element = embedded.page.locator(name).first
            if width:
                expect(element).to_have_css("outline-width", width)
                expect(element).to_have_css("outline-style", "solid")
            else:
                expect(element).to_have_css("outline-style", "none")


def test_nothing_moves_by_itself(embedded):
    """No reader has to ask for less motion: there is none."""
    embedded.open()
    assert embedded.page.evaluate("probe.moving()") == 0


def test_a_host_that_does_not_wait(host, page):
    """A message that arrives before the script has begun is heard once it has."""
    (embedded,) = host()
    page.evaluate("""() => {
        const frame = document.querySelector("iframe")
        const set = {type: "alibi-explorer:set", query: 2}
        const early = () => frame.contentWindow.postMessage(set, "*")
        return new Promise((done) => {
            frame.addEventListener("load", () => { early(); done() }, {once: true})
            frame.contentWindow.location.reload()
        })
    }""")
    embedded.wait()
    embedded.shows(query=2)


CROWDED = """() => {
    const within = (names) => `:is(.masthead, .controls) :is(${names})`
    const parts = [...document.querySelectorAll(
        within("h1, legend, select, button, textarea, .chip, .chip > *"))]
        .filter((part) => part.checkVisibility({visibilityProperty: true}))
        .map((part) => [part, part.textContent.trim(), part.getBoundingClientRect()])
    const found = []
    const apart = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 4  // lines have air
    for (const [one, text, a] of parts) {
        const cut = one.matches(".chip, button") && one.scrollWidth > one.clientWidth
        if (cut) found.push(`${text} is cut short`)
        for (const [other, covered, b] of parts) {
            if (one.contains(other) || other.contains(one) || apart(a, b) || apart(b, a)) continue
            found.push(`${text} lies on ${covered}`)
        }
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        const {currentNode: node} = texts
        if (!node.parentElement.closest(within("h1, label, legend, button"))) continue
        for (const {index, 0: word} of node.data.matchAll(/\\S+/g)) {
            const range = document.createRange()
            range.setStart(node, index)
            range.setEnd(node, index + word.length)
            if (range.getClientRects().length > 1) found.push(`${word} is broken in two`)
        }
    }
    return found
}"""
"""Controls that overlap, are cut short or break a word, in words."""


@pytest.mark.parametrize(
    ("width", "text"), [(1280, 16), (1280, 32), (768, 32), (640, 16), (390, 16), (320, 16)]
)
def test_zoom(embedded, width, text):
    """With text of 200 %, and at 400 % zoom, nothing scrolls sideways, overlaps or is cut."""
    page = embedded.page
    page.set_viewport_size({"width": width, "height": 800})
    browser_settings = page.context.new_cdp_session(page)
    browser_settings.send("Page.setFontSizes", {"fontSizes": {"standard": text}})
    for choice in (ALLOWED, MASKED | {"heads": 16, "head": 15}):
        embedded.open(search(**choice))
        assert page.evaluate(f"getComputedStyle({ROOT_ELEMENT}).fontSize") == f"{text}px"
        embedded.open_details()
        page.get_by_role("button", name="Copy link").click()
        assert page.evaluate(f"{ROOT_ELEMENT}.scrollWidth <= {ROOT_ELEMENT}.clientWidth")
        assert page.evaluate(CROWDED) == []


def test_touch(browser, browser_context_args, watch, file, embedded_of):
    """On a phone everything to touch is at least 44 pixels high, and a tap chooses it."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context = browser.new_context(**browser_context_args | phone)
    page = watch(context.new_page())
    embedded = embedded_of(page, file.as_uri())
    embedded.open("?heads=16")
    embedded.open_details()
    small = page.evaluate("""() =>
        [...document.querySelectorAll(".chip, select, button, summary, [role=grid] td")]
            .filter((target) => target.checkVisibility())
            .map((target) => target.closest("tr[data-pick]") ?? target)
            .map((target) => [target.textContent.trim(), target.getBoundingClientRect().height])
            .filter(([text, height]) => height < 44)""")
    assert small == []
    embedded.chip("query", 3).tap()
    embedded.shows(heads=16, query=3)
    page.locator(".card").nth(9).tap()
    page.locator(".row tr[data-key='2']").tap()
    embedded.shows(heads=16, head=9, query=3, key=2)
    embedded.slot("head.bias").locator("td").nth(2 * 6 + 1).tap()
    embedded.shows(heads=16, head=9, query=2, key=1)
    context.close()


@pytest.mark.parametrize("slot", ["head.alibi", "heads.weights", "row.keys"])
def test_numbers_stand_in_line(embedded, slot):
    """All numbers of a table are aligned alike, so that columns can be compared."""
    embedded.open()
    embedded.open_details()
    aligned = "(cells) => [...new Set(cells.map((cell) => getComputedStyle(cell).textAlign))]"
    assert len(embedded.slot(slot).locator("td").evaluate_all(aligned)) == 1


# Anything at all

KEYS = (
    *("Tab", "Tab", "Shift+Tab", "Enter", "Space", "Home", "End", "Escape", "1", "x"),
    *("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"),
)
TARGETS = (
    ".token, tr[data-pick] td, tr[data-pick] button, .card, [role=grid] td, summary, [data-copy]"
)


@pytest.mark.parametrize("seed", [1, 2])
def test_anything_at_all(host, page, seed):
    """Random keys, clicks, messages and URLs: no error, and never a state the core has not."""
    draw = random.Random(seed)
    (embedded,) = host()
    inside = embedded.page

    def press():
        for key in draw.choices(KEYS, k=4):
            page.keyboard.press(key)

    def click():
        shown = inside.locator(TARGETS).locator("visible=true")
        shown.nth(draw.randrange(shown.count())).click()

    def select():
        name = draw.choice(["heads", "head", "theme"])
        options = inside.locator(f"select[name={name}] option")
        embedded.select(
            name,
            options.nth(draw.randrange(options.count())).get_attribute("value")
            or options.nth(0).text_content(),
        )

    def send():
        if draw.random() < 0.5:
            page.evaluate(f"() => frames[0].postMessage({draw.choice(MALFORMED)}, '*')")
        else:
            part = {name: draw.randrange(6) for name in draw.sample(NAMES, draw.randint(0, 4))}
            say(page, {"type": "alibi-explorer:set", **part})
        settle_once(inside)

    def load():
        asked = {name: draw.choice([*NASTY[:40], "1", "3"]) for name in draw.sample(NAMES, 2)}
        inside.goto(embedded.url.split("?")[0] + search(**asked))
        embedded.wait()

    for _ in range(15):
        for act in draw.choices((press, click, select, send, load), (6, 6, 2, 3, 1), k=10):
            act()
        choice = embedded.choice()
        assert embedded.differences(**choice) == []


def settle_once(frame):
    frame.evaluate("new Promise((done) => setTimeout(done))")
