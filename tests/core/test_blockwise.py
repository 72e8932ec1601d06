import math
import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alibi_core import (
    alibi_attention,
    alibi_slopes,
    block_mask,
    blockwise,
    causal_alibi_attention,
    positions_from_packing,
    positions_from_padding,
)

SEED = st.integers(0, 999)
ROWS = blockwise._ROWS
NEAR = {"rtol": 1e-11, "atol": 1e-13}


def random_qkv(shape=(1, 2, 5), key_heads=None, num_keys=None, seed=0, dims=(4, 3)):
    """Random q, k and v; `shape` is (batch, head, query)."""
    rng = np.random.default_rng(seed)
    batch, heads, queries = shape
    keys = (batch, key_heads or heads, num_keys or queries)
    return [
        rng.normal(size=(*shape, dims[0])),
        rng.normal(size=(*keys, dims[0])),
        rng.normal(size=(*keys, dims[1])),
    ]


@pytest.fixture(autouse=True, scope="module", params=[2, 64], ids=["blocks of 2", "one block"])
def _rows(request):
    """Every test runs with several blocks of queries, and with one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blockwise, "_ROWS", request.param)
        yield


# Against plain Python


@st.composite
def calls(draw):
    """Arguments of `alibi_attention` with everything given: shared heads, positions, a mask."""
    batch, key_heads, sharing = (draw(st.integers(1, most)) for most in (2, 2, 3))
    queries, keys = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    q, k, v = random_qkv((batch, key_heads * sharing, queries), key_heads, keys, draw(SEED))
    place = st.integers(-9, 9)

    def positions(tokens):
        row = st.lists(place, min_size=tokens, max_size=tokens)
        return draw(st.one_of(row, st.lists(row, min_size=batch, max_size=batch)))

    shape = (batch, key_heads * sharing, queries, keys)
    axes = draw(st.sampled_from([shape, (batch, 1, 1, keys), (queries, keys), (1, keys)]))
    return {
        "q": q,
        "k": k,
        "v": v,
        "slopes": alibi_slopes(key_heads * sharing),
        "query_positions": positions(queries),
        "key_positions": positions(keys),
        "allowed": np.random.default_rng(draw(SEED)).random(axes) < draw(st.floats(0, 1)),
        "causal": draw(st.booleans()),
        "scale": draw(st.sampled_from([None, 0.3, 2.0])),
        "scale_bias": draw(st.booleans()),
    }


@settings(max_examples=150, deadline=None)
@given(calls())
def test_plain_reference(reference, call):
    """Shared key heads, any positions, any mask and scale: all is as in plain Python loops."""
    output = alibi_attention(**call)
    q, k, v = call["q"], call["k"], call["v"]
    batch, heads, queries, head_dim = q.shape
    sharing = heads // k.shape[1]
    allowed = np.broadcast_to(call["allowed"], (batch, heads, queries, k.shape[2]))
    scale = call["scale"] or 1 / head_dim**0.5
    for b, head in np.ndindex(batch, heads):
        at, keys_at = (
            np.broadcast_to(call[name], (batch, tokens))[b].tolist()
            for name, tokens in (("query_positions", queries), ("key_positions", k.shape[2]))
        )
        usable = [
            [use and (y <= x or not call["causal"]) for y, use in zip(keys_at, row, strict=True)]
            for x, row in zip(at, allowed[b, head].tolist(), strict=True)
        ]
        slope = call["slopes"][head] * (scale if call["scale_bias"] else 1)
        own = (x.tolist() for x in (q[b, head], k[b, head // sharing], v[b, head // sharing]))
        expected = reference.attend(*own, slope, at, keys_at, usable, scale)
        np.testing.assert_allclose(output[b, head], expected, **NEAR)


@pytest.mark.parametrize("tokens", [1, 5, 130])
def test_a_full_sequence_is_that_of_the_lesson(tokens):
    """Without options it is the causal attention that builds the whole matrix."""
    q, k, v = random_qkv((2, 3, tokens))
    slopes = alibi_slopes(3)
    whole = causal_alibi_attention(q, k, v, slopes)
    np.testing.assert_allclose(alibi_attention(q, k, v, slopes), whole, **NEAR)


# Laws


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), SEED)
def test_cached_steps_equal_one_pass(chunks, seed):
    """However a sequence is cut into cached steps, the outputs are those of one pass."""
    q, k, v = random_qkv((1, 4, sum(chunks)), key_heads=2, seed=seed)
    slopes = alibi_slopes(4)
    whole = alibi_attention(q, k, v, slopes)
    for start, end in pairwise(np.cumsum([0, *chunks])):
        step = alibi_attention(q[:, :, start:end], k[:, :, :end], v[:, :, :end], slopes)
        np.testing.assert_allclose(step, whole[:, :, start:end], **NEAR)


@given(st.integers(-(2**40), 2**40), st.booleans(), SEED)
def test_a_shift_of_all_positions_changes_nothing(shift, causal, seed):
    """Positions count from anywhere: adding a constant to all leaves every output, to the bit."""
    q, k, v = random_qkv(seed=seed)
    at = np.random.default_rng(seed).integers(0, 20, 5)
    outputs = [
        alibi_attention(q, k, v, [0.5, 0.1], query_positions=p, key_positions=p, causal=causal)
        for p in (at, at + shift)
    ]
    np.testing.assert_array_equal(*outputs)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans(), st.booleans(), SEED)
def test_packed_sequences_equal_separate_runs(lengths, restart, causal, seed):
    """Packed under a block mask, each sequence has the outputs that it has alone.

    Whether its positions start again at 0 or count on through the row.
    """
    q, k, v = random_qkv((1, 2, sum(lengths)), seed=seed)
    ids = np.repeat(range(len(lengths)), lengths)
    at = positions_from_packing(ids) if restart else np.arange(len(ids))
    options = {"slopes": alibi_slopes(2), "causal": causal}
    own = block_mask(ids, causal=causal)
    packed = alibi_attention(q, k, v, query_positions=at, key_positions=at, allowed=own, **options)
    for start, end in pairwise(np.cumsum([0, *lengths])):
        alone = alibi_attention(*(x[:, :, start:end] for x in (q, k, v)), **options)
        np.testing.assert_allclose(packed[:, :, start:end], alone, **NEAR)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3), st.booleans(), SEED)
def test_padding_changes_no_real_token(tokens, left, right, causal, seed):
    """Left, right or no padding, whatever it holds: real tokens keep their outputs."""
    real = random_qkv((1, 2, tokens), seed=seed)
    options = {"slopes": alibi_slopes(2), "causal": causal}
    alone = alibi_attention(*real, **options)
    q, k, v = (np.pad(x, [(0, 0), (0, 0), (left, right), (0, 0)], constant_values=9) for x in real)
    mask = np.pad(np.ones((1, tokens), bool), [(0, 0), (left, right)])
    at = positions_from_padding(mask)
    padded = alibi_attention(
        q, k, v, query_positions=at, key_positions=at, allowed=mask[:, None, None, :], **options
    )
    np.testing.assert_allclose(padded[:, :, left : left + tokens], alone, **NEAR)


def test_each_row_of_a_batch_has_its_own_padding():
    """One call serves left-padded, right-padded and full rows, and their next cached step."""
    q, k, v = random_qkv((3, 2, 4))
    mask = np.array([[0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]], bool)
    at = positions_from_padding(mask)
    given_mask = {"slopes": [0.5, 0.25], "allowed": mask[:, None, None, :]}
    together = alibi_attention(q, k, v, query_positions=at, key_positions=at, **given_mask)
    for row, real in enumerate(mask):
        alone = alibi_attention(*(x[row : row + 1][:, :, real] for x in (q, k, v)), [0.5, 0.25])
        np.testing.assert_allclose(together[row][:, real], alone[0], **NEAR)
    step = alibi_attention(q[:, :, -1:], k, v, key_positions=at, **given_mask)
    np.testing.assert_allclose(step[::2], together[::2, :, -1:], **NEAR)


def test_shared_key_heads_are_those_of_their_neighbours():
    """Query heads 0 and 1 use key head 0, heads 2 and 3 key head 1, as if it were repeated."""
    q, k, v = random_qkv((2, 4, 5), key_heads=2)
    repeated = [np.repeat(x, 2, axis=1) for x in (k, v)]
    slopes = alibi_slopes(4)
    np.testing.assert_array_equal(
        alibi_attention(q, k, v, slopes), alibi_attention(q, *repeated, slopes)
    )


def test_the_mask_takes_away_and_gives_nothing_back():
    """An allowed future key stays masked, until causal=False lets it in."""
    q, k, v = random_qkv()
    everything = np.ones((5, 5), bool)
    plain = alibi_attention(q, k, v, [0.5, 0.25])
    np.testing.assert_array_equal(alibi_attention(q, k, v, [0.5, 0.25], allowed=everything), plain)
    both_ways = alibi_attention(q, k, v, [0.5, 0.25], causal=False)
    assert (both_ways[:, :, 0] != plain[:, :, 0]).all()
    np.testing.assert_allclose(both_ways[:, :, -1], plain[:, :, -1], **NEAR)


# Numbers


def test_a_query_without_keys_gives_zeros():
    """Where a mask or the positions leave a query no key, its output is 0, and nothing warns."""
    q, k, v = random_qkv()
    allowed = np.ones((5, 5), bool)
    allowed[3] = False
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        output = alibi_attention(q, k, v, [0.5, 0.25], allowed=allowed)
        before = alibi_attention(q, k, v, [0.5, 0.25], query_positions=range(-3, 2))
    assert (output[:, :, 3] == 0).all()
    assert (output[:, :, [0, 1, 2, 4]] != 0).all()
    assert (before[:, :, :3] == 0).all()
    assert (before[:, :, 3:] != 0).all()


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masked_keys_may_hold_anything(dtype, garbage):
    """NaN, infinity or huge numbers in a masked key or an unused query reach no output."""
    q, k, v = (x.astype(dtype) for x in random_qkv())
    allowed = np.ones((5, 5), bool)
    allowed[:, 2] = allowed[4] = False
    expected = alibi_attention(q, k, v, [0.5, 0.25], allowed=allowed)
    k[:, :, 2] = q[:, :, 4] = garbage
    with np.errstate(all="raise"):
        output = alibi_attention(q, k, v, [0.5, 0.25], allowed=allowed)
    np.testing.assert_array_equal(output, expected)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([8.0, 1.0, 0.3, 0.01]),
    st.sampled_from([1.0, 300.0]),
    st.sampled_from([(np.float32, 1e-5), (np.float64, 1e-11)]),
    SEED,
)
def test_far_keys(slope, factor, precision, seed):
    """A key too far to count, or of a content that makes up for it, is as in the whole matrix."""
    dtype, near = precision
    q, k, v = (x.astype(dtype) for x in random_qkv((1, 2, 300), seed=seed))
    k[:, :, np.random.default_rng(seed).integers(300)] *= factor
    whole = causal_alibi_attention(q, k, v, [slope, 0.5])
    np.testing.assert_allclose(alibi_attention(q, k, v, [slope, 0.5]), whole, near, near)
    order = np.random.default_rng(seed).permutation(300)
    places = {"query_positions": range(300), "key_positions": order}
    shuffled = alibi_attention(q, k[:, :, order], v[:, :, order], [slope, 0.5], **places)
    np.testing.assert_allclose(shuffled, whole, near, near)


@pytest.mark.parametrize(
    ("dtype", "below", "share"),
    [
        (np.float32, 69, math.exp(-69)),
        (np.float32, 73, 0),
        (np.float64, 650, math.exp(-650)),
        (np.float64, 680, 0),
    ],
)
@pytest.mark.parametrize("options", [{}, {"allowed": np.ones((1, 2), bool)}], ids=["", "mask"])
def test_the_least_weight(dtype, below, share, options):
    """A weight counts down to 1e-31 (float64: 1e-292) of the largest; a lesser one is 0."""
    q, v = np.zeros((1, 1, 1, 1), dtype), np.array([1, 0], dtype)[None, None, :, None]
    output = alibi_attention(q, np.zeros_like(v), v, [below], **options)
    np.testing.assert_allclose(output.item(), share, rtol=1e-5)


@pytest.mark.parametrize("place", [0, 299])
def test_nan_far_behind_is_refused(place):
    """NaN in an allowed key is an error, however far it lies behind."""
    q, k, v = random_qkv((1, 2, 300))
    k[:, :, place] = np.nan
    with pytest.raises(ValueError, match="an allowed logit is NaN"):
        alibi_attention(q, k, v, [8.0, 4.0])


def test_huge_logits_do_not_warn():
    """Logits near the largest float, of either sign, and huge slopes give finite outputs."""
    q, k, v = random_qkv(dims=(1, 3))
    with np.errstate(all="raise"):
        for factor, slope in ((1e307, 0.5), (1.0, 1e307), (-1e307, 1e307)):
            assert np.isfinite(alibi_attention(factor * q, k, v, [slope, 1.0])).all()


def test_an_allowed_logit_that_overflows_is_refused():
    """Where q . k is beyond the largest float there are no weights: an error, not a warning."""
    q = np.full((1, 1, 2, 4), 1e30, np.float32)
    with np.errstate(all="raise"), pytest.raises(ValueError, match=r"logit is NaN or \+inf"):
        alibi_attention(q, q, q, [0.25])


@pytest.mark.parametrize("options", [{}, {"causal": False}, {"allowed": np.ones((2, 2), bool)}])
def test_logits_that_overflow_downwards(options):
    """A query whose logits are all -inf is refused; one that is left with a key has its value."""
    q, k = np.ones((2, 1, 1, 2, 4), np.float32) * np.float32(1e30)
    v = np.float32([[[[3], [5]]]])
    with np.errstate(all="raise"):
        with pytest.raises(ValueError, match=r"overflows float32 to -inf.* pass smaller q"):
            alibi_attention(q, -k, v, [0.25], **options)
        k[..., 1, :] = 0  # a score of 0 for the second query
        found = alibi_attention(q[..., 1:, :], -k, v, [0.25])
    assert found.tolist() == [[[[5]]]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_values_are_mixed(dtype):
    """Values whose sum is beyond the largest float have a mean that is not."""
    largest = np.finfo(dtype).max
    q = np.zeros((1, 1, 8, 4), dtype)
    v = np.full((1, 1, 8, 2), largest / 2) * np.array([1, -1], dtype)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(alibi_attention(q, q, v, [0.25]) / v, 1, rtol=1e-6)


def test_the_mask_of_a_masked_array_is_not_lost():
    """NumPy's masked arrays are refused, where something is masked."""
    q, k, v = random_qkv()
    masked = np.ma.masked_less(q, 0)
    with pytest.raises(TypeError, match=r"q is a masked array.* pass q.filled"):
        alibi_attention(masked, k, v, alibi_slopes(2))
    nothing = np.ma.masked_array(q)
    expected = alibi_attention(q, k, v, alibi_slopes(2))
    assert (alibi_attention(nothing, k, v, alibi_slopes(2)) == expected).all()


@pytest.mark.parametrize(
    ("given_dtype", "kept", "tolerance"),
    [("f8", "f8", 1e-12), ("f4", "f4", 1e-5), ("f2", "f2", 1e-3), ("i8", "f8", 1e-12)],
)
def test_dtypes(given_dtype, kept, tolerance):
    """The output has the dtype of q, k and v, whatever the slopes; integers give float64."""
    rounded = [np.round(8 * x).astype(given_dtype) for x in random_qkv((2, 2, 9))]
    output = alibi_attention(*rounded, alibi_slopes(2))
    assert output.dtype == np.dtype(kept)
    exact = alibi_attention(*(x.astype(float) for x in rounded), alibi_slopes(2))
    np.testing.assert_allclose(output, exact, rtol=tolerance, atol=10 * tolerance)


def test_float16_is_computed_in_float32():
    """Scores beyond 65,504, the largest float16, are no overflow; outputs are rounded once."""
    q, k, v = (x.astype(np.float16) for x in random_qkv(dims=(64, 3)))
    q, k = 60 * q, 60 * k
    wide = alibi_attention(*(x.astype(np.float32) for x in (q, k, v)), [0.5, 0.25])
    np.testing.assert_array_equal(alibi_attention(q, k, v, [0.5, 0.25]), wide.astype(np.float16))


def test_mixed_dtypes_give_the_widest():
    """float16 keys and values of a cache serve float32 queries."""
    q, k, v = random_qkv()
    mixed = q.astype(np.float32), k.astype(np.float16), v.astype(np.float16)
    assert alibi_attention(*mixed, [0.5, 0.25]).dtype == np.float32


def test_bfloat16_of_ml_dtypes():
    """ml_dtypes' bfloat16 is computed in float32 and comes back as bfloat16."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    halves = [x.astype(bfloat16) for x in random_qkv()]
    output = alibi_attention(*halves, [0.5, 0.25])
    wide = alibi_attention(*(x.astype(np.float32) for x in halves), [0.5, 0.25])
    assert output.dtype == bfloat16
    np.testing.assert_array_equal(output, wide.astype(bfloat16))


def test_memory_grows_with_the_tokens(monkeypatch):
    """At 4,096 tokens and 2 heads it holds less than a sixth of the two whole matrices."""
    monkeypatch.setattr(blockwise, "_ROWS", ROWS)
    q = np.zeros((1, 2, 4096, 16), np.float32)
    tracemalloc.start()
    output = alibi_attention(q, q, q, [0.5, 0.25])
    peak = tracemalloc.get_traced_memory()[1] - output.nbytes
    tracemalloc.stop()
    assert peak < 2 * 4096 * 4096 * 4 / 6


def test_inputs_are_left_alone():
    """q, k, v, slopes, positions and the mask may be read-only, and an empty batch is no error."""
    q, k, v = random_qkv()
    arrays = [q, k, v, alibi_slopes(2), np.arange(5), np.ones((5, 5), bool)]
    for x in arrays:
        x.setflags(write=False)
    q, k, v, slopes, at, allowed = arrays
    alibi_attention(q, k, v, slopes, query_positions=at, key_positions=at, allowed=allowed)
    assert alibi_attention(q[:0], k[:0], v[:0], slopes).shape == (0, 2, 5, 3)


# Refusals


def test_cross_attention_needs_positions():
    """More queries than keys have no positions of their own; given some, they are served."""
    q, k, v = random_qkv((1, 2, 5), num_keys=3)
    with pytest.raises(ValueError, match=r"5 queries .* 3 keys; in cross attention .* pass query_"):
        alibi_attention(q, k, v, [0.5, 0.25])
    output = alibi_attention(q, k, v, [0.5, 0.25], query_positions=range(5), causal=False)
    assert output.shape == (1, 2, 5, 3)


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        ((2, 5, 4), (2, 5, 4), (2, 5, 4)),
        ((1, 2, 5, 4), (1, 2, 5, 3), (1, 2, 5, 4)),
        ((1, 2, 5, 4), (1, 2, 6, 4), (1, 2, 5, 4)),
        ((1, 2, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4)),
        ((1, 2, 5, 4), (1, 2, 5, 4), (1, 1, 5, 4)),
        ((1, 2, 0, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
        ((1, 2, 5, 4), (1, 2, 0, 4), (1, 2, 0, 4)),
        ((1, 2, 5, 4), (1, 0, 5, 4), (1, 0, 5, 4)),
        ((1, 2, 5, 0), (1, 2, 5, 0), (1, 2, 5, 4)),
    ],
)
def test_refused_shapes(q, k, v):
    """Shapes that do not fit are refused with all three of them and the order of the axes."""
    with pytest.raises(ValueError, match="move the head axis before the token axis") as caught:
        alibi_attention(np.zeros(q), np.zeros(k), np.zeros(v), [0.5, 0.25])
    assert f"got q {q}, k {k}, v {v};" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error", "fix"),
    [
        ({"slopes": [0.5]}, ValueError, "q has 4 heads but there are 1 slopes; pass one slope a"),
        ({"k": (1, 3, 5, 4)}, ValueError, "4 heads of q cannot share 3 key heads evenly; pass k"),
        ({"allowed": np.ones((5, 5))}, TypeError, "allowed must be boolean .* pass mask == 0"),
        ({"allowed": np.ones((1, 5, 5), bool)}, ValueError, r"got \(1, 5, 5\); .*\[:, None, None"),
        (
            {"allowed": np.ones((5, 4), bool)},
            ValueError,
            r"\(5, 5\) or \(1, 4, 5, 5\), .* got",
        ),
        ({"query_positions": [0.5] * 5}, ValueError, "query_positions must be .* in one or two"),
        (
            {"key_positions": range(4)},
            ValueError,
            r"shape \(5,\) or \(1, 5\), got \(4,\)",
        ),
        ({"key_positions": [range(5)] * 2}, ValueError, r"got \(2, 5\); pass one position a token"),
        ({"scale": 0.0}, ValueError, r"scale must be positive .* pass 1 / sqrt\(head_dim\)"),
        ({"scale": "1"}, TypeError, r"scale must be a number"),
        ({"v": np.nan}, ValueError, "v holds NaN or infinity"),
        ({"q": 1j}, TypeError, "q must hold real numbers, got dtype complex128"),
    ],
)
def test_refused_arguments(arguments, error, fix):
    """Each argument that does not fit is refused by its name, with what to pass."""
    q, k, v = random_qkv((1, 4, 5))
    call = {"q": q, "k": k, "v": v, "slopes": alibi_slopes(4)}
    for name, value in arguments.items():
        if isinstance(value, tuple):
            call["k"], call["v"] = np.zeros(value), np.zeros(value)
        elif name in "qkv":
            call[name] = call[name] * value
        else:
            call[name] = value
    with pytest.raises(error, match=fix):
        alibi_attention(**call)
