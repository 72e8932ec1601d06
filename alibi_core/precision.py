"""What does half precision leave of the bias?

float16 keeps 11 binary digits of a number and bfloat16 keeps 8, so from 256 on bfloat16 has no
odd integers. The distance form is small where it matters, near the query. The key-position form
is largest there, so it loses the differences between the nearest keys. The values here are
rounded to such a format and held in a wider one, since NumPy has no bfloat16:

>>> from alibi_core import alibi_slopes, distance_bias, key_position_bias, masked_softmax
>>> slope, at = alibi_slopes(40)[:1], {"query_positions": [4095], "key_positions": range(4096)}
>>> for bias in (
...     distance_bias(slope, **at),
...     distance_bias(slope, **at, emulate="bfloat16"),
...     key_position_bias(slope, 4096, emulate="bfloat16"),
... ):
...     masked_softmax(bias, True)[0, 0, -1].round(3).item()  # the last key, at equal content
0.569
0.568
0.071

A sum in that format is rounded once more: ``round_to(content_logits + bias, "bfloat16")``.

Source: IEEE 754 for float16; bfloat16 is the upper half of a float32, rounded to nearest even.
"""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from alibi_core._checks import number_array

Half = Literal["float16", "bfloat16"]


def round_to(values: npt.ArrayLike, dtype: Half) -> npt.NDArray[Any]:
    """The nearest values that a 16-bit format has; of two equally near, the even one.

    Parameters
    ----------
    values : float array of any shape
    dtype : {"float16", "bfloat16"}

    Returns
    -------
    float array of the same shape
        In the dtype of `values`, float32 at least. What is too large for the format is infinite.

    Raises
    ------
    TypeError, ValueError
        If the values are not real numbers, or the format is none of the two.

    Examples
    --------
    >>> round_to([255.0, 256.0, 257.0, 2501.0], "bfloat16").tolist()
    [255.0, 256.0, 256.0, 2496.0]
    >>> round_to([2.0**-0.5, 1e9], "float16").tolist()
    [0.70703125, inf]
    """
    array = number_array("values", values)
    if dtype not in get_args(Half):
        raise ValueError(f"dtype {dtype!r} is not emulated; choose 'float16' or 'bfloat16'")
    with np.errstate(all="ignore"):
        if dtype == "float16":
            rounded = array.astype(np.float16)
        else:
            bits = array.astype(np.float32).view(np.uint32)
            to_even = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
            upper_half = ((bits + to_even) & np.uint32(0xFFFF0000)).view(np.float32)
            rounded = np.where(np.isnan(array), np.float32(np.nan), upper_half)
    return rounded.astype(array.dtype)
