import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from alibi_core import masked_softmax

EXTREMES = st.sampled_from([1e308, -1e308, -np.inf, 0.0, 1.0, -745.0, 5e-324])
GARBAGE = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308])


@st.composite
def masked_rows(draw, elements=None):
    """Logits of shape (query, key) and a mask of the same shape."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 7)))
    elements = st.floats(-30, 30) if elements is None else elements
    logits = draw(arrays(np.float64, shape, elements=elements))
    return logits, draw(arrays(np.bool_, shape))


@given(masked_rows())
def test_plain_reference(reference, rows):
    """The weights are those of the plain-Python reference, which subtracts no maximum."""
    logits, allowed = rows
    pairs = zip(logits.tolist(), allowed.tolist(), strict=True)
    expected = [reference.softmax(row, usable) for row, usable in pairs]
    np.testing.assert_allclose(masked_softmax(logits, allowed), expected, rtol=1e-12)


@given(masked_rows(st.floats(-30, 30) | EXTREMES))
def test_rows_sum_to_one(rows):
    """A row sums to one over its allowed keys, and to zero if none of them can be used."""
    logits, allowed = rows
    weights = masked_softmax(logits, allowed)
    usable = (allowed & (logits > -np.inf)).any(axis=-1)
    np.testing.assert_allclose(weights.sum(axis=-1), usable, rtol=0, atol=1e-12)
    assert (weights[~usable] == 0).all()
    assert (weights[~allowed] == 0).all()
    assert ((weights >= 0) & (weights <= 1)).all()


@given(masked_rows(), st.floats(-1000, 1000))
def test_constant_added_to_a_row(rows, constant):
    """A constant added to a whole row changes no weight."""
    logits, allowed = rows
    moved = masked_softmax(logits + constant, allowed)
    np.testing.assert_allclose(moved, masked_softmax(logits, allowed), rtol=0, atol=1e-12)


@given(masked_rows(), st.data())
def test_masked_positions_hold_anything(rows, data):
    """NaN, infinities or huge logits at masked positions change nothing at all."""
    logits, allowed = rows
    garbage = data.draw(arrays(np.float64, logits.shape, elements=GARBAGE))
    expected = masked_softmax(logits, allowed)
    np.testing.assert_array_equal(
        masked_softmax(np.where(allowed, logits, garbage), allowed), expected
    )


@given(st.sampled_from([np.float32, np.float64]), arrays(np.bool_, (3, 5)), st.data())
def test_no_warning(dtype, allowed, data):
    """Extreme logits raise no NumPy warning, even where every warning is an error."""
    limits = np.finfo(dtype)
    extremes = [limits.max, limits.min, limits.smallest_subnormal, -np.inf, -90.0, 0.0, 1.0]
    extremes = st.sampled_from([float(value) for value in extremes])
    logits = data.draw(arrays(dtype, (3, 5), elements=extremes))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = masked_softmax(logits, allowed)
    assert np.isfinite(weights).all()


@given(masked_rows(), st.sampled_from([np.nan, np.inf]), st.data())
def test_refused_logits(rows, bad, data):
    """NaN or +inf at an allowed position is refused, and the message says what to do."""
    logits, allowed = rows
    at = tuple(data.draw(st.integers(0, size - 1)) for size in logits.shape)
    logits[at], allowed[at] = bad, True
    with pytest.raises(ValueError, match=r"allowed logit is NaN or \+inf.*mask that key"):
        masked_softmax(logits, allowed)


def test_largest_difference():
    """Logits at both ends of float64 give a weight of exactly one and exactly zero."""
    weights = masked_softmax([1e308, -1e308, -np.inf], [True, True, True])
    assert weights.tolist() == [1.0, 0.0, 0.0]


def test_no_allowed_key():
    """A row with no allowed key, or with -inf only, is all zeros while the others are not."""
    logits = [[1.0, 2.0], [-np.inf, -np.inf], [0.0, 0.0]]
    allowed = [[False, False], [True, True], [True, True]]
    assert masked_softmax(logits, allowed).tolist() == [[0, 0], [0, 0], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.longdouble, np.longdouble),
        (np.int64, np.float64),
    ],
)
def test_dtypes(given_dtype, kept):
    """float32 and wider keep their kind, float16 gives float32 and int64 gives float64."""
    weights = masked_softmax(np.array([0, 1, 2], dtype=given_dtype), [True, True, True])
    assert weights.dtype == kept
    expected = [0.09003057317038046, 0.24472847105479764, 0.6652409557748218]
    np.testing.assert_allclose(weights, expected, rtol=1e-6)


def test_shapes_broadcast():
    """One row of logits serves every row of the mask, and one mask serves every head."""
    tril = np.tri(3, dtype=bool)
    one_row = masked_softmax([0.0, 0.0, 0.0], tril)
    np.testing.assert_allclose(one_row, np.tril([[1.0], [1 / 2], [1 / 3]] * np.ones(3)))
    heads = masked_softmax(np.zeros((4, 3, 3)), tril)
    np.testing.assert_array_equal(heads, [one_row] * 4)


def test_inputs_are_left_alone():
    """Logits and mask may be read-only, and stay what they were."""
    logits, allowed = np.array([1.0, np.nan]), np.array([True, False])
    logits.setflags(write=False)
    allowed.setflags(write=False)
    assert masked_softmax(logits, allowed).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("logits", "allowed", "error", "message"),
    [
        ([0.0, 1.0], [1, 0], TypeError, "True = allowed, got dtype int64.*pass mask == 0"),
        ([0.0, 1.0], [0.0, -np.inf], TypeError, "True = allowed, got dtype float64"),
        ([True, False], [True, True], TypeError, "logits must hold real numbers, got dtype bool"),
        (["a"], [True], TypeError, "numpy.asarray"),
        ([[0.0], [0.0, 1.0]], [True], ValueError, "logits must be a regular array"),
        ([0.0, 1.0], [True] * 3, ValueError, r"shape \(2,\) and allowed of shape \(3,\) do not"),
        (0.0, True, ValueError, "at least one key"),
        ([], [], ValueError, "at least one key"),
    ],
)
def test_refused_inputs(logits, allowed, error, message):
    """A mask of numbers, logits that are not real and shapes that do not fit are refused."""
    mask = np.array(allowed, dtype=bool) if allowed == [] else allowed
    with pytest.raises(error, match=message):
        masked_softmax(logits, mask)
