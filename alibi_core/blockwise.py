"""How is the same computed for padded, packed, cached and long sequences?

    s_ij = scale * q_i . k_j - m_h * |p_i - p_j|
    output_i = sum_j softmax over the allowed j of s_ij * v_j

as in `attention`, with p the positions, whatever they are. Softmax needs one row of logits at a
time, so the (query, key) matrix is never there as a whole: a block of queries goes through all
of its keys, then the next one. Memory grows with the tokens, not with their square.

Sources: Press, Smith and Lewis (arXiv:2108.12409), section 3; Rabe and Staats, "Self-attention
does not need O(n^2) memory" (arXiv:2112.05682); Shazeer (arXiv:1911.02150) and Ainslie et al.
(arXiv:2305.13245) for key heads that several query heads share.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core._checks import (
    boolean,
    check_finite_values,
    check_one_slope_a_head,
    number_array,
    positions,
    positive_number,
    slope_array,
)
from alibi_core.softmax import exponentials_in_place

_ROWS = 128  # queries of a block: fewer waste a matrix product's time, more are not faster


def alibi_attention(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    v: npt.ArrayLike,
    slopes: npt.ArrayLike,
    *,
    query_positions: npt.ArrayLike | None = None,
    key_positions: npt.ArrayLike | None = None,
    allowed: npt.ArrayLike | None = None,
    causal: bool = True,
    scale: float | None = None,
    scale_bias: bool = False,
) -> npt.NDArray[Any]:
    """Attention with ALiBi, in blocks of queries.

    Parameters
    ----------
    q : array of shape (batch, head, query, head_dim)
    k : array of shape (batch, key_head, key, head_dim)
        The heads of `q` may be a multiple of `key_head`: heads next to each other share a key head
        (grouped-query attention; multi-query with one).
    v : array of shape (batch, key_head, key, value_dim)
        Finite values, in padding too.
    slopes : array of shape (head,)
        Positive slopes, logits per token, as from `alibi_slopes`.
    query_positions, key_positions : integer arrays of shape (token,) or (batch, token), optional
        Without them the keys stand at 0, 1, 2 and so on, and the queries at the positions of the
        last keys, as in a step with a cache. Cross attention has no positions of its own: it needs
        both given, and is told from a cached step only where there are more queries than keys.
    allowed : bool array of shape (query, key) or (batch, head, query, key), optional
        True = allowed; axes of length 1 stretch. It takes keys away and gives none back: a key in
        the future stays masked unless ``causal=False``.
    causal : bool
        A query may use the keys whose position is not after its own. Without, all of them, at
        the symmetric distance.
    scale : float, optional
        Positive factor of the content scores; ``1 / sqrt(head_dim)`` if left out.
    scale_bias : bool
        Multiply the bias by `scale` too, as Falcon does.

    Returns
    -------
    float array of shape (batch, head, query, value_dim)
        The values mixed by the weights, zeros where a query has no allowed key. In the dtype of
        q, k and v; float16 and ml_dtypes' bfloat16 are computed in float32. A key counts as
        weight 0 once its weight is that of the row's largest times 1e-31 (float64: 1e-292): its
        product with a value could be subnormal, with few digits left and a hundred times slower.

    Raises
    ------
    TypeError, ValueError
        If an input is of the wrong kind, the shapes do not fit, an allowed logit is NaN or
        infinite, or there are more queries than keys and no positions (cross attention).

    Examples
    --------
    Two key heads for four query heads, and a second sequence with two tokens of padding:

    >>> import numpy as np
    >>> from alibi_core import alibi_slopes, positions_from_padding
    >>> mask = np.array([[1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    >>> at = positions_from_padding(mask)
    >>> q, k = np.zeros((2, 4, 4, 8)), np.zeros((2, 2, 4, 8))
    >>> alibi_attention(
    ...     q, k, k, alibi_slopes(4),
    ...     query_positions=at, key_positions=at, allowed=mask[:, None, None, :],
    ... ).shape
    (2, 4, 4, 8)

    The last token alone, with the keys and values of all in a cache:

    >>> alibi_attention(q[:, :, -1:], k, k, alibi_slopes(4)).shape
    (2, 4, 1, 8)
    """
    given = {np.asarray(x).dtype for x in (q, k, v)}
    q, k, v = number_array("q", q), number_array("k", k), number_array("v", v)
    _check_shapes(q, k, v)
    dtype = np.result_type(q, k, v)
    halves = {kind for kind in given if kind.name in ("float16", "bfloat16")}
    returned = halves.pop() if len(given) == len(halves) == 1 else dtype
    batch, num_heads, num_queries, head_dim = q.shape
    key_heads, num_keys = k.shape[1:3]

    if scale is None:
        scale = head_dim**-0.5
    scale = positive_number("scale", scale, "pass 1 / sqrt(head_dim), or leave it out")
    with np.errstate(all="ignore"):
        slopes = (slope_array(slopes) * (scale if scale_bias else 1)).astype(dtype)
    check_one_slope_a_head(slopes, num_heads)

    if key_positions is None:
        key_positions = np.arange(num_keys)
    keys_at = _positions("key_positions", key_positions, (batch, num_keys))
    if query_positions is None:
        if num_queries > num_keys:
            raise ValueError(
                f"{num_queries} queries cannot stand at the positions of the last of {num_keys} "
                "keys; in cross attention ALiBi has no distance of its own, so pass "
                "query_positions and key_positions"
            )
        query_positions = keys_at[:, num_keys - num_queries :]
    queries_at = _positions("query_positions", query_positions, (batch, num_queries))
    if allowed is not None:
        allowed = _mask(allowed, (batch, num_heads, num_queries, num_keys))

    output = np.zeros((batch, num_heads, num_queries, v.shape[-1]), dtype)
    least = math.log(np.finfo(dtype).tiny / np.finfo(dtype).eps)
    largest = float(np.finfo(dtype).max)
    v_may_overflow = max(v.max(initial=0), -v.min(initial=0)) > largest / num_keys
    with np.errstate(all="ignore"):  # an overflow becomes inf, which the softmax names
        longest = np.sqrt(np.einsum("bhkd,bhkd->bhk", k, k).max(axis=-1))
        for b, number in np.ndindex(batch, -(-num_queries // _ROWS)):
            block = slice(number * _ROWS, (number + 1) * _ROWS)
            at = queries_at[b, block, None]
            seen = np.flatnonzero(keys_at[b] <= np.max(at)) if causal else np.arange(num_keys)
            if not seen.size:
                continue
            keys = slice(seen[0], seen[-1] + 1)  # the rest is in the future of the whole block
            distance = at - keys_at[b, keys]
            masked = distance < 0 if causal else np.zeros(distance.shape, np.bool_)
            distance = np.abs(distance).astype(dtype)  # once: int64 would widen float32
            behind = _behind(keys_at[b, keys], np.min(at))
            for head, slope in enumerate(slopes):
                key_head = head // (num_heads // key_heads)
                queries = q[b, head, block] * dtype.type(scale)
                near = slice(None)
                # No content score is above `most`.
                most = np.linalg.norm(queries, axis=-1).max() * longest[b, key_head]
                if causal and allowed is None:  # then a key so far behind has no weight left
                    near = _span(~(behind > (2 * most - least) / slope))
                logits = queries @ k[b, key_head, keys][near].T
                logits -= slope * distance[:, near]
                blocked = masked if allowed is None else masked | ~allowed[b, head, block, keys]
                if not most < largest / 2:
                    lost = np.isneginf(logits) | blocked[:, near]
                    if (lost.all(axis=-1) & ~blocked[:, near].all(axis=-1)).any():
                        raise ValueError(
                            f"every allowed logit of a query overflows {dtype} to -inf, so it has "
                            "no weights; pass smaller q and k, or wider ones"
                        )
                np.copyto(logits, -np.inf, where=blocked[:, near])
                sums = exponentials_in_place(logits, least=least)
                if v_may_overflow:
                    logits /= sums
                    sums = np.ones_like(sums)
                output[b, head, block] = (logits @ v[b, key_head, keys][near]) / sums
    return output.astype(returned, copy=False)


def _span(needed: npt.NDArray[np.bool_]) -> slice:
    """From the first to the last index that is needed."""
    found = np.flatnonzero(needed)
    return slice(found[0], found[-1] + 1)


def _behind(keys_at: npt.NDArray[np.int64], query_at: np.int64) -> npt.NDArray[np.int64]:
    """How far each key lies behind the nearest that a query at `query_at` may use.

    Not above 0 where it may use none.
    """
    nearest: np.int64 = np.max(np.where(keys_at <= query_at, keys_at, np.min(keys_at)))
    return nearest - keys_at


def _check_shapes(q: npt.NDArray[Any], k: npt.NDArray[Any], v: npt.NDArray[Any]) -> None:
    if (
        {q.ndim, k.ndim, v.ndim} != {4}
        or 0 in (*q.shape[1:], *k.shape[1:])
        or (k.shape[0], k.shape[3]) != (q.shape[0], q.shape[3])
        or v.shape[:3] != k.shape[:3]
    ):
        raise ValueError(
            "q must have shape (batch, head, query, head_dim), k (batch, key_head, key, head_dim) "
            f"and v (batch, key_head, key, value_dim), got q {q.shape}, k {k.shape}, v {v.shape}; "
            "move the head axis before the token axis, and leave none of them empty"
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"the {q.shape[1]} heads of q cannot share {k.shape[1]} key heads evenly; "
            "pass k and v with a number of heads that divides that of q"
        )
    check_finite_values(v)


def _positions(name: str, value: npt.ArrayLike, shape: tuple[int, int]) -> npt.NDArray[np.int64]:
    """`value` as positions of shape (batch, token)."""
    checked = positions(name, value, per_row=True)
    if checked.shape not in (shape, shape[1:]):
        raise ValueError(
            f"{name} must have shape {shape[1:]} or {shape}, got {checked.shape}; "
            "pass one position a token"
        )
    return np.broadcast_to(checked, shape)


def _mask(allowed: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """`allowed` as a mask of shape (batch, head, query, key)."""
    mask = boolean("allowed", allowed)
    try:
        if mask.ndim not in (2, 4):  # three axes could be meant either way
            raise ValueError
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"allowed must have shape {shape[2:]} or {shape}, with 1 for an axis that it does not "
            f"tell apart, got {mask.shape}; for a mask of shape (batch, key) pass "
            "allowed=mask[:, None, None, :]"
        ) from None
