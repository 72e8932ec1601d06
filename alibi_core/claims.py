"""What else of ALiBi can one see in the worked example?

Each dataclass holds the numbers of one claim, worked out once, for a view that only lays them
out: the mask and the bias do different jobs, three forms of the bias give the same weights, a
cached step has its place, two keys compete, slopes come from two schedules, a bias is defined at
any distance, number formats keep one form better than another, and padding changes no weight.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3; the rest is
arithmetic on the formula.
"""

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from alibi_core.attention import causal_alibi_weights, newest_query_weights
from alibi_core.batch import positions_from_padding
from alibi_core.bias import distance_bias, key_position_bias, row_constant
from alibi_core.compare import KeyComparison, compare_keys
from alibi_core.lesson import FAR_DISTANCES, FAR_MARKS, PAPER_RESULT, TOKENS
from alibi_core.mask import causal_mask
from alibi_core.precision import Half
from alibi_core.reach import e_distance, half_distance, nearest_share
from alibi_core.slopes import SlopeSource, alibi_slopes, slope_sources
from alibi_core.softmax import masked_softmax

FloatArray = npt.NDArray[np.float64]

AGREEMENT = 1e-12
"""Two weights are called the same up to this difference."""

DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""Number formats, and how many binary digits of a number each keeps."""


def freeze_arrays(result: object) -> None:
    """Make the arrays of a result read-only."""
    for value in vars(result).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


class _Frozen:
    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, eq=False)
class MaskAndBias(_Frozen):
    """The mask and the bias each on and off; with both or the mask alone, see the calculation.

    Attributes
    ----------
    symmetric_bias : array of shape (query, key)
        ``-slope * |i - j|`` in logits, for attention without the causal mask.
    neither, bias_alone : arrays of shape (query, key)
        Weights without the causal mask, without and with that bias.
    bias_alone_winners : tuple of int, length query
        The key with the largest weight of each row of `bias_alone`.
    """

    symmetric_bias: FloatArray
    neither: FloatArray
    bias_alone: FloatArray
    bias_alone_winners: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ThreeForms(_Frozen):
    """The distance form of the bias, and two that differ from it by a constant a row.

    Attributes
    ----------
    key_position_bias, last_row_bias : arrays of shape (key,)
        ``slope * j`` and ``slope * (j - (T - 1))``, logits.
    key_position_constants, last_row_constants : arrays of shape (query,)
        What these have too much in each row, logits.
    key_position_shifted, last_row_shifted : arrays of shape (query, key)
        The forms with the constant of the row subtracted, logits.
    key_position_weights, last_row_weights : arrays of shape (query, key)
        Weights from the forms as they are, under the causal mask.
    agree : bool
        Whether these equal the weights from the distance form, up to `tolerance`.
    shortcut_weights : array of shape (query, key)
        Weights from the key-position form without the causal mask, where it fails: the same row
        for every query.
    shortcut_winner : int
        The key with the largest weight of that row.
    shortcut_right_for : tuple of int
        The queries whose row of the symmetric bias, without the mask, it equals up to `tolerance`.
    tolerance : float
        The difference up to which weights are called the same.
    """

    key_position_bias: FloatArray
    last_row_bias: FloatArray
    key_position_constants: FloatArray
    last_row_constants: FloatArray
    key_position_shifted: FloatArray
    last_row_shifted: FloatArray
    key_position_weights: FloatArray
    last_row_weights: FloatArray
    agree: bool
    shortcut_weights: FloatArray
    shortcut_winner: int
    shortcut_right_for: tuple[int, ...]
    tolerance: float = AGREEMENT


@dataclass(frozen=True, eq=False)
class CachedStep(_Frozen):
    """One new query over the keys stored so far.

    Attributes
    ----------
    weights, restarted_weights : arrays of shape (key,)
        With the query at its position, and with the query taken for position 0; 0 for the
        keys to come.
    agrees : bool
        Whether `weights` is the query's row of the full pass, up to `tolerance`.
    tolerance : float
        The difference up to which weights are called the same.
    """

    weights: FloatArray
    restarted_weights: FloatArray
    agrees: bool
    tolerance: float = AGREEMENT


@dataclass(frozen=True, eq=False)
class Competition(_Frozen):
    """One key against another, for any query that may use both.

    Attributes
    ----------
    comparison : KeyComparison
        Of the key with the other key.
    farther : int
        How many tokens farther the key is than the other; negative if it is nearer.
    tokens_apart : int
        The same without its sign.
    token_factor : float
        ``exp(-slope)``: what one token more does to a weight at equal content.
    heads_for_key, heads_for_other, heads_tied : tuple of int
        The heads in which the key weighs more, less, or as much.
    weights : array of shape (query, key)
        Weights with ALiBi of the head, from the content logits that compete.
    """

    comparison: KeyComparison
    farther: int
    tokens_apart: int
    token_factor: float
    heads_for_key: tuple[int, ...]
    heads_for_other: tuple[int, ...]
    heads_tied: tuple[int, ...]
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Schedule(_Frozen):
    """The slopes of any number of heads.

    Attributes
    ----------
    slopes, geometric_slopes : arrays of shape (head,)
        Of the reference schedule and of the plain geometric rule, logits per token.
    sources : tuple of SlopeSource
        The schedule and entry that each head takes its slope from.
    order : tuple of int
        The heads from the steepest to the shallowest.
    differing_heads : tuple of int
        The heads whose slope is not that of the plain geometric rule.
    ratio : float or None
        Each slope over the one before it, ``2 ** (-8 / num_heads)``, where one ratio holds for
        all: with a power of two from 2 on.
    """

    slopes: FloatArray
    geometric_slopes: FloatArray
    sources: tuple[SlopeSource, ...]
    order: tuple[int, ...]
    differing_heads: tuple[int, ...]
    ratio: float | None


@dataclass(frozen=True, eq=False)
class FarAway(_Frozen):
    """Every head at one distance, at equal content.

    Attributes
    ----------
    biases : array of shape (head,)
        Logits.
    relative_weights : array of shape (head,)
        Weight of a key at the distance over the weight of the query's own.
    relative_exponents : array of shape (head,)
        The same as a power of ten: its logarithm to the base 10, which never underflows.
    half_distances, e_distances : arrays of shape (head,)
        Tokens after which that is a half and ``1/e``.
    nearest_shares : array of shape (head,)
        The share that the keys up to the distance hold among `num_keys`.
    num_keys : int
    marks : tuple of int
        Distances along a ruler, in tokens.
    mark_biases : array of shape (head, mark)
        Bias of every head at these, logits.
    table_rows : int
        Rows of a table of learned positions as long as the paper's training text.
    in_table : bool
        Whether it has a row for a query that far from position 0.
    """

    biases: FloatArray
    relative_weights: FloatArray
    relative_exponents: FloatArray
    half_distances: FloatArray
    e_distances: FloatArray
    nearest_shares: FloatArray
    num_keys: int
    marks: tuple[int, ...]
    mark_biases: FloatArray
    table_rows: int
    in_table: bool


@dataclass(frozen=True, eq=False)
class NumberFormats(_Frozen):
    """The last row of a text, its bias held in several number formats, at equal content.

    Attributes
    ----------
    formats : tuple of str
    distances : tuple of int
        How far the keys shown are from the query, in tokens: the nearest ones, farthest first.
    distance_weights, key_position_weights : arrays of shape (format, key)
        Their weights from the two forms of the bias.
    distance_moved, key_position_moved : arrays of shape (format,)
        The share of the row that sits on other keys than in float64.
    last_key_bias : float
        ``slope * (T - 1)``, the largest bias of the key-position form, logits.
    spacings : array of shape (format,)
        How far apart the format's numbers of that size are, logits.
    coarse_formats : tuple of str
        The formats where that is more than the slope, so that some neighbouring keys share a bias.
    """

    formats: tuple[str, ...]
    distances: tuple[int, ...]
    distance_weights: FloatArray
    key_position_weights: FloatArray
    distance_moved: FloatArray
    key_position_moved: FloatArray
    last_key_bias: float
    spacings: FloatArray
    coarse_formats: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Padding(_Frozen):
    """The row of the query where slots of padding stand before or behind the sentence.

    Attributes
    ----------
    query_slot : int
        The slot of the query in the padded array.
    tokens : tuple of (int or None), length slot
        The token's position in the sentence; None for padding.
    positions : int array of shape (slot,)
        As `positions_from_padding` counts; 0 for padding.
    allowed : bool array of shape (slot,)
        What the query may use: neither its future nor padding.
    bias : array of shape (slot,)
        ``-slope * (i - j)`` of these positions, logits.
    weights : array of shape (slot,)
    slot_bias, unmasked_weights : arrays of shape (slot,)
        Where the padding mask is forgotten and slots are counted: padding is a key like any other.
    padding_weight : float
        What padding takes of the row there.
    agrees : bool
        Whether `weights` of the tokens equal those without padding, up to `tolerance`.
    tolerance : float
        The difference up to which weights are called the same.
    """

    query_slot: int
    tokens: tuple[int | None, ...]
    positions: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.bool_]
    bias: FloatArray
    weights: FloatArray
    slot_bias: FloatArray
    unmasked_weights: FloatArray
    padding_weight: float
    agrees: bool
    tolerance: float = AGREEMENT


def mask_and_bias(content_logits: FloatArray, slope: float) -> MaskAndBias:
    """Weights with the mask and the bias each on and off."""
    num_tokens = len(content_logits)
    every_key = np.ones((num_tokens, num_tokens), dtype=bool)
    bias = distance_bias([slope], num_tokens, symmetric=True)[0] + 0.0  # + 0.0 turns -0.0 into 0.0
    bias_alone = masked_softmax(content_logits + bias, every_key)
    return MaskAndBias(
        symmetric_bias=bias,
        neither=masked_softmax(np.broadcast_to(content_logits, every_key.shape), every_key),
        bias_alone=bias_alone,
        bias_alone_winners=tuple(bias_alone.argmax(axis=-1).tolist()),
    )


def three_forms(content_logits: FloatArray, slope: float) -> ThreeForms:
    """The bias by distance, by key position, and counted from the last token."""
    num_tokens = len(content_logits)
    allowed = causal_mask(num_tokens)
    from_last = range(1 - num_tokens, 1)
    by_key = key_position_bias([slope], num_tokens)[0, 0]
    by_last_row = key_position_bias([slope], key_positions=from_last)[0, 0] + 0.0
    key_constants = row_constant([slope], range(num_tokens))[0, :, 0]
    last_constants = row_constant([slope], from_last)[0, :, 0] + 0.0
    by_key_weights = masked_softmax(content_logits + by_key, allowed)
    by_last_row_weights = masked_softmax(content_logits + by_last_row, allowed)
    by_distance_weights = causal_alibi_weights(content_logits, [slope])[0]
    shortcut = masked_softmax(
        np.broadcast_to(content_logits + by_key, allowed.shape), np.ones_like(allowed)
    )
    unmasked = mask_and_bias(content_logits, slope).bias_alone
    return ThreeForms(
        key_position_bias=by_key,
        last_row_bias=by_last_row,
        key_position_constants=key_constants,
        last_row_constants=last_constants,
        key_position_shifted=by_key - key_constants[:, None],
        last_row_shifted=by_last_row - last_constants[:, None],
        key_position_weights=by_key_weights,
        last_row_weights=by_last_row_weights,
        agree=_agree(by_key_weights, by_distance_weights)
        and _agree(by_last_row_weights, by_distance_weights),
        shortcut_weights=shortcut,
        shortcut_winner=int(shortcut[0].argmax()),
        shortcut_right_for=tuple(
            query for query in range(num_tokens) if _agree(shortcut[query], unmasked[query])
        ),
    )


def cached_step(content_logits: FloatArray, slope: float, query: int) -> CachedStep:
    """The query as the newest token over the keys up to its own."""
    stored = content_logits[: query + 1]
    weights, restarted = np.zeros(len(content_logits)), np.zeros(len(content_logits))
    weights[: len(stored)] = newest_query_weights(stored, [slope])[0]
    restarted[: len(stored)] = newest_query_weights(stored, [slope], query_position=0)[0]
    full_pass = causal_alibi_weights(content_logits, [slope])[0, query]
    return CachedStep(weights, restarted, _agree(weights, full_pass))


def compete(
    content_logits: FloatArray, slopes: FloatArray, head: int, key: int, other: int
) -> Competition:
    """The key against the other key in one head, and who wins in each."""
    logits = (content_logits[key].item(), content_logits[other].item())
    nearest_query = max(key, other)
    distances = (nearest_query - key, nearest_query - other)
    compared = [compare_keys(logits, distances, slope) for slope in slopes.tolist()]
    sides = np.array([0.0 if abs(of.log_odds) <= AGREEMENT else of.log_odds for of in compared])
    return Competition(
        comparison=compared[head],
        farther=other - key,
        tokens_apart=abs(other - key),
        token_factor=np.exp(-slopes[head]).item(),
        heads_for_key=tuple(np.flatnonzero(sides > 0).tolist()),
        heads_for_other=tuple(np.flatnonzero(sides < 0).tolist()),
        heads_tied=tuple(np.flatnonzero(sides == 0).tolist()),
        weights=causal_alibi_weights(content_logits, [slopes[head]])[0],
    )


def both_schedules(num_heads: int) -> Schedule:
    """The slopes of the reference schedule beside those of the plain geometric rule."""
    slopes = alibi_slopes(num_heads)
    geometric = alibi_slopes(num_heads, schedule="geometric")
    differing = np.flatnonzero(slopes != geometric).tolist()
    has_ratio = num_heads > 1 and not differing
    return Schedule(
        slopes=slopes,
        geometric_slopes=geometric,
        sources=slope_sources(num_heads),
        order=tuple(np.argsort(-slopes, kind="stable").tolist()),
        differing_heads=tuple(differing),
        ratio=(slopes[1] / slopes[0]).item() if has_ratio else None,
    )


def far_away(slopes: FloatArray, distance: int) -> FarAway:
    """Every head at one distance from the query."""
    biases = distance_bias(slopes, query_positions=[distance], key_positions=[0])[:, 0, 0]
    num_keys = FAR_DISTANCES[-1] + 1
    return FarAway(
        biases=biases,
        relative_weights=np.exp(biases),
        relative_exponents=biases / np.log(10),
        half_distances=np.array([half_distance(slope) for slope in slopes.tolist()]),
        e_distances=np.array([e_distance(slope) for slope in slopes.tolist()]),
        nearest_shares=np.array(
            [nearest_share(slope, distance + 1, num_keys) for slope in slopes.tolist()]
        ),
        num_keys=num_keys,
        marks=FAR_MARKS,
        mark_biases=distance_bias(slopes, query_positions=FAR_MARKS, key_positions=[0])[:, :, 0],
        table_rows=PAPER_RESULT.train_tokens,
        in_table=distance < PAPER_RESULT.train_tokens,
    )


def number_formats(slope: float, num_tokens: int) -> NumberFormats:
    """The last row of a text of that many tokens, in every format and both forms."""
    distances = tuple(range(len(TOKENS) - 1, -1, -1))
    last, keys = [num_tokens - 1], range(num_tokens)
    by_distance, by_key = [], []
    for name in DIGITS:
        half: Half | None = name if name in get_args(Half) else None  # type: ignore[assignment]
        slopes = np.array([slope], dtype="float64" if half else name)
        from_last = distance_bias(slopes, query_positions=last, key_positions=keys, emulate=half)
        by_distance.append(from_last[0, 0])
        by_key.append(key_position_bias(slopes, num_tokens, emulate=half)[0, 0])
    distance_weights = masked_softmax(np.array(by_distance, dtype=np.float64), True)
    key_position_weights = masked_softmax(np.array(by_key, dtype=np.float64), True)
    last_key_bias = slope * (num_tokens - 1)
    spacings = 2.0 ** (math.frexp(last_key_bias)[1] - np.array([*DIGITS.values()]))
    return NumberFormats(
        formats=tuple(DIGITS),
        distances=distances,
        distance_weights=distance_weights[:, -len(distances) :],
        key_position_weights=key_position_weights[:, -len(distances) :],
        distance_moved=_moved(distance_weights),
        key_position_moved=_moved(key_position_weights),
        last_key_bias=last_key_bias,
        spacings=spacings,
        coarse_formats=tuple(
            name for name, spacing in zip(DIGITS, spacings, strict=True) if spacing > slope
        ),
    )


def padding(content_logits: FloatArray, slope: float, query: int, slots: int) -> Padding:
    """The query's row with slots of padding before the sentence, or behind it if positive.

    The padding's own content logits are taken as 0.
    """
    before, behind = max(-slots, 0), max(slots, 0)
    content = np.pad(content_logits, (before, behind))
    is_token = np.pad(np.ones(len(content_logits), dtype=bool), (before, behind))
    query_slot = before + query
    positions = positions_from_padding(is_token)
    causal = causal_mask(len(content))[query_slot]
    allowed = causal & is_token
    at_query = positions[[query_slot]]
    bias = distance_bias([slope], query_positions=at_query, key_positions=positions)[0, 0] + 0.0
    slot_bias = distance_bias([slope], len(content))[0, query_slot] + 0.0
    weights = masked_softmax(content + bias, allowed)
    unmasked = masked_softmax(content + slot_bias, causal)
    alone = causal_alibi_weights(content_logits, [slope])[0, query]
    tokens = iter(range(len(content_logits)))
    return Padding(
        query_slot=query_slot,
        tokens=tuple(next(tokens) if real else None for real in is_token.tolist()),
        positions=positions,
        allowed=allowed,
        bias=bias,
        weights=weights,
        slot_bias=slot_bias,
        unmasked_weights=unmasked,
        padding_weight=unmasked[~is_token].sum().item(),
        agrees=_agree(weights[is_token], alone) and not weights[~is_token].any(),
    )


def _moved(weights: FloatArray) -> FloatArray:
    """Half the sum of the differences from the first row: the total variation."""
    moved: FloatArray = np.abs(weights - weights[0]).sum(axis=-1) / 2
    return moved


def _agree(weights: npt.NDArray[Any], others: npt.NDArray[Any]) -> bool:
    return bool(np.abs(weights - others).max() <= AGREEMENT)
