"""What single sections show: competition, schedules, far distances, formats, padding."""

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
    number_formats,
    padding,
    three_forms,
)
from alibi_core.lesson import CONTENT_LOGITS, FAR_DISTANCES, LENGTHS, PADDINGS, PAPER_RESULT

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


def test_the_reported_loss_of_half_precision():
    """At 4,096 tokens the last key of a steep head falls from 0.569 to 0.071 in bfloat16."""
    formats = number_formats(alibi_slopes(40)[0].item(), 4096)
    half, brain = formats.formats.index("float16"), formats.formats.index("bfloat16")
    assert math.isclose(formats.distance_weights[0, -1], 0.5686762950684078)
    assert math.isclose(formats.distance_weights[brain, -1], 0.5681977966609241)
    assert math.isclose(formats.key_position_weights[brain, -1], 0.07142856051954984)
    assert math.isclose(formats.key_position_weights[half, -1], 0.7509270829501833)
    assert math.isclose(formats.distance_moved[brain], 0.0006096311758164343)
    assert math.isclose(formats.key_position_moved[brain], 0.7054784365331033)


@pytest.mark.parametrize("num_tokens", LENGTHS)
@pytest.mark.parametrize("slope", alibi_slopes(16)[::5].tolist())
def test_number_formats(num_tokens, slope):
    """float64 is exact, float16's spacing is NumPy's, and coarse formats let keys share a bias."""
    formats = number_formats(slope, num_tokens)
    away = np.exp(-slope * np.arange(num_tokens, dtype=float))
    exact = (away / away.sum())[: len(formats.distances)][::-1]
    assert np.allclose(formats.distance_weights[0], exact, rtol=1e-9)
    assert np.allclose(formats.key_position_weights[0], exact, rtol=1e-9)
    assert formats.distance_moved[0] == formats.key_position_moved[0] == 0
    assert (formats.key_position_moved[1:] >= 0).all()
    half = formats.formats.index("float16")
    size = 2.0 ** math.floor(math.log2(formats.last_key_bias))
    assert formats.spacings[half] == np.spacing(np.float16(size))
    if "float16" in formats.coarse_formats:
        keys = num_tokens - 1 - np.array(formats.distances)
        assert len(set(np.float16(slope * keys).tolist())) < len(keys)
    assert "float64" not in formats.coarse_formats


@pytest.mark.parametrize("slots", PADDINGS)
@pytest.mark.parametrize("query", range(6))
@pytest.mark.parametrize("slope", [0.5, 0.00390625])
def test_padding_changes_no_weight(slots, query, slope):
    """Masked padding on either side leaves bias and weights; unmasked it takes some, if before."""
    content = np.array(CONTENT_LOGITS)
    padded = padding(content, slope, query, slots)
    at = [slot for slot, token in enumerate(padded.tokens) if token is not None]
    assert [padded.tokens[slot] for slot in at] == list(range(6))
    assert padded.positions[at].tolist() == list(range(6))
    assert padded.query_slot == at[query]
    alone = causal_alibi_weights(content, [slope])[0, query]
    assert np.allclose(padded.weights[at], alone, rtol=1e-14, atol=0)
    assert padded.weights.sum() == pytest.approx(1)
    assert padded.agrees
    assert padded.bias[at].tolist() == [-slope * (query - key) for key in range(6)]
    taken = sum(math.exp(-slope * (query + away)) for away in (1, 2)) if slots < 0 else 0
    kept = sum(math.exp(content[key] - slope * (query - key)) for key in range(query + 1))
    assert padded.padding_weight == pytest.approx(taken / (taken + kept))


def test_results_are_read_only():
    """The arrays of a claim cannot be written to."""
    calculation = calculate(Selection())
    for name in (
        *("mask_and_bias", "forms", "cached_step", "competition", "schedule", "far_away"),
        *("number_formats", "padding"),
    ):
        arrays = [of for of in vars(getattr(calculation, name)).values() if hasattr(of, "flags")]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
