"""Each generator below is written anew in plain Python, after the code that the table names."""

import math
import re
from fractions import Fraction

import pytest

from alibi_core import alibi_slopes, lesson, slope_sources
from alibi_core.models import MODELS


def recursion(num_heads, max_bias):
    """Baichuan, JAIS and the encoders: the authors' recursion, for a largest exponent of 8."""
    assert max_bias == 8
    power = 2 ** math.floor(math.log2(num_heads))
    first = 2 ** (-(2 ** -(math.log2(power) - 3)))
    slopes = [first * first**head for head in range(power)]
    if power < num_heads:
        slopes += recursion(2 * power, max_bias)[0::2][: num_heads - power]
    return slopes


def two_bases(num_heads, max_bias):
    """BLOOM and Falcon: powers of a base, then odd powers of the base of twice the heads."""
    assert max_bias == 8
    power = 2 ** math.floor(math.log2(num_heads))
    base = 2 ** (-(2 ** -(math.log2(power) - 3)))
    extra = 2 ** (-(2 ** -(math.log2(2 * power) - 3)))
    return [base**n for n in range(1, power + 1)] + [
        extra**n for n in range(1, 2 * (num_heads - power), 2)
    ]


def strided_exponents(num_heads, max_bias):
    """MPT: the next power of two, its entries from the second on in steps of two, then the rest."""
    power = 2 ** math.ceil(math.log2(num_heads))
    exponents = [Fraction(max_bias) * n / power for n in range(1, power + 1)]
    return exponents if power == num_heads else (exponents[1::2] + exponents[::2])[:num_heads]


def strided(num_heads, max_bias):
    return [1 / 2 ** float(exponent) for exponent in strided_exponents(num_heads, max_bias)]


def plain(num_heads, max_bias):
    """MosaicGPT: one geometric sequence, whatever the number of heads."""
    return [1 / 2 ** (n * max_bias / num_heads) for n in range(1, num_heads + 1)]


CODE = {
    "BLOOM-560m": two_bases,
    "BLOOM": two_bases,
    "Falcon-RW-1B": two_bases,
    "MPT-7B": strided,
    "MPT-7B-StoryWriter": strided,
    "MPT-30B": strided,
    "Replit Code v1 3B": plain,
    "Replit Code v1.5 3B": strided,
    "Baichuan-13B": recursion,
    "JAIS-13B": recursion,
    "Jina v2 small": recursion,
    "Jina v2 base": recursion,
    "MosaicBERT base": recursion,
    "DNABERT-2": recursion,
}


def named(name):
    return next(model for model in MODELS if model.name == name)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_slopes_are_those_of_the_models_code(model):
    """Each model's slopes are what its generator computes, head by head."""
    expected = CODE[model.name](model.num_heads, model.max_bias)
    assert model.slopes.tolist() == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_order_of_mpt_is_the_reference_order():
    """For 1 to 256 heads and any largest exponent, MPT's strides are the reference, exactly."""
    for max_bias in (8, 16, 5):
        for num_heads in range(1, 257):
            assert strided_exponents(num_heads, max_bias) == [
                Fraction(max_bias) * source.number / source.schedule_heads
                for source in slope_sources(num_heads, max_bias=max_bias)
            ]


def test_the_other_generators_agree_for_every_count():
    """The recursion and the two bases are the reference for 1 to 256 heads, in its order."""
    for num_heads in range(1, 257):
        reference = pytest.approx(alibi_slopes(num_heads).tolist(), rel=1e-12, abs=0)
        assert recursion(num_heads, 8) == reference
        assert two_bases(num_heads, 8) == reference


def test_a_wrong_schedule_would_be_seen():
    """A model whose heads are no power of two has other slopes in the other schedule."""
    counts = {model.num_heads for model in MODELS if model.num_heads & (model.num_heads - 1)}
    assert counts == {12, 24, 40, 112}
    for num_heads in counts:
        assert strided(num_heads, 8) != pytest.approx(plain(num_heads, 8), rel=1e-3)


def test_heads_of_the_models():
    """The numbers of heads are the ones that the sources state, and the page can show each."""
    assert {model.name: model.num_heads for model in MODELS} == {
        "BLOOM-560m": 16,
        "BLOOM": 112,
        "Falcon-RW-1B": 32,
        "MPT-7B": 32,
        "MPT-7B-StoryWriter": 32,
        "MPT-30B": 64,
        "Replit Code v1 3B": 32,
        "Replit Code v1.5 3B": 24,
        "Baichuan-13B": 40,
        "JAIS-13B": 40,
        "Jina v2 small": 8,
        "Jina v2 base": 12,
        "MosaicBERT base": 12,
        "DNABERT-2": 12,
    }
    assert len({model.name for model in MODELS}) == len(MODELS)
    assert all(model.num_heads in lesson.CHOICES["count"] for model in MODELS)


def test_only_encoders_are_symmetric():
    """The four encoders look both ways; all others are causal."""
    assert [model.name for model in MODELS if model.symmetric] == [
        *("Jina v2 small", "Jina v2 base", "MosaicBERT base", "DNABERT-2"),
    ]


def test_models_whose_biases_are_other_than_their_counts():
    """StoryWriter has another largest exponent, and Falcon scales the bias: neither is plain."""
    assert [model.name for model in MODELS if not model.is_plain] == [
        *("Falcon-RW-1B", "MPT-7B-StoryWriter"),
    ]
    assert named("MPT-7B-StoryWriter").slopes.min() == 2.0**-16
    assert named("MPT-7B").slopes.min() == 2.0**-8
    assert named("Falcon-RW-1B").scale_bias


def test_every_model_names_what_was_read():
    """A source and the code are a file or a card in a public repository, no package registry."""
    for model in MODELS:
        for text in (model.source, model.code):
            assert re.match(r"(huggingface\.co|github\.com)/[\w.-]+/[\w.-]+, \w", text), text
            assert not re.search(r"pypi|npmjs|crates\.io|docs\.rs|https?:", text), text
        assert model.note == "" or model.note.endswith(".")


def test_the_lesson_points_at_counts_that_are_no_power_of_two():
    """The lesson's buttons are models of the table, one for each of its counts."""
    counts = [model.num_heads for model in lesson.MODELS]
    assert counts == [12, 40, 112]
    assert all(model in MODELS and model.is_plain for model in lesson.MODELS)
