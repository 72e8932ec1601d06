"""Mistakes that people reported about ALiBi in public, each with the right value.

data/cases.json holds one case a reported mistake. `expected` has the right values, `wrong` what
the mistake gives. Each function below answers one or more cases from the core alone; where a case
needs more than a full sequence from position 0, it takes a slice of one.
"""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from alibi_core import (
    alibi_slopes,
    causal_alibi_attention,
    causal_alibi_weights,
    causal_mask,
    causal_weights,
    distance_bias,
    masked_softmax,
)

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))


def largest(difference):
    return np.abs(difference).max()


def bias_at(slope, distance):
    """The bias at any distance: that of one token, so many times."""
    return distance * distance_bias([slope], 2)[0, 1, 0]


def last_row(slope, num_tokens):
    """The bias of the last query."""
    return distance_bias([slope], num_tokens)[0, -1]


def minus_first(row):
    """The same row with its first key at 0: the key-position form."""
    return row - row[..., :1]


def picked(value, wanted):
    """The entries that the case states by their heads, as in {"0": 0.84, "39": 0.27}; else all."""
    return [value[int(head)] for head in wanted] if isinstance(wanted, dict) else value


# Slopes


def slopes_of(n_heads, **_):
    return {"slopes": alibi_slopes(n_heads)}


def slopes_with_order(n_heads, **_):
    slopes = alibi_slopes(n_heads)
    rises = np.flatnonzero(np.diff(slopes) > 0)
    return {
        "slopes": slopes,
        "monotone_decreasing": len(rises) == 0,
        "first_increase_at_head": rises[0] + 1,
        **{f"slope_{head}": slope for head, slope in enumerate(slopes)},
        "descending_view_head_order": np.argsort(-slopes),
    }


def slopes_of_many(n_heads_list, **_):
    many = [alibi_slopes(count) for count in n_heads_list]
    first_extra = [1 << (count.bit_length() - 1) for count in n_heads_list]
    return {
        "lengths": [len(slopes) for slopes in many],
        "slope_at_first_extra_head": [x[at] for x, at in zip(many, first_extra, strict=True)],
        "last_slope": [slopes[-1] for slopes in many],
    }


def slopes_strided(n_heads_range, **_):
    differences = []
    for count in range(n_heads_range[0], n_heads_range[1] + 1):
        schedule = alibi_slopes(1 << (count - 1).bit_length())
        if len(schedule) != count:
            schedule = np.concatenate([schedule[1::2], schedule[0::2]])[:count]
        differences.append(largest(alibi_slopes(count) - schedule))
    return {"max_abs_difference_strided_vs_official": max(differences)}


def slopes_of_a_rank(n_heads, head_slice, **_):
    return {"slopes": alibi_slopes(n_heads, heads=slice(*head_slice))}


def slopes_with_max_bias(n_heads, bias_max, **_):
    slopes = alibi_slopes(n_heads, max_bias=bias_max)
    longer = alibi_slopes(1 << n_heads.bit_length(), max_bias=bias_max)
    ceil_rule = np.concatenate([longer[1::2], longer[0::2]])[:n_heads]
    return {"slopes": slopes, "max_abs_difference_to_ceil_rule": largest(slopes - ceil_rule)}


def two_schedules(n_heads, **_):
    official, geometric = (
        alibi_slopes(n_heads, schedule=name) for name in ("reference", "geometric")
    )
    difference = np.abs(official - geometric)
    return {
        "official": official,
        "geometric": geometric,
        "max_abs_difference": difference.max(),
        "at_head": difference.argmax(),
    }


# Bias


def opening_pair(n_heads, head, query, key, content):
    slope = alibi_slopes(n_heads)[head]
    bias = distance_bias([slope], query + 1)[0, query, key]
    return {"slope": slope, "distance": -bias / slope, "bias": bias, "biased_logit": content + bias}


def far_bias(slope, distances):
    bias = [bias_at(slope, distance) for distance in distances]
    shares = masked_softmax([[b, 0.0] for b in bias], True)
    return {"bias": bias, "relative_weight_factor": shares[:, 0] / shares[:, 1]}


def far_bias_of_32_heads(n_heads, T):
    slopes = alibi_slopes(n_heads)
    return {
        "most_negative_bias_head0": bias_at(slopes[0], T - 1),
        "most_negative_bias_head31": bias_at(slopes[31], T - 1),
    }


def bias_of_a_head(n_heads, head, distance):
    return {"bias": distance_bias(alibi_slopes(n_heads), distance + 1)[head, distance, 0]}


def key_form_of_heads(n_heads, T, **_):
    rows = minus_first(distance_bias(alibi_slopes(n_heads), T)[:, -1])
    return {"head0": rows[0], "head15": rows[15]}


def cached_step(n_heads, head, n_query, n_key):
    bias = distance_bias(alibi_slopes(n_heads), n_key)[:, -n_query:]
    return {"bias": bias[head, 0], "shape": bias.shape}


def unused_cache_slots(n_heads, n_query, n_key, query_offset):
    end = query_offset + n_query
    bias = distance_bias(alibi_slopes(n_heads), n_key)[:, query_offset:end]
    allowed = causal_mask(n_key)[end - 1]
    return {
        "bias_shape_distance_form": bias.shape,
        "head0_row_query7_allowed_part": bias[0, -1, allowed],
    }


def chunk(slope, query_positions, key_positions):
    bias = distance_bias([slope], query_positions=query_positions, key_positions=key_positions)
    return {"bias": bias[0]}


def symmetric_positions(slope, positions):
    at = {"query_positions": positions, "key_positions": positions}
    return {"bias": distance_bias([slope], **at, symmetric=True)[0]}


def every_length_anew(slope, calls):
    biases = [distance_bias([slope], length, symmetric=True)[0] for length, _ in calls]
    again = [distance_bias([slope], length, symmetric=True)[0] for length, _ in reversed(calls)]
    same = all(map(np.array_equal, biases, reversed(again)))
    return {"last_bias": biases[-1], "independent_of_call_order": same}


def newest_queries(slope, n_query, n_key, **_):
    newest = range(n_key - n_query, n_key)
    at = {"query_positions": newest, "key_positions": range(n_key)}
    return {"bias": distance_bias([slope], **at, symmetric=True)[0]}


def sinks(slope, text_query_position, sink_text_positions, cache_size):
    def bias(query):
        return distance_bias([slope], query_positions=[query], key_positions=sink_text_positions)[
            0, 0
        ]

    return {
        "bias_text_positions": bias(text_query_position),
        "bias_cache_positions": bias(cache_size - 1),
    }


def visible_cells(T, n_heads, **_):
    allowed = causal_mask(T)
    return {
        "allowed_cells": allowed.sum(),
        "masked_cells": (~allowed).sum(),
        "bias_corner_11_0": distance_bias(alibi_slopes(n_heads), T)[0, 11, 0],
    }


# Mask


def with_a_mask(slope, T, allowed, **_):
    weights = masked_softmax(distance_bias([slope], T)[0], np.array(allowed) == 1)
    return {"weights": weights, "row_3_sum": weights[3].sum(), "any_nan": np.isnan(weights).any()}


def nothing_allowed(V, allowed):
    return {"output": masked_softmax(np.zeros(len(V)), np.array(allowed) == 1) @ np.array(V)}


def masked_bias(slope, T):
    return np.where(causal_mask(T), distance_bias([slope], T)[0], -np.inf)


def future_is_minus_inf(slope, T, **_):
    return {
        "bias_masked": masked_bias(slope, T),
        "weights": causal_alibi_weights(np.zeros(T), [slope])[0],
    }


def comparing_minus_inf(a, b):
    ours, theirs = masked_bias(0.5, len(a)), numbers(b)
    finite = np.isfinite(ours)
    return {
        "np_allclose": np.allclose(ours, numbers(a)),
        "array_equal": np.array_equal(ours, theirs),
        "max_abs_diff_on_finite": largest(ours[finite] - theirs[finite]),
    }


def boolean_mask_far_away(n_heads, head, allowed_distance, masked_key_distance, fill):
    slope = alibi_slopes(n_heads)[head]
    logits = [bias_at(slope, allowed_distance), fill + bias_at(slope, masked_key_distance)]
    return {
        "allowed_logit": logits[0],
        "masked_logit_if_finite": logits[1],
        "crossover_distance": fill / bias_at(slope, 1),
        "weights_boolean_mask": masked_softmax(logits, [True, False]),
    }


# Weights


def last_query(slope, content, query=None, T=None, **_):
    """Weights of the last query; `content` is one logit a key."""
    content = np.zeros(T) if content == "all zero" else np.array(content)
    bias = last_row(slope, len(content))
    weights = causal_alibi_weights(content, [slope])[0]
    masked_first = np.where(causal_mask(len(bias)), distance_bias([slope], len(bias)), -np.inf)
    early = masked_softmax(content + masked_first, True)
    off_by_one = masked_softmax(content + bias - slope, True)
    key_form = masked_softmax(content + minus_first(bias), True)
    return {
        "logits": content + bias,
        "bias": bias,
        "distance_form_row": bias,
        "key_position_row": minus_first(bias),
        "row_constant_removed": -bias[0],
        "weights": weights[-1],
        "weights_both": weights[-1],
        "largest_at_key": weights[-1].argmax(),
        "max_abs_difference_between_orders": largest(weights - early),
        "max_abs_weight_difference": largest(weights[-1] - key_form),
        "max_abs_weight_difference_to_off_by_one": largest(weights[-1] - off_by_one),
    }


def without_a_mask(T, slope=None, n_heads=None, head=None, query=..., **_):
    """Weights of an encoder: symmetric bias, every key allowed, equal content."""
    slope = alibi_slopes(n_heads)[head] if slope is None else slope
    weights = masked_softmax(distance_bias([slope], T, symmetric=True)[0], True)
    return {
        "weights": weights[query],
        "weights_query1": weights[1],
        "weights_without_alibi": masked_softmax(np.zeros(T), True),
        "mirror_symmetric": np.array_equal(weights[T // 2], weights[T // 2][::-1]),
    }


def cached_query(n_key, query_position, **case):
    return last_query(**case, T=n_key)


def without_alibi(content, **_):
    return {"weights": causal_weights(content)[-1]}


def chunked(slope, content, chunks):
    content = np.array(content)
    bias, allowed = distance_bias([slope], len(content))[0], causal_mask(len(content))
    full = causal_alibi_weights(content, [slope])[0]
    differences = []
    for start, end in pairwise(np.cumsum([0, *chunks])):
        at = np.s_[start:end, :end]
        part = masked_softmax(content[at] + bias[at], allowed[at])
        differences.append(largest(part - full[at]))
    return {
        "weights_last_row": full[-1],
        "weights_row3": full[3],
        "max_abs_difference_chunked_vs_full": max(differences),
    }


def both_forms(slope, T, content):
    weights = causal_alibi_weights(content, [slope])[0]
    bias = distance_bias([slope], T)[0]
    key_form = minus_first(bias[-1])
    other = masked_softmax(np.array(content) + key_form, causal_mask(T))
    return {
        "weights": weights,
        "max_abs_difference_between_forms": largest(weights - other),
        "bias_elements_singleton": key_form.size,
        "bias_elements_full": bias.size,
    }


def two_libraries(slope, K):
    ours = last_row(slope, K)
    theirs = minus_first(ours)
    difference = masked_softmax(ours, True) - masked_softmax(theirs, True)
    return {
        "bloom_row": theirs,
        "mpt_row": ours,
        "row_constant": theirs[0] - ours[0],
        "max_abs_weight_difference": largest(difference),
    }


def papers_form(slope, T):
    paper_form = masked_bias(slope, T)
    key_form = minus_first(paper_form)
    return {
        "key_form": key_form,
        "minus_row_constant": key_form - key_form.diagonal()[:, None],
        "paper_form": paper_form,
    }


def shifted_cache(slope, positions_a, positions_b, content):
    bias = distance_bias([slope], max(positions_b) + 1)[0]
    a, b = (
        masked_softmax(content + bias[np.ix_(at, at)], causal_mask(len(at)))
        for at in (positions_a, positions_b)
    )
    return {"weights": a[-1], "max_abs_difference": largest(a - b)}


def slice_of_a_long_bias(slope, max_seq_len, n_key, **_):
    row = last_row(slope, max_seq_len)
    right, left = row[-n_key:], row[:n_key]
    weights = masked_softmax([right, left], True)
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-12)
    return {"right_slice": right, "left_slice": left, "weights_exact_both": weights[0]}


def logit_of_attention(raw_score, head_dim, slope, distance):
    """The logit that attention used, read back from its weights: only key 0 scores, v = 1."""
    q = np.zeros((1, 1, distance + 1, head_dim))
    k, v = q.copy(), np.eye(distance + 1)[None, None]
    q[..., 0] = raw_score
    k[..., 0, 0] = 1
    weights = causal_alibi_attention(q, k, v, [slope])[0, 0, -1]
    return {"paper_logit": np.log(weights[0] / weights[-1])}


ANSWERS = {
    "A01": slopes_with_order,
    "A03": slopes_of_many,
    "A04": slopes_with_order,
    "A05": slopes_of,
    "A06": two_schedules,
    "A07": slopes_with_order,
    "A09": slopes_strided,
    "A10": slopes_with_max_bias,
    "A12": slopes_of_a_rank,
    "B01": last_query,
    "B03": both_forms,
    "B04": last_query,
    "B05": future_is_minus_inf,
    "B07": two_libraries,
    "B09": papers_form,
    "B10": last_query,
    "B12": key_form_of_heads,
    "C01": without_a_mask,
    "C03": newest_queries,
    "C04": without_a_mask,
    "C05": without_a_mask,
    "F01": two_schedules,
    "F02": last_query,
    "F03": cached_query,
    "F04": boolean_mask_far_away,
    "K01": unused_cache_slots,
    "K03": cached_step,
    "K04": every_length_anew,
    "K06": last_query,
    "K07": chunked,
    "K08": chunk,
    "K09": shifted_cache,
    "K10": sinks,
    "K11": last_query,
    "K13": slice_of_a_long_bias,
    "K14": symmetric_positions,
    "M01": with_a_mask,
    "M03": nothing_allowed,
    "M06": with_a_mask,
    "M08": comparing_minus_inf,
    "S01": logit_of_attention,
    "X01": far_bias,
    "X04": bias_of_a_head,
    "X05": without_alibi,
    "X07": far_bias_of_32_heads,
    "X08": visible_cells,
    "X10": without_a_mask,
    "Z01": opening_pair,
    "Z03": far_bias,
}


def numbers(value):
    """A value of the data file as an array; JSON has no infinity, so "-inf" is a string there."""
    return np.array(value, dtype=float)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case):
    """The core gives every expected value of the case, and none of the wrong ones."""
    answers = ANSWERS[case["id"]](**case["input"])
    expected = case["expected"]
    answers = {name: numbers(picked(answers[name], expected[name])) for name in expected}
    tolerances = {"rtol": 0, "atol": 0}
    for name, limit in re.findall(r"([ar]tol) ([\de-]+)", case["tolerance"]):
        tolerances[name] = float(limit)
    for name, stated in expected.items():
        stated = list(stated.values()) if isinstance(stated, dict) else stated
        np.testing.assert_allclose(answers[name], numbers(stated), **tolerances, err_msg=name)
    for mistake, wrong in case.get("wrong", {}).items():
        if isinstance(wrong, str):  # the mistake gives NaN
            assert not any(np.isnan(answer).any() for answer in answers.values()), mistake
        else:
            rivals = [x for x in answers.values() if x.shape == np.shape(wrong)]
            assert rivals, f"nothing to hold against {mistake}"
            assert not any(np.allclose(x, wrong, rtol=1e-6) for x in rivals), mistake


def test_every_case_is_answered():
    """Each case of the data file has its answer, and each answer its case."""
    assert [case["id"] for case in sorted(CASES, key=lambda case: case["id"])] == list(ANSWERS)
