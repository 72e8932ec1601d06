"""Check yours, as a reader uses it: pasted, from a file, right, wrong, and nonsense."""

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from alibi_core import alibi_slopes, check_bias, check_slopes, distance_bias
from alibi_explorer.checking import PAGE_LIMIT
from alibi_explorer.embed import embedded_page

SORTED = sorted(alibi_slopes(6).tolist(), reverse=True)


class Yours:
    """The section, alone on the page."""

    def __init__(self, explorer):
        self.page = explorer.page
        explorer.page.goto(f"{explorer.url}?sections=yours")
        explorer.page.wait_for_selector(".alibi[data-live]:not([data-late])")
        self.text = self.page.get_by_role("textbox", name="Slopes or bias")
        self.file = self.page.get_by_label("Or a file, in place of the text")
        self.button = self.page.get_by_role("button", name="Check", exact=True)
        self.verdict = self.page.locator(".judged .text")
        self.table = self.page.locator(".judged table")

    def check(self, text):
        self.text.fill(text)
        self.button.click()

    def says(self, words):
        expect(self.verdict).to_have_text(words, use_inner_text=False)


@pytest.fixture
def yours(explorer):
    return Yours(explorer)


def test_right_and_wrong(yours):
    """Pasted slopes and a pasted bias get the verdict of the core, and a table of what differs."""
    yours.check(repr(alibi_slopes(6).tolist()))
    yours.says(str(check_slopes(alibi_slopes(6))))
    expect(yours.table.locator(".differs")).to_have_count(0)
    yours.check(" ".join(map(repr, SORTED)))
    yours.says(str(check_slopes(SORTED)))
    expect(yours.table.locator(".differs")).to_have_count(6)
    bias = np.array(distance_bias(alibi_slopes(4), 5))[:, ::-1, ::-1]
    yours.check(repr(bias))
    yours.says(str(check_bias(bias)))
    expect(yours.table.locator("tbody tr")).to_have_count(5)
    assert yours.table.locator(".differs").count() > 0


def test_options(yours):
    """Slopes of a part of a model with another max bias are right where the page is told so."""
    part = alibi_slopes(16, max_bias=4, schedule="geometric")[4:8]
    yours.page.get_by_label("Heads of the whole model").fill("16")
    yours.page.get_by_label("Max bias").fill("4")
    yours.page.get_by_role("combobox", name="Schedule").select_option("geometric")
    yours.check(repr(part.tolist()))
    expect(yours.verdict).to_contain_text("slopes: right (slice): heads 4 to 7")
    yours.page.get_by_role("combobox", name="Attention").select_option("symmetric")
    yours.page.get_by_label("Heads of the whole model").fill("")
    yours.check("[[0, -0.5], [-0.5, 0]]")
    expect(yours.verdict).to_contain_text("bias: right (symmetric)")


NONSENSE = {
    "": "Not read: nothing stands here yet; paste",
    "hello": "'hello' is no number; write",
    "0.5 <script>window.run = 1</script> <img src=x onerror=window.run=1>": "<script>window.run",
    "[0.5, nan]": "holds NaN at (1,)",
    "[[1, 2], [3]]": "ragged",
    "[" * 2000: "nested too deeply",
    "1e999 1": "holds infinity at (0,)",
}


@pytest.mark.parametrize("text", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense(yours, text):
    """What cannot be read is said as plain text, is kept, and leaves no table; then it goes on."""
    yours.check(text)
    expect(yours.verdict).to_contain_text(NONSENSE[text])
    expect(yours.text).to_have_value(text)
    expect(yours.table).to_have_count(0)
    assert yours.page.evaluate("window.run") is None
    expect(yours.verdict.locator("*")).to_have_count(0)
    yours.check("0.5 0.25")
    expect(yours.verdict).to_contain_text("slopes: ")


def test_too_much(yours, tmp_path):
    """A long text and a large file are refused in words, and the page stays alive."""
    yours.page.evaluate(
        "(text) => { document.querySelector('[name=yours]').value = text }", "1 " * PAGE_LIMIT
    )
    yours.button.click()
    expect(yours.verdict).to_contain_text("Not read: it is larger than 1 MiB; give fewer")
    large = tmp_path / "large.npy"
    np.save(large, np.zeros(2**22))
    yours.file.set_input_files(large)
    yours.button.click()
    expect(yours.verdict).to_contain_text("Not read: it is larger than 1 MiB; give fewer")
    yours.check("0.0625 0.00390625")
    expect(yours.verdict).to_contain_text("slopes: right")


def test_files(yours, tmp_path):
    """A file stands in place of the text until something is written."""
    yours.text.fill("0.5")
    for name, save in (
        ("slopes.npy", lambda path: np.save(path, SORTED)),
        ("slopes.npz", lambda path: np.savez(path, SORTED)),
        ("slopes.json", lambda path: path.write_text(repr(SORTED))),
        ("slopes.csv", lambda path: path.write_text("\n".join(map(repr, SORTED)))),
    ):
        save(tmp_path / name)
        yours.file.set_input_files(tmp_path / name)
        yours.button.click()
        yours.says(str(check_slopes(SORTED)))
        yours.text.press("End")
        yours.text.press_sequentially(" ")
        expect(yours.file).to_have_value("")
        yours.button.click()
        expect(yours.verdict).to_have_text(str(check_slopes([0.5])))
    (tmp_path / "model.pkl").write_bytes(b"\x80\x05cos\nsystem\n")
    yours.file.set_input_files(tmp_path / "model.pkl")
    yours.button.click()
    expect(yours.verdict).to_contain_text("Not read: a file that ends in '.pkl' is of no known")


def test_a_dropped_file(yours):
    """A file that is dropped on the text is chosen, and the page stays."""
    yours.page.evaluate(
        """(text) => {
            const dataTransfer = new DataTransfer()
            dataTransfer.items.add(new File([text], "slopes.json"))
            const options = {dataTransfer, bubbles: true, cancelable: true}
            const target = document.querySelector("[name=yours]")
            window.left = [new DragEvent("dragover", options), new DragEvent("drop", options)]
                .filter((event) => target.dispatchEvent(event)).length
        }""",
        repr(SORTED),
    )
    assert yours.page.evaluate("window.left") == 0
    yours.button.click()
    yours.says(str(check_slopes(SORTED)))


def test_several_dropped_files(yours):
    """One file is checked at a time: of several, none is chosen in silence."""
    yours.page.evaluate(
        """() => {
            const dataTransfer = new DataTransfer()
            for (const name of ["a.csv", "b.csv"]) dataTransfer.items.add(new File(["1"], name))
            const options = {dataTransfer, bubbles: true, cancelable: true}
            document.querySelector("[name=yours]").dispatchEvent(new DragEvent("drop", options))
        }"""
    )
    expect(yours.verdict).to_have_text("These are several files; drop one.")
    expect(yours.file).to_have_value("")


def test_keyboard_only(yours):
    """Tab leads from the text to the button in reading order, and Enter presses it."""
    yours.text.focus()
    yours.page.keyboard.type("0.5 0.25 0.125")
    stops = []
    for _ in range(6):
        yours.page.keyboard.press("Tab")
        name, outline = yours.page.evaluate("probe.focused()")
        stops.append(name)
        assert outline >= 2, name
    assert stops == ["file", "num_heads", "max_bias", "schedule", "attention", "button"]
    yours.page.keyboard.press("Enter")
    yours.says(str(check_slopes([0.5, 0.25, 0.125])))
    expect(yours.button).to_be_focused()
    yours.page.keyboard.press("Tab")
    assert yours.page.evaluate("probe.focused()")[0] == "table"


def test_the_verdict_is_read_out(yours):
    """The verdict stands in a polite live region that was there before; the table does not."""
    status = yours.page.locator(".judged [role=status]")
    expect(status).to_have_count(1)
    expect(status).to_have_text("")
    yours.check("0.5 0.25")
    expect(status).to_contain_text("slopes: ")
    expect(status.locator("table")).to_have_count(0)


def test_an_old_verdict_is_faint(yours):
    """Once something else stands in the form, the verdict on what was there is muted."""
    yours.check("0.5 0.25")
    expect(yours.verdict).to_contain_text("slopes: ")
    expect(yours.page.locator(".judged[data-stale]")).to_have_count(0)
    yours.text.press("End")
    yours.text.press_sequentially(" 0.125")
    expect(yours.page.locator(".judged[data-stale]")).to_have_count(1)
    yours.button.click()
    expect(yours.page.locator(".judged[data-stale]")).to_have_count(0)


def test_nothing_of_it_goes_elsewhere(yours):
    """What is given is in no address, no storage, and no request but the page's own socket."""
    requests = []
    yours.page.on("request", lambda request: requests.append(request.url))
    yours.check("0.123456 0.5")
    expect(yours.verdict).to_contain_text("slopes: ")
    assert requests == []
    assert "0.123456" not in yours.page.url
    assert yours.page.evaluate("localStorage.length + sessionStorage.length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_it_fits_and_axe_finds_nothing(explorer, width, scheme):
    """At each width nothing is wider than the window, targets are large, and axe is content."""
    explorer.page.set_viewport_size({"width": width, "height": 800})
    explorer.page.emulate_media(color_scheme=scheme)
    yours = Yours(explorer)
    bias = np.array(distance_bias(alibi_slopes(12), 30))
    bias[3] *= 1.7
    for text in ("nonsense", "0.5 0.25 0.125", repr(bias[3].tolist()), "[[0, -9], [-1, 0]]"):
        yours.check(text)
        expect(yours.verdict).not_to_have_text("")
        expect(yours.verdict).not_to_contain_text("Checking")
        assert yours.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        small = yours.page.locator("form.given").evaluate(
            """(form) => [...form.elements]
                .map((part) => [part.name, part.getBoundingClientRect().height])
                .filter(([, height]) => height < 44)"""
        )
        assert small == []
        found = Axe().run(yours.page).response["violations"]
        assert [
            (violation["id"], [node["html"][:120] for node in violation["nodes"]][:3])
            for violation in found
        ] == []


def test_the_page_without_a_server_leaves_it_out(page, tmp_path, embedded_of):
    """The embedded page looks up and never computes, so it leaves the section out."""
    file = tmp_path / "explorer.html"
    file.write_text(embedded_page(), "utf-8")
    host = embedded_of(page, file.as_uri())
    host.open("?sections=yours")
    expect(page.locator("[data-section=yours], [data-link=yours]")).to_have_count(0)
    expect(page.locator(".notice")).to_contain_text("Sections “yours” is not one of")
