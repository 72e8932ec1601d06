"""Which keys may a query use at all?

In causal self-attention the allowed keys of query i are those with ``j <= i``. The mask
decides access; the distance bias only expresses a preference among the keys that are left.
"""

import numpy as np
import numpy.typing as npt

from alibi_core.bias import token_distance


def causal_mask(num_tokens: int) -> npt.NDArray[np.bool_]:
    """Which query may use which key.

    Parameters
    ----------
    num_tokens : int
        Number of tokens, 1 or more.

    Returns
    -------
    bool array of shape (query, key)
        True = allowed (the key is not in the query's future).

    Raises
    ------
    TypeError, ValueError
        If `num_tokens` is not an integer, or below 1.

    Examples
    --------
    >>> causal_mask(3).tolist()
    [[True, False, False], [True, True, False], [True, True, True]]
    """
    return token_distance(num_tokens) >= 0
