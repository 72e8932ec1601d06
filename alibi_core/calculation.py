"""How does one choice lead from content logit to weight, step by step?

`calculate` evaluates a `Selection` once and returns every step that a view shows, for the
whole head; the row of the query and the selected pair are parts of the same arrays. Views
lay these numbers out and never compute.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core.attention import causal_alibi_weights, causal_weights
from alibi_core.bias import distance_bias, token_distance
from alibi_core.claims import (
    CachedStep,
    Competition,
    FarAway,
    MaskAndBias,
    NumberFormats,
    Padding,
    Schedule,
    ThreeForms,
    both_schedules,
    cached_step,
    compete,
    far_away,
    freeze_arrays,
    mask_and_bias,
    number_formats,
    padding,
    three_forms,
)
from alibi_core.lesson import CONTENT_LOGITS, TOKENS
from alibi_core.mask import causal_mask
from alibi_core.selection import Selection, position
from alibi_core.slopes import SlopeSource, alibi_slopes, slope_sources

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pair:
    """One query-key pair, as plain numbers.

    Attributes
    ----------
    distance : int
        ``query - key`` in tokens; negative if the key is in the future.
    tokens_apart : int
        The same without its sign.
    allowed : bool
        False if the causal mask excludes the key.
    content_logit, penalty, distance_bias : float
        Logits; ``penalty`` is slope times distance, ``distance_bias`` its negative.
    summed_logit : float
        Content logit plus distance bias, before the mask, in logits.
    plain_logit, biased_logit : float
        Logits without and with ALiBi, after the mask: ``-inf`` if masked.
    plain_exponential, alibi_exponential : float
        ``exp`` of those logits; 0 if masked.
    plain_weight, alibi_weight, weight_difference : float
        Shares of the row, and with minus without.
    plain_rank, alibi_rank : int
        1 for the largest weight of the row; 0 if masked.
    nearer_outweighed : tuple of int
        Allowed keys nearer to the query that get a smaller weight with ALiBi.
    """

    query: int
    key: int
    distance: int
    tokens_apart: int
    allowed: bool
    content_logit: float
    penalty: float
    distance_bias: float
    summed_logit: float
    plain_logit: float
    biased_logit: float
    plain_exponential: float
    alibi_exponential: float
    plain_weight: float
    alibi_weight: float
    weight_difference: float
    plain_rank: int
    alibi_rank: int
    nearer_outweighed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Calculation:
    """Every step of one choice; immutable, with read-only arrays.

    Arrays of shape (query, key) belong to the selected head.

    Attributes
    ----------
    selection : Selection
    tokens : tuple of str
    slope : float
        Slope of the selected head, logits per token.
    slopes : array of shape (head,)
        Slopes of all heads in head order, logits per token.
    slope_sources : tuple of SlopeSource
        The schedule and entry that each head's slope comes from.
    slope_ranks : int array of shape (head,)
        1 for the steepest head.
    distance : int array of shape (query, key)
        Tokens; negative for future keys.
    allowed : bool array of shape (query, key)
        The causal mask, True = allowed.
    content_logits : array of shape (key,)
        Logits, fixed.
    distance_bias : array of shape (query, key)
        Logits, before the mask: positive for future keys.
    plain_logits, biased_logits : arrays of shape (query, key)
        Logits without and with ALiBi, ``-inf`` where masked.
    plain_exponentials, alibi_exponentials : arrays of shape (query, key)
        ``exp`` of those logits, 0 where masked.
    plain_denominators, alibi_denominators : arrays of shape (query,)
        Row sums of the exponentials.
    plain_weights, alibi_weights, weight_difference : arrays of shape (query, key)
        Shares of the row, and with minus without.
    plain_sums, alibi_sums : arrays of shape (query,)
        Row sums of the weights, from full precision.
    plain_ranks, alibi_ranks : int arrays of shape (query, key)
        1 for the largest logit of the row, equal logits share a rank; 0 where masked.
    allowed_counts : int array of shape (query,)
        Number of allowed keys.
    head_weights : array of shape (head, query, key)
        Weights with ALiBi of every head.
    mask_and_bias : MaskAndBias
        Weights with the mask and the bias each on and off.
    forms : ThreeForms
        The row's bias in three forms that give the same weights.
    cached_step : CachedStep
        The query as the newest token over stored keys.
    competition : Competition
        The key against the other key, with the content of the lesson or all content equal.
    weight_ratio : float or None
        Weight of the key over that of the other key in the query's row of `competition`.
    schedule : Schedule
        The slopes of ``count`` heads, and those of the plain geometric rule.
    far_away : FarAway
        Every head at the distance ``far``.
    number_formats : NumberFormats
        The last row of a text of ``length`` tokens, in several number formats.
    padding : Padding
        The query's row with padding before or behind the sentence.
    pair : Pair
        The selected query and key.
    """

    selection: Selection
    tokens: tuple[str, ...]
    slope: float
    slopes: FloatArray
    slope_sources: tuple[SlopeSource, ...]
    slope_ranks: IntArray
    distance: IntArray
    allowed: BoolArray
    content_logits: FloatArray
    distance_bias: FloatArray
    plain_logits: FloatArray
    biased_logits: FloatArray
    plain_exponentials: FloatArray
    alibi_exponentials: FloatArray
    plain_denominators: FloatArray
    alibi_denominators: FloatArray
    plain_weights: FloatArray
    alibi_weights: FloatArray
    weight_difference: FloatArray
    plain_sums: FloatArray
    alibi_sums: FloatArray
    plain_ranks: IntArray
    alibi_ranks: IntArray
    allowed_counts: IntArray
    head_weights: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are worked out anew, so their arrays are read-only too."""
        return calculate, (self.selection,)

    @property
    def appended_heads(self) -> tuple[int, ...]:
        """Heads whose slope comes from the schedule with twice as many heads, in head order."""
        kept = self.slope_sources[0].schedule_heads
        return tuple(range(kept, len(self.slope_sources)))

    @cached_property
    def mask_and_bias(self) -> MaskAndBias:
        return mask_and_bias(self.content_logits, self.slope)

    @cached_property
    def forms(self) -> ThreeForms:
        return three_forms(self.content_logits, self.slope)

    @cached_property
    def cached_step(self) -> CachedStep:
        return cached_step(self.content_logits, self.slope, self.selection.query)

    @cached_property
    def competition(self) -> Competition:
        chosen = self.selection
        content_logits = self.content_logits * (1 - chosen.equal)
        return compete(content_logits, self.slopes, chosen.head, chosen.key, chosen.other)

    @property
    def weight_ratio(self) -> float | None:
        """Weight of the key over that of the other key in the row; None if one is masked."""
        query, pair = self.selection.query, (self.selection.key, self.selection.other)
        if not self.allowed[query, list(pair)].all():
            return None
        key, other = self.competition.weights[query, list(pair)]
        return float(key / other)

    @cached_property
    def schedule(self) -> Schedule:
        return both_schedules(self.selection.count)

    @cached_property
    def far_away(self) -> FarAway:
        return far_away(self.slopes, self.selection.far)

    @cached_property
    def number_formats(self) -> NumberFormats:
        return number_formats(self.slope, self.selection.length)

    @cached_property
    def padding(self) -> Padding:
        chosen = self.selection
        return padding(self.content_logits, self.slope, chosen.query, chosen.padding)

    @property
    def pair(self) -> Pair:
        return self.pair_at(self.selection.query, self.selection.key)

    def pair_at(self, query: int, key: int) -> Pair:
        """The pair of any query and key of the selected head, as plain numbers."""
        query, key = at = position("query", query), position("key", key)
        return Pair(
            query=query,
            key=key,
            distance=self.distance[at].item(),
            tokens_apart=abs(self.distance[at].item()),
            allowed=self.allowed[at].item(),
            content_logit=self.content_logits[key].item(),
            penalty=0.0 - self.distance_bias[at].item(),  # 0.0 - x is never -0.0
            distance_bias=self.distance_bias[at].item(),
            summed_logit=(self.content_logits[key] + self.distance_bias[at]).item(),
            plain_logit=self.plain_logits[at].item(),
            biased_logit=self.biased_logits[at].item(),
            plain_exponential=self.plain_exponentials[at].item(),
            alibi_exponential=self.alibi_exponentials[at].item(),
            plain_weight=self.plain_weights[at].item(),
            alibi_weight=self.alibi_weights[at].item(),
            weight_difference=self.weight_difference[at].item(),
            plain_rank=self.plain_ranks[at].item(),
            alibi_rank=self.alibi_ranks[at].item(),
            nearer_outweighed=tuple(
                other
                for other in range(key + 1, query + 1)
                if self.alibi_weights[query, other] < self.alibi_weights[at]
            ),
        )


def calculate(selection: Selection) -> Calculation:
    """Work out one choice.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    Calculation

    Raises
    ------
    TypeError
        If `selection` is not a `Selection`.

    Examples
    --------
    >>> pair = calculate(Selection()).pair
    >>> pair.distance, pair.distance_bias, pair.biased_logit
    (5, -1.25, 0.75)
    >>> round(100 * pair.alibi_weight, 1), round(100 * pair.plain_weight, 1)
    (20.0, 35.9)
    """
    if not isinstance(selection, Selection):
        raise TypeError(
            f"calculate needs a Selection, got {type(selection).__name__}; "
            "pass Selection(num_heads=4, head=0, query=5, key=0)"
        )
    return Calculation(selection, **_steps_of_head(selection.num_heads, selection.head))


@cache
def _steps_of_head(num_heads: int, head: int) -> dict[str, Any]:
    """All fields but the selection: they hold every query and key, so pairs share them."""
    num_tokens = len(TOKENS)
    slopes = alibi_slopes(num_heads)
    content_logits = np.array(CONTENT_LOGITS)
    allowed = causal_mask(num_tokens)
    bias = distance_bias(slopes, num_tokens)[head] + 0.0  # + 0.0 turns -0.0 into 0.0

    plain_logits = np.where(allowed, content_logits, -np.inf)
    biased_logits = np.where(allowed, content_logits + bias, -np.inf)
    plain_exponentials = np.exp(plain_logits)
    alibi_exponentials = np.exp(biased_logits)
    plain_weights = causal_weights(content_logits)
    head_weights = causal_alibi_weights(content_logits, slopes)
    alibi_weights = head_weights[head]
    return {
        "tokens": TOKENS,
        "slope": slopes[head].item(),
        "slopes": slopes,
        "slope_sources": slope_sources(num_heads),
        "slope_ranks": _ranks(slopes),
        "distance": token_distance(num_tokens),
        "allowed": allowed,
        "content_logits": content_logits,
        "distance_bias": bias,
        "plain_logits": plain_logits,
        "biased_logits": biased_logits,
        "plain_exponentials": plain_exponentials,
        "alibi_exponentials": alibi_exponentials,
        "plain_denominators": plain_exponentials.sum(axis=-1),
        "alibi_denominators": alibi_exponentials.sum(axis=-1),
        "plain_weights": plain_weights,
        "alibi_weights": alibi_weights,
        "weight_difference": alibi_weights - plain_weights,
        "plain_sums": plain_weights.sum(axis=-1),
        "alibi_sums": alibi_weights.sum(axis=-1),
        "plain_ranks": np.where(allowed, _ranks(plain_logits), 0),
        "alibi_ranks": np.where(allowed, _ranks(biased_logits), 0),
        "allowed_counts": allowed.sum(axis=-1, dtype=np.int64),
        "head_weights": head_weights,
    }


def _ranks(values: npt.NDArray[Any]) -> IntArray:
    """1 for the largest along the last axis; equal values share the better rank."""
    larger = values[..., None, :] > values[..., :, None]
    ranks: IntArray = 1 + larger.sum(axis=-1, dtype=np.int64)
    return ranks
