"""Numbers to text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_explorer import formatting as text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-1.25, "−1.25"),
        (0.75, "0.75"),
        (2.0, "2"),
        (-0.0, "0"),
        (-0.00001, "0"),
        (10.0, "10"),
        (-0.01953125, "−0.0195"),
        (-math.inf, "−∞"),
        (100.0, "100"),
    ],
)
def test_number(value, written):
    """At most four decimals, no trailing zeros, a true minus, never -0."""
    assert text.number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.00390625, "0.00390625"), (0.25, "0.25"), (2**-0.5, "0.7071"), (2**-7.5, "0.0055")],
)
def test_slope(value, written):
    """The documented slopes stand with all their digits, the others with four decimals."""
    assert text.exact(value) == written


def test_equals():
    """The sign tells whether the printed digits are exact."""
    assert text.equals(-1.25) == "="
    assert text.equals(2**-0.5) == "≈"
    assert text.equals(-math.inf) == "="
    assert text.equals(1.4 - 0.5) == "=", "0.8999999999999999 is 0.9 to a reader"


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([2.0, 1.4, 0.0], ["2.0", "1.4", "0.0"]),
        ([-1.25, -1.0, 0.0], ["−1.25", "−1.00", "0.00"]),
        ([1.0, -math.inf], ["1", "−∞"]),
        ([-(2**-0.5), 0.0], ["−0.7071", "0.0000"]),
        ([-math.inf], ["−∞"]),
    ],
)
def test_column(values, written):
    """A column shares the decimals that its longest number needs."""
    assert text.column(values) == written


@pytest.mark.parametrize(
    ("share", "written"), [(0.0, "0\u202f%"), (1.0, "100.0\u202f%"), (0.200151, "20.0\u202f%")]
)
def test_percent(share, written):
    """One decimal and its unit; a masked key's weight is exactly 0."""
    assert text.percent(share) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0.99949, "99.9\u202f%"),
        (0.9996, "above 99.9\u202f%"),
        (math.nextafter(1, 0), "above 99.9\u202f%"),
        (0.0004, "under 0.1\u202f%"),
        (5e-324, "under 0.1\u202f%"),
    ],
)
def test_percent_never_rounds_to_all_or_nothing(share, written):
    """What is not the whole is not written as 100.0, and what is more than 0 not as 0.0."""
    assert text.percent(share) == written


@pytest.mark.parametrize(
    ("share", "sign"), [(0.0, "="), (1.0, "="), (0.125, "="), (0.2, "="), (0.2001, "≈")]
)
def test_the_sign_before_a_percentage(share, sign):
    """Equal where one decimal holds all of it: 12.5 %, but not 20.01 %."""
    assert text.equals_percent(share) == sign


def test_about():
    """A rounded number says so, an exact one does not."""
    assert text.about(0.16) == "0.16"
    assert text.about(1 / 3) == "≈\u00a00.3333"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-3.99609375, "−3.99609375"),
        (-(2**-0.5) * 1e6, "−707\u202f107"),
        (-(2**-0.5) * 1023, "−723.4"),
        (-0.5 * 1e6, "−500\u202f000"),
        (-0.0, "0"),
    ],
)
def test_grouped_significant(value, written):
    """Exact where eight decimals hold it, else four digits that count."""
    assert text.grouped_significant(value) == written


def test_power_of_ten():
    """A tolerance is written as the power of ten that it is; another number is refused."""
    assert text.power_of_ten(1e-12) == "10<sup>−12</sup>"
    with pytest.raises(ValueError, match="is no power of ten"):
        text.power_of_ten(2e-12)


@pytest.mark.parametrize(
    ("difference", "written"), [(-0.15896, "−15.9"), (0.0316, "+3.2"), (0.0, "0.0"), (-1e-9, "0.0")]
)
def test_points(difference, written):
    """Percentage points carry their sign, and nothing is not negative."""
    assert text.points(difference) == written


def test_listed():
    """Lists read as a sentence."""
    assert [text.listed(list("abc"[:size])) for size in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


@given(st.floats(allow_nan=False))
def test_no_number_is_written_with_a_hyphen_or_as_minus_zero(value):
    """Whatever the number, the reader sees a true minus and never -0."""
    for written in (text.number(value), text.signed(value), text.fixed(value, 3)):
        assert "-" not in written
        assert written.strip("−0.") or not written.startswith("−")


@given(st.floats(min_value=-1e6, max_value=1e6))
def test_written_numbers_are_right_to_the_last_printed_digit(value):
    """Rounding is to nearest: what is printed is within half a unit of its last place."""
    assert abs(float(text.number(value).replace("−", "-")) - value) <= 0.5e-4 * (1 + 1e-9)
