import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alibi_core import causal_alibi_weights, compare_keys

logits = st.floats(-4, 4)
slopes = st.floats(1e-3, 2)


@given(st.lists(logits, min_size=2, max_size=8), slopes, st.data())
def test_odds_are_the_ratio_of_the_weights(content, slope, data):
    """The denominator cancels: the odds of two keys are the ratio of their weights."""
    keys = st.integers(0, len(content) - 1)
    one, other = data.draw(keys), data.draw(keys)
    weights = causal_alibi_weights(content, [slope])[0, -1]
    query = len(content) - 1
    compared = compare_keys((content[one], content[other]), (query - one, query - other), slope)
    assert compared.odds == pytest.approx(weights[one] / weights[other], rel=1e-9)


@given(logits, logits, st.integers(0, 100), st.integers(0, 100), slopes)
def test_log_odds_add_and_odds_multiply(content, other, distance, other_distance, slope):
    """Content and distance add in log odds, so their odds multiply."""
    compared = compare_keys((content, other), (distance, other_distance), slope)
    assert compared.log_odds == compared.content_log_odds + compared.distance_log_odds
    assert compared.odds == pytest.approx(
        compared.content_odds * compared.distance_odds, rel=1e-12, abs=1e-300
    )


def test_odds_beyond_the_largest_float_are_infinite():
    """A million tokens give infinite odds one way and none the other, without an error."""
    assert compare_keys((0.0, 0.0), (0, 1_000_000), 0.5).odds == math.inf
    assert compare_keys((0.0, 0.0), (1_000_000, 0), 0.5).odds == 0.0


@given(slopes, st.integers(0, 30))
def test_each_token_multiplies_by_exp_minus_slope(slope, distance):
    """At equal content each further token multiplies the weight by exp(-slope)."""
    compared = compare_keys((1.0, 1.0), (distance + 1, distance), slope)
    assert compared.odds == math.exp(-slope)
    assert compared.tie_slope is None


@given(logits, logits, st.integers(0, 20), st.integers(0, 20))
def test_at_the_tie_slope_both_keys_get_the_same_weight(content, other, distance, other_distance):
    """The break-even slope gives equal weights, to 1e-12; one below every float is none."""
    assume(content == other or abs(content - other) > 1e-300)
    compared = compare_keys((content, other), (distance, other_distance), 1.0)
    stronger_is_farther = (content - other) * (distance - other_distance) > 0
    assert (compared.tie_slope is not None) is stronger_is_farther
    assume(compared.tie_slope is not None and compared.tie_slope > 1e-6)
    tokens = max(distance, other_distance) + 1
    row = np.full(tokens, -2.0)
    row[tokens - 1 - distance], row[tokens - 1 - other_distance] = content, other
    weights = causal_alibi_weights(row, [compared.tie_slope])[0, -1]
    one, two = weights[tokens - 1 - distance], weights[tokens - 1 - other_distance]
    assert one == pytest.approx(two, rel=1e-12)


def test_a_tie_slope_below_every_float_is_none():
    """Contents apart by the least float tie at no slope that a float can hold."""
    assert compare_keys((0.0, -5e-324), (2, 0), 1.0).tie_slope is None


def test_opening_row():
    """Key 0 ties with the query's own at slope 0.16, between heads 0 and 1 of four."""
    assert compare_keys((2.0, 1.2), (5, 0), 0.25).tie_slope == pytest.approx(0.16)
    assert compare_keys((2.0, 1.2), (5, 0), 0.25).odds < 1
    assert compare_keys((2.0, 1.2), (5, 0), 0.0625).odds > 1


@pytest.mark.parametrize(
    ("distances", "slope", "error", "fix"),
    [
        ((-1, 0), 0.25, ValueError, "compare keys that the causal mask allows"),
        ((1, 0), 0.0, ValueError, "pass the slope of a head"),
        ((1, 0), -0.25, ValueError, "pass the slope of a head"),
        ((1, 0), math.nan, ValueError, "pass the slope of a head"),
        ((1, 0), "0.25", TypeError, "pass the slope of a head"),
        ((1, 0), True, TypeError, "pass the slope of a head"),
    ],
)
def test_refusals_name_the_fix(distances, slope, error, fix):
    """A masked key has no odds, and a slope is a positive number."""
    with pytest.raises(error, match=fix):
        compare_keys((1.0, 1.0), distances, slope)


@pytest.mark.parametrize(
    ("content", "distances", "error"),
    [
        ((math.nan, 1.0), (1, 0), ValueError),
        ((1.0, 1.0, 1.0), (1, 0, 2), ValueError),
        ((1.0, 1.0), (0.5, 0), TypeError),
    ],
)
def test_what_is_compared_are_two_keys(content, distances, error):
    """Two finite logits and two whole distances, nothing else."""
    with pytest.raises(error):
        compare_keys(content, distances, 0.25)
