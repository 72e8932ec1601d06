"""Each number of the practice questions, worked out a second time in plain arithmetic."""

import itertools
import math
import string

import pytest

from alibi_core.practice import EXAMPLES, QUESTIONS

BY_NAME = {question.name: question for question in QUESTIONS}
CONTENT = [2.0, 1.4, 0.0, 1.2, 0.4, 1.2]
OPENING_LOGITS = [c - 0.25 * (5 - j) for j, c in enumerate(CONTENT)]
EXPONENTIALS = [math.exp(logit) for logit in OPENING_LOGITS]


@pytest.mark.parametrize(
    ("name", "stated"), [("near", 0), ("zero", 1), ("steep", 2), ("shallow", 3)]
)
def test_worked_examples(figures, name, stated):
    """The four worked examples have the stated inputs, penalty and result."""
    expected = figures["worked_examples"][stated]
    values = BY_NAME[name].values
    assert {of: values[of] for of in expected if of in values} == pytest.approx(
        {of: value for of, value in expected.items() if of in values}
    )
    assert values["content"] == expected["content_logit"]
    assert BY_NAME[name].right == pytest.approx(expected["biased_logit"], abs=1e-12)


def test_practice_example(figures):
    """Content logit 1.5, slope 0.2, distance 6 gives 0.3."""
    (expected,) = figures["practice"]
    values = BY_NAME["small"].values
    assert (values["content"], values["slope"], values["distance"]) == (1.5, 0.2, 6)
    assert BY_NAME["small"].right == pytest.approx(expected["biased_logit"], abs=1e-12)


NUMBERS = {
    "near": 2 - 0.25 * (10 - 7),
    "zero": 2 - 0.25 * (10 - 2),
    "steep": 3 - 0.5 * 20,
    "shallow": 3 - 0.03 * 20,
    "small": 1.5 - 0.2 * 6,
    "weight": 100 * EXPONENTIALS[0] / sum(EXPONENTIALS),
    "ratio": math.exp(-0.25),
    "tie": (2 - 1.2) / 5,
    "masked": 0,
    "shift": 100 * EXPONENTIALS[0] / sum(EXPONENTIALS),
    "onehead": 2**-8,
    "scale": 16 / 8 - 0.25 * 5,
    "cache": 5,
}
CHOICES = {
    "spread": "A small slope takes little away for each token of distance, so content decides "
    "more.",
    "length": "It is a product of slope and distance, which needs no table.",
    "cutoff": "No, it is tiny and more than 0.",
    "monotone": "No, its strong content makes up for its distance.",
    "mirror": "No, one of the two keys is masked.",
    "positive": "No, under a causal mask the weights are the same.",
    "order": "Head {steepest}",
    "learned": "They follow from the number of heads and stay fixed.",
    "speed": "Training on shorter texts: {train} tokens instead of {test}.",
}
RESTARTED = [math.exp(c - 0.25 * j) for j, c in enumerate(CONTENT)]
FOUR_AT_TWO = [math.exp(c - 0.25 * (4 - j)) for j, c in enumerate(CONTENT[:5])]
VALUES = {
    "zero": {"exponential": 1},
    "spread": {"steep_odds": math.exp(-10), "shallow_odds": math.exp(-0.6)},
    "length": {"tokens": 1024, "distance": 2047, "slope": 0.00390625, "bias": -7.99609375},
    "weight": {
        "logits": tuple(OPENING_LOGITS),
        "exponential": math.exp(0.75),
        "denominator": sum(EXPONENTIALS),
        "plain": math.exp(2) / sum(map(math.exp, CONTENT)),
    },
    "cutoff": {"distance": 1023, "bias": -0.5 * 1023, "exponent": -511.5 / math.log(10)},
    "monotone": {
        "biased": 0.75,
        "weight": EXPONENTIALS[0] / sum(EXPONENTIALS),
        "next_biased": 1.4 - 0.25 * 4,
        "next_weight": EXPONENTIALS[1] / sum(EXPONENTIALS),
    },
    "masked": {"apart": 2, "bias": 0.25 * 2, "biased": -math.inf},
    "mirror": {"mirrored": FOUR_AT_TWO[2] / sum(FOUR_AT_TWO), "weight": 0},
    "positive": {
        "biases": (0, 0.25, 0.5, 0.75, 1, 1.25),
        "distance_biases": (-1.25, -1, -0.75, -0.5, -0.25, 0),
        "constant": 1.25,
        "shifted": EXPONENTIALS[0] / sum(EXPONENTIALS),
    },
    "order": {
        "slopes": (0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125),
        "steepest": 4,
        "kept": 4,
        "source": 8,
        "last_slope": 0.125,
    },
    "learned": {"first": 0.5, "ratio": 0.5, "last": 0.00390625},
    "onehead": {"inverse": 256, "exponent": -8, "last": 7},
    "scale": {"product": 16, "root": 8, "content": 2},
    "cache": {"keys": 6, "restarted": RESTARTED[0] / sum(RESTARTED)},
    "speed": {"faster": 11, "memory": 11, "train": 1024, "test": 2048, "size": 1.3},
}


def test_every_right_answer():
    """Each question has the right answer of plain arithmetic, or the option stated here."""
    assert set(BY_NAME) == set(NUMBERS) | set(CHOICES)
    for name, number in NUMBERS.items():
        assert BY_NAME[name].right == pytest.approx(number, rel=1e-12, abs=1e-12), name
    assert {name: BY_NAME[name].right for name in CHOICES} == CHOICES


@pytest.mark.parametrize("name", VALUES)
def test_every_value_that_follows(name):
    """What else a worked answer says is plain arithmetic too."""
    for value, expected in VALUES[name].items():
        assert BY_NAME[name].values[value] == pytest.approx(expected, rel=1e-12, abs=1e-15), value


def test_the_documented_percentages(figures):
    """Key 0 gets 20.0 % at the opening, 35.9 % without the bias."""
    question, opening = BY_NAME["weight"], figures["opening"]
    assert round(question.right, 1) == opening["alibi_weight_percent"]
    assert round(100 * question.values["plain"], 1) == opening["plain_weight_percent"]


def test_enough_questions():
    """The documents' seven, and at least ten of our own, each by a name of its own."""
    assert len(EXAMPLES) == 7
    assert len(QUESTIONS) - len(EXAMPLES) >= 10
    assert len(BY_NAME) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_question_is_complete(question):
    """One right answer, answers of one kind that differ by more than the tolerance, all texts."""
    assert question.name.isalpha()
    assert sum(not answer.correction for answer in question.answers) == 1
    given = [answer.given for answer in question.answers]
    assert len({isinstance(of, str) for of in given}) == 1
    if question.kind == "choice":
        assert len(set(given)) == len(given) >= 3
        assert not question.hint
    else:
        assert question.hint
        ordered = sorted(given)
        assert all(b - a > 2 * question.tolerance for a, b in itertools.pairwise(ordered))
    texts = [question.prompt, question.worked, question.hint]
    texts += [text for answer in question.answers for text in (answer.given, answer.correction)]
    named = {
        field
        for text in texts
        if isinstance(text, str)
        for _, field, _, _ in string.Formatter().parse(text)
        if field
    }
    assert named <= set(question.values)
    assert question.prompt
    assert question.worked
