"""Which slope does each head get?

For a power of two ``H`` the slopes are the geometric sequence

    m_h = 2 ** (-8 * (h + 1) / H),    h = 0 .. H - 1

so eight heads run from 1/2 to 1/256. Any other count keeps the whole schedule of
the largest smaller power of two and appends every second slope of the schedule
with twice as many heads. The result is in head order and is *not* sorted: with six
heads, head 4 is steeper than head 0.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3,
and ``get_slopes`` in the authors' repository, ofirpress/attention_with_linear_biases.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alibi_core._checks import count


@dataclass(frozen=True)
class SlopeSource:
    """Where one head's slope is taken from.

    Attributes
    ----------
    schedule_heads : int
        The power of two whose schedule the slope belongs to.
    entry : int
        Position in that schedule, from 0.
    number : int
        The same place counted from 1.
    exponent : float
        ``-8 * number / schedule_heads``; the slope is ``2 ** exponent``.
    """

    schedule_heads: int
    entry: int

    @property
    def number(self) -> int:
        return self.entry + 1

    @property
    def exponent(self) -> float:
        return -8 * self.number / self.schedule_heads


def slope_sources(num_heads: int) -> tuple[SlopeSource, ...]:
    """The schedule and the entry that each head takes its slope from, in head order.

    Parameters
    ----------
    num_heads : int
        Number of heads, 1 or more.

    Returns
    -------
    tuple of SlopeSource, length num_heads

    Raises
    ------
    TypeError
        If `num_heads` is not an integer (``True`` and ``"6"`` are not).
    ValueError
        If `num_heads` is below 1.

    Examples
    --------
    >>> slope_sources(6)[4]
    SlopeSource(schedule_heads=8, entry=0)
    """
    num_heads = count("num_heads", num_heads)
    largest_power = 1 << (num_heads.bit_length() - 1)
    kept = [SlopeSource(largest_power, entry) for entry in range(largest_power)]
    appended = [
        SlopeSource(2 * largest_power, 2 * extra) for extra in range(num_heads - largest_power)
    ]
    return tuple(kept + appended)


def alibi_slopes(num_heads: int) -> npt.NDArray[np.float64]:
    """The slope of each head, in head order.

    Parameters
    ----------
    num_heads : int
        Number of heads, 1 or more.

    Returns
    -------
    float64 array of shape (head,)
        Positive slopes in logits per token. Not sorted unless `num_heads` is a power of two.

    Raises
    ------
    TypeError
        If `num_heads` is not an integer (``True`` and ``"6"`` are not).
    ValueError
        If `num_heads` is below 1.

    Notes
    -----
    Each slope is the float64 nearest to its exact value; those with a whole exponent are exact.

    Examples
    --------
    >>> alibi_slopes(6).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    """
    return np.array([2.0**source.exponent for source in slope_sources(num_heads)])
