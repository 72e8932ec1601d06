import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_core import (
    alibi_slopes,
    causal_mask,
    distance_bias,
    key_position_bias,
    masked_softmax,
    row_constant,
    token_distance,
)


def test_worked_examples(figures):
    """Content logit, slope and distance give the penalty and biased logit that the text states."""
    for example in figures["worked_examples"] + figures["practice"]:
        query = example.get("query", example["distance"])
        key = example.get("key", 0)
        bias = distance_bias([example["slope"]], query + 1)[0, query, key]
        assert token_distance(query + 1)[query, key] == example["distance"]
        assert example["content_logit"] + bias == pytest.approx(example["biased_logit"], rel=1e-12)
        if "penalty" in example:
            assert -bias == pytest.approx(example["penalty"], rel=1e-12)


def test_long_distances(figures):
    """The smallest slope subtracts the stated logits at the last token of 1024 and of 2048."""
    stated = figures["long_distance_bias"]
    first_column = distance_bias([stated["slope"]], 2048)[0, :, 0]
    assert first_column[1023] == stated["1023"]
    assert first_column[2047] == stated["2047"]


@pytest.mark.parametrize("num_heads", [1, 4, 6])
@pytest.mark.parametrize("num_tokens", [1, 2, 7])
def test_plain_reference(num_heads, num_tokens, reference):
    """The bias of every head, query and key, future ones too, is -slope * (query - key)."""
    expected = [reference.bias(slope, num_tokens) for slope in reference.slopes(num_heads)]
    bias = distance_bias(alibi_slopes(num_heads), num_tokens)
    assert bias.shape == (num_heads, num_tokens, num_tokens)
    np.testing.assert_allclose(bias, expected, rtol=1e-12)


def test_distance_counts_tokens_back():
    """The distance is query minus key in whole tokens, negative for future keys."""
    distance = token_distance(5)
    assert distance.dtype == np.int64
    assert distance.tolist() == [[i - j for j in range(5)] for i in range(5)]


def test_slopes_keep_their_order():
    """Each head is penalised by its own slope, in head order."""
    slopes = [0.5, 0.125, 2.0]
    assert distance_bias(slopes, 2)[:, 1, 0].tolist() == [-0.5, -0.125, -2.0]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int64, np.float64),
    ],
)
def test_dtypes(given, kept):
    """float32 and float64 slopes give their own kind of bias; the rest is widened."""
    bias = distance_bias(np.array([1, 2], dtype=given), 3)
    assert bias.dtype == kept
    assert bias[:, 2, 0].tolist() == [-2, -4]


@pytest.mark.parametrize(
    ("slopes", "error", "fix"),
    [
        (0.25, ValueError, "for one head pass a list of one slope, such as [0.25]"),
        ([[0.25]], ValueError, "must have shape (head,), got shape (1, 1)"),
        ([], ValueError, "must have shape (head,), got shape (0,)"),
        ([0.25, -0.5], ValueError, "pass the slopes without one"),
        ([0.0], ValueError, "must be positive and finite, got [0.0]"),
        ([np.nan], ValueError, "must be positive and finite, got [nan]"),
        ([np.inf], ValueError, "must be positive and finite, got [inf]"),
        ([[1.0], [1.0, 2.0]], ValueError, "must be a regular array of numbers"),
        (["0.25"], TypeError, "convert it with numpy.asarray(slopes, dtype=float)"),
        ([True], TypeError, "must hold real numbers, got dtype bool"),
        ([1j], TypeError, "must hold real numbers, got dtype complex128"),
        (None, TypeError, "must hold real numbers, got dtype object"),
    ],
)
def test_refused_slopes(slopes, error, fix):
    """Slopes that are not one positive finite number a head are refused with the fix."""
    with pytest.raises(error) as caught:
        distance_bias(slopes, 3)
    assert "slopes must" in str(caught.value)
    assert fix in str(caught.value)


@pytest.mark.parametrize("function", [token_distance, lambda value: distance_bias([0.25], value)])
@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-1, ValueError), (3.0, TypeError), (True, TypeError)]
)
def test_refused_numbers_of_tokens(function, value, error):
    """A number of tokens that is no whole number from 1 is refused, and told what to pass."""
    with pytest.raises(error, match=r"num_tokens must be .*; pass a whole number from 1"):
        function(value)
    assert len(token_distance(np.int64(3))) == 3


def test_a_huge_slope_overflows_quietly():
    """A bias beyond the largest float is minus infinity, without a NumPy warning."""
    with np.errstate(all="raise"):
        assert distance_bias([1e308], 3)[0, 2].tolist() == [-math.inf, -1e308, 0.0]


positions = st.lists(st.integers(-1000, 1000), min_size=1, max_size=8)


@given(positions, positions, st.floats(1e-3, 2))
def test_any_positions(query, key, slope):
    """The bias depends on the positions alone, wherever they are and in whatever order."""
    at = {"query_positions": query, "key_positions": key}
    expected = [[-slope * (i - j) for j in key] for i in query]
    np.testing.assert_array_equal(distance_bias([slope], **at)[0], expected)
    symmetric = [[-slope * abs(i - j) for j in key] for i in query]
    np.testing.assert_array_equal(distance_bias([slope], **at, symmetric=True)[0], symmetric)


@given(positions, st.integers(-(10**6), 10**6))
def test_a_shift_of_all_positions_changes_nothing(at, shift):
    """Adding a constant to every position leaves the distances as they are."""
    moved = [position + shift for position in at]
    np.testing.assert_array_equal(
        token_distance(query_positions=at, key_positions=at),
        token_distance(query_positions=moved, key_positions=moved),
    )


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(1e-3, 2))
def test_three_forms_give_the_same_weights_under_the_mask(content, slope):
    """-m(i - j), +m j and m(j - (T - 1)) differ by a constant a row, which softmax ignores."""
    tokens = len(content)
    forms = (
        distance_bias([slope], tokens)[0],
        key_position_bias([slope], tokens)[0],
        key_position_bias([slope], key_positions=range(1 - tokens, 1))[0],
    )
    weights = [masked_softmax(content + form, causal_mask(tokens)) for form in forms]
    np.testing.assert_allclose(weights[1], weights[0], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(weights[2], weights[0], rtol=1e-9, atol=1e-15)


def test_the_row_constant_is_what_the_key_form_has_too_much():
    """Subtracting slope * i from the key-position form gives the distance form."""
    slopes = alibi_slopes(4)
    difference = key_position_bias(slopes, 6) - row_constant(slopes, range(6))
    np.testing.assert_array_equal(difference, distance_bias(slopes, 6))


def test_without_the_mask_the_shortcut_fails():
    """The key-position form lets the last key win for every query of an encoder."""
    key_form = np.broadcast_to(key_position_bias([0.5], 4)[0], (4, 4))
    assert masked_softmax(key_form, True).argmax(axis=-1).tolist() == [3, 3, 3, 3]
    symmetric = distance_bias([0.5], 4, symmetric=True)[0]
    assert masked_softmax(symmetric, True).argmax(axis=-1).tolist() == [0, 1, 2, 3]


def test_the_symmetric_bias_is_symmetric_and_its_causal_weights_are_not():
    """|i - j| gives a symmetric matrix; what the causal mask leaves of it is none."""
    symmetric = distance_bias([0.5], 5, symmetric=True)[0]
    np.testing.assert_array_equal(symmetric, symmetric.T)
    weights = masked_softmax(symmetric, causal_mask(5))
    assert not np.array_equal(weights, weights.T)


@pytest.mark.parametrize(
    "arguments", [{}, {"query_positions": [0]}, {"key_positions": [0]}, {"query_positions": []}]
)
def test_missing_positions_are_named(arguments):
    """Without a number of tokens, query and key positions are both needed."""
    with pytest.raises(ValueError, match="pass"):
        token_distance(**arguments)


@pytest.mark.parametrize("wrong", [[0.5], [[0, 1]], ["0"], 3, [True]])
def test_positions_are_integers_in_one_dimension(wrong):
    """Fractions, tables, text and single numbers are no positions."""
    with pytest.raises(ValueError, match="pass positions such as"):
        token_distance(query_positions=wrong, key_positions=[0])


def test_float32_stays_float32():
    """An int64 distance does not widen float32 slopes, in any form."""
    slopes = alibi_slopes(4).astype(np.float32)
    assert distance_bias(slopes, 6, symmetric=True).dtype == np.float32
    assert key_position_bias(slopes, 6).dtype == np.float32
    assert row_constant(slopes, [5]).dtype == np.float32


@pytest.mark.parametrize(
    "far", [np.array([2**64 - 1], np.uint64), [2**62], [-(2**62)], [2**63 - 1], [-(2**63)]], ids=str
)
def test_positions_whose_distance_wraps_round_are_refused(far):
    """No far key becomes a future one because a difference of positions is beyond 64 bits."""
    with pytest.raises(ValueError, match=r"between -2\*\*62 and 2\*\*62"):
        token_distance(query_positions=far, key_positions=[0])
    with pytest.raises(ValueError, match=r"between -2\*\*62 and 2\*\*62"):
        key_position_bias([0.5], key_positions=far)
    edge = 2**62 - 1
    assert token_distance(query_positions=[edge], key_positions=[-edge]).item() == 2**63 - 2
