import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from alibi_core import SlopeSource, alibi_slopes, slope_sources

COUNTS = range(1, 257)


def recursive(num_heads):
    """The authors' way: a geometric run, or a shorter run plus every second of a longer one."""
    level = math.log2(num_heads)
    if level.is_integer():
        first = 2 ** -(2 ** (3 - level))
        return [first * first**head for head in range(num_heads)]
    below = 2 ** math.floor(level)
    return recursive(below) + recursive(2 * below)[::2][: num_heads - below]


def strided_exponents(num_heads):
    """Other libraries' way: the next larger schedule, odd entries, then even ones, cut to length.

    The entries are exact exponents of 2.
    """
    power = 1 << (num_heads - 1).bit_length()
    schedule = [Fraction(-8 * (entry + 1), power) for entry in range(power)]
    if power == num_heads:
        return schedule
    return (schedule[1::2] + schedule[0::2])[:num_heads]


@cache
def nearest_float(exponent):
    """2 ** exponent from 50 decimal digits, rounded once."""
    with localcontext(prec=50):
        return float(Decimal(2) ** (Decimal(exponent.numerator) / exponent.denominator))


@pytest.mark.parametrize("num_heads", [4, 6, 8])
def test_documented_lists(num_heads, figures):
    """The slopes of 4, 6 and 8 heads are the documented ones, in that order, to the last digit."""
    assert alibi_slopes(num_heads).tolist() == figures["slopes"][str(num_heads)]


@pytest.mark.parametrize("num_heads", [4, 8])
def test_documented_ratios(num_heads, figures):
    """Each slope of 4 or 8 heads is the documented fraction of the one before."""
    slopes = alibi_slopes(num_heads)
    assert set(slopes[1:] / slopes[:-1]) == {figures["slope_ratio"][str(num_heads)]}


def test_authors_recursion():
    """The slopes of 1 to 256 heads are those of the authors' recursion."""
    for num_heads in COUNTS:
        np.testing.assert_allclose(alibi_slopes(num_heads), recursive(num_heads), rtol=1e-12)


def test_strided_form():
    """The slopes of 1 to 256 heads are those of the strided form."""
    for num_heads in COUNTS:
        expected = [2.0 ** float(exponent) for exponent in strided_exponents(num_heads)]
        np.testing.assert_allclose(alibi_slopes(num_heads), expected, rtol=1e-12)


def test_correctly_rounded():
    """Each slope of 1 to 256 heads is the float64 nearest to its exact value."""
    for num_heads in COUNTS:
        expected = [nearest_float(exponent) for exponent in strided_exponents(num_heads)]
        assert alibi_slopes(num_heads).tolist() == expected


def test_plain_reference(reference):
    """The plain-Python reference of these tests has the same slopes."""
    for num_heads in COUNTS:
        np.testing.assert_allclose(alibi_slopes(num_heads), reference.slopes(num_heads), rtol=1e-12)


def test_sources_reproduce_slopes():
    """2 to the exponent of a head's source is that head's slope."""
    for num_heads in COUNTS:
        sources = slope_sources(num_heads)
        assert [2.0**source.exponent for source in sources] == alibi_slopes(num_heads).tolist()
        assert [source.exponent for source in sources] == strided_exponents(num_heads)


def test_source_of_six_heads():
    """Six heads keep the schedule of 4 and take entries 0 and 2 of the schedule of 8."""
    kept = tuple(SlopeSource(4, entry) for entry in range(4))
    assert slope_sources(6) == (*kept, SlopeSource(8, 0), SlopeSource(8, 2))
    assert [source.number for source in slope_sources(6)] == [1, 2, 3, 4, 1, 3]


def test_result_is_float64_of_shape_head():
    """The slopes are a float64 array of shape (head,)."""
    assert alibi_slopes(6).dtype == np.float64
    assert alibi_slopes(6).shape == (6,)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64])
def test_numpy_integers(kind):
    """A NumPy integer is as good a number of heads as an int."""
    assert alibi_slopes(kind(6)).tolist() == alibi_slopes(6).tolist()
    assert slope_sources(kind(6)) == slope_sources(6)


@pytest.mark.parametrize("function", [alibi_slopes, slope_sources])
@pytest.mark.parametrize(
    ("value", "error", "problem"),
    [
        (0, ValueError, "at least 1, got 0"),
        (-4, ValueError, "at least 1, got -4"),
        (2.5, TypeError, "an integer, got 2.5 of type float"),
        (4.0, TypeError, "an integer, got 4.0 of type float"),
        ("6", TypeError, "an integer, got '6' of type str"),
        (None, TypeError, "an integer, got None of type NoneType"),
        (True, TypeError, "an integer, got True of type bool"),
        (np.True_, TypeError, "an integer, got np.True_ of type bool"),
    ],
)
def test_refused_numbers_of_heads(function, value, error, problem):
    """A number of heads that is no whole number from 1 is refused, and told what to pass."""
    with pytest.raises(error) as caught:
        function(value)
    assert str(caught.value) == (
        f"num_heads must be {problem}; pass a whole number from 1, such as num_heads=4"
    )


@pytest.mark.parametrize("num_heads", range(1, 257))
def test_geometric_schedule(num_heads):
    """The plain formula for any count; it is the reference one exactly for powers of two."""
    geometric = alibi_slopes(num_heads, schedule="geometric")
    ratio = 2 ** (-8 / num_heads)
    np.testing.assert_allclose(geometric[1:] / geometric[:-1], ratio, rtol=1e-12)
    assert geometric[-1] == 2**-8
    is_power = num_heads & (num_heads - 1) == 0
    assert np.array_equal(geometric, alibi_slopes(num_heads)) is is_power


@pytest.mark.parametrize("num_heads", [1, 3, 8, 12, 40, 112])
@pytest.mark.parametrize("schedule", ["reference", "geometric"])
def test_max_bias_scales_the_exponents(num_heads, schedule):
    """Twice the max_bias squares every slope."""
    single = alibi_slopes(num_heads, schedule=schedule)
    double = alibi_slopes(num_heads, schedule=schedule, max_bias=16)
    np.testing.assert_allclose(double, single**2, rtol=1e-12)


@pytest.mark.parametrize("heads", [slice(4, 8), slice(None), slice(0, 12, 2), slice(-2, None)])
def test_a_slice_keeps_the_slopes_of_the_whole_model(heads):
    """A rank's heads have the slopes that they have among all heads."""
    assert alibi_slopes(12, heads=heads).tolist() == alibi_slopes(12).tolist()[heads]


@pytest.mark.parametrize(
    ("arguments", "error", "fix"),
    [
        ({"schedule": "sorted"}, ValueError, "choose 'reference' or 'geometric'"),
        ({"max_bias": 0}, ValueError, "pass 8.0, as published"),
        ({"max_bias": 1e6}, ValueError, "too small for float64; pass 8.0"),
        ({"max_bias": 10**400}, ValueError, "pass 8.0, as published"),
        ({"max_bias": "8"}, TypeError, "pass 8.0, as published"),
        ({"heads": 4}, TypeError, r"pass heads=slice\(4, 8\)"),
    ],
)
def test_wrong_options_name_the_fix(arguments, error, fix):
    """A schedule, a max_bias or a slice that is none is refused with what to pass."""
    with pytest.raises(error, match=fix):
        alibi_slopes(8, **arguments)
