import copy
import dataclasses
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest

from alibi_core import Selection, calculate, slope_sources

HEADS = [(num_heads, head) for num_heads in range(1, 17) for head in range(num_heads)]
PAIRS = [(query, key) for query in range(6) for key in range(6)]


@pytest.fixture
def opening():
    return calculate(Selection())


# The stated figures


def test_opening_figures(opening, figures):
    """The opening pair has the stated distance, slope, bias, logits, weights and allowed keys."""
    stated, pair = figures["opening"], opening.pair
    assert {
        "tokens": list(opening.tokens),
        "query": pair.query,
        "key": pair.key,
        "num_heads": len(opening.slopes),
        "head": opening.selection.head,
        "slope": opening.slope,
        "distance": pair.distance,
        "content_logit": pair.content_logit,
        "distance_bias": pair.distance_bias,
        "biased_logit": pair.biased_logit,
        "alibi_weight_percent": round(100 * pair.alibi_weight, 1),
        "plain_weight_percent": round(100 * pair.plain_weight, 1),
        "allowed_keys": opening.allowed_counts[pair.query],
    } == stated


def test_content_logits_never_change(figures):
    """The content logits are the stated ones for every head."""
    for num_heads, head in HEADS:
        content_logits = calculate(Selection(num_heads, head)).content_logits
        assert content_logits.tolist() == figures["content_logits"]


def test_farthest_key_beats_all_but_the_own(opening):
    """In the opening row key 0 weighs more than keys 1 to 4 and less than the query's own key."""
    weights = opening.alibi_weights[5]
    assert (weights[0] > weights[1:5]).all()
    assert weights[0] < weights[5]
    assert opening.pair.nearer_outweighed == (1, 2, 3, 4)
    assert opening.pair.alibi_rank == 2
    assert opening.pair.plain_rank == 1


@pytest.mark.parametrize("column", ["plain_weights", "alibi_weights"])
def test_printed_column_adds_to_100(opening, column):
    """The opening row's percentages, printed with one decimal, add to 100.0."""
    printed = [Decimal(f"{100 * weight:.1f}") for weight in getattr(opening, column)[5]]
    assert sum(printed) == Decimal("100.0")


# The plain-Python reference


def expected_pairs(reference, content, slope):
    """All fields of all 36 pairs of a head with this slope, from the plain-Python reference."""
    bias = reference.bias(slope, 6)
    plain, alibi = reference.weights([content] * 6, 0.0), reference.weights([content] * 6, slope)
    for query, key in PAIRS:
        allowed = key <= query
        summed = content[key] - slope * (query - key)
        plain_logit = content[key] if allowed else -math.inf
        biased_logit = summed if allowed else -math.inf
        yield {
            "query": query,
            "key": key,
            "distance": query - key,
            "tokens_apart": max(query - key, key - query),
            "allowed": allowed,
            "content_logit": content[key],
            "penalty": slope * (query - key),
            "distance_bias": bias[query][key],
            "summed_logit": summed,
            "plain_logit": plain_logit,
            "biased_logit": biased_logit,
            "plain_exponential": math.exp(plain_logit),
            "alibi_exponential": math.exp(biased_logit),
            "plain_weight": plain[query][key],
            "alibi_weight": alibi[query][key],
            "weight_difference": alibi[query][key] - plain[query][key],
            "plain_rank": rank(plain[query], key) if allowed else 0,
            "alibi_rank": rank(alibi[query], key) if allowed else 0,
            "nearer_outweighed": tuple(
                other for other in range(key + 1, query + 1) if larger(alibi[query], key, other)
            ),
        }


def rank(values, at):
    return 1 + sum(larger(values, other, at) for other in range(len(values)))


def larger(values, one, other):
    return values[one] > values[other] + 1e-12


@pytest.mark.parametrize("num_heads", range(1, 17))
def test_plain_reference(num_heads, reference, figures):
    """Every field of all 36 pairs of every head is that of the plain-Python reference."""
    for head, slope in enumerate(reference.slopes(num_heads)):
        calculation = calculate(Selection(num_heads, head))
        for expected in expected_pairs(reference, figures["content_logits"], slope):
            pair = dataclasses.asdict(calculation.pair_at(expected["query"], expected["key"]))
            assert pair.pop("nearer_outweighed") == expected.pop("nearer_outweighed")
            assert pair == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("num_heads", range(1, 17))
def test_rows_and_heads(num_heads, reference):
    """Slopes, their ranks and sources, denominators, sums and counts fit the reference."""
    slopes = reference.slopes(num_heads)
    for head in range(num_heads):
        calculation = calculate(Selection(num_heads, head))
        assert calculation.slope == pytest.approx(slopes[head], rel=1e-12)
        np.testing.assert_allclose(calculation.slopes, slopes, rtol=1e-12)
        assert calculation.slope_ranks.tolist() == [rank(slopes, at) for at in range(num_heads)]
        assert calculation.slope_sources == slope_sources(num_heads)
        power = max(count for count in (1, 2, 4, 8, 16) if count <= num_heads)
        assert calculation.appended_heads == tuple(range(power, num_heads))
        assert calculation.allowed_counts.tolist() == [1, 2, 3, 4, 5, 6]
        for kind in ("plain", "alibi"):
            exponentials = getattr(calculation, f"{kind}_exponentials").tolist()
            denominators = [math.fsum(row) for row in exponentials]
            np.testing.assert_allclose(
                getattr(calculation, f"{kind}_denominators"), denominators, rtol=2e-15
            )
            np.testing.assert_allclose(getattr(calculation, f"{kind}_sums"), 1.0, rtol=2e-15)


# Its parts agree with each other


ARRAYS_OF_A_PAIR = {
    "distance": "distance",
    "allowed": "allowed",
    "distance_bias": "distance_bias",
    "plain_logit": "plain_logits",
    "biased_logit": "biased_logits",
    "plain_exponential": "plain_exponentials",
    "alibi_exponential": "alibi_exponentials",
    "plain_weight": "plain_weights",
    "alibi_weight": "alibi_weights",
    "weight_difference": "weight_difference",
    "plain_rank": "plain_ranks",
    "alibi_rank": "alibi_ranks",
}


def test_pairs_are_parts_of_the_arrays(opening):
    """A pair holds the very numbers of the arrays, as plain Python numbers."""
    for query, key in PAIRS:
        pair = opening.pair_at(query, key)
        for name, array in ARRAYS_OF_A_PAIR.items():
            assert getattr(pair, name) == getattr(opening, array)[query, key]
        assert {type(value) for value in vars(pair).values()} == {int, float, bool, tuple}


def test_selected_pair():
    """`pair` is the selected query and key, whichever they are."""
    for query, key in PAIRS:
        calculation = calculate(Selection(6, 4, query, key))
        assert calculation.pair == calculation.pair_at(query, key)
        assert (calculation.pair.query, calculation.pair.key) == (query, key)


@pytest.mark.parametrize("kind", ["plain", "alibi"])
def test_exponentials_over_denominators(kind):
    """Exponential over denominator is the weight, so the shown steps lead to the shown result."""
    for num_heads, head in HEADS:
        calculation = calculate(Selection(num_heads, head))
        exponentials = getattr(calculation, f"{kind}_exponentials")
        denominators = getattr(calculation, f"{kind}_denominators")
        weights = getattr(calculation, f"{kind}_weights")
        np.testing.assert_allclose(
            exponentials / denominators[:, None], weights, rtol=0, atol=1e-15
        )


def test_all_heads_at_once():
    """`head_weights` holds for every head what choosing that head shows."""
    for num_heads, head in HEADS:
        calculation = calculate(Selection(num_heads, head))
        assert calculation.head_weights.shape == (num_heads, 6, 6)
        for other in range(num_heads):
            np.testing.assert_array_equal(
                calculation.head_weights[other],
                calculate(Selection(num_heads, other)).alibi_weights,
            )


def test_ranks_follow_the_weights():
    """A larger weight has the better rank, equal weights share one, and masked keys have none."""
    for num_heads, head in HEADS:
        calculation = calculate(Selection(num_heads, head))
        for query in range(6):
            weights = calculation.alibi_weights[query].tolist()
            ranks = calculation.alibi_ranks[query].tolist()
            allowed = weights[: query + 1]
            assert ranks == [rank(allowed, at) for at in range(query + 1)] + [0] * (5 - query)


def test_equal_logits_share_a_rank():
    """Without ALiBi keys 3 and 5 have one content logit, so they share rank 3."""
    assert calculate(Selection()).plain_ranks[5].tolist() == [1, 2, 6, 3, 5, 3]


# Masked pairs, zeros, immutability


def test_masked_pairs():
    """A future key has logit -inf and weight exactly 0; its bias is still the formula's."""
    for num_heads, head in HEADS:
        for query, key in ((query, key) for query, key in PAIRS if key > query):
            calculation = calculate(Selection(num_heads, head, query, key))
            pair = calculation.pair
            assert not pair.allowed
            assert pair.plain_logit == pair.biased_logit == -math.inf
            assert pair.plain_exponential == pair.alibi_exponential == 0
            assert pair.plain_weight == pair.alibi_weight == pair.weight_difference == 0
            assert pair.plain_rank == pair.alibi_rank == 0
            assert pair.distance_bias == calculation.slope * (key - query) > 0


def test_no_negative_zero():
    """No number of any pair is -0.0, the bias of a query's own position least of all."""
    for num_heads, head in HEADS:
        calculation = calculate(Selection(num_heads, head))
        for query, key in PAIRS:
            pair = calculation.pair_at(query, key)
            assert [name for name, value in vars(pair).items() if str(value) == "-0.0"] == []
        assert not np.signbit(calculation.distance_bias.diagonal()).any()


def test_arrays_are_read_only(opening):
    """No array of a calculation can be written to."""
    arrays = {name: x for name, x in vars(opening).items() if isinstance(x, np.ndarray)}
    assert {"slopes", "distance", "allowed", "head_weights"} <= arrays.keys()
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_frozen(opening):
    """No field of a calculation or of a pair can be replaced."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        opening.slope = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        opening.pair.distance = 1


@pytest.mark.parametrize("choice", ["x", None, (4, 0, 5, 0), {"head": 0}])
def test_refused_choices(choice):
    """Anything but a Selection is refused with an example of one."""
    with pytest.raises(TypeError, match=r"needs a Selection, got \w+; pass Selection\("):
        calculate(choice)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_read_only_too(copied):
    """A copy of a calculation is worked out anew: the same numbers, as immutable."""
    original = calculate(Selection(6, 4))
    again = copied(original)
    assert again.selection == original.selection
    np.testing.assert_array_equal(again.alibi_weights, original.alibi_weights)
    assert not again.alibi_weights.flags.writeable


@pytest.mark.parametrize(("query", "key"), [(-1, 0), (0, 6), (1.5, 0), (True, 0)])
def test_a_pair_off_the_sentence_is_refused(query, key):
    """`pair_at` takes positions of the sentence only; -1 is not the last one."""
    with pytest.raises((TypeError, ValueError), match=r"choose 0 to 5$"):
        calculate(Selection()).pair_at(query, key)


EVERY_HEAD = [(count, head) for count in range(1, 17) for head in range(count)]


@pytest.mark.parametrize(("num_heads", "head"), EVERY_HEAD)
def test_mask_and_bias_each_alone(num_heads, head):
    """Without the mask no key has weight 0; the symmetric bias leaves the diagonal alone."""
    calculation = calculate(Selection(num_heads, head))
    content = calculation.content_logits
    symmetric = calculation.mask_and_bias.symmetric_bias
    np.testing.assert_array_equal(symmetric, symmetric.T)
    np.testing.assert_array_equal(symmetric.diagonal(), np.zeros(6))
    lower = calculation.allowed
    np.testing.assert_array_equal(symmetric[lower], calculation.distance_bias[lower])
    for weights, logits in (
        (calculation.mask_and_bias.neither, np.tile(content, (6, 1))),
        (calculation.mask_and_bias.bias_alone, content + symmetric),
    ):
        exponentials = np.exp(logits)
        expected = exponentials / exponentials.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
        assert weights.min() > 0


@pytest.mark.parametrize(("num_heads", "head"), EVERY_HEAD)
def test_forms_with_their_constant_taken_away(num_heads, head):
    """Each form less the constant of its row is the distance form, and the weights agree."""
    calculation = calculate(Selection(num_heads, head))
    for form in ("key_position", "last_row"):
        shifted = getattr(calculation.forms, f"{form}_shifted")
        np.testing.assert_allclose(shifted, calculation.distance_bias, rtol=0, atol=1e-15)
        weights = getattr(calculation.forms, f"{form}_weights")
        np.testing.assert_allclose(weights, calculation.alibi_weights, rtol=0, atol=1e-15)
    assert calculation.forms.agree is True


def test_the_shortcut_fails_without_the_mask():
    """In the steepest head of the lesson the last key wins every row, the first query's too."""
    calculation = calculate(Selection(16, 0))
    assert calculation.forms.shortcut_weights.argmax(axis=-1).tolist() == [5] * 6


@pytest.mark.parametrize("query", range(6))
@pytest.mark.parametrize(("num_heads", "head"), EVERY_HEAD)
def test_cached_step(num_heads, head, query):
    """The cached step is the query's row; taken for position 0 the biases are turned round."""
    calculation = calculate(Selection(num_heads, head, query))
    np.testing.assert_allclose(
        calculation.cached_step.weights, calculation.alibi_weights[query], rtol=0, atol=1e-15
    )
    assert calculation.cached_step.agrees is True
    stored = slice(0, query + 1)
    logits = calculation.content_logits[stored] + calculation.distance_bias[query, stored][::-1]
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(
        calculation.cached_step.restarted_weights[stored], expected, rtol=1e-12
    )
    assert not calculation.cached_step.restarted_weights[query + 1 :].any()
