"""What single sections show: competition, both schedules, far distances."""

import math

import numpy as np
import pytest

from alibi_core import Selection, alibi_slopes, calculate, causal_alibi_weights
from alibi_core.claims import (
    AGREEMENT,
    both_schedules,
    compete,
    far_away,
    mask_and_bias,
    three_forms,
)
from alibi_core.lesson import CONTENT_LOGITS, FAR_DISTANCES, PAPER_RESULT

PAIRS = [(key, other) for key in range(6) for other in range(6) if key != other]


@pytest.mark.parametrize(("key", "other"), PAIRS)
def test_the_odds_are_the_ratio_of_two_weights(key, other):
    """Content odds times distance odds is the quotient of the weights, in every row with both."""
    for query in range(max(key, other), 6):
        for head in range(6):
            chosen = calculate(Selection(6, head, query, key, other))
            compared = chosen.competition.comparison
            ratio = chosen.alibi_weights[query, key] / chosen.alibi_weights[query, other]
            assert chosen.weight_ratio == ratio
            assert math.isclose(compared.odds, ratio, rel_tol=1e-12)
            assert math.isclose(compared.odds, compared.content_odds * compared.distance_odds)


def test_a_masked_key_has_no_ratio():
    """Where the query may not use both keys there is no quotient of weights."""
    assert calculate(Selection(query=3, key=4, other=0)).weight_ratio is None
    assert calculate(Selection(query=3, key=0, other=4)).weight_ratio is None


@pytest.mark.parametrize(("key", "other"), PAIRS)
def test_the_tie_slope_gives_equal_weights(key, other):
    """At the break-even slope the two weights agree to 1e-12; without one the nearer key wins."""
    tie = calculate(Selection(key=key, other=other)).competition.comparison.tie_slope
    query = max(key, other)
    if tie is not None:
        weights = causal_alibi_weights(CONTENT_LOGITS, [tie])[0, query]
        assert abs(weights[key] - weights[other]) <= AGREEMENT
    else:
        near, far = max(key, other), min(key, other)
        for slope in (1e-6, 0.1, 1.0):
            weights = causal_alibi_weights(CONTENT_LOGITS, [slope])[0, query]
            assert (weights[near] > weights[far]) or CONTENT_LOGITS[near] < CONTENT_LOGITS[far]
        assert CONTENT_LOGITS[near] >= CONTENT_LOGITS[far]


@pytest.mark.parametrize(("key", "other"), PAIRS)
def test_each_head_lies_on_the_side_of_its_weights(key, other):
    """The heads listed for a key are those in which it weighs more."""
    query = max(key, other)
    for num_heads in range(1, 17):
        chosen = calculate(Selection(num_heads, 0, query, key, other))
        difference = chosen.head_weights[:, query, key] - chosen.head_weights[:, query, other]
        competition = chosen.competition
        assert competition.heads_for_key == tuple(np.flatnonzero(difference > 0))
        assert competition.heads_for_other == tuple(np.flatnonzero(difference < 0))
        assert competition.heads_tied == ()


@pytest.mark.parametrize("head", range(6))
def test_equal_content_leaves_the_distance_alone(head):
    """With equal content a key's odds are exp(-slope) for each token that it is farther away."""
    for key, other in PAIRS:
        competition = calculate(Selection(6, head, 5, key, other, equal=1)).competition
        assert competition.farther == other - key
        assert math.isclose(competition.comparison.odds, competition.token_factor ** (other - key))
        assert competition.comparison.content_odds == 1
        assert competition.comparison.tie_slope is None


@pytest.mark.parametrize("query", range(6))
def test_with_equal_content_each_token_multiplies_the_weight(query):
    """All keys compete with equal content: exp(-slope) a token, in the whole row of the query."""
    for head in range(6):
        chosen = calculate(Selection(6, head, query, key=0, other=1, equal=1))
        row, factor = chosen.competition.weights[query], chosen.competition.token_factor
        assert math.isclose(row.sum(), 1)
        for key in range(query):
            assert math.isclose(row[key], row[key + 1] * factor, rel_tol=1e-12)
        if query:
            assert chosen.weight_ratio is not None
            assert math.isclose(chosen.weight_ratio, factor, rel_tol=1e-12)
        lesson = calculate(Selection(6, head, query))
        assert (lesson.competition.weights == lesson.alibi_weights).all()


def test_the_shortcut_fails_for_every_query_but_the_last():
    """Unmasked, m*j gives each query one row, which is right where that row is the last."""
    for num_heads in range(1, 17):
        for head in range(num_heads):
            chosen = calculate(Selection(num_heads, head))
            forms, apart = chosen.forms, chosen.mask_and_bias
            assert (forms.shortcut_weights == forms.shortcut_weights[0]).all()
            assert forms.shortcut_right_for == (5,)
            assert forms.shortcut_weights[0, forms.shortcut_winner] == forms.shortcut_weights.max()
            largest = apart.bias_alone.max(axis=-1)
            assert (apart.bias_alone[range(6), apart.bias_alone_winners] == largest).all()


@pytest.mark.parametrize("slope", [2.0**-exponent for exponent in range(1, 9)])
def test_the_shortcut_lets_the_last_key_win(slope):
    """At equal content the right bias peaks at the query itself, the shortcut at the last key."""
    assert mask_and_bias(np.zeros(6), slope).bias_alone_winners == (0, 1, 2, 3, 4, 5)
    assert three_forms(np.zeros(6), slope).shortcut_winner == 5


def test_a_tie_is_called_a_tie():
    """Logits that differ by slope times distance tie in that head, and in no other."""
    slopes = alibi_slopes(4)
    competition = compete(np.array([0.25, 0.0]), slopes, head=0, key=0, other=1)
    assert competition.heads_tied == (0,)
    assert competition.heads_for_key == (1, 2, 3)


@pytest.mark.parametrize("num_heads", range(1, 257))
def test_both_schedules(num_heads):
    """The order runs from steepest to shallowest; powers of two are where the rules agree."""
    schedule = both_schedules(num_heads)
    ordered = schedule.slopes[list(schedule.order)]
    assert sorted(schedule.order) == list(range(num_heads))
    assert (np.diff(ordered) < 0).all()
    assert [2.0**source.exponent for source in schedule.sources] == schedule.slopes.tolist()
    is_power = num_heads & (num_heads - 1) == 0
    assert bool(schedule.differing_heads) is not is_power
    for head in range(num_heads):
        plain = 2 ** (-8 * (head + 1) / num_heads)
        assert math.isclose(schedule.geometric_slopes[head], plain)
        same = math.isclose(schedule.slopes[head], plain, rel_tol=1e-12)
        assert same is (head not in schedule.differing_heads)


def test_documented_ratios(figures):
    """Each slope is a quarter of the one before with four heads, a half with eight."""
    for num_heads, stated in figures["slope_ratio"].items():
        assert both_schedules(int(num_heads)).ratio == stated
    assert both_schedules(1).ratio is None
    assert both_schedules(6).ratio is None


def test_documented_far_biases(figures):
    """Slope 0.00390625 gives exactly -3.99609375 at 1023 tokens and -7.99609375 at 2047."""
    stated = figures["long_distance_bias"]
    for distance in (1023, 2047):
        away = calculate(Selection(4, 3, far=distance)).far_away
        assert away.biases[3] == stated[str(distance)]
        assert calculate(Selection(4, 3)).slope == stated["slope"]


@pytest.mark.parametrize("distance", FAR_DISTANCES)
def test_far_away(distance):
    """At any distance the bias is defined, and so is its power of ten where e to it underflows."""
    slopes = alibi_slopes(16)
    away = far_away(slopes, distance)
    for head, slope in enumerate(slopes.tolist()):
        assert away.biases[head] == -slope * distance
        assert math.isclose(away.relative_exponents[head], -slope * distance / math.log(10))
        assert math.isclose(away.relative_weights[head], math.exp(-slope * distance))
        assert math.isclose(math.exp(-slope * away.half_distances[head]), 0.5)
        assert math.isclose(math.exp(-slope * away.e_distances[head]), 1 / math.e)
        shares = np.exp(-slope * np.arange(away.num_keys, dtype=float))
        assert math.isclose(away.nearest_shares[head], shares[: distance + 1].sum() / shares.sum())
    assert away.mark_biases.shape == (16, len(away.marks))
    assert (away.mark_biases == -np.outer(slopes, away.marks)).all()
    assert away.in_table is (distance <= 1023)
    assert PAPER_RESULT.train_tokens == 1024


def test_results_are_read_only():
    """The arrays of a claim cannot be written to."""
    calculation = calculate(Selection())
    for name in (
        *("mask_and_bias", "forms", "cached_step", "competition", "schedule", "far_away"),
    ):
        arrays = [of for of in vars(getattr(calculation, name)).values() if hasattr(of, "flags")]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
