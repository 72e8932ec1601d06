"""Every fill for every choice: 36 pairs in each of the 136 heads of 1 to 16 heads."""

import itertools
import re
from html.parser import HTMLParser

import pytest

from alibi_core import Selection, calculate
from alibi_core.lesson import HEAD_COUNTS, TOKENS
from alibi_explorer.formatting import MINUS
from alibi_explorer.sections import ALL_SECTIONS, fill_all, values_of

PAIRS = list(itertools.product(range(len(TOKENS)), repeat=2))
HEADS = [(count, head) for count in HEAD_COUNTS for head in range(count)]


class Cells(HTMLParser):
    """Collects the text of each cell, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("rect", "br"):
            self.open.append(tag)
        if tag in ("td", "th", "option"):
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if any(tag in ("td", "th", "option") for tag in self.open):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def every_fill():
    """{(num_heads, head, query, key): fills}, computed once."""
    return {
        (count, head, query, key): fill_all(calculate(Selection(count, head, query, key)))
        for (count, head), (query, key) in itertools.product(HEADS, PAIRS)
    }


def test_no_fill_holds_a_bad_number_or_an_empty_cell(every_fill):
    """No NaN, -0, None, Python infinity, hyphen as minus, or empty cell, in any fill."""
    assert len(every_fill) == 36 * 136
    bad = re.compile(rf"nan|None|\binf\b|(?<![\w-])-\d|{MINUS}0(?![.\d])|{MINUS}0\.0+(?!\d)", re.I)
    distinct = {html for fills in every_fill.values() for html in fills.values()}
    for html in distinct:
        parsed = Cells(html)
        assert not parsed.open, "a tag is left open"
        assert not bad.search(" ".join(parsed.texts)), html
        assert all(cell.strip() for cell in parsed.cells), html


def test_a_slot_is_a_function_of_what_it_depends_on(every_fill):
    """Two choices that agree in a slot's `depends_on` give the same HTML: a table can hold it."""
    for section in ALL_SECTIONS:
        for slot, names in section.depends_on.items():
            seen: dict[tuple, str] = {}
            for choice, fills in every_fill.items():
                values = values_of(calculate_once(choice))
                at = tuple(values[name] for name in names)
                assert (
                    seen.setdefault(at, fills[f"{section.name}.{slot}"])
                    == (fills[f"{section.name}.{slot}"])
                )


def test_no_slot_depends_on_more_than_it_shows(every_fill):
    """Leaving out any one dependency would show a wrong text: none is stated in vain."""
    for section in ALL_SECTIONS:
        for slot, names in section.depends_on.items():
            for left_out in names:
                rest = [name for name in names if name != left_out]
                seen: dict[tuple, str] = {}
                differs = False
                for choice, fills in every_fill.items():
                    values = values_of(calculate_once(choice))
                    html = fills[f"{section.name}.{slot}"]
                    at = tuple(values[name] for name in rest)
                    differs = differs or seen.setdefault(at, html) != html
                assert differs, f"{section.name}.{slot} does not need {left_out}"


def test_only_what_changed_is_filled():
    """A change of the key refills what depends on the key, and nothing else."""
    fills = fill_all(calculate(Selection()), {"key"})
    assert set(fills) == {"pair.sentence", "pair.steps", "row.remark"}


def test_a_fill_is_pure():
    """The same calculation gives the same fills, and is not changed by them."""
    calculation = calculate(Selection(6, 4, 3, 1))
    assert fill_all(calculation) == fill_all(calculation)


def test_every_slot_has_one_place_and_every_place_a_slot():
    """The markup of the page holds each slot of each section, and no other."""
    from alibi_explorer.layout import explorer_html

    slots = {f"{section.name}.{slot}" for section in ALL_SECTIONS for slot in section.depends_on}
    for figures in (True, False):
        html = explorer_html(calculate(Selection()), figures=figures)
        assert sorted(re.findall(r'data-slot="([^"]+)"', html)) == sorted(slots)


def test_the_opening_sentence_says_the_documented_figures():
    """mat (5) looks back 5 tokens to The (0): -1.25, 2 to 0.75, 20.0 % against 35.9 %."""
    sentence = "".join(Cells(fill_all(calculate(Selection()))["pair.sentence"]).texts)
    assert sentence == (
        "mat (5) looks back 5 tokens to The (0): a bias of −1.25 takes its content logit 2 to "
        "0.75. Among 6 allowed keys it gets 20.0\u202f% of the attention with ALiBi, against "
        "35.9\u202f% without."
    )


_calculations = {}


def calculate_once(choice):
    if choice not in _calculations:
        _calculations[choice] = calculate(Selection(*choice))
    return _calculations[choice]
