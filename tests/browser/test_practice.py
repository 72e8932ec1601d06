"""The practice questions as a reader works them: right, wrong, and nonsense."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from alibi_core import Selection, calculate
from alibi_core.practice import QUESTIONS
from alibi_explorer.embed import embedded_page
from alibi_explorer.sections.practice import PARTS
from alibi_explorer.state import URL_NAMES

BY_NAME = {question.name: question for question in QUESTIONS}
NONSENSE = (
    "",
    "  ",
    "many",
    "1.2.3",
    "1/0",
    "--1",
    "1e999",
    "<b>1</b>",
    "∞",
    "-",
    "1 2/",
    "9" * 400,
)


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("practice") / "explorer.html"
    file.write_text(embedded_page(), "utf-8")
    return file


@pytest.fixture(params=["embedded", "served"])
def host(request, page, file, embedded_of):
    """The explorer without a server, and with one."""
    if request.param == "embedded":
        return embedded_of(page, file.as_uri())
    return request.getfixturevalue("explorer")


def written(value):
    return f"{value:.12f}".rstrip("0").rstrip(".").replace("-", "−")


class Item:
    def __init__(self, host, name):
        self.question = BY_NAME[name]
        self.item = host.page.locator(f'[data-question="{name}"]')
        self.verdict = self.item.get_by_role("status")
        self.worked = self.item.locator(".answer")
        self.field = self.item.locator("input[inputmode]")

    def give(self, answer):
        if isinstance(answer.given, str):
            number = self.question.answers.index(answer)
            self.item.locator("input[type=radio]").nth(number).check()
        else:
            self.field.fill(written(answer.given))
        self.check()

    def check(self):
        self.item.get_by_role("button", name="Check").click()


def test_every_question_with_every_answer(host):
    """Nonsense gets one kind line and no answer; then each answer its own verdict, worked."""
    host.open("?sections=practice")
    host.page.locator("[data-question] >> nth=0").wait_for()
    for name, question in BY_NAME.items():
        item = Item(host, name)
        expect(item.worked).to_be_hidden()
        every = NONSENSE if name == "near" else NONSENSE[:3]
        for nonsense in every if question.kind == "number" else [None]:
            if nonsense is not None:
                item.field.fill(nonsense)
            item.check()
            kind = "Write a number, please" if nonsense is not None else "Choose an answer first"
            expect(item.verdict).to_contain_text(kind)
            expect(item.worked).to_be_hidden()
        wrong = [answer for answer in question.answers if answer.correction]
        for answer in wrong:
            item.give(answer)
            correction = re.escape(answer.correction)
            correction = re.sub(r"\\{\w+\\}", ".+", correction)
            expect(item.verdict).to_have_text(re.compile(f"^Not quite: {correction}$"))
            expect(item.worked).to_be_visible()
        if question.kind == "number":
            item.field.fill("77777")
            expect(item.verdict).to_have_text("")
            item.field.press("Enter")
            expect(item.verdict).to_have_text(re.compile("^Not quite: .{20}"))
        item.give(next(answer for answer in question.answers if not answer.correction))
        expect(item.verdict).to_have_text("Right.")


def test_ways_to_write_a_number(host):
    """Point, comma, fraction, true minus, spaces and the unit are alike."""
    host.open("?sections=practice&questions=near,steep,weight,shift,tie,onehead")
    for name, ways in {
        "near": (
            "1.25",
            "1,25",
            "5/4",
            " +1.25 ",
            "1.25 logits",
            "2.5/2",
            "１．２５",
            "1.25 logit",
        ),
        "steep": ("-7", "−7", "–7.0", " - 7 ", "−14/2", "-7logits"),
        "weight": ("20", "19.9", "20.1"),
        "shift": ("20", "20.0 %", "20%", "20,0", "19.9"),
        "tie": ("0.16", "0.159", "0.161"),
        "onehead": ("1/256", ".00390625", "1/256 logit per token", "0,004"),
    }.items():
        item = Item(host, name)
        for way in ways:
            item.field.fill(way)
            item.check()
            expect(item.verdict).to_have_text("Right." if way != "0,004" else re.compile("Not"))


@pytest.mark.parametrize("name", ["order", "ratio", "cutoff", "near"])
def test_the_link_sets_the_explorer(host, name):
    """The whole choice of the question is set, and the section that shows it is in view."""
    host.open("?heads=5&key=3")
    item = Item(host, name)
    item.give(item.question.answers[0])
    link = item.item.get_by_role("button", name="Show it in the explorer")
    to = link.get_attribute("data-to")
    link.click()
    selection = item.question.selection
    shared = {of: getattr(selection, URL_NAMES[of]) for of in ("heads", "head", "query", "key")}
    for of, value in shared.items():
        expect(host.control(of)).to_have_value(str(value))
    for of in ("other", "equal"):
        expect(host.page.locator(f".compete input[name={of}]:checked")).to_have_value(
            str(getattr(selection, of))
        )
    expect(host.page.locator("input[name=count]")).to_have_value(str(selection.count))
    expect(host.page.locator("select[name=far]")).to_have_value(str(selection.far))
    expect(link).to_have_attribute("aria-current", "true")
    part = PARTS.get(name)
    heading = host.page.locator(f'[data-part="{part}"]' if part else f"#section-{to}")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    sentence = re.sub("<[^>]+>", "", _sentence(selection))
    expect(host.slot("pair.sentence")).to_have_text(sentence)
    expect(item.worked).to_be_attached()  # the answer given is still there


def _sentence(selection):
    from alibi_explorer.sections import fill_all

    return fill_all(calculate(selection))["pair.sentence"]


@pytest.mark.parametrize(
    ("asked", "shown", "notice"),
    [
        ("order,cutoff", ["order", "cutoff"], ""),
        (" cutoff, order,cutoff", ["cutoff", "order"], ""),
        ("order,cut", ["order"], "Questions “cut” is not one of near, zero, "),
        ("<b>", list(BY_NAME), "Questions “<b>” is not one of near, zero, "),
        ("", list(BY_NAME), "Questions “” is not one of near, zero, "),
    ],
)
def test_questions_by_url(host, asked, shown, notice):
    """An author picks questions and their order; what is not known is named in one line."""
    host.open(f"?sections=practice&questions={asked}")
    items = host.page.locator("[data-question]:not([hidden])")
    expect(items).to_have_count(len(shown))
    assert items.evaluate_all("(all) => all.map((item) => item.dataset.question)") == shown
    expect(host.page.locator(".notice")).to_have_text(re.compile(f"^{re.escape(notice)}"))


def test_nothing_is_kept_or_sent(page, file, embedded_of):
    """Answering changes neither the address nor the storage, and asks for nothing."""
    host = embedded_of(page, file.as_uri())
    host.open("?sections=practice")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    item = Item(host, "near")
    item.give(item.question.answers[0])
    expect(item.verdict).to_have_text("Right.")
    assert page.url.endswith("?sections=practice")
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert requests == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_and_targets(page, file, embedded_of, width, scheme):
    """axe finds nothing before and after answers; what is pressed is 44 px high; all fits."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    host = embedded_of(page, file.as_uri())
    host.open("?sections=practice&controls=none")
    for _ in range(2):
        assert Axe().run(page).response["violations"] == []
        heights = page.locator(
            ".questions :is(button, .option, .field input):visible"
        ).evaluate_all("(all) => all.map((part) => part.getBoundingClientRect().height)")
        assert min(heights) >= 44
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for name, question in BY_NAME.items():
            Item(host, name).give(question.answers[-1])


def test_keyboard(page, file, embedded_of):
    """Tab, arrow keys and Enter are enough, and the focus shows."""
    host = embedded_of(page, file.as_uri())
    host.open("?sections=practice&questions=order&controls=none&title=off")
    item = Item(host, "order")
    radios = item.item.locator("input[type=radio]")
    radios.first.focus()
    page.keyboard.press("ArrowDown")
    expect(radios.nth(1)).to_be_checked()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    page.keyboard.press("Enter")
    expect(item.verdict).to_have_text("Right.")


@pytest.mark.browser_context_args(java_script_enabled=False)
def test_answers_without_scripts(host):
    """Where no script runs every worked answer can be read, and no dead button is shown."""
    host.page.goto(host.url)
    for name in BY_NAME:
        item = Item(host, name)
        expect(item.worked).to_be_visible()
        expect(item.item.get_by_role("button")).to_have_count(0)


def test_print(page, file, embedded_of):
    """On paper the questions stand without buttons; an answer is there once it was asked for."""
    host = embedded_of(page, file.as_uri())
    host.open("?sections=practice&questions=near,zero")
    item = Item(host, "near")
    item.give(item.question.answers[0])
    page.emulate_media(media="print")
    expect(item.worked).to_be_visible()
    expect(Item(host, "zero").worked).to_be_hidden()
    expect(host.page.locator(".questions button:visible")).to_have_count(0)


def test_opening_choice_is_marked_as_shown(page, file, embedded_of):
    """The button of what is shown already says so."""
    host = embedded_of(page, file.as_uri())
    host.open("?sections=practice")
    chosen = [name for name, question in BY_NAME.items() if question.selection == Selection()]
    marked = page.locator("[data-question]:has([data-pick][aria-current])")
    expect(marked).to_have_count(len(chosen))
