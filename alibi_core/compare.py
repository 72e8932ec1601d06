"""Which of two keys wins, and at which slope do they tie?

In the ratio of two weights of one row the denominator cancels:

    a_j / a_k = exp(c_j - c_k) * exp(-m * (d_j - d_k))

content odds times distance odds; their logarithms add. With equal content each further token
multiplies a weight by exp(-m). The two keys tie at the slope

    m = (c_j - c_k) / (d_j - d_k)

which exists as a slope only where the key with the stronger content is the farther one.

Source: the formula is that of Press, Smith and Lewis (arXiv:2108.12409), section 3; its ratio is
arithmetic.
"""

import math
from dataclasses import dataclass

from alibi_core._checks import positive_number, whole_number


@dataclass(frozen=True)
class KeyComparison:
    """Two allowed keys of one query.

    Attributes
    ----------
    content_log_odds : float
        ``c_j - c_k`` in logits.
    distance_log_odds : float
        ``-m * (d_j - d_k)`` in logits.
    log_odds : float
        Their sum; positive where the first key wins.
    content_odds, distance_odds, odds : float
        ``exp`` of these: the weight of the first key is `odds` times that of the second. Infinite
        where they are beyond the largest float.
    tie_slope : float or None
        The slope at which both keys get the same weight, in logits per token; None where no
        positive float does it.
    """

    content_log_odds: float
    distance_log_odds: float
    log_odds: float
    content_odds: float
    distance_odds: float
    odds: float
    tie_slope: float | None


def compare_keys(
    content_logits: tuple[float, float], distances: tuple[int, int], slope: float
) -> KeyComparison:
    """Compare two allowed keys of one query.

    Parameters
    ----------
    content_logits : pair of float
        Of the first and the second key, in logits.
    distances : pair of int
        From the query back to each, in tokens, 0 or more.
    slope : float
        Positive, logits per token.

    Returns
    -------
    KeyComparison

    Raises
    ------
    TypeError, ValueError
        If a distance is negative (a masked key has no odds) or the slope is not positive.

    Examples
    --------
    >>> compared = compare_keys((2.0, 1.2), (5, 0), slope=0.25)
    >>> compared.log_odds, compared.tie_slope
    (-0.44999999999999996, 0.16)
    """
    slope = positive_number("slope", slope, "pass the slope of a head, such as 0.25")
    if len(content_logits) != 2 or len(distances) != 2:
        raise ValueError("two keys are compared; pass two content logits and two distances")
    if not all(map(math.isfinite, content_logits)):
        raise ValueError(f"content logits {content_logits} must be finite numbers")
    for distance in distances:
        whole_number("distance", distance, "pass whole tokens, such as 5")
    if min(distances) < 0:
        raise ValueError(
            f"distances {distances} look ahead; compare keys that the causal mask allows"
        )
    content = content_logits[0] - content_logits[1]
    farther = distances[0] - distances[1]
    distance_log_odds = -slope * farther
    tie = content / farther if farther else None
    return KeyComparison(
        content_log_odds=content,
        distance_log_odds=distance_log_odds,
        log_odds=content + distance_log_odds,
        content_odds=_exp(content),
        distance_odds=_exp(distance_log_odds),
        odds=_exp(content + distance_log_odds),
        tie_slope=tie if tie is not None and tie > 0 else None,
    )


def _exp(log_odds: float) -> float:
    try:
        return math.exp(log_odds)
    except OverflowError:
        return math.inf
