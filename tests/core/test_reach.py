import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_core import causal_alibi_weights, e_distance, half_distance, nearest_share

slopes = st.floats(2**-10, 2)


@given(slopes)
def test_distances_halve_and_take_the_e_th_part(slope):
    """At these distances the factor exp(-slope * distance) is a half and 1/e."""
    assert math.exp(-slope * half_distance(slope)) == pytest.approx(0.5, rel=1e-12)
    assert math.exp(-slope * e_distance(slope)) == pytest.approx(1 / math.e, rel=1e-12)


@given(slopes, st.integers(1, 60), st.data())
def test_nearest_share_is_the_sum_of_the_weights(slope, num_keys, data):
    """At equal content the nearest n keys hold the sum of the last n weights of the row."""
    nearest = data.draw(st.integers(1, num_keys))
    weights = causal_alibi_weights(np.zeros(num_keys), [slope])[0, -1]
    assert nearest_share(slope, nearest, num_keys) == pytest.approx(
        weights[-nearest:].sum(), rel=1e-9
    )


def test_a_million_tokens():
    """Far away the share is as exact as near: no overflow, no loss of digits."""
    assert nearest_share(2**-8, 1_000_000, 1_000_000) == 1.0
    assert nearest_share(0.5, 999_999, 1_000_000) < 1, "one key more has a weight above 0"
    assert nearest_share(2**-8, 1, 1_000_000) == pytest.approx(-math.expm1(-(2**-8)), rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((0.5, 5, 4), ValueError), ((0.5, 0, 4), ValueError), ((0.5, 1.5, 4), TypeError)],
)
def test_nearest_is_one_of_the_keys(arguments, error):
    """How many of the nearest keys is a whole number from 1 to all of them."""
    with pytest.raises(error):
        nearest_share(*arguments)
