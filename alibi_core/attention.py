"""How do the pieces make attention, with and without ALiBi?

    s_ij = q_i . k_j / sqrt(head_dim) - m_h * (i - j)
    a_ij = softmax over the allowed j of s_ij
    output_i = sum_j a_ij v_j

Without ALiBi the middle term is left out; nothing else differs. This form builds the whole
(query, key) matrix to show the mathematics. It is for full, unpadded sequences; `blockwise` has
the attention for all others.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core._checks import (
    check_finite_values,
    check_one_slope_a_head,
    number_array,
    slope_array,
)
from alibi_core.bias import distance_bias
from alibi_core.mask import causal_mask
from alibi_core.softmax import exponentials_in_place, masked_softmax

_BLOCK = 2**18  # elements: 1 MiB of float32


def causal_weights(content_logits: npt.ArrayLike) -> npt.NDArray[Any]:
    """Attention weights without ALiBi, under the causal mask.

    Parameters
    ----------
    content_logits : array of shape (key,) or (..., query, key)
        Scaled content scores in logits. One value a key stands for every query alike.

    Returns
    -------
    float array of shape (..., query, key)
        Weights; each row sums to 1.

    Raises
    ------
    TypeError, ValueError
        If the logits are not real numbers, or their last two axes are not square.

    Examples
    --------
    >>> causal_weights([0.0, 0.0]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    logits = _per_query(content_logits)
    return masked_softmax(logits, causal_mask(logits.shape[-1]))


def causal_alibi_weights(content_logits: npt.ArrayLike, slopes: npt.ArrayLike) -> npt.NDArray[Any]:
    """Attention weights with ALiBi, under the causal mask.

    Parameters
    ----------
    content_logits : array of shape (key,), (query, key) or (..., head, query, key)
        Scaled content scores in logits. Without a head axis they serve every head alike.
    slopes : array of shape (head,)
        Positive slopes, logits per token, as from `alibi_slopes`.

    Returns
    -------
    float array of shape (..., head, query, key)
        Weights; each row sums to 1. float32 logits give float32, computed in float32.

    Raises
    ------
    TypeError, ValueError
        If the logits are not real numbers, their last two axes are not square, their head
        axis does not fit the slopes, or the slopes are not positive.

    Examples
    --------
    >>> causal_alibi_weights([0.0, 0.0], [1.0])[0, 1].round(4).tolist()
    [0.2689, 0.7311]
    """
    logits = _per_query(content_logits)
    with np.errstate(all="ignore"):
        slopes = slope_array(slopes).astype(logits.dtype)
    if logits.ndim > 2 and logits.shape[-3] not in (1, len(slopes)):
        raise ValueError(
            f"content_logits have {logits.shape[-3]} heads (shape {logits.shape}), "
            f"but there are {len(slopes)} slopes; pass one slope a head"
        )
    logits = np.broadcast_to(logits, np.broadcast_shapes(logits.shape, (len(slopes), 1, 1)))
    num_tokens = logits.shape[-1]
    weights = np.zeros(logits.shape, logits.dtype)

    # Block after block of rows, so that each is worked through while it is in the processor's
    # cache, and only up to its last allowed key. Every block finds its distances in one bias, the
    # more to the left the later its rows.
    rows = max(1, min(num_tokens, _BLOCK * num_tokens // max(1, logits.size)))
    bias = distance_bias(
        slopes,
        query_positions=range(num_tokens, num_tokens + rows),
        key_positions=range(num_tokens + rows),
    )
    future = ~causal_mask(rows)
    # A logit beyond the largest float is infinite, and softmax names it.
    with np.errstate(all="ignore"):
        for start in range(0, num_tokens, rows):
            end = min(start + rows, num_tokens)
            size, shift = end - start, num_tokens - start
            block = weights[..., start:end, :end]
            np.add(logits[..., start:end, :end], bias[:, :size, shift : shift + end], out=block)
            np.copyto(block[..., start:], -np.inf, where=future[:size, :size])
            block /= exponentials_in_place(block)
    return weights


def newest_query_weights(
    content_logits: npt.ArrayLike, slopes: npt.ArrayLike, *, query_position: int | None = None
) -> npt.NDArray[Any]:
    """Attention weights of one new query over the keys in a cache, all of them allowed.

    Parameters
    ----------
    content_logits : array of shape (key,) or (head, key)
        Scaled content scores of the query with each stored key, its own last, in logits.
    slopes : array of shape (head,)
        Positive slopes, logits per token.
    query_position : int, optional
        Position of the query. With n keys it is ``n - 1``, the default. A query taken for
        position 0, a common mistake, finds the oldest key nearest.

    Returns
    -------
    float array of shape (head, key)
        Weights from the distances ``|i - j|``; each row sums to 1. With the default they are
        the last row of the full pass.

    Raises
    ------
    TypeError, ValueError
        If the logits are not real numbers or not one a key, or the slopes are not positive.

    Examples
    --------
    >>> newest_query_weights([0.0, 0.0], [1.0]).round(4).tolist()
    [[0.2689, 0.7311]]
    >>> newest_query_weights([0.0, 0.0], [1.0], query_position=0).round(4).tolist()
    [[0.7311, 0.2689]]
    """
    logits = number_array("content_logits", content_logits)
    checked = slope_array(slopes)
    if (
        logits.ndim not in (1, 2)
        or logits.shape[:-1] not in ((), (len(checked),))
        or not logits.size
    ):
        raise ValueError(
            f"content_logits must have shape (key,) or ({len(checked)}, key), got {logits.shape}"
        )
    num_keys = logits.shape[-1]
    newest = num_keys - 1 if query_position is None else query_position
    bias = distance_bias(
        checked, query_positions=[newest], key_positions=range(num_keys), symmetric=True
    )
    with np.errstate(all="ignore"):
        biased = logits + bias[:, 0, :]
    return masked_softmax(biased, np.ones(num_keys, dtype=bool))


def causal_alibi_attention(
    q: npt.ArrayLike, k: npt.ArrayLike, v: npt.ArrayLike, slopes: npt.ArrayLike
) -> npt.NDArray[Any]:
    """Full-sequence causal attention with ALiBi for unpadded q, k and v.

    Parameters
    ----------
    q, k : arrays of shape (batch, head, token, head_dim)
        Queries and keys, of the same shape.
    v : array of shape (batch, head, token, value_dim)
        Finite values; often ``value_dim == head_dim``.
    slopes : array of shape (head,)
        Positive slopes, logits per token, as from `alibi_slopes`.

    Returns
    -------
    float array of shape (batch, head, token, value_dim)
        The values mixed by the weights. float32 q, k and v give float32, computed in float32.

    Raises
    ------
    TypeError, ValueError
        If an input is not real, the shapes do not fit, or there is not one slope a head.
    """
    q, k, v = number_array("q", q), number_array("k", k), number_array("v", v)
    if q.ndim != 4 or 0 in q.shape[1:] or k.shape != q.shape or v.shape[:-1] != q.shape[:-1]:
        raise ValueError(
            "q and k must share one shape (batch, head, token, head_dim) and v must match it in "
            f"its first three axes, got q {q.shape}, k {k.shape}, v {v.shape}; "
            "move the head axis before the token axis, and leave none of them empty"
        )
    check_finite_values(v)
    with np.errstate(all="ignore"):
        slopes = slope_array(slopes).astype(q.dtype)
    check_one_slope_a_head(slopes, q.shape[1])
    with np.errstate(all="ignore"):  # an overflow becomes inf, which masked_softmax names
        content_logits = (q @ k.swapaxes(-2, -1)) / np.sqrt(q.shape[-1]).astype(q.dtype)
    output: npt.NDArray[Any] = causal_alibi_weights(content_logits, slopes) @ v
    return output


def _per_query(content_logits: npt.ArrayLike) -> npt.NDArray[Any]:
    """The logits with a query axis: one value a key is repeated for every query."""
    logits = number_array("content_logits", content_logits)
    if logits.ndim == 1:
        logits = np.broadcast_to(logits, (len(logits), len(logits)))
    if logits.ndim < 2 or logits.shape[-1] != logits.shape[-2] or logits.shape[-1] == 0:
        raise ValueError(
            f"content_logits must end in (query, key) of one length, got shape {logits.shape}; "
            "pass the full sequence, or one value a key"
        )
    return logits
