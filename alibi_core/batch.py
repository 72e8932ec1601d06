"""Where do tokens stand, and what may they see, when sequences share an array?

Padding fills a short sequence up to the length of the longest, on its left or right. Packing
puts several sequences behind each other in one row. In both, each sequence counts its own
positions from 0, and its queries see no key of another sequence and no padding.

Sources: ``build_alibi_tensor`` of BLOOM in huggingface/transformers counts the attention mask;
``segment_ids`` in JAX's attention and ``document_id`` in PyTorch's FlexAttention are what is
called `sequence_ids` here.
"""

import numpy as np
import numpy.typing as npt


def positions_from_padding(attention_mask: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The position of each token in its own sequence, padding left out of the count.

    Parameters
    ----------
    attention_mask : bool array, or integers 0 and 1, of shape (..., token)
        True or 1 = a token, False or 0 = padding, on either side.

    Returns
    -------
    int64 array of shape (..., token)
        Positions from 0. Padding gets position 0; what keeps its keys out is the mask:
        ``allowed=mask[:, None, None, :]`` in `alibi_attention`.

    Raises
    ------
    TypeError, ValueError
        If the mask holds anything else, or has no axis of tokens.

    Examples
    --------
    >>> positions_from_padding([[0, 0, 1, 1], [1, 1, 0, 0]]).tolist()
    [[0, 0, 0, 1], [0, 1, 0, 0]]
    """
    mask = np.asarray(attention_mask)
    if not (mask.dtype == np.bool_ or mask.dtype.kind in "iu"):
        raise TypeError(
            f"attention_mask must hold booleans or integers, got dtype {mask.dtype}; "
            "pass 1 for a token and 0 for padding"
        )
    if not np.isin(mask, (0, 1)).all():
        raise ValueError(
            f"attention_mask must hold 0 and 1 only, got {np.unique(mask).tolist()}; "
            "pass 1 for a token and 0 for padding"
        )
    if mask.ndim == 0 or mask.shape[-1] == 0:
        raise ValueError(
            f"attention_mask must end in an axis of at least one token, got shape {mask.shape}"
        )
    positions: npt.NDArray[np.int64] = (mask.cumsum(axis=-1, dtype=np.int64) - 1) * mask
    return positions


def block_mask(sequence_ids: npt.ArrayLike, *, causal: bool = True) -> npt.NDArray[np.bool_]:
    """Which query may use which key, where sequences are packed: those of its own sequence.

    Parameters
    ----------
    sequence_ids : integer array of shape (..., token)
        Which sequence a token belongs to, any integers; padding takes an id of its own. From
        lengths: ``np.repeat(range(2), [3, 2])``.
    causal : bool
        And none in the query's future.

    Returns
    -------
    bool array of shape (..., query, key)
        True = allowed.

    Raises
    ------
    ValueError
        If the ids are not integers, or have no axis of tokens.

    Notes
    -----
    With this mask the bias may count positions through the whole row: the distance within a
    sequence is the same.

    Examples
    --------
    >>> block_mask([0, 0, 1]).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    ids = _sequence_ids(sequence_ids)
    same: npt.NDArray[np.bool_] = ids[..., :, None] == ids[..., None, :]
    return np.tril(same) if causal else same


def positions_from_packing(sequence_ids: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The position of each token in its own sequence, which starts again at 0 in each.

    Parameters
    ----------
    sequence_ids : integer array of shape (..., token)
        As in `block_mask`.

    Returns
    -------
    int64 array of shape (..., token)
        How many earlier tokens have the same id.

    Raises
    ------
    ValueError
        As `block_mask`.

    Examples
    --------
    >>> positions_from_packing([7, 7, 7, 4, 4]).tolist()
    [0, 1, 2, 0, 1]
    """
    ids = _sequence_ids(sequence_ids)
    order = np.argsort(ids, axis=-1, kind="stable")  # brings each sequence together, in order
    together = np.take_along_axis(ids, order, axis=-1)
    index = np.arange(ids.shape[-1])
    starts = np.ones(ids.shape, np.bool_)
    starts[..., 1:] = together[..., 1:] != together[..., :-1]
    first = np.maximum.accumulate(np.where(starts, index, 0), axis=-1)
    positions = np.empty(ids.shape, np.int64)
    np.put_along_axis(positions, order, index - first, axis=-1)
    return positions


def _sequence_ids(value: npt.ArrayLike) -> npt.NDArray[np.integer]:
    ids = np.asarray(value)
    if ids.ndim == 0 or ids.shape[-1] == 0 or ids.dtype.kind not in "iu":
        raise ValueError(
            f"sequence_ids must be integers, one a token, got shape {ids.shape} and dtype "
            f"{ids.dtype}; pass ids such as [0, 0, 0, 1, 1]"
        )
    return ids
