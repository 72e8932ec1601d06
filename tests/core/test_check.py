"""A check names each known fault, calls what is right right, and never guesses."""

import dataclasses
import json
import math
import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from alibi_core import (
    AlibiFault,
    alibi_slopes,
    causal_alibi_weights,
    causal_mask,
    check_bias,
    check_slopes,
    check_weights,
    distance_bias,
    key_position_bias,
    masked_softmax,
    round_to,
)

CASES = {
    case["id"]: case
    for case in json.loads(
        (Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8")
    )
}
INF = math.inf


@pytest.fixture(autouse=True)
def _no_numpy_warning():
    """NumPy's warnings are errors here: a check gives none, whatever the caller has set."""
    with np.errstate(all="raise"):
        yield


def numbers(value):
    return np.array(value, dtype=float)


def last_query(content, weights, slope):
    return check_weights([content], [weights], slopes=[slope])


def named(check, kind):
    """Whether the check has this kind among what it found."""
    same = {
        "rounded-float16": {"rounded-half"},
        "rounded-bfloat16": {"rounded-half"},
        "shuffled": {"shuffled", "ascending", "sorted"},  # of few heads the same
        "repeated": {"repeated", "alike"},
        "repeated-tiled": {"repeated", "alike"},
        "extra-heads-again": {"extra-heads"},
        "extra-heads-fewer": {"extra-heads"},
    }
    return bool(same.get(kind, {kind}) & {check.kind, *check.also})


# The cases. Each wrong value, the check that is asked about it, and the kind of the fault.

WRONG = {
    ("K11", "without_bias"): (lambda w, i: last_query(i["content"], w, i["slope"]), "zero"),
    ("F02", "bias_discarded"): (lambda w, i: last_query(i["content"], w, i["slope"]), "zero"),
    ("B04", "sign_reversed"): (lambda w, i: last_query(np.zeros(4), w, 0.5), "reversed-sign"),
    ("F03", "bias_offset_0"): (lambda w, i: check_bias([w], slopes=[0.25]), "query-position"),
    ("F03", "weights_offset_0"): (
        lambda w, i: last_query(np.zeros(6), w, 0.25),
        "query-position",
    ),
    ("K08", "local_positions"): (
        lambda w, i: check_bias(
            w,
            slopes=[i["slope"]],
            query_positions=i["query_positions"],
            key_positions=i["key_positions"],
        ),
        "query-position",
    ),
    ("B05", "plus_inf"): (
        lambda w, i: check_bias(np.where(causal_mask(3), distance_bias([0.5], 3), INF)),
        "mask-plus-inf",
    ),
    ("M03", "mean_of_V"): (
        lambda w, i: check_weights(
            [[0, 0, 0]], [[1 / 3, 1 / 3, 1 / 3]], slopes=[0.5], allowed=[[False] * 3]
        ),
        "masked-row-uniform",
    ),
    ("X10", "path_without"): (
        lambda w, i: check_weights(
            [[0, 0, 0, 0]],
            [w],
            num_heads=4,
            heads=slice(0, 1),
            symmetric=True,
            query_positions=[1],
        ),
        "zero",
    ),
    ("S03", "bias_not_divided"): (  # the logit of a key at distance 1; the own key has 0
        lambda w, i: check_weights(
            [[2, 0]], masked_softmax([[w, 0]], True), slopes=[1.25], scale=10
        ),
        "scaled-bias",
    ),
    ("A12", "first_heads"): (
        lambda w, i: check_slopes(w, num_heads=8, heads=slice(4, 8)),
        "wrong-slice",
    ),
    ("A12", "recomputed_for_4_heads"): (
        lambda w, i: check_slopes(w, num_heads=8, heads=slice(4, 8)),
        "local-count",
    ),
    ("A04", "plain_geometric_slope_64"): (
        lambda w, i: check_slopes([*alibi_slopes(66, schedule="geometric")[:64], w, 2.0**-8]),
        "geometric",
    ),
    ("A05", "off_by_one"): (lambda w, i: check_slopes(w), "off-by-one"),
    ("A07", "sorted_in_place"): (lambda w, i: check_slopes(w), "sorted"),
    ("C03", "top_left_aligned"): (
        lambda w, i: check_bias(w, slopes=[0.5], symmetric=True),
        "query-position",
    ),
    ("C01", "causal_shortcut"): (
        lambda w, i: check_weights(np.zeros((4, 4)), w, slopes=[0.5], symmetric=True),
        "not-symmetric",
    ),
}
# What no check is asked about, and why.
NOT_ASKED = {
    ("D01", "issue_text"): "rounded positions that no format gives, mistyped in a text: no bias",
    ("B04", "largest_at_key"): "a statement on the same weights",
    ("K06", "bias_off_by_one"): "the same in a softmax, as the case says: equivalent, below",
    ("M01", "naive"): "NaN is refused with the fix, below",
}


def test_every_wrong_value_is_asked_about():
    """No wrong value of the data file is left out without a reason."""
    every = {(name, mistake) for name, case in CASES.items() for mistake in case.get("wrong", {})}
    assert every == {*WRONG, *NOT_ASKED}


@pytest.mark.parametrize("name", WRONG, ids="-".join)
def test_wrong_value(name):
    """Each wrong value of the cases is wrong, of its kind, with a place and a fix."""
    case = CASES[name[0]]
    ask, kind = WRONG[name]
    check = ask(case["wrong"][name[1]], case["input"])
    assert check.verdict == "wrong"
    assert named(check, kind)
    assert check.fix
    assert check.place is not None
    assert check.got != check.expected


def test_off_by_one_of_a_row_is_equivalent():
    """K06: counting from context_len instead of the newest token moves the whole row alike."""
    check = check_bias([CASES["K06"]["wrong"]["bias_off_by_one"]], slopes=[0.0625])
    assert (check.verdict, check.kind) == ("equivalent", "row-constant")


def test_nan_weights_say_what_an_empty_row_must_be():
    """M01: the row with no allowed key that came out NaN is refused with what belongs there."""
    case = CASES["M01"]
    weights = numbers(case["expected"]["weights"])
    allowed = numbers(case["input"]["allowed"]) == 1
    check = check_weights(np.zeros((4, 4)), weights, slopes=[0.5], allowed=allowed)
    assert check.verdict == "right"
    weights[3] = np.nan
    with pytest.raises(ValueError, match="no allowed key, its weights must be zeros"):
        check_weights(np.zeros((4, 4)), weights, slopes=[0.5], allowed=allowed)


def expected(name, key):
    return numbers(CASES[name]["expected"][key])


RIGHT = {
    "A01": lambda: check_slopes(expected("A01", "slopes")),
    "A05": lambda: check_slopes(expected("A05", "slopes")),
    "A06": lambda: check_slopes(alibi_slopes(40, schedule="geometric"), schedule="geometric"),
    "A07": lambda: check_slopes(expected("A07", "slopes")),
    "A10": lambda: check_slopes(expected("A10", "slopes"), max_bias=16),
    "A12": lambda: check_slopes(expected("A12", "slopes"), num_heads=8, heads=slice(4, 8)),
    "F01": lambda: check_slopes(expected("F01", "official")),
    "B01": lambda: check_bias([expected("B01", "distance_form_row")], slopes=[2**-8]),
    "B05": lambda: check_bias(expected("B05", "bias_masked"), slopes=[0.5], masked=True),
    "B09": lambda: check_bias(expected("B09", "paper_form"), masked=True),
    "C03": lambda: check_bias(expected("C03", "bias"), slopes=[0.5], symmetric=True),
    "F03": lambda: check_bias([expected("F03", "bias")], slopes=[0.25]),
    "K04": lambda: check_bias(expected("K04", "last_bias"), slopes=[0.25], symmetric=True),
    "K08": lambda: check_bias(
        expected("K08", "bias"),
        slopes=[0.5],
        query_positions=range(4, 8),
        key_positions=range(4),
    ),
    "K14": lambda: check_bias(
        expected("K14", "bias"),
        slopes=[0.5],
        symmetric=True,
        query_positions=[0, 5, 7],
        key_positions=[0, 5, 7],
    ),
    "M08": lambda: check_bias(CASES["M08"]["input"]["a"] and expected_m08(), masked=True),
    "B03": lambda: check_weights(
        CASES["B03"]["input"]["content"], expected("B03", "weights"), slopes=[0.5]
    ),
    "B04": lambda: last_query(np.zeros(4), expected("B04", "weights"), 0.5),
    "C01": lambda: check_weights(
        np.zeros((4, 4)), expected("C01", "weights"), slopes=[0.5], symmetric=True
    ),
    "F02": lambda: last_query(np.zeros(4), expected("F02", "weights"), 0.25),
    "K06": lambda: last_query(CASES["K06"]["input"]["content"], expected("K06", "weights"), 2**-4),
    "K11": lambda: last_query([0.5, 0, 0, 0], expected("K11", "weights"), 0.25),
}
EQUIVALENT = {
    "B01": lambda: check_bias([expected("B01", "key_position_row")], slopes=[2**-8]),
    "B07-bloom": lambda: check_bias([expected("B07", "bloom_row")], slopes=[0.25]),
    "B09": lambda: check_bias(expected("B09", "key_form"), masked=True),
    "K13": lambda: check_bias([expected("K13", "left_slice")], slopes=[0.5]),
}


def expected_m08():
    return numbers(CASES["M08"]["input"]["a"])


@pytest.mark.parametrize("name", RIGHT)
def test_right_value(name):
    """Each right value of the cases is right."""
    check = RIGHT[name]()
    assert (check.verdict, check.place, check.fix) == ("right", None, "")
    check.raise_for_fault()


@pytest.mark.parametrize("name", EQUIVALENT)
def test_equivalent_value(name):
    """What the cases call equal in a softmax is equivalent."""
    check = EQUIVALENT[name]()
    assert check.verdict == "equivalent"
    check.raise_for_fault()


def test_rounded_key_positions_of_a_case():
    """K13: the left slice in bfloat16, which has lost the distances of its keys."""
    row = expected("K13", "left_slice_bf16")
    positions = {"query_positions": [2047], "key_positions": range(5)}
    check = check_bias([row], slopes=[0.5], dtype="bfloat16")
    assert (check.verdict, check.kind) == ("wrong", "positions-rounded")
    assert check_bias(distance_bias([0.5], **positions), slopes=[0.5], **positions).ok


# Faults that we make

heads = st.integers(1, 40)
formats = st.sampled_from(["float64", "float32"])


def in_format(array, dtype):
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def largest_power(num_heads):
    return 1 << (num_heads.bit_length() - 1)


def kept_and(num_heads, extra):
    """The slopes of the next smaller power of two and what a port has after them."""
    slopes = np.concatenate([alibi_slopes(largest_power(num_heads)), extra])[:num_heads]
    return slopes if len(slopes) == num_heads else alibi_slopes(num_heads)  # cannot be made so


def swapped(num_heads):
    longer = alibi_slopes(2 * largest_power(num_heads))
    return np.concatenate([longer[::2], longer[1::2]])[:num_heads]


SLOPE_FAULTS = {
    "geometric": lambda n: alibi_slopes(n, schedule="geometric"),
    "off-by-one": lambda n: np.array([2 ** (-8 * h / n) for h in range(n)]),
    "sorted": lambda n: np.sort(alibi_slopes(n))[::-1],
    "ascending": lambda n: np.sort(alibi_slopes(n)),
    "shuffled": lambda n: np.roll(alibi_slopes(n), 1),
    "next-power": lambda n: alibi_slopes(1 << (n - 1).bit_length())[:n],
    "negated": lambda n: -alibi_slopes(n),
    "zero": lambda n: np.zeros(n),
    "rounded-float16": lambda n: round_to(alibi_slopes(n), "float16"),
    "rounded-bfloat16": lambda n: round_to(alibi_slopes(n), "bfloat16"),
    "other-max-bias": lambda n: alibi_slopes(n, max_bias=5),
    "scaled": lambda n: alibi_slopes(n) / 80**0.5,
    "alike": lambda n: np.full(n, 0.3),
    "repeated": lambda n: np.repeat(alibi_slopes(n), 3),
    "repeated-tiled": lambda n: np.tile(alibi_slopes(n), 4),
    "extra-heads": lambda n: kept_and(n, alibi_slopes(2 * largest_power(n))),
    "extra-heads-again": lambda n: kept_and(n, alibi_slopes(largest_power(n))),
    "extra-heads-fewer": lambda n: kept_and(n, alibi_slopes(largest_power(n))[::2]),
    "swapped": lambda n: alibi_slopes(n) if largest_power(n) == n else swapped(n),
    "other-heads": lambda n: alibi_slopes(64)[n : 2 * n] if n < 32 else alibi_slopes(80)[-n:],
}


@pytest.mark.parametrize("kind", SLOPE_FAULTS)
@given(num_heads=heads, dtype=formats)
@settings(max_examples=60)
def test_slope_faults_are_named(kind, num_heads, dtype):
    """Every fault of slopes is found and named, unless it is no fault for this number of heads."""
    slopes = in_format(SLOPE_FAULTS[kind](num_heads), dtype)
    right = alibi_slopes(len(slopes))
    check = check_slopes(slopes)
    if np.allclose(slopes, right, rtol=1e-5 if dtype == "float32" else 1e-13):
        assert check.verdict == "right"
    elif num_heads == 1 and kind in ("alike", "scaled", "other-heads"):
        assert not check.ok  # one slope alone does not tell why it is wrong
    else:
        assert check.verdict == "wrong"
        assert named(check, kind) or num_heads <= 2
        assert slopes[check.place] != right[check.place]
        with pytest.raises(AlibiFault, match=check.kind):
            check.raise_for_fault()


@given(total=heads, data=st.data(), dtype=formats)
def test_parts_of_the_heads(total, data, dtype):
    """A part of the whole schedule is right and named; other heads than asked for are not."""
    first = data.draw(st.integers(0, total - 1))
    last = data.draw(st.integers(first + 1, total))
    part = in_format(alibi_slopes(total)[first:last], dtype)
    assert check_slopes(part, num_heads=total).verdict == "right"
    assert check_slopes(part, num_heads=total, heads=slice(first, last)).verdict == "right"
    start = data.draw(st.integers(0, total - len(part)))
    asked = slice(start, start + len(part))
    check = check_slopes(part, num_heads=total, heads=asked)
    if start == first:
        assert check.verdict == "right"
    else:
        assert check.verdict == "wrong"
        assert named(check, "wrong-slice")


positive = st.floats(2**-10, 2.0, allow_subnormal=False)


@st.composite
def biases(draw):
    """Slopes, positions of queries and keys, and the options that say them."""
    num_keys = draw(st.integers(3, 9))
    num_queries = draw(st.integers(1, num_keys))
    if draw(st.booleans()):
        slopes = alibi_slopes(draw(st.integers(2, 12)))
    else:
        slopes = np.array(draw(st.lists(positive, min_size=2, max_size=4, unique=True)))
    return slopes, np.arange(num_keys - num_queries, num_keys), np.arange(num_keys)


def outer(slopes, factor):
    return slopes[:, None, None] * factor


# (slopes, distance, keys, local) -> bias; each a fault whatever mask comes after it
BIAS_FAULTS = {
    "reversed-sign": lambda m, d, j, local: outer(m, d),
    "zero": lambda m, d, j, local: outer(m, d * 0),
    "scaled": lambda m, d, j, local: outer(m / 8, -d),
    "query-position": lambda m, d, j, local: outer(m, -np.abs(local)),
    "ascending": lambda m, d, j, local: outer(np.sort(m), -d),
    "shuffled": lambda m, d, j, local: outer(np.roll(m, 1), -d),
    "visible-masked": lambda m, d, j, local: np.where(d > 0, outer(m, -d), -INF),
    "mask-plus-inf": lambda m, d, j, local: np.where(d >= 0, outer(m, -d), INF),
    "finite-mask": lambda m, d, j, local: np.where(d >= 0, outer(m, -d), -30.0),
    "rounded-float16": lambda m, d, j, local: round_to(outer(m, -d), "float16"),
    "rounded-bfloat16": lambda m, d, j, local: round_to(outer(m, -d), "bfloat16"),
}


@pytest.mark.parametrize("kind", BIAS_FAULTS)
@given(biases(), formats)
@settings(max_examples=40)
def test_bias_faults_are_named(kind, parts, dtype):
    """Every fault of a bias is found and named, unless the bias is as good as the right one."""
    slopes, queries, keys = parts
    distance = np.subtract.outer(queries, keys)
    local = np.subtract.outer(np.arange(len(queries)), keys)
    right = distance_bias(slopes, query_positions=queries, key_positions=keys)
    bias = in_format(BIAS_FAULTS[kind](slopes, distance, keys, local), dtype)
    check = check_bias(bias, slopes=slopes)
    allowed = distance >= 0
    if kind in ("mask-plus-inf", "finite-mask"):
        harmless = allowed.all()
    elif kind == "visible-masked":
        harmless = False
    else:
        weights = masked_softmax(in_format(bias, float), allowed)
        limit = 1e-4 if "rounded" in kind else 1e-6  # below: the rounding of equal numbers
        harmless = np.allclose(weights, masked_softmax(right, allowed), rtol=limit, atol=0)
    if check.ok:
        assert harmless
    else:
        assert check.verdict == "wrong"
        assert named(check, kind)
        assert check.place is not None
    hidden = "mask-plus-inf", "finite-mask", "query-position"  # they differ there alone
    if np.allclose(bias[:, allowed], right[:, allowed], rtol=1e-12, atol=0) and kind not in hidden:
        assert check.verdict == "right"


EQUIVALENT_BIAS = {
    "key-position": lambda m, d, j: outer(m, j + 0 * d),
    "last-row": lambda m, d, j: outer(m, j - j[-1] + 0 * d),
    "row-constant": lambda m, d, j: outer(m, -d) + 2 * np.arange(1, len(d) + 1)[:, None],
    "symmetric": lambda m, d, j: outer(m, -np.abs(d)),
    "future-ignored": lambda m, d, j: outer(m, -np.maximum(d, 0)),
    "finite-mask": lambda m, d, j: np.where(d >= 0, outer(m, -d), -1e4),
}


@pytest.mark.parametrize("kind", EQUIVALENT_BIAS)
@given(biases(), formats)
@settings(max_examples=40)
def test_equivalent_biases(kind, parts, dtype):
    """What gives the same weights under a causal mask is right or equivalent, and named."""
    slopes, queries, keys = parts
    distance = np.subtract.outer(queries, keys)
    bias = in_format(EQUIVALENT_BIAS[kind](slopes, distance, keys), dtype)
    check = check_bias(bias, slopes=slopes)
    if check.verdict == "right":
        exact = distance_bias(slopes, query_positions=queries, key_positions=keys)
        np.testing.assert_allclose(
            bias[:, distance >= 0], exact[:, distance >= 0], rtol=1e-5, atol=1e-300
        )
    else:
        assert check.verdict == "equivalent"
        assert check.kind == kind or (len(queries) == 1 and check.kind in EQUIVALENT_BIAS)
    unmasked = distance.min() < 0 and kind in ("symmetric", "future-ignored")
    assert check_bias(bias, slopes=slopes, masked=True).ok == (
        not unmasked and (kind == "finite-mask" or distance.min() >= 0)
    )


@given(biases(), formats)
@settings(max_examples=60)
def test_symmetric_biases(parts, dtype):
    """Where the bias must be symmetric, the causal forms are faults as soon as a key follows."""
    slopes, queries, keys = parts
    distance = np.subtract.outer(queries, keys)
    options = {"slopes": slopes, "symmetric": True}
    assert check_bias(in_format(outer(slopes, -np.abs(distance)), dtype), **options).verdict == (
        "right"
    )
    if distance.min() < 0:
        for factor in (-distance, keys + 0 * distance):
            check = check_bias(in_format(outer(slopes, factor), dtype), **options)
            assert (check.verdict, named(check, "not-symmetric")) == ("wrong", True)
        masked = np.where(distance >= 0, outer(slopes, -distance), -INF)
        assert check_bias(masked, **options).kind == "future-masked"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype):
    """In 16 bits the distance form is right, the key-position form only while positions fit."""
    dtype = np.float16 if dtype == "float16" else pytest.importorskip("ml_dtypes").bfloat16
    slopes = alibi_slopes(12)
    far = {"query_positions": range(4090, 4096), "key_positions": range(4096)}
    assert check_slopes(slopes.astype(dtype)).verdict == "right"
    assert check_bias(distance_bias(slopes, **far).astype(dtype), **far).verdict == "right"
    assert check_bias(key_position_bias(slopes, 32).astype(dtype)).verdict == "equivalent"
    check = check_bias(key_position_bias(slopes, 4096).astype(dtype))
    assert (check.verdict, check.kind) == ("wrong", "positions-rounded")
    weights = causal_alibi_weights(np.zeros(9), slopes)
    assert check_weights(np.zeros(9), weights.astype(dtype)).verdict == "right"


@given(st.integers(300, 2000), st.sampled_from(["float16", "bfloat16"]))
@settings(max_examples=15)
def test_rounded_positions(newest, half):
    """Positions rounded to 16 bits before they are used are found in a float32 bias."""
    slopes, keys = alibi_slopes(4), np.arange(newest + 1)
    rounded = round_to(keys.astype(float), half)
    assume((rounded != keys).any())
    bias = outer(slopes, rounded[None]).astype(np.float32)
    check = check_bias(bias)
    assert (check.verdict, check.kind) == ("wrong", "positions-rounded")


# (logits, slopes, distance, local) -> biased logits and allowed
WEIGHT_FAULTS = {
    "zero": lambda c, m, d, local: (c, d >= 0),
    "zero-not-masked": lambda c, m, d, local: (c, d == d),
    "reversed-sign": lambda c, m, d, local: (c + outer(m, d), d >= 0),
    "multiplied": lambda c, m, d, local: (c * outer(m, -d), d >= 0),
    "scaled-bias": lambda c, m, d, local: (c - outer(m, d) / 8, d >= 0),
    "future-not-masked": lambda c, m, d, local: (c - outer(m, d), d == d),
    "query-position": lambda c, m, d, local: (c - outer(m, np.abs(local)), d == d),
    "ascending": lambda c, m, d, local: (c - outer(np.sort(m), d), d >= 0),
    "geometric": lambda c, m, d, local: (
        c - outer(alibi_slopes(len(m), schedule="geometric"), d),
        d >= 0,
    ),
}


@pytest.mark.parametrize("kind", WEIGHT_FAULTS)
@given(st.data(), formats)
@settings(max_examples=40)
def test_weight_faults_are_named(kind, data, dtype):
    """Every fault of weights is found and named, unless the weights are the right ones."""
    num_keys = data.draw(st.integers(2, 8))
    num_queries = data.draw(st.integers(1, num_keys))
    slopes = alibi_slopes(data.draw(st.integers(2, 12)))
    shape = (len(slopes), num_queries, num_keys)
    content = data.draw(hnp.arrays(float, shape, elements=st.floats(-8, 8, width=16)))
    keys, queries = np.arange(num_keys), np.arange(num_keys - num_queries, num_keys)
    distance = np.subtract.outer(queries, keys)
    local = np.subtract.outer(np.arange(num_queries), keys)
    biased, allowed = WEIGHT_FAULTS[kind](content, slopes, distance, local)
    weights = in_format(masked_softmax(biased, allowed), dtype)
    right = masked_softmax(content - outer(slopes, distance), distance >= 0)
    assert check_weights(content, in_format(right, dtype)).verdict == "right"
    check = check_weights(content, weights)
    if check.verdict == "right":
        np.testing.assert_allclose(weights, right, rtol=1e-4)
    else:
        assert check.verdict == "wrong"
        if kind == "query-position" and num_queries == num_keys:
            kind = "future-not-masked"  # of the symmetric bias
        assert named(check, kind)


# Never a guess


@given(hnp.arrays(float, st.integers(1, 20), elements=st.floats(-2, 2)))
def test_random_slopes_are_not_right(slopes):
    """What is not within rounding of the right slopes is not called right."""
    near = np.allclose(slopes, alibi_slopes(len(slopes)), rtol=1e-12)
    assert check_slopes(slopes).ok == near


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=3, max_dims=3, max_side=5).filter(lambda x: x[1] <= x[2]),
        elements=st.floats(-10, 10),
    ),
    st.booleans(),
)
def test_random_biases_are_not_right(bias, symmetric):
    """A bias is called right or equivalent only where its weights are the right ones."""
    num_heads, num_queries, num_keys = bias.shape
    check = check_bias(bias, symmetric=symmetric)
    keys = np.arange(num_keys)
    options = {"query_positions": keys[num_keys - num_queries :], "key_positions": keys}
    right = distance_bias(alibi_slopes(num_heads), symmetric=symmetric, **options)
    seen = symmetric | (right <= 0)
    same = np.allclose(masked_softmax(bias, seen), masked_softmax(right, seen), atol=1e-12)
    if check.ok:
        assert same
    if check.verdict == "unknown":
        assert check.distance > 0
        assert "nearest" in str(check)


@given(hnp.arrays(float, (3, 4, 4), elements=st.floats(0, 1)))
def test_random_weights_are_not_right(weights):
    """No random array is called right."""
    check = check_weights(np.zeros(4), weights)
    assert not check.ok


@pytest.mark.parametrize("size", [1e3, 1e30])
def test_a_masked_logit_excuses_nothing(size):
    """Rounding counts the exponents of keys with weight, however large a masked logit is."""
    content = np.random.default_rng(0).normal(size=(8, 6, 6))
    content[:, 0, 5] = size
    right = causal_alibi_weights(content, alibi_slopes(8))
    assert check_weights(content, right).verdict == "right"
    assert check_weights(content, np.roll(right, 1, axis=0)).verdict == "unknown"


def test_large_logits_are_rounded_by_their_own_format():
    """Logits in the thousands: float32 weights are right, one part in a hundred off is not."""
    content = np.random.default_rng(0).normal(0, 1000, (4, 8, 8)).astype(np.float32)
    content[:, :, 1] = content[:, :, 0] + 1  # so that two keys share the weight
    right = causal_alibi_weights(content, alibi_slopes(4))
    assert right.dtype == np.float32
    assert check_weights(content, right).verdict == "right"
    assert not check_weights(content, right * np.float32(1.01)).ok


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("slopes", "kind", "words"),
    [
        (alibi_slopes(8, max_bias=16), "other-max-bias", "max_bias 16, not 8"),
        (np.exp(-np.arange(1.0, 9)), "other-max-bias", "max_bias 11.5416, not 8"),
        (alibi_slopes(8) / 24**0.5, "scaled", "which is 1/sqrt(24)"),
        (alibi_slopes(8) * math.log2(math.e), "scaled", "which is log2(e)"),
    ],
)
def test_slopes_are_read_from_weights(slopes, kind, words, dtype):
    """A number that only the weights tell is read from them, as it is from a bias."""
    content = np.random.default_rng(1).normal(size=(8, 6, 6))
    check = check_weights(
        content.astype(dtype), causal_alibi_weights(content, slopes).astype(dtype)
    )
    assert (check.verdict, check.kind) == ("wrong", kind)
    assert words in check.summary


def test_one_head_has_no_wrong_slope():
    """A head alone says its slope: what is expected is in the form that it stands in."""
    keys = np.arange(5.0)
    check = check_bias(np.tril(0.3 * np.abs(keys[:, None] - keys)))
    assert (check.kind, check.place) == ("reversed-sign", (0, 1, 0))
    assert (check.got, check.expected) == (0.3, -0.3)
    check = check_bias(np.random.default_rng(0).normal(size=(5, 5)))
    assert (check.verdict, check.place, check.expected) == ("unknown", None, None)
    assert check.fix == "pass the slope of this head, to see where it differs"


@pytest.mark.parametrize("value", [0.0, 3.0, [[1.0], [2.0], [3.0], [4.0]]])
@pytest.mark.parametrize("num_heads", [1, 4])
def test_rows_of_one_number_are_no_alibi(value, num_heads):
    """A constant of each row is lost in softmax, so that nothing is left of the bias."""
    bias = np.broadcast_to(np.array(value), (num_heads, 4, 4))
    check = check_bias(bias)
    assert (check.verdict, check.kind) == ("wrong", "zero")
    assert "no ALiBi at all" in check.summary


def test_queries_counted_from_the_start_with_the_right_mask():
    """A cached step whose mask is right, and whose bias takes its query for the first one."""
    keys = np.arange(6)
    bias = distance_bias(alibi_slopes(4), query_positions=[0], key_positions=keys, symmetric=True)
    weights = masked_softmax(bias, np.ones((1, 6), bool))
    check = check_weights(np.zeros((4, 1, 6)), weights)
    assert (check.verdict, check.kind) == ("wrong", "query-position")


def test_keys_at_one_position():
    """Keys that share a position are no lost step."""
    at = {"query_positions": [3], "key_positions": [0, 1, 1, 2, 3]}
    assert check_bias(distance_bias(alibi_slopes(4), **at), **at).verdict == "right"
    raised = alibi_slopes(4)[:, None, None] * at["key_positions"]
    assert check_bias(raised, **at).verdict == "equivalent"


# Numbers in text have the digits that were printed.


@pytest.mark.parametrize("values", [alibi_slopes(12), alibi_slopes(16), alibi_slopes(3)])
def test_slopes_with_four_decimals(values):
    """Slopes as PyTorch prints them are right to their last digit, and only so."""
    printed = np.round(values, 4)
    assert check_slopes(printed).verdict != "right"
    check = check_slopes(printed, atol=5e-5)
    assert (check.verdict, check.kind) == ("equivalent", "to-tolerance")
    assert check.summary.endswith("to the tolerance of its digits (atol 5e-05)")
    assert not check.differs.any()
    printed[1] += 3e-4
    check = check_slopes(printed, atol=5e-5)
    assert (check.verdict, check.place) != ("equivalent", None)


def test_a_bias_with_four_digits():
    """A bias to a relative tolerance, in the distance form and in the key-position form."""
    bias = np.array([[float(f"{x:.3e}") for x in row] for row in distance_bias([2**-1.5], 5)[0]])
    options = {"slopes": [2**-1.5], "rtol": 5e-4}
    assert check_bias(bias[None], **options).kind == "to-tolerance"
    assert check_bias(-bias[None], **options).kind == "reversed-sign"
    keys = np.round(np.array([[[0.0, 1, 2, 3, 4]]]) * 2**-1.5, 3)
    check = check_bias(np.repeat(keys, 5, axis=1), slopes=[2**-1.5], atol=5e-4)
    assert (check.verdict, check.kind) == ("equivalent", "key-position")
    assert "to the tolerance of its digits (atol 0.0005)" in check.summary


def test_weights_with_four_decimals():
    """Printed weights are right to their digits; what is off by more is not."""
    content = np.random.default_rng(2).normal(size=(4, 5, 5))
    weights = np.round(causal_alibi_weights(content, alibi_slopes(4)), 4)
    assert not check_weights(content, weights).ok
    check = check_weights(content, weights, atol=5e-5)
    assert (check.verdict, check.kind, check.place) == ("equivalent", "to-tolerance", None)
    without = np.round(masked_softmax(content, causal_mask(5)), 4)
    assert check_weights(content, without, atol=5e-5).kind == "zero"


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [-1e-3, math.nan, INF, "0.1"])
def test_bad_tolerances(name, value):
    """A tolerance is a number that is not negative."""
    for check, array in ((check_slopes, alibi_slopes(4)), (check_bias, np.zeros((4, 2, 2)))):
        with pytest.raises((TypeError, ValueError), match=name):
            check(array, **{name: value})


# No array breaks a check.

extreme = st.one_of(
    st.floats(-1e308, 1e308),
    st.sampled_from([0.0, 5e-324, -5e-324, 1e-310, 1e308, -1e308, 1.0, 65504.0]),
)


@given(hnp.arrays(float, st.integers(1, 9), elements=extreme), st.data())
def test_any_slopes_have_an_answer(slopes, data):
    """Finite slopes of any size get an answer with text, or words that say why not."""
    options = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "max_bias": st.floats(1e-3, 1e4),
                "num_heads": st.integers(1, 300),
                "atol": st.floats(0, 1e300),
                "schedule": st.sampled_from(["reference", "geometric"]),
            },
        )
    )
    with suppress(TypeError, ValueError):  # refused in words
        assert str(check_slopes(slopes, **options))


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=2, max_dims=3, max_side=5),
        elements=extreme | st.just(-INF),
    ),
    st.booleans(),
    st.booleans(),
)
def test_any_bias_has_an_answer(bias, symmetric, masked):
    """Finite biases of any size, with and without a mask, get an answer with text."""
    with suppress(TypeError, ValueError):  # refused in words
        assert str(check_bias(bias, symmetric=symmetric, masked=masked))


@given(
    hnp.arrays(float, (2, 3, 3), elements=extreme | st.just(-INF)),
    hnp.arrays(float, (2, 3, 3), elements=st.one_of(extreme, st.floats(0, 1))),
    st.booleans(),
)
def test_any_weights_have_an_answer(logits, weights, symmetric):
    """Finite logits and weights of any size get an answer with text."""
    with suppress(TypeError, ValueError):  # refused in words
        assert str(check_weights(logits, weights, symmetric=symmetric))


# What it says


def test_the_text_of_a_check():
    """The text names what it is, where it first differs, and the fix."""
    bias = distance_bias(alibi_slopes(12, schedule="geometric"), 4)
    assert str(check_bias(bias)).splitlines() == [
        "bias: wrong (geometric): the distance form, with the geometric schedule of 12, "
        "not the reference one",
        "  head 0, query 1, key 0: got -0.629960525, expected -0.5",
        "  fix: use alibi_slopes(12, schedule='reference'), or pass schedule='geometric' "
        "if the model was trained so",
    ]


def test_all_digits_where_nine_do_not_tell_them_apart():
    """What differs in the text differs for the eye too."""
    slopes = alibi_slopes(8)
    slopes[3] += 1e-12
    assert "head 3: got 0.062500000001, expected 0.0625" in str(check_slopes(slopes))


@pytest.mark.parametrize("one_head", [True, False])
def test_where_it_differs(one_head):
    """A check has the array, the right one and where they differ, from its place on."""
    bias = np.array(distance_bias(alibi_slopes(4), 5))
    bias[2, 3, 1] = 7
    bias = bias[2] if one_head else bias
    check = check_bias(bias, slopes=alibi_slopes(4)[2:3] if one_head else None)
    head = 0 if one_head else 2
    assert check.place == (head, 3, 1)
    assert np.argwhere(check.differs).tolist() == [[head, 3, 1]]
    assert (check.given.reshape(bias.shape) == bias).all()
    assert check.right[check.place] == check.expected == -2 * alibi_slopes(4)[2]
    for array in (check.given, check.right, check.differs):
        assert not array.flags.writeable
    right = check_bias(distance_bias(alibi_slopes(4), 5))
    assert not right.differs.any()


def test_the_distance_at_which_a_finite_mask_loses():
    """F04: -10000 loses to the bias of head 8 of 12 after 14,142 tokens."""
    bias = np.where(causal_mask(4), distance_bias(alibi_slopes(12), 4), -10000.0)
    assert "of head 8 loses from 14143 tokens on" in check_bias(bias).summary
    far = {"query_positions": [20000], "key_positions": [0, 20001]}
    bias = np.where([[True, False]], distance_bias(alibi_slopes(12), **far), -10000.0)
    check = check_bias(bias, **far)
    assert (check.verdict, check.kind, check.place) == ("wrong", "finite-mask", (0, 0, 1))


def test_a_check_is_a_frozen_value():
    """A check cannot be changed, and can be pickled and compared."""
    check = check_slopes([1.0, 0.5])
    with pytest.raises(dataclasses.FrozenInstanceError):
        check.verdict = "right"
    assert pickle.loads(pickle.dumps(check)) == check


def test_one_head_takes_its_slope_from_the_bias():
    """A matrix of one head says its slope; with an option the slope is checked as well."""
    bias = distance_bias([0.3], 5)[0]
    assert "slope 0.3" in check_bias(bias).summary
    assert check_bias(bias, slopes=[0.3]).verdict == "right"
    assert check_bias(bias, num_heads=8).verdict == "unknown"


def test_no_distance_says_nothing():
    """A bias of one token is zero with any slope; anything else there is unknown."""
    assert check_bias([[[0.0]]]).verdict == "right"
    assert check_bias([[[5.0]]]).verdict == "unknown"


# What is refused

BAD = [
    ([], ValueError, "shape"),
    ([[0.5]], ValueError, "shape"),
    (0.5, ValueError, "shape"),
    ([0.5, math.nan], ValueError, "NaN"),
    ([0.5, INF], ValueError, "infinity"),
    ([[0.5], [0.5, 0.25]], ValueError, "regular array"),
    (["a"], TypeError, "real numbers"),
    ([True], TypeError, "real numbers"),
    ([0.5j], TypeError, "real numbers"),
    (None, TypeError, "real numbers"),
]


@pytest.mark.parametrize(("value", "error", "words"), BAD)
def test_bad_slopes(value, error, words):
    """What are no slopes is refused with what was expected."""
    with pytest.raises(error, match=words):
        check_slopes(value)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ([0.5], ValueError, "shape"),
        (np.zeros((1, 2, 3, 3)), ValueError, r"bias\[0\]"),
        (np.zeros((2, 0, 3)), ValueError, "no axis empty"),
        (np.full((1, 2, 2), np.nan), ValueError, r"NaN at \(0, 0, 0\)"),
        ([[INF, 0.0], [0.0, 0.0]], ValueError, "only for masked keys"),
        ([[0.0, 1.0], [0.0]], ValueError, "regular array"),
        ([["a"]], TypeError, "real numbers"),
        (np.zeros((1, 3, 2)), ValueError, "3 queries cannot stand"),
    ],
)
def test_bad_biases(value, error, words):
    """What is no bias is refused with the place or the shape."""
    with pytest.raises(error, match=words):
        check_bias(value)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_heads": 1}, ValueError, "options ask for 1"),
        ({"num_heads": "2"}, TypeError, "integer"),
        ({"heads": slice(0, 1)}, ValueError, "options ask for 1"),
        ({"heads": 2}, TypeError, "slice"),
        ({"max_bias": 0}, ValueError, "positive"),
        ({"schedule": "paper"}, ValueError, "does not exist"),
        ({"dtype": "int8"}, ValueError, "not known"),
        ({"slopes": [0.5]}, ValueError, "one slope a head"),
        ({"slopes": [0.5, 0.25], "num_heads": 2}, ValueError, "either slopes"),
        ({"key_positions": [0, 1]}, ValueError, "one position a token"),
        ({"allowed": [[True] * 4]}, ValueError, "allowed must have shape"),
        ({"allowed": [[1] * 3]}, TypeError, "boolean"),
    ],
)
def test_bad_options(options, error, words):
    """An option that does not fit the array is refused."""
    with pytest.raises(error, match=words):
        check_bias(np.zeros((2, 3, 3)), **options)


@pytest.mark.parametrize(
    ("logits", "weights", "options", "words"),
    [
        (np.zeros(3), np.zeros((1, 2, 2)), {}, "do not fit"),
        ([np.nan, 0], np.zeros((1, 2, 2)), {}, "NaN"),
        (np.zeros(2), np.full((1, 2, 2), INF), {}, "infinity"),
        (np.zeros(2), np.zeros((2, 2)), {}, "one head alone"),
        (np.zeros(2), np.zeros((2, 2, 2)), {"num_heads": 8}, "pass heads"),
        (np.zeros(2), np.zeros(2), {}, "shape"),
        (np.zeros(2), np.zeros((1, 2, 2)), {"scale": -1}, "positive"),
    ],
)
def test_bad_weights(logits, weights, options, words):
    """Weights and logits that do not fit are refused."""
    with pytest.raises(ValueError, match=words):
        check_weights(logits, weights, **options)
