"""How do logits become weights that sum to 1?

Over the allowed keys of one query,

    a_j = exp(s_j) / sum_k exp(s_k)

and every other key gets exactly 0. The mask is boolean and is applied last, so no bias can
lift a masked key. The largest allowed logit of the row is subtracted first: a constant
added to a whole row changes no weight, and exp can no longer overflow.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from alibi_core._checks import boolean, number_array


def masked_softmax(logits: npt.ArrayLike, allowed: npt.ArrayLike) -> npt.NDArray[Any]:
    """Softmax over the allowed keys of each row.

    Parameters
    ----------
    logits : array of shape (..., key)
        Real logits. Allowed ones are finite or ``-inf``; masked ones may hold anything.
    allowed : bool array, broadcastable with `logits`
        True = allowed.

    Returns
    -------
    float array of the broadcast shape (..., key)
        Weights, shares from 0 to 1. Each row sums to 1; a row with no allowed key (or only
        ``-inf`` ones) is all zeros. float32 and wider are kept; float16 is computed in
        float32 and 64-bit integers in float64. Never NaN, and no NumPy warning.

    Raises
    ------
    TypeError
        If `allowed` is not boolean or `logits` are not real numbers.
    ValueError
        If the shapes do not fit, there is no key axis, or an allowed logit is NaN or ``+inf``.

    Examples
    --------
    >>> masked_softmax([0.0, 0.0, 9.0], [True, True, False]).tolist()
    [0.5, 0.5, 0.0]
    """
    logits = number_array("logits", logits)
    allowed = boolean("allowed", allowed)
    try:
        shape = np.broadcast_shapes(logits.shape, allowed.shape)
    except ValueError:
        raise ValueError(
            f"logits of shape {logits.shape} and allowed of shape {allowed.shape} do not fit; "
            "their last axes must be the same keys"
        ) from None
    if not shape or shape[-1] == 0:
        raise ValueError(f"logits need a last axis of at least one key, got shape {shape}")

    # The caller's np.seterr must not turn a plain underflow into a warning or an error.
    with np.errstate(all="ignore"):
        weights: npt.NDArray[Any] = np.where(allowed, logits, np.asarray(-np.inf, logits.dtype))
        weights /= exponentials_in_place(weights)
    return weights


def exponentials_in_place(logits: npt.NDArray[Any], *, least: float = -np.inf) -> npt.NDArray[Any]:
    """Turn masked logits into ``exp(logit - largest of the row)``; return the row sums.

    Masked keys hold ``-inf``. A logit that is further below the largest than `least` says gives 0.
    The sums have shape (..., 1) and are 1 where no key is allowed.
    """
    largest = logits.max(axis=-1, keepdims=True)
    if not (largest < np.inf).all():
        raise ValueError(
            "an allowed logit is NaN or +inf, so its row has no weights; "
            "find where it arises, or mask that key with allowed=False"
        )
    logits -= np.where(np.isneginf(largest), 0, largest)
    if least > -np.inf:
        logits[logits < least] = -np.inf
    np.exp(logits, out=logits)
    sums: npt.NDArray[Any] = logits.sum(axis=-1, keepdims=True)
    sums[sums == 0] = 1
    return sums
