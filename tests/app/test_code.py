"""The code for this state: run as it stands on the page, it prints the numbers beside it."""

import contextlib
import io
import re
import warnings
from html import unescape

import pytest

from alibi_core import Selection, calculate
from alibi_explorer.formatting import INFINITY, MINUS, THIN_SPACE
from alibi_explorer.layout import assets, explorer_html
from alibi_explorer.sections.code import LISTINGS

CHOICES = (
    *((4, 0, 5, 0), (1, 0, 0, 0), (2, 1, 5, 5), (3, 2, 4, 1), (4, 3, 2, 5), (6, 4, 5, 0)),
    *((6, 5, 3, 2), (7, 6, 1, 4), (8, 7, 4, 4), (12, 8, 5, 3), (13, 12, 0, 1), (16, 0, 5, 1)),
)
TORCH = [name for name in LISTINGS if name != "with_numpy"]


def beside(html):
    """What the page shows of the choice: slope, bias, biased logit, weight with and without."""
    slot = {
        name: re.search(rf'data-slot="code.{name}"[^>]*>(.*?)</{tag}>', html, re.DOTALL)[1]
        for name, tag in (("slope", "b"), ("row", "div"), ("without", "b"))
    }
    chosen = int(re.search(r'name="key" value="(\d)" checked', html)[1])
    row = re.findall(r'<tr data-key="(\d)".*?</tr>', slot["row"])
    assert row == list("012345")
    cells = re.findall(rf'<tr data-key="{chosen}".*?</tr>', slot["row"])[0]
    cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall("<td>(.*?)</td>", cells)]
    _, bias, logit, _, weight = cells
    shown = (slot["slope"], bias, logit, weight, slot["without"])
    return [text.replace(MINUS, "-").replace(INFINITY, "inf") for text in shown]


def listing(html, name):
    """The text of a listing on the page."""
    pre = re.search(rf'aria-label="Code: {LISTINGS[name]}"[^>]*>(.*?)</pre>', html, re.DOTALL)[1]
    return unescape(re.sub("</?b[^>]*>", "", pre))


def printed(code):
    """What the code prints, line by line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
        exec(compile(code, "listing", "exec"), {})
    return out.getvalue().splitlines()


def agree(line, name, shown):
    """Whether a line says the name and the number, to all digits that the page shows."""
    assert line.startswith(f"{name} "), line
    value = line.removeprefix(f"{name} ")
    if shown == "masked":
        return value == shown
    is_share = shown.endswith("%")
    assert value.endswith("%") == is_share
    value, shown = value.rstrip("%"), shown.rstrip(f"%{THIN_SPACE}")
    if is_share and float(shown) == 0:
        return value == "0.0"
    if shown.lstrip("-") == "inf":
        return value == shown
    decimals = len(shown.partition(".")[2])
    return f"{float(value):.{decimals}f}" == f"{float(shown):.{decimals}f}"


def check(name, choice):
    html = explorer_html(calculate(Selection(*choice)))
    lines = printed(listing(html, name))
    names = ("slope", "bias", "biased logit", "weight with ALiBi", "weight without")
    for line, said, shown in zip(lines, names, beside(html), strict=True):
        assert agree(line, said, shown), (choice, line, shown)


@pytest.mark.parametrize("choice", CHOICES)
def test_numpy_prints_what_the_page_shows(choice):
    """The NumPy listing of a choice prints the five numbers that stand beside it."""
    check("with_numpy", choice)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", TORCH)
def test_torch_prints_what_the_page_shows(name, choice):
    """Where PyTorch is installed, as for `make peers`, its listings print them too."""
    pytest.importorskip("torch")
    check(name, choice)


def test_a_masked_key_is_printed_as_masked():
    """A future key: no bias, a logit of minus infinity, a weight of exactly 0."""
    lines = printed(listing(explorer_html(calculate(Selection(4, 0, 2, 5))), "with_numpy"))
    assert lines[1:] == [
        "bias masked",
        "biased logit -inf",
        "weight with ALiBi 0.0%",
        "weight without 0.0%",
    ]


@pytest.mark.parametrize("name", LISTINGS)
def test_the_page_shows_the_file(name):
    """At the opening choice a listing is its file, letter for letter, at most 100 wide."""
    code = (assets() / "code" / f"{name}.py").read_text("utf-8")
    assert listing(explorer_html(calculate(Selection())), name) == code
    assert max(map(len, code.splitlines())) <= 100


def test_every_file_is_shown():
    """No file of code lies beside the page unused."""
    assert {path.stem for path in (assets() / "code").glob("*.py")} == set(LISTINGS)
