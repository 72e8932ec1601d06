"""What the public functions accept, checked once, at the border."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def whole_number(name: str, value: object, fix: str) -> int:
    """`value` as an int; ``True``, ``2.5`` and ``"6"`` are refused, with `fix` as the advice."""
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)  # type: ignore[arg-type]  # the refusal is the point
        except TypeError:
            pass
    raise TypeError(
        f"{name} must be an integer, got {value!r} of type {type(value).__name__}; {fix}"
    )


def count(name: str, value: object) -> int:
    """`value` as an int of at least 1."""
    fix = f"pass a whole number from 1, such as {name}=4"
    number = whole_number(name, value, fix)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}; {fix}")
    return number


def one_of(name: str, value: object, choices: Sequence[int], absent: str) -> int:
    """`value` as an int of `choices`; `absent` says with ``{}`` what a wrong one is not."""
    every = ", ".join(map(str, choices))
    if isinstance(choices, range) and len(choices) > 1:
        every = f"{choices[0]} to {choices[-1]}"
    fix = f"choose {every}"
    number = whole_number(name, value, fix)
    if number not in choices:
        raise ValueError(f"{absent.format(number)}; {fix}")
    return number


def positive_number(name: str, value: object, fix: str) -> float:
    """`value` as a positive finite float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"{name} must be a number, got {value!r} of type {type(value).__name__}; {fix}"
        )
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {number}; {fix}")
    return number


_FARTHEST = 2**62 - 1


def positions(name: str, value: object, *, per_row: bool = False) -> npt.NDArray[np.int64]:
    """`value` as token positions of shape (token,): any integers, in any order.

    With `per_row` also of shape (batch, token).
    """
    array = np.asarray(value)
    if (
        array.ndim not in ((1, 2) if per_row else (1,))
        or array.shape[-1] == 0
        or array.dtype.kind not in "iu"
    ):
        dimensions = "one or two dimensions" if per_row else "one dimension"
        raise ValueError(
            f"{name} must be one or more integers in {dimensions}, got shape {array.shape} and "
            f"dtype {array.dtype}; pass positions such as range(6)"
        )
    if array.size and (int(array.min()) < -_FARTHEST or int(array.max()) > _FARTHEST):
        raise ValueError(
            f"{name} must be between -2**62 and 2**62, so that distances fit 64 bits, "
            f"got {array.min()} to {array.max()}; subtract a constant from all"
        )
    return array.astype(np.int64)


def boolean(name: str, value: object) -> npt.NDArray[np.bool_]:
    """`value` as a boolean array; integers are refused."""
    array = np.asarray(value)
    if array.dtype != np.bool_:
        raise TypeError(
            f"{name} must be boolean with True = allowed, got dtype {array.dtype}; "
            "for a mask that adds 0 or -inf pass mask == 0"
        )
    return array


def number_array(name: str, value: object) -> npt.NDArray[Any]:
    """`value` as a real floating array: float32 and wider stay, the rest is widened."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged nested lists
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    if np.ma.is_masked(value):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost; pass {name}.filled(...), and a "
            "mask of attention as allowed=..."
        )
    if array.dtype.name == "bfloat16":  # of ml_dtypes, which NumPy does not count as floating
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must hold real numbers, got dtype {array.dtype}; "
            f"convert it with numpy.asarray({name}, dtype=float)"
        )
    return array.astype(np.result_type(array.dtype, np.float32), copy=False)


def slope_array(slopes: object) -> npt.NDArray[Any]:
    """`slopes` as a checked array of shape (head,)."""
    array = number_array("slopes", slopes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"slopes must have shape (head,), got shape {array.shape}; "
            "for one head pass a list of one slope, such as [0.25]"
        )
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(
            f"slopes must be positive and finite, got {array.tolist()}; "
            "the bias formula carries the minus sign, so pass the slopes without one"
        )
    return array


def check_one_slope_a_head(slopes: npt.NDArray[Any], num_heads: int) -> None:
    """Refuse slopes that are not one for each head of q."""
    if len(slopes) != num_heads:
        raise ValueError(
            f"q has {num_heads} heads but there are {len(slopes)} slopes; pass one slope a head"
        )


def check_finite_values(v: npt.NDArray[Any]) -> None:
    """Refuse values that no weight can keep out of the output."""
    if not np.isfinite(v).all():
        raise ValueError(
            "v holds NaN or infinity, which even a weight of 0 would let through; "
            "find where it arises, or set unused values to 0"
        )
