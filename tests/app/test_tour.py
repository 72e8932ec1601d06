"""The tour and the worksheet as data: their numbers are the core's."""

import itertools
import re

import pytest

from alibi_core import Selection, calculate
from alibi_explorer.layout import SECTION_NAMES, explorer_html
from alibi_explorer.sections import fill_all
from alibi_explorer.sections.worksheet import BLANK
from alibi_explorer.state import URL_NAMES
from alibi_explorer.tour import STOPS, written


def plain(html):
    return re.sub("<[^>]*>", "", html).replace("\u202f", " ")


@pytest.mark.parametrize("stop", STOPS, ids=range(1, len(STOPS) + 1))
def test_a_step_types_no_number(stop):
    """Every number in the text of a step is filled in from the calculation of its choice."""
    assert not re.search(r"\d", stop.text)
    assert not re.search(r"[{}]|\bnone\b|\bsimply\b|\bjust\b", written(stop))
    assert stop.section in SECTION_NAMES


def test_the_steps_say_the_documented_figures():
    """The opening pair, the far distance, and the order of six slopes."""
    texts = [plain(written(stop)) for stop in STOPS]
    assert "the bias is −1.25: the key gets 20.0 % of the attention, against 35.9 %" in texts[0]
    assert "more than the nearer cat (1), sat (2), on (3) and the (4)" in texts[1]
    assert any("Head 4 has 0.5, which is steeper than the first head's 0.25" in t for t in texts)
    assert any("At 2 047 tokens it is −7.99609375 logits in head 3" in text for text in texts)
    assert any("its logit −∞ and its weight exactly 0 %" in text for text in texts)


def test_the_words_around_the_numbers_hold():
    """What a step claims in words is so in the calculation of its choice."""
    choices = {stop.section: calculate(stop.selection) for stop in STOPS}
    assert choices["row"].pair.key == 0, "the farthest key"
    assert choices["row"].pair.nearer_outweighed
    six = choices["heads"]
    assert six.slope > six.slopes[0]
    competition = choices["compete"].competition
    assert competition.comparison.content_log_odds > 0
    assert competition.farther > 0
    assert competition.comparison.tie_slope
    assert not choices["mask"].pair.allowed
    assert choices["shift"].forms.agree
    cached = choices["cache"].cached_step
    assert cached.restarted_weights[0] > cached.weights[0]


def test_every_step_stands_on_the_page_with_its_whole_choice():
    """A step's data- attributes give its selection, so that no step depends on the one before."""
    steps = re.findall(
        r"<li data-show=\"(\w+)\"([^>]*) hidden>", explorer_html(calculate(Selection()))
    )
    assert [section for section, _ in steps] == [stop.section for stop in STOPS]
    for (_, attributes), stop in zip(steps, STOPS, strict=True):
        choice = dict(re.findall(r'data-(\w+)="(-?\d+)"', attributes))
        assert choice == {n: str(getattr(stop.selection, of)) for n, of in URL_NAMES.items()}


@pytest.mark.parametrize(("head", "query", "key"), [*itertools.product((0, 3), (0, 2, 5), (0, 4))])
def test_blanks_and_answers_are_the_same_sheet(head, query, key):
    """Where the worksheet has a blank, its answers have a value, and the rest is word for word."""
    fills = fill_all(calculate(Selection(head=head, query=query, key=key)))
    answers = fills["worksheet.answers"]
    assert re.sub("<b>.*?</b>", BLANK, answers) == fills["worksheet.blanks"]
    blank, answer = (
        re.findall(r"<td>(.*?)</td>", fills[f"worksheet.{name}"])
        for name in ("blank_row", "answer_row")
    )
    assert len(blank) == len(answer) == 6 * 5 + 5
    assert [at for at, cell in enumerate(blank) if cell != BLANK] == [
        0,
        5,
        10,
        15,
        20,
        25,
        30,
        31,
        32,
    ]
    assert all(mine in (BLANK, its) for mine, its in zip(blank, answer, strict=True))
    assert fills["worksheet.answer_row"] == fills["steps.table"]


def test_the_answers_are_the_cores():
    """The opening pair: 5 tokens, -1.25, 0.75, 2.1170, 10.5769, 20.0 %; a future key: 0."""
    opening = fill_all(calculate(Selection()))["worksheet.answers"]
    values = [value.replace("\u202f", " ") for value in re.findall("<b>(.*?)</b>", opening)]
    assert values[:5] == ["5", "yes", "−1.25", "0.75", "0.75"]
    assert values[5:] == ["2.1170", "10.5769", "2.1170", "10.5769", "≈ 20.0 %"]
    ahead = fill_all(calculate(Selection(query=2, key=4)))["worksheet.answers"]
    assert re.findall("<b>(.*?)</b>", ahead)[1:6] == [
        "no, it lies ahead",
        "+0.5",
        "0.9",
        "−∞",
        "0.0000",
    ]
    assert "<b>= 0\u202f%</b>" in ahead
