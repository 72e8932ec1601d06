"""How far does a head look, and what is defined far away?

The bias at distance d is ``-m * d`` for any d: no table has to be long enough. With equal content
a key at distance d weighs ``exp(-m * d)`` times as much as the query's own, so it is down

    to 1/e at d = 1 / m,        to a half at d = ln 2 / m

and of T keys at equal content the nearest n hold ``(1 - exp(-m n)) / (1 - exp(-m T))``.
This is arithmetic. That a number is defined says nothing of how well a model does there.

Source: Press, Smith and Lewis (arXiv:2108.12409), section 3; the rest is arithmetic.
"""

import math

from alibi_core._checks import count, positive_number

_SLOPE = "pass the slope of a head, such as 0.25"


def half_distance(slope: float) -> float:
    """The distance at which a key is down to half the weight, at equal content.

    Parameters
    ----------
    slope : float
        Positive, logits per token.

    Returns
    -------
    float
        Tokens: ``ln 2 / slope``.

    Raises
    ------
    TypeError, ValueError
        If the slope is not a positive number.

    Examples
    --------
    >>> round(half_distance(0.00390625), 1)
    177.4
    """
    return math.log(2) / positive_number("slope", slope, _SLOPE)


def e_distance(slope: float) -> float:
    """The distance at which a key is down to 1/e of the weight, at equal content.

    Parameters
    ----------
    slope : float
        Positive, logits per token.

    Returns
    -------
    float
        Tokens: ``1 / slope``.

    Raises
    ------
    TypeError, ValueError
        If the slope is not a positive number.

    Examples
    --------
    >>> e_distance(0.00390625)
    256.0
    """
    return 1 / positive_number("slope", slope, _SLOPE)


def nearest_share(slope: float, nearest: int, num_keys: int) -> float:
    """The share of attention that the nearest keys hold, at equal content.

    Parameters
    ----------
    slope : float
        Positive, logits per token.
    nearest : int
        How many keys, the query's own among them; 1 to `num_keys`.
    num_keys : int
        Number of allowed keys.

    Returns
    -------
    float
        A share up to 1, and below it for fewer than all keys, where float64 would round to 1 too.

    Raises
    ------
    TypeError, ValueError
        If the slope is not positive, or `nearest` is not one of 1 to `num_keys`.

    Examples
    --------
    >>> round(nearest_share(0.5, 4, 1_000_000), 3)
    0.865
    """
    slope = positive_number("slope", slope, _SLOPE)
    num_keys, nearest = count("num_keys", num_keys), count("nearest", nearest)
    if nearest > num_keys:
        raise ValueError(
            f"nearest {nearest} is more than the {num_keys} keys; choose 1 to {num_keys}"
        )
    share = math.expm1(-slope * nearest) / math.expm1(-slope * num_keys)
    return share if nearest == num_keys else min(share, math.nextafter(1.0, 0.0))
