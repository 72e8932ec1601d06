"""What does a head subtract from the logit of each query-key pair?

The distance from query position i back to key position j is ``i - j`` tokens, and the
distance bias of head h is

    -m_h * (i - j)

It is 0 for the query's own position and falls in a straight line; it never cuts a key off.
For a future key (j > i) the formula gives a positive number. That is no error and no reward:
the causal mask, applied after the bias, has the last word there.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core._checks import count, slope_array


def token_distance(num_tokens: int) -> npt.NDArray[np.int64]:
    """How many tokens each query looks back to each key.

    Parameters
    ----------
    num_tokens : int
        Number of tokens, 1 or more; they serve as queries and as keys.

    Returns
    -------
    int64 array of shape (query, key)
        ``i - j`` in tokens; negative for future keys.

    Raises
    ------
    TypeError, ValueError
        If `num_tokens` is not an integer, or below 1.

    Examples
    --------
    >>> token_distance(3).tolist()
    [[0, -1, -2], [1, 0, -1], [2, 1, 0]]
    """
    positions = np.arange(count("num_tokens", num_tokens), dtype=np.int64)
    return positions[:, None] - positions[None, :]


def distance_bias(slopes: npt.ArrayLike, num_tokens: int) -> npt.NDArray[Any]:
    """The ALiBi bias of every head, query and key, before any mask.

    Parameters
    ----------
    slopes : array of shape (head,)
        Positive slopes, logits per token, as from `alibi_slopes`.
    num_tokens : int
        Number of tokens, 1 or more.

    Returns
    -------
    float array of shape (head, query, key)
        ``-slope * (i - j)`` in logits, to be added to the content logits. float32 slopes give
        float32. Future keys hold the formula's positive value; mask them with `causal_mask`.

    Raises
    ------
    TypeError, ValueError
        If `slopes` is not a one-dimensional array of positive finite numbers, or `num_tokens`
        is not an integer from 1.

    Examples
    --------
    >>> distance_bias([0.25], 6)[0, 5].tolist()
    [-1.25, -1.0, -0.75, -0.5, -0.25, -0.0]
    """
    checked = slope_array(slopes)
    distance = token_distance(num_tokens).astype(checked.dtype)
    with np.errstate(over="ignore"):  # a bias beyond the largest float is -inf, which is right
        bias: npt.NDArray[Any] = -checked[:, None, None] * distance[None, :, :]
    return bias
