"""Mistakes that people reported about ALiBi in public, each with the right value.

data/cases.json holds one case a reported mistake. `expected` has the right values, `wrong` what
the mistake gives. Each function below answers one or more cases from the core alone.
"""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from alibi_core import (
    alibi_attention,
    alibi_slopes,
    block_mask,
    causal_alibi_weights,
    causal_mask,
    causal_weights,
    distance_bias,
    key_position_bias,
    masked_softmax,
    newest_query_weights,
    positions_from_packing,
    positions_from_padding,
    round_to,
    row_constant,
)

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))


def largest(difference):
    return np.abs(difference).max()


def bias_at(slope, distance):
    """The bias at one distance."""
    return distance_bias([slope], query_positions=[distance], key_positions=[0]).item()


def last_row(slope, num_tokens, **options):
    """The bias of the last query."""
    newest = {"query_positions": [num_tokens - 1], "key_positions": range(num_tokens)}
    return distance_bias([slope], **newest, **options)[0, 0]


def key_row(slope, num_tokens, **options):
    """The bias of every query in the key-position form."""
    return key_position_bias([slope], num_tokens, **options)[0, 0]


def attention_weights(content, slope, **options):
    """The weights that `alibi_attention` uses: its output where the values are unit vectors.

    `content` is (query, key); the keys are unit vectors, so that q . k is the content logit.
    """
    content = np.array(content, dtype=float)
    units = np.eye(content.shape[-1])[None, None]
    options = {"scale": 1.0, **options}
    return alibi_attention(content[None, None], units, units, [slope], **options)[0, 0]


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
    return {"bias": bias_at(alibi_slopes(n_heads)[head], distance)}


def memory(n_heads, T, bytes_per_element):
    """One query's bias, repeated for each query; and one value a distance, -(T - 1) to T - 1."""
    slopes = alibi_slopes(n_heads).astype(f"f{bytes_per_element}")
    row, toeplitz = (
        distance_bias(slopes, query_positions=[T - 1], key_positions=range(keys))
        for keys in (T, 2 * T - 1)
    )
    return {
        "bytes": T * row.nbytes,
        "bytes_slopes_only": slopes.nbytes,
        "bytes_toeplitz_rows": toeplitz.nbytes,
    }


# Half precision


def half_values(dtype, values):
    return {f"as_{dtype}": round_to(values, dtype)}


def half_sums(dtype, mask_value, bias_list):
    return {"sums": round_to(mask_value + np.array(bias_list), dtype)}


def half_slope(n_heads, head, distance, dtype):
    slope = alibi_slopes(n_heads)[head]
    rounded = round_to([slope], dtype)[0]
    bias, with_rounded = bias_at(slope, distance), bias_at(rounded, distance)
    return {
        "slope": slope,
        "slope_fp16": rounded,
        "bias": bias,
        "bias_with_fp16_slope": with_rounded,
        "abs_error": abs(bias - with_rounded),
    }


def half_forms(slope, T):
    """Both forms of the last query's bias in both formats, with the weights at equal content."""
    exact = masked_softmax(last_row(slope, T), True)
    answers = {"weight_last_key_exact": exact[-1]}
    for short, dtype in (("bf16", "bfloat16"), ("fp16", "float16")):
        for form, row in (("key", key_row), ("distance", last_row)):
            bias = row(slope, T, emulate=dtype)
            weights = masked_softmax(bias, True)
            variation = np.abs(weights - exact).sum() / 2
            answers[f"distinct_{short}_{form}_form"] = len(np.unique(bias))
            answers[f"weight_last_key_{short}_{form}_form"] = weights[-1]
            answers[f"total_variation_{form}_form_{short}"] = variation
            if short == "bf16":
                answers[f"total_variation_{form}_form"] = variation
    return answers


def half_forms_of_heads(n_heads, heads, T, **_):
    of_each = [half_forms(alibi_slopes(n_heads)[head], T) for head in heads]
    return {name: [answers[name] for answers in of_each] for name in of_each[0]}


def half_forms_of_a_head(n_heads, head, T, **_):
    return half_forms(alibi_slopes(n_heads)[head], T)


def key_form_of_heads(n_heads, T, **_):
    rows = key_position_bias(alibi_slopes(n_heads), T)[:, 0]
    return {"head0": rows[0], "head15": rows[15]}


def cached_step(n_heads, head, n_query, n_key):
    newest = {"query_positions": range(n_key - n_query, n_key), "key_positions": range(n_key)}
    bias = distance_bias(alibi_slopes(n_heads), **newest)
    return {"bias": bias[head, 0], "shape": bias.shape}


def unused_cache_slots(n_heads, n_query, n_key, query_offset):
    """The slots from the query on are unused, so the causal mask keeps them out."""
    queries = range(query_offset, query_offset + n_query)
    bias = distance_bias(alibi_slopes(n_heads), query_positions=queries, key_positions=range(n_key))
    weights = attention_weights(np.zeros((n_query, n_key)), 0.5, query_positions=queries)
    return {
        "bias_shape_key_form": key_position_bias(alibi_slopes(n_heads), n_key).shape,
        "bias_shape_distance_form": bias.shape,
        "head0_row_query7_allowed_part": bias[0, -1, weights[-1] > 0],
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
    weights = attention_weights(np.zeros((T, T)), slope, allowed=np.array(allowed) == 1)
    return {"weights": weights, "row_3_sum": weights[3].sum(), "any_nan": np.isnan(weights).any()}


def packed(slope, T, allowed, **_):
    """The mask restarts where a second sequence is packed behind the first."""
    ids = np.array(allowed)[-1]
    np.testing.assert_array_equal(block_mask(ids), np.array(allowed) == 1)
    at = positions_from_packing(ids)
    options = {"query_positions": at, "key_positions": at, "allowed": block_mask(ids)}
    weights = attention_weights(np.zeros((T, T)), slope, **options)
    return {"weights": weights, "any_nan": np.isnan(weights).any()}


def nothing_allowed(V, allowed):
    v = np.array(V)[None, None]
    mask = np.array([allowed]) == 1
    return {"output": alibi_attention(v[:, :, -1:], v, v, [0.5], allowed=mask)[0, 0, 0]}


def left_padding(attention_mask, slope, content_last_query):
    at = positions_from_padding(attention_mask)
    real = np.array(attention_mask) == 1
    content = np.array([content_last_query])
    weights = attention_weights(content, slope, key_positions=at, allowed=real[None])
    return {
        "positions": at,
        "weights": weights[0],
        "equal_to_unpadded": attention_weights(content[:, real], slope)[0],
    }


def padding_positions(attention_mask):
    return {"positions": positions_from_padding(attention_mask)}


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
    key_form = masked_softmax(content + key_row(slope, len(bias)), True)
    return {
        "logits": content + bias,
        "bias": bias,
        "distance_form_row": bias,
        "key_position_row": key_row(slope, len(bias)),
        "row_constant_removed": row_constant([slope], [len(bias) - 1]),
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
    weights = attention_weights(np.zeros((T, T)), slope, causal=False)
    return {
        "weights": weights[query],
        "weights_query1": weights[1],
        "weights_without_alibi": masked_softmax(np.zeros(T), True),
        "mirror_symmetric": np.array_equal(weights[T // 2], weights[T // 2][::-1]),
    }


def cached_query(slope, n_key, query_position, **_):
    at = {"query_positions": [query_position], "key_positions": range(n_key)}
    weights = newest_query_weights(np.zeros(n_key), [slope])[0]
    by_attention = attention_weights(np.zeros((1, n_key)), slope)[0]
    np.testing.assert_allclose(by_attention, weights, rtol=1e-12)
    return {"bias": distance_bias([slope], **at)[0, 0], "weights": weights}


def without_alibi(content, **_):
    return {"weights": causal_weights(content)[-1]}


def chunked(slope, content, chunks):
    content = np.array(content)
    full = causal_alibi_weights(content, [slope])[0]
    differences = [
        largest(attention_weights(content[start:end, :end], slope) - full[start:end, :end])
        for start, end in pairwise(np.cumsum([0, *chunks]))
    ]
    return {
        "weights_last_row": full[-1],
        "weights_row3": full[3],
        "max_abs_difference_chunked_vs_full": max(differences),
    }


def both_forms(slope, T, content):
    weights = causal_alibi_weights(content, [slope])[0]
    bias = distance_bias([slope], T)[0]
    key_form = key_row(slope, T)
    other = masked_softmax(np.array(content) + key_form, causal_mask(T))
    return {
        "weights": weights,
        "max_abs_difference_between_forms": largest(weights - other),
        "bias_elements_singleton": key_form.size,
        "bias_elements_full": bias.size,
    }


def two_libraries(slope, K):
    bloom, mpt = key_row(slope, K), key_row(slope, None, key_positions=range(1 - K, 1))
    difference = masked_softmax(bloom, True) - masked_softmax(mpt, True)
    return {
        "bloom_row": bloom,
        "mpt_row": mpt,
        "row_constant": row_constant([slope], [K - 1]),
        "max_abs_weight_difference": largest(difference),
    }


def papers_form(slope, T):
    key_form = np.where(causal_mask(T), key_row(slope, T), -np.inf)
    return {
        "key_form": key_form,
        "minus_row_constant": key_form - row_constant([slope], range(T))[0],
        "paper_form": masked_bias(slope, T),
    }


def shifted_cache(slope, positions_a, positions_b, content):
    content = np.tile(content, (len(content), 1))
    a, b = (
        attention_weights(content, slope, query_positions=at, key_positions=at)
        for at in (positions_a, positions_b)
    )
    return {"weights": a[-1], "max_abs_difference": largest(a - b)}


def slice_of_a_long_bias(slope, max_seq_len, n_key, **_):
    row = last_row(slope, max_seq_len)
    right, left = row[-n_key:], row[:n_key]
    weights = masked_softmax([right, left], True)
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-12)
    rounded = last_row(slope, max_seq_len, emulate="bfloat16")[:n_key]
    return {
        "right_slice": right,
        "left_slice": left,
        "weights_exact_both": weights[0],
        "left_slice_bf16": rounded,
        "weights_left_slice_bf16": masked_softmax(rounded, True),
    }


def logit_of_attention(score, slope, distance, **options):
    """The logit of the farthest key, read back from the weights: the query's own key has 0."""
    content = np.zeros((1, distance + 1))
    content[0, 0] = score
    weights = attention_weights(content, slope, **options)[0]
    return np.log(weights[0] / weights[-1])


def scale_order(raw_score, head_dim, slope, distance):
    scale = head_dim**-0.5
    paper = logit_of_attention(raw_score, slope, distance, scale=scale)
    falcon = logit_of_attention(raw_score, slope, distance, scale=scale, scale_bias=True)
    return {
        "paper_logit": paper,
        "falcon_logit": falcon,
        "effective_falcon_bias": falcon - scale * raw_score,
    }


def layer_scale(score_scaled, bias, layer_number):
    """Scores divided by the layer number, and multiplied again: so must the slope be."""
    options = {"scale": layer_number, "scale_bias": True}
    divided = score_scaled / layer_number, -bias / layer_number
    return {"logit": logit_of_attention(*divided, distance=1, **options)}


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
    "A14": half_slope,
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
    "D01": half_values,
    "D03": half_forms_of_heads,
    "D05": half_forms_of_a_head,
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
    "M04": half_sums,
    "M05": half_values,
    "M06": packed,
    "M08": comparing_minus_inf,
    "P01": left_padding,
    "P02": padding_positions,
    "S01": scale_order,
    "S03": layer_scale,
    "X01": far_bias,
    "X04": bias_of_a_head,
    "X05": without_alibi,
    "X06": memory,
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
