"""What does a head subtract from the logit of each query-key pair?

The distance from query position i back to key position j is ``i - j`` tokens, and the
distance bias of head h is

    -m_h * (i - j)

It is 0 for the query's own position and falls in a straight line; it never cuts a key off.
For a future key (j > i) the formula gives a positive number. That is no error and no reward:
the causal mask, applied after the bias, has the last word there. Attention without a causal
mask needs the symmetric form, ``-m_h * |i - j|``.

Softmax does not see a constant added to a whole row, and ``-m_h (i - j) = m_h j - m_h i``, so
under a causal mask the key positions alone will do: ``m_h * j``, with the row constant
``m_h * i`` left out. That is the same in a softmax and in exact arithmetic only; `precision` has
what half precision makes of it.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core._checks import count, positions, slope_array
from alibi_core.precision import Half, round_to


def token_distance(
    num_tokens: int | None = None,
    *,
    query_positions: npt.ArrayLike | None = None,
    key_positions: npt.ArrayLike | None = None,
) -> npt.NDArray[np.int64]:
    """How many tokens each query looks back to each key.

    Parameters
    ----------
    num_tokens : int, optional
        Number of tokens, 1 or more; stands for the positions 0 to ``num_tokens - 1``.
    query_positions, key_positions : integer arrays of shape (query,) and (key,), optional
        The positions themselves, where they differ: a cached step, a chunk, a shifted context.

    Returns
    -------
    int64 array of shape (query, key)
        ``i - j`` in tokens; negative for future keys.

    Raises
    ------
    TypeError, ValueError
        If a position is not an integer, `num_tokens` is below 1, or positions are missing.

    Examples
    --------
    >>> token_distance(3).tolist()
    [[0, -1, -2], [1, 0, -1], [2, 1, 0]]
    >>> token_distance(query_positions=[4], key_positions=range(5)).tolist()
    [[4, 3, 2, 1, 0]]
    """
    every = None if num_tokens is None else range(count("num_tokens", num_tokens))
    query = every if query_positions is None else query_positions
    key = every if key_positions is None else key_positions
    if query is None or key is None:
        raise ValueError(
            "positions are missing; pass num_tokens, or query_positions and key_positions"
        )
    return positions("query_positions", query)[:, None] - positions("key_positions", key)[None, :]


def distance_bias(
    slopes: npt.ArrayLike,
    num_tokens: int | None = None,
    *,
    query_positions: npt.ArrayLike | None = None,
    key_positions: npt.ArrayLike | None = None,
    symmetric: bool = False,
    emulate: Half | None = None,
) -> npt.NDArray[Any]:
    """The ALiBi bias of every head, query and key, before any mask.

    Parameters
    ----------
    slopes : array of shape (head,)
        Positive slopes, logits per token, as from `alibi_slopes`.
    num_tokens, query_positions, key_positions
        As in `token_distance`.
    symmetric : bool
        ``-slope * |i - j|``, for attention without a causal mask.
    emulate : {"float16", "bfloat16"}, optional
        Round the bias to what that format can hold, as `round_to` does.

    Returns
    -------
    float array of shape (head, query, key)
        ``-slope * (i - j)`` in logits, to be added to the content logits. float32 slopes give
        float32. Future keys hold the formula's positive value; mask them with `causal_mask`.

    Raises
    ------
    TypeError, ValueError
        If `slopes` is not a one-dimensional array of positive finite numbers, or as
        `token_distance`.

    Examples
    --------
    >>> distance_bias([0.25], 6)[0, 5].tolist()
    [-1.25, -1.0, -0.75, -0.5, -0.25, -0.0]
    >>> distance_bias([0.5], 3, symmetric=True)[0, 1].tolist()
    [-0.5, -0.0, -0.5]
    """
    checked = slope_array(slopes)
    distance = token_distance(
        num_tokens, query_positions=query_positions, key_positions=key_positions
    )
    if symmetric:
        distance = np.abs(distance)
    return _times(-checked[:, None, None], distance[None, :, :], emulate)


def key_position_bias(
    slopes: npt.ArrayLike,
    num_tokens: int | None = None,
    *,
    key_positions: npt.ArrayLike | None = None,
    emulate: Half | None = None,
) -> npt.NDArray[Any]:
    """The form that needs no query: ``slope * j``, the same row for every query.

    It is `distance_bias` with the row's constant added, ``slope * i`` of `row_constant`. Only under
    a causal mask does it give the same weights.

    Parameters
    ----------
    slopes : array of shape (head,)
        Positive slopes, logits per token.
    num_tokens : int, optional
        Number of tokens; stands for the key positions 0 to ``num_tokens - 1``.
    key_positions : integer array of shape (key,), optional
        The positions themselves; counted from the newest token, ``range(1 - T, 1)``, they give
        the last-row form.
    emulate : {"float16", "bfloat16"}, optional
        Round the bias to what that format can hold, as `round_to` does.

    Returns
    -------
    float array of shape (head, 1, key)
        Logits.

    Raises
    ------
    TypeError, ValueError
        As `distance_bias`.

    Examples
    --------
    >>> key_position_bias([0.25], 6)[0, 0].tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]
    >>> key_position_bias([0.25], key_positions=range(-5, 1))[0, 0].tolist()
    [-1.25, -1.0, -0.75, -0.5, -0.25, 0.0]
    """
    distance = token_distance(num_tokens, query_positions=[0], key_positions=key_positions)
    return _times(slope_array(slopes)[:, None, None], -distance[None, :, :], emulate)


def row_constant(slopes: npt.ArrayLike, query_positions: npt.ArrayLike) -> npt.NDArray[Any]:
    """What `key_position_bias` has too much in each row: ``slope * i``.

    Parameters
    ----------
    slopes : array of shape (head,)
        Positive slopes, logits per token.
    query_positions : integer array of shape (query,)

    Returns
    -------
    float array of shape (head, query, 1)
        Logits: ``key_position_bias - row_constant == distance_bias``.

    Raises
    ------
    TypeError, ValueError
        As `distance_bias`.

    Examples
    --------
    >>> row_constant([0.25], [5]).item()
    1.25
    """
    distance = token_distance(query_positions=query_positions, key_positions=[0])
    return _times(slope_array(slopes)[:, None, None], distance[None, :, :])


def _times(
    slopes: npt.NDArray[Any], distance: npt.NDArray[np.int64], emulate: Half | None = None
) -> npt.NDArray[Any]:
    """Slopes times distances in the dtype of the slopes: int64 would widen float32."""
    with np.errstate(over="ignore"):  # a bias beyond the largest float is infinite, which is right
        product: npt.NDArray[Any] = slopes * distance.astype(slopes.dtype)
    return product if emulate is None else round_to(product, emulate)
