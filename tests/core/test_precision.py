import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_core import (
    alibi_slopes,
    distance_bias,
    key_position_bias,
    masked_softmax,
    round_to,
)

HALVES = ("float16", "bfloat16")


def nearest(value, digits, smallest, largest):
    """The nearest number with so many binary digits; of two, round() takes the even one."""
    if value == 0:
        return value
    exponent = max(np.frexp(value)[1], smallest) - digits
    rounded = round(value * 2.0**-exponent) * 2.0**exponent
    return rounded if abs(rounded) <= largest else np.copysign(np.inf, value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_plain_reference(value):
    """Each float32 goes to the nearest number of the format, and of two to the even one."""
    assert round_to([value], "float16")[0] == nearest(value, 11, -13, 65504.0)
    largest = float.fromhex("0x1.fep127")
    assert round_to([value], "bfloat16")[0] == nearest(value, 8, -125, largest)


@pytest.mark.parametrize("dtype", HALVES)
def test_ties_go_to_the_even_number(dtype):
    """Half way between two numbers of the format, the one whose last digit is 0 is taken."""
    step = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    halves = [1 + 0.5 * step, 1 + 1.5 * step]
    assert round_to(halves, dtype).tolist() == [1.0, 1 + 2 * step]


@pytest.mark.parametrize("dtype", HALVES)
def test_special_values(dtype):
    """Infinity, NaN and the sign of zero are kept, and nothing warns."""
    values = np.array([np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, 3e38])
    with np.errstate(all="raise"):
        rounded = round_to(values, dtype)
    assert rounded[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(rounded[2:4]).all()
    assert np.signbit(rounded[4:6]).tolist() == [False, True]
    assert np.isinf(rounded[6]) == (dtype == "float16")


def test_a_nan_of_any_payload_stays_nan():
    """The highest payload would carry over into the sign when rounded as a number."""
    nan = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(round_to(nan, "bfloat16")).all()


@pytest.mark.parametrize("kept", [np.float32, np.float64])
@pytest.mark.parametrize("dtype", HALVES)
def test_the_values_stay_in_their_dtype(kept, dtype):
    """What is rounded is held in the dtype that came, and the input is left alone."""
    values = np.array([[257.25, 1 / 3]], kept)
    before = values.copy()
    assert round_to(values, dtype).dtype == kept
    assert round_to(values, dtype).shape == (1, 2)
    np.testing.assert_array_equal(values, before)


def test_other_formats_are_refused():
    """A format that is none of the two is named with the two that are."""
    with pytest.raises(ValueError, match="choose 'float16' or 'bfloat16'"):
        round_to([1.0], "float8")
    with pytest.raises(ValueError, match="choose 'float16' or 'bfloat16'"):
        distance_bias([0.5], 3, emulate="half")
    with pytest.raises(TypeError, match="values must hold real numbers"):
        round_to(["1"], "float16")


@pytest.mark.parametrize("dtype", HALVES)
def test_both_forms_round_their_bias(dtype):
    """`emulate` rounds the finished bias, not the slope and the position on their own."""
    slopes = alibi_slopes(12)
    np.testing.assert_array_equal(
        distance_bias(slopes, 300, emulate=dtype), round_to(distance_bias(slopes, 300), dtype)
    )
    np.testing.assert_array_equal(
        key_position_bias(slopes, 300, emulate=dtype),
        round_to(key_position_bias(slopes, 300), dtype),
    )


@pytest.mark.parametrize("slope", alibi_slopes(40)[[0, 31]])
def test_the_distance_form_loses_less(slope):
    """At 4,096 tokens the key-position form in bfloat16 is farther off than the distance form."""
    newest = {"query_positions": [4095], "key_positions": range(4096)}
    exact = masked_softmax(distance_bias([slope], **newest)[0, 0], True)
    by_distance = masked_softmax(distance_bias([slope], **newest, emulate="bfloat16")[0, 0], True)
    by_position = masked_softmax(key_position_bias([slope], 4096, emulate="bfloat16")[0, 0], True)
    assert 5 * np.abs(by_distance - exact).sum() < np.abs(by_position - exact).sum()


@pytest.mark.parametrize("dtype", HALVES)
def test_a_sum_in_half_precision_is_rounded_again(dtype):
    """Added to a large bias, a small content logit is lost; added to a small one it is kept."""
    sums = round_to(
        distance_bias([0.25], query_positions=[16384], key_positions=[0, 16383])[0, 0] + 0.5, dtype
    )
    assert sums.tolist() == [-4096.0, 0.25]
