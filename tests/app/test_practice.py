"""The practice questions as HTML."""

import re
from html import unescape

import pytest

from alibi_core import Selection, calculate
from alibi_core.practice import QUESTIONS
from alibi_explorer.layout import SECTION_NAMES
from alibi_explorer.sections.practice import SHOWN_IN, fill
from alibi_explorer.state import URL_NAMES, nearest_selection

HTML = fill(calculate(Selection()))["questions"]
ITEMS = dict(re.findall(r'<li data-question="(\w+)">(.*?)</li>', HTML))


def test_every_question_is_on_the_page():
    """In the order of the core, whatever the choice."""
    assert list(ITEMS) == [question.name for question in QUESTIONS]
    assert fill(calculate(Selection(6, 4, 3, 1)))["questions"] == HTML


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question(question):
    """It has its fields, one right answer, no empty text, and no number the core did not give."""
    item = ITEMS[question.name]
    corrections = re.findall(r'data-correction="([^"]*)"', item)
    assert corrections.count("") == 1
    for text in re.findall(r"<(?:legend|p|label)[^>]*>([^<]+)", item):
        assert text.strip()
    assert "{" not in item
    assert not re.search(r"\b(?:nan|None|inf)\b|style=", item)
    radios = item.count('type="radio"')
    assert radios == (len(question.answers) if question.kind == "choice" else 0)
    assert item.count("inputmode") == (question.kind == "number")
    assert '<div class="answer" hidden>' in item


def test_ids_and_names_are_unique():
    """A status line each, and a radio group each."""
    ids = re.findall(r' id="([^"]+)"', HTML)
    assert len(set(ids)) == len(ids) == len(QUESTIONS)
    groups = {name: set(re.findall(r'name="([^"]+)"', item)) for name, item in ITEMS.items()}
    assert all(group <= {f"practice-{name}"} for name, group in groups.items())


def test_a_link_is_a_choice():
    """Each button sets a whole valid choice and leads to a section of the page."""
    assert set(SHOWN_IN) == {question.name for question in QUESTIONS}
    assert set(SHOWN_IN.values()) <= set(SECTION_NAMES)
    for question in QUESTIONS:
        asked = {
            name: value
            for name, value in re.findall(r'data-(\w+)="(\d+)"', ITEMS[question.name])
            if name in URL_NAMES
        }
        assert nearest_selection(asked) == (question.selection, "")
        assert ITEMS[question.name].count("data-pick") == 1


def test_the_documented_numbers_are_written():
    """Worked answers with a true minus, their units, and no more digits than are known."""
    for name, worked in {
        "near": "2 − 0.25 × 3 = 2 − 0.75 = 1.25 logits.",
        "zero": "2 − 0.25 × 8 = 2 − 2 = 0 logits.",
        "steep": "3 − 0.5 × 20 = 3 − 10 = −7 logits.",
        "shallow": "3 − 0.03 × 20 = 3 − 0.6 = 2.4 logits.",
        "small": "1.5 − 0.2 × 6 = 1.5 − 1.2 = 0.3 logits.",
        "weight": "≈ 20.0\u202f%. Without the bias it would be 35.9\u202f%.",
        "masked": "the biased logit is −∞ and the weight exactly 0\u202f%",
        "length": "−0.00390625 × 2047 = −7.99609375 logits.",
    }.items():
        assert worked in unescape(ITEMS[name])
