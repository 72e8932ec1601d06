import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from alibi_core import (
    alibi_slopes,
    causal_alibi_attention,
    causal_alibi_weights,
    causal_mask,
    causal_weights,
    masked_softmax,
    newest_query_weights,
)

SLOPES = st.floats(2**-10, 2.0)


@st.composite
def content(draw, minimum=1):
    """Content logits of shape (query, key)."""
    num_tokens = draw(st.integers(minimum, 8))
    return draw(arrays(np.float64, (num_tokens, num_tokens), elements=st.floats(-20, 20)))


@pytest.fixture
def qkv():
    """Random q, k and v: 2 sequences, 3 heads, 5 tokens, head_dim 4, value_dim 6."""
    random = np.random.default_rng(20220425)
    return [random.normal(size=(2, 3, 5, dim)) for dim in (4, 4, 6)]


# Weights


@given(content(), st.integers(1, 12))
def test_alibi_weights_equal_the_plain_reference(reference, logits, num_heads):
    """The weights with ALiBi are those of the plain-Python reference, head by head."""
    expected = [reference.weights(logits.tolist(), m) for m in reference.slopes(num_heads)]
    weights = causal_alibi_weights(logits, alibi_slopes(num_heads))
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@given(content())
def test_plain_weights_equal_the_plain_reference(reference, logits):
    """The weights without ALiBi are those of the plain-Python reference with slope zero."""
    expected = reference.weights(logits.tolist(), 0.0)
    np.testing.assert_allclose(causal_weights(logits), expected, rtol=1e-12)


@given(content(), SLOPES)
def test_rows_sum_to_one(logits, slope):
    """Every row of weights sums to one, with ALiBi and without."""
    for weights in (causal_weights(logits), causal_alibi_weights(logits, [slope])[0]):
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)


@given(content(), SLOPES, st.data())
def test_constant_added_to_a_row(logits, slope, data):
    """A constant added to each row of content logits changes no weight."""
    constants = data.draw(arrays(np.float64, (len(logits), 1), elements=st.floats(-500, 500)))
    moved = causal_alibi_weights(logits + constants, [slope])
    np.testing.assert_allclose(moved, causal_alibi_weights(logits, [slope]), rtol=0, atol=1e-12)


@given(st.integers(2, 12), SLOPES, st.floats(-50, 50))
def test_equal_logits(num_tokens, slope, logit):
    """With equal content logits each token of distance multiplies the weight by exp(-slope)."""
    weights = causal_alibi_weights([logit] * num_tokens, [slope])[0]
    for query in range(1, num_tokens):
        ratios = weights[query, :query] / weights[query, 1 : query + 1]
        np.testing.assert_allclose(ratios, np.exp(-slope), rtol=1e-12)


@given(content(minimum=2), SLOPES)
def test_causal_weights_are_not_symmetric(logits, slope):
    """What a query gives an earlier key, that key as a query never gives back."""
    for weights in (causal_weights(logits), causal_alibi_weights(logits, [slope])[0]):
        earlier = np.tri(len(weights), k=-1, dtype=bool)
        assert (weights[earlier] > 0).all()
        assert (weights.T[earlier] == 0).all()


@given(content(), SLOPES)
def test_key_position_form(logits, slope):
    """Adding slope * key instead gives the same weights under the causal mask."""
    positions = np.arange(len(logits))
    key_form = masked_softmax(logits + slope * positions, causal_mask(len(logits)))
    np.testing.assert_allclose(causal_alibi_weights(logits, [slope])[0], key_form, rtol=1e-12)


@given(content(), SLOPES)
def test_steeper_slope_looks_nearer(logits, slope):
    """A steeper slope never lengthens the mean distance that a query looks back."""
    positions = np.arange(len(logits))
    mean_key = causal_alibi_weights(logits, [slope, 2 * slope]) @ positions
    assert (mean_key[1] >= mean_key[0] - 1e-12).all()


@given(content(), SLOPES, st.sampled_from([np.nan, np.inf, -np.inf, 1e308]))
def test_future_logits_hold_anything(logits, slope, garbage):
    """NaN or infinity in the future of a query has no effect on its weights."""
    spoiled = np.where(causal_mask(len(logits)), logits, garbage)
    np.testing.assert_array_equal(causal_weights(spoiled), causal_weights(logits))
    np.testing.assert_array_equal(
        causal_alibi_weights(spoiled, [slope]), causal_alibi_weights(logits, [slope])
    )


@given(
    arrays(np.float64, 5, elements=st.sampled_from([1e308, -1e308, -np.inf, 0.0])),
    st.sampled_from([1, 6, 16]),
)
def test_no_warning(logits, num_heads):
    """Extreme content logits raise no NumPy warning, even where every warning is an error."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(causal_weights(logits)).all()
        assert np.isfinite(causal_alibi_weights(logits, alibi_slopes(num_heads))).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refused_logits(bad):
    """An allowed content logit that is NaN or +inf is refused, with ALiBi and without."""
    with pytest.raises(ValueError, match=r"allowed logit is NaN or \+inf"):
        causal_weights([0.0, bad])
    with pytest.raises(ValueError, match=r"allowed logit is NaN or \+inf"):
        causal_alibi_weights([0.0, bad], [0.25])


def test_one_logit_a_key():
    """One content logit a key stands for every query alike."""
    row = [2.0, 1.4, 0.0]
    np.testing.assert_array_equal(causal_weights(row), causal_weights([row] * 3))
    np.testing.assert_array_equal(
        causal_alibi_weights(row, [0.5, 0.25]), causal_alibi_weights([row] * 3, [0.5, 0.25])
    )


def test_head_and_batch_axes(reference):
    """Logits with a batch and a head axis meet the slope of their own head."""
    logits = np.random.default_rng(8).normal(size=(2, 3, 4, 4))
    slopes = [0.5, 0.25, 2.0]
    weights = causal_alibi_weights(logits, slopes)
    for batch in range(2):
        for head, slope in enumerate(slopes):
            expected = reference.weights(logits[batch, head].tolist(), slope)
            np.testing.assert_allclose(weights[batch, head], expected, rtol=1e-12)
    shared = causal_alibi_weights(logits[:, :1], slopes)
    np.testing.assert_array_equal(shared[:, 2], causal_alibi_weights(logits[:, 0], [2.0, 2.0]))


def test_weight_dtypes():
    """float32 logits give float32 weights, whatever the slopes; float16 float32, int64 float64."""
    for given_dtype, kept in [("f4", "f4"), ("f2", "f4"), ("i8", "f8"), ("f8", "f8")]:
        logits = np.array([0, 1], dtype=given_dtype)
        assert causal_weights(logits).dtype == np.dtype(kept)
        for slopes in (np.array([1], dtype=given_dtype), alibi_slopes(1)):
            assert causal_alibi_weights(logits, slopes).dtype == np.dtype(kept)


def formula(content_logits, slopes):
    """The weights in one broadcast over the whole (head, query, key) array."""
    at = np.arange(np.shape(content_logits)[-1])
    biased = content_logits - np.asarray(slopes)[:, None, None] * (at[:, None] - at)
    exponentials = np.exp(biased - np.where(at <= at[:, None], biased, -np.inf).max(-1)[..., None])
    exponentials[..., at > at[:, None]] = 0
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 700, 700), (2, 3, 257, 257), (64, 65, 65), (300,)])
def test_blocks_of_rows_give_the_weights_of_the_formula(shape):
    """Sequences of several blocks, whole ones or not, have the weights of one broadcast."""
    logits = np.random.default_rng(1).normal(scale=3, size=shape)
    slopes = alibi_slopes(shape[-3] if len(shape) > 2 else 5)
    weights = causal_alibi_weights(logits, slopes)
    np.testing.assert_allclose(weights, formula(logits, slopes), rtol=1e-12, atol=1e-15)


def test_long_float32_weights_are_close_to_float64():
    """At 4,096 tokens float32 weights differ from float64 by less than 5e-6, steep head or not."""
    logits = np.random.default_rng(2).normal(scale=2, size=(4096, 4096)).astype(np.float32)
    slopes = alibi_slopes(8, heads=slice(0, 8, 7))
    weights = causal_alibi_weights(logits, slopes)
    exact = causal_alibi_weights(logits.astype(np.float64), slopes)
    assert weights.dtype == np.float32
    assert np.abs(weights - exact).max() < 5e-6


def test_weights_need_little_more_memory_than_themselves():
    """Beyond its result the call holds less than a tenth of it."""
    logits = np.zeros((2, 2048, 2048), np.float32)
    tracemalloc.start()
    weights = causal_alibi_weights(logits, [0.5, 0.25])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * weights.nbytes


@pytest.mark.parametrize("logits", [np.zeros((2, 3)), np.zeros((1, 0, 0)), [], 0.0])
def test_refused_logit_shapes(logits):
    """Content logits whose last axes are no square of at least one token are refused."""
    for function in (causal_weights, lambda value: causal_alibi_weights(value, [0.25])):
        with pytest.raises(ValueError, match="pass the full sequence, or one value a key"):
            function(logits)


@pytest.mark.parametrize("heads", [2, 4])
def test_refused_head_axis(heads):
    """A head axis that does not fit the slopes is refused with both counts."""
    message = f"content_logits have {heads} heads .* there are 3 slopes; pass one slope a head"
    with pytest.raises(ValueError, match=message):
        causal_alibi_weights(np.zeros((heads, 2, 2)), [0.5, 0.25, 0.125])


# Attention


def test_attention_equals_the_loop_reference(qkv, reference):
    """Attention mixes the values as the plain-Python loops do."""
    slopes = [0.5, 0.03, 2.0]
    output = causal_alibi_attention(*qkv, slopes)
    assert output.shape == (2, 3, 5, 6)
    for batch in range(2):
        for head, slope in enumerate(slopes):
            expected = reference.mix(*(x[batch, head].tolist() for x in qkv), slope)
            np.testing.assert_allclose(output[batch, head], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_attention_equals_the_einsum_reference(qkv, dtype, rtol):
    """Attention equals one einsum chain, and computes float32 in float32."""
    q, k, v = qkv
    positions = np.arange(5)
    slopes = alibi_slopes(3)
    scores = np.einsum("bhid,bhjd->bhij", q, k) / 2  # sqrt(head_dim)
    scores -= np.einsum("h,ij->hij", slopes, positions[:, None] - positions)
    exponentials = np.exp(scores) * (positions <= positions[:, None])
    shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
    expected = np.einsum("bhij,bhjd->bhid", shares, v)

    output = causal_alibi_attention(*(x.astype(dtype) for x in qkv), slopes)
    assert output.dtype == dtype
    np.testing.assert_allclose(output, expected, rtol=rtol, atol=rtol)


def test_future_tokens_have_no_effect(qkv):
    """Whatever the last token holds, the outputs of the earlier ones stay."""
    slopes = alibi_slopes(3)
    changed = [x.copy() for x in qkv]
    for x in changed:
        x[..., -1, :] = 7.0
    before, after = causal_alibi_attention(*qkv, slopes), causal_alibi_attention(*changed, slopes)
    np.testing.assert_array_equal(after[..., :-1, :], before[..., :-1, :])
    assert (after[..., -1, :] != before[..., -1, :]).all()


def test_first_token_returns_its_value(qkv):
    """The first query has one allowed key, so its output is that key's value."""
    output = causal_alibi_attention(*qkv, alibi_slopes(3))
    np.testing.assert_array_equal(output[..., 0, :], qkv[2][..., 0, :])


def test_inputs_are_left_alone(qkv):
    """q, k, v and slopes may be read-only."""
    slopes = alibi_slopes(3)
    expected = causal_alibi_attention(*qkv, slopes)
    for x in (*qkv, slopes):
        x.setflags(write=False)
    np.testing.assert_array_equal(causal_alibi_attention(*qkv, slopes), expected)


def test_empty_batch():
    """No sequences give no outputs, of the right shape."""
    q, v = np.zeros((0, 2, 3, 4)), np.zeros((0, 2, 3, 5))
    assert causal_alibi_attention(q, q, v, [0.5, 0.25]).shape == (0, 2, 3, 5)


def test_refused_overflow():
    """q and k whose product overflows are refused by name, not by a NumPy warning."""
    q = np.full((1, 1, 2, 4), 1e30, dtype=np.float32)
    with np.errstate(all="raise"), pytest.raises(ValueError, match="allowed logit is NaN or"):
        causal_alibi_attention(q, q, q, [0.25])


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        ((1, 5, 2, 4), (1, 5, 2, 4), (1, 2, 5, 4)),
        ((1, 2, 5, 4), (1, 2, 6, 4), (1, 2, 6, 4)),
        ((1, 2, 5, 4), (1, 2, 5, 3), (1, 2, 5, 4)),
        ((2, 5, 4), (2, 5, 4), (2, 5, 4)),
        ((1, 2, 0, 4), (1, 2, 0, 4), (1, 2, 0, 4)),
        ((1, 2, 5, 0), (1, 2, 5, 0), (1, 2, 5, 4)),
    ],
)
def test_refused_shapes(q, k, v):
    """Shapes that do not fit are refused with all three of them and the order of the axes."""
    with pytest.raises(ValueError, match=r"\(batch, head, token, head_dim\)") as caught:
        causal_alibi_attention(np.zeros(q), np.zeros(k), np.zeros(v), [0.5, 0.25])
    assert f"got q {q}, k {k}, v {v}; move the head axis" in str(caught.value)


def test_refused_number_of_slopes(qkv):
    """One slope a head is needed: fewer, more, or one for all are refused."""
    for count in (1, 2, 4):
        message = f"q has 3 heads but there are {count} slopes; pass one slope a head"
        with pytest.raises(ValueError, match=message):
            causal_alibi_attention(*qkv, alibi_slopes(count))


@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_refused_kinds(qkv, name):
    """Complex q, k or v is refused by its name."""
    inputs = dict(zip("qkv", qkv, strict=True))
    inputs[name] = inputs[name] * 1j
    with pytest.raises(TypeError, match=f"{name} must hold real numbers, got dtype complex128"):
        causal_alibi_attention(**inputs, slopes=alibi_slopes(3))


@pytest.mark.parametrize("num_keys", range(1, 65))
def test_a_cached_step_equals_the_last_row_of_the_full_pass(num_keys):
    """With n stored keys the newest query stands at n - 1, and its weights are the last row."""
    rng = np.random.default_rng(num_keys)
    content = rng.normal(size=num_keys)
    slopes = alibi_slopes(12)
    full = causal_alibi_weights(content, slopes)[:, -1]
    np.testing.assert_allclose(newest_query_weights(content, slopes), full, rtol=1e-12)


def test_a_query_taken_for_position_0_lets_the_oldest_key_win():
    """The row is turned round: at equal content the weights stand in reverse order."""
    right = newest_query_weights(np.zeros(6), [0.25])[0]
    wrong = newest_query_weights(np.zeros(6), [0.25], query_position=0)[0]
    np.testing.assert_allclose(wrong, right[::-1], rtol=1e-12)
    assert wrong.argmax() == 0


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (1, 2, 4)])
def test_logits_of_a_new_query_are_one_a_key(shape):
    """A row, or a row a head; anything else is refused with the shape wanted."""
    with pytest.raises(ValueError, match=r"shape \(key,\) or \(2, key\)"):
        newest_query_weights(np.zeros(shape), [0.5, 0.25])


def test_no_warning_where_logits_overflow():
    """Content and bias beyond the largest float are infinite, quietly, whatever np.seterr says."""
    with np.errstate(all="raise"):
        weights = causal_alibi_weights([-1.7e308] * 3, [1e308])
        newest = newest_query_weights([-1.7e308] * 3, [1e308])
    assert weights[0, -1].tolist() == newest[0].tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_are_finite(bad):
    """A weight of 0 would let NaN and infinity through, so they are refused."""
    v = np.zeros((1, 1, 2, 3))
    v[0, 0, 1, 0] = bad
    with pytest.raises(ValueError, match="v holds NaN or infinity"):
        causal_alibi_attention(np.zeros((1, 1, 2, 4)), np.zeros((1, 1, 2, 4)), v, [0.5])
