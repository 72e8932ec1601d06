"""Which slope does each head get?

For a power of two ``H`` the slopes are the geometric sequence

    m_h = 2 ** (-8 * (h + 1) / H),    h = 0 .. H - 1

so eight heads run from 1/2 to 1/256. Any other count keeps the whole schedule of
the largest smaller power of two and appends every second slope of the schedule
with twice as many heads. The result is in head order and is *not* sorted: with six
heads, head 4 is steeper than head 0. This is the ``reference`` schedule. The ``geometric``
one takes the formula for every count as it stands; the two agree on powers of two only.

Source: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3,
and ``get_slopes`` in the authors' repository, ofirpress/attention_with_linear_biases.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from alibi_core._checks import count, positive_number

Schedule = Literal["reference", "geometric"]


@dataclass(frozen=True)
class SlopeSource:
    """Where one head's slope is taken from.

    Attributes
    ----------
    schedule_heads : int
        The number of heads whose geometric sequence the slope belongs to.
    entry : int
        Position in that sequence, from 0.
    max_bias : float
        Exponent of the sequence's last entry without its sign; 8 as published.
    number : int
        The position counted from 1.
    exponent : float
        ``-max_bias * number / schedule_heads``; the slope is ``2 ** exponent``.
    """

    schedule_heads: int
    entry: int
    max_bias: float = 8.0

    @property
    def number(self) -> int:
        return self.entry + 1

    @property
    def exponent(self) -> float:
        return -self.max_bias * self.number / self.schedule_heads


def slope_sources(
    num_heads: int, *, max_bias: float = 8.0, schedule: Schedule = "reference"
) -> tuple[SlopeSource, ...]:
    """The sequence and the entry that each head takes its slope from, in head order.

    Parameters
    ----------
    num_heads, max_bias, schedule
        As in `alibi_slopes`.

    Returns
    -------
    tuple of SlopeSource, length num_heads

    Raises
    ------
    TypeError, ValueError
        As `alibi_slopes`.

    Examples
    --------
    >>> slope_sources(6)[4]
    SlopeSource(schedule_heads=8, entry=0, max_bias=8.0)
    """
    num_heads = count("num_heads", num_heads)
    max_bias = positive_number("max_bias", max_bias, "pass 8.0, as published")
    if schedule == "geometric":
        return tuple(SlopeSource(num_heads, entry, max_bias) for entry in range(num_heads))
    if schedule != "reference":
        raise ValueError(f"schedule {schedule!r} does not exist; choose 'reference' or 'geometric'")
    largest_power = 1 << (num_heads.bit_length() - 1)
    kept = [SlopeSource(largest_power, entry, max_bias) for entry in range(largest_power)]
    appended = [
        SlopeSource(2 * largest_power, 2 * extra, max_bias)
        for extra in range(num_heads - largest_power)
    ]
    return tuple(kept + appended)


def alibi_slopes(
    num_heads: int,
    *,
    max_bias: float = 8.0,
    schedule: Schedule = "reference",
    heads: slice | None = None,
) -> npt.NDArray[np.float64]:
    """The slope of each head, in head order.

    Parameters
    ----------
    num_heads : int
        Number of heads of the model, 1 or more.
    max_bias : float
        The shallowest slope of a power of two is ``2 ** -max_bias``; 8 as published.
    schedule : {"reference", "geometric"}
        How a count that is no power of two gets its slopes: as the authors' generator does, or
        by the plain formula.
    heads : slice, optional
        Return these heads only, with the slopes that they have in the whole model, as one
        rank of a tensor-parallel model needs them.

    Returns
    -------
    float64 array of shape (head,)
        Positive slopes in logits per token. In the reference schedule not sorted, unless
        `num_heads` is a power of two.

    Raises
    ------
    TypeError
        If `num_heads` is not an integer (``True`` and ``"6"`` are not), `max_bias` no number
        or `heads` no slice.
    ValueError
        If `num_heads` is below 1, `max_bias` not positive, or the schedule does not exist.

    Notes
    -----
    Each slope is the float64 nearest to two to its exponent, which is exact for powers of two;
    those with a whole exponent are exact.

    Examples
    --------
    >>> alibi_slopes(6).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    >>> alibi_slopes(8, heads=slice(6, 8)).tolist()
    [0.0078125, 0.00390625]
    """
    if heads is not None and not isinstance(heads, slice):
        raise TypeError(f"heads must be a slice, got {heads!r}; pass heads=slice(4, 8)")
    sources = slope_sources(num_heads, max_bias=max_bias, schedule=schedule)
    slopes = np.array([2.0**source.exponent for source in sources])
    if not slopes.all():
        raise ValueError(
            f"max_bias {max_bias} makes slopes too small for float64; pass 8.0, as published"
        )
    return slopes if heads is None else slopes[heads]
