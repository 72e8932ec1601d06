"""Is my ALiBi right, and if not, what is wrong with it?

People port ALiBi and get it silently wrong, in a few ways that come back again and again. Each of
them can be built; `forms` has them. A check holds the given array against what it should be and
against each mistake, and says which it is:

>>> from alibi_core import check_slopes
>>> print(check_slopes([1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125]))
slopes: wrong (off-by-one): slopes whose exponent counts heads from 0 instead of 1
  head 0: got 1, expected 0.5
  fix: use 2 ** (-max_bias * (h + 1) / H) with h from 0, so that head 0 is not 1

It never guesses. What is no known form is "unknown", with the nearest form and how far off it is.
What cannot be told apart from the right array is right.

Equal is equal within the rounding of the array's number format: float64, float32, float16, or
bfloat16 of ml_dtypes. In 16 bits that is one rounding of a slope and four of a bias (position,
slope, product, constant); wider formats have ``heads + 4`` roundings, which the published
generator's ``base ** (h + 1)`` needs. Weights differ by what rounding does to the exponents and
their sum. An array that a narrower format could hold is held against the rounding of that, too.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from alibi_core._checks import boolean, number_array, positions, positive_number
from alibi_core.forms import (
    HEAD_DIMS,
    Floats,
    Form,
    Positions,
    Verdict,
    Wanted,
    bias_forms,
    fitted_forms,
    positions_rounded,
    slope_forms,
    wanted_slopes,
)
from alibi_core.precision import round_to
from alibi_core.slopes import Schedule
from alibi_core.softmax import masked_softmax

Format = Literal["float64", "float32", "float16", "bfloat16"]
Bools = npt.NDArray[np.bool_]

_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_LEAST = {"float64": 2.0**-1074, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}
_NO_WEIGHT = 104.0  # logits: exp(-104) is 0 in float32
_FARTHEST = 1e9  # tokens; no sequence is longer
_MOST_ROUNDING = 0.125  # of a weight that counts; more rounding explains nothing


class _Precision(NamedTuple):
    """How a number differs from the exact one: by its format, and by a tolerance beyond that."""

    format: Format
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def is_stated(self) -> bool:
        return bool(self.rtol or self.atol)

    @property
    def eps(self) -> float:
        return _EPS[self.format]

    @property
    def wide_eps(self) -> float:
        """Of what is computed in a wider format, as a softmax is, and rounded at the end."""
        return min(self.eps, _EPS["float32"])


class AlibiFault(AssertionError):
    """What `Check.raise_for_fault` raises; its text is that of the check."""


@dataclass(frozen=True)
class Check:
    """What an array is, as a check found it.

    Attributes
    ----------
    what : str
        "slopes", "bias" or "weights".
    verdict : {"right", "equivalent", "wrong", "unknown"}
        Equivalent is what gives the same weights in a softmax under the mask, and what is right
        but for its rounding to float32.
    kind : str
        A short, stable name of the form that the array has; "unknown" for none.
    summary : str
        What the array is, in one sentence.
    fix : str
        What to do, in one sentence; empty where nothing is to be done.
    place : tuple of int, or None
        Where it first differs from the right array: (head,) of slopes, (head, query, key) of
        the others. None where it does not.
    got, expected : float or None
        The numbers there: logits, or shares. `expected` is None too where the right slope is not
        known, as it is of one head alone.
    given, right : array of shape (head,) or (head, query, key)
        The array and the right one, read-only. `right` says what belongs where `differs`.
    differs : bool array of the same shape
        Where they differ by more than rounding; nowhere, if `place` is None.
    also : tuple of str
        Other faults that this array cannot be told apart from.
    distance : float or None
        Of an unknown array, the largest difference from the nearest form, which `summary` names.
    """

    what: str
    verdict: Verdict
    kind: str
    summary: str
    given: Floats = field(repr=False, compare=False)
    right: Floats = field(repr=False, compare=False)
    differs: Bools = field(repr=False, compare=False)
    fix: str = ""
    place: tuple[int, ...] | None = None
    got: float | None = None
    expected: float | None = None
    also: tuple[str, ...] = ()
    distance: float | None = None

    @property
    def ok(self) -> bool:
        """Right or equivalent."""
        return self.verdict in ("right", "equivalent")

    def raise_for_fault(self) -> None:
        """Raise `AlibiFault`, an AssertionError, unless right or equivalent: for use in a test.

        >>> from alibi_core import alibi_slopes
        >>> check_slopes(alibi_slopes(12)).raise_for_fault()
        """
        if not self.ok:
            raise AlibiFault(str(self))

    def __str__(self) -> str:
        kind = "" if self.kind == self.verdict else f" ({self.kind})"
        lines = [f"{self.what}: {self.verdict}{kind}: {self.summary}"]
        if self.place is not None:
            names = zip(("head", "query", "key"), self.place, strict=False)
            where = ", ".join(f"{name} {at}" for name, at in names)
            got, expected = f"{self.got:.9g}", ""
            if self.expected is not None:
                expected = f"{self.expected:.9g}"
                if got == expected:  # only all digits tell them apart
                    got, expected = repr(self.got), repr(self.expected)
                expected = f", expected {expected}"
            lines.append(f"{where}: got {got}{expected}")
        if self.also:
            lines.append(f"it cannot be told apart from: {', '.join(self.also)}")
        if self.fix:
            lines.append(f"fix: {self.fix}")
        return "\n  ".join(lines)


def check_slopes(
    slopes: npt.ArrayLike,
    *,
    num_heads: int | None = None,
    heads: slice | None = None,
    max_bias: float = 8.0,
    schedule: Schedule = "reference",
    dtype: Format | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> Check:
    """What these slopes are.

    Parameters
    ----------
    slopes : array of shape (head,)
        Finite numbers, logits per token.
    num_heads : int, optional
        Heads of the whole model, where the slopes are only a part of them.
    heads : slice, optional
        Which part. Without it, any part of the model's heads is right.
    max_bias, schedule
        As in `alibi_slopes`.
    dtype : {"float64", "float32", "float16", "bfloat16"}, optional
        The number format of the slopes, where the array does not say it itself.
    rtol, atol : float
        How far a number may be off beyond rounding, as in `numpy.allclose`, such as by half of the
        last printed digit. What fits only so is equivalent, to that tolerance.

    Returns
    -------
    Check

    Raises
    ------
    TypeError
        If `slopes` are not real numbers, or an option is of the wrong kind.
    ValueError
        If `slopes` are ragged, empty, of another shape, NaN or infinite, or the options do not fit.

    Examples
    --------
    >>> check_slopes([0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]).verdict
    'right'
    >>> check_slopes([0.25, 0.0625, 0.015625, 0.00390625], num_heads=8).kind
    'local-count'
    """
    given, own = _numbers("slopes", slopes, dtype)
    precisions = _precisions(given, own, rtol, atol)
    if given.ndim != 1 or not given.size:
        raise ValueError(
            f"slopes must have shape (head,), got shape {given.shape}; pass one slope a head"
        )
    _check_finite("slopes", given)
    wanted = wanted_slopes(
        len(given),
        slopes=None,
        num_heads=num_heads,
        heads=heads,
        max_bias=max_bias,
        schedule=schedule,
    )
    with np.errstate(all="ignore"):  # an overflow is infinite, and fits nothing
        return _check_slopes(given, precisions, wanted)


def check_bias(
    bias: npt.ArrayLike,
    *,
    slopes: npt.ArrayLike | None = None,
    num_heads: int | None = None,
    heads: slice | None = None,
    max_bias: float = 8.0,
    schedule: Schedule = "reference",
    symmetric: bool = False,
    query_positions: npt.ArrayLike | None = None,
    key_positions: npt.ArrayLike | None = None,
    allowed: npt.ArrayLike | None = None,
    masked: bool = False,
    dtype: Format | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> Check:
    """What this bias is, with or without a mask in it.

    Parameters
    ----------
    bias : array of shape (head, query, key), or (query, key) for one head
        Logits, ``-inf`` where masked. One row for all queries, as BLOOM has it, is the bias of the
        newest query. A single head may have any slope, unless an option says which.
    slopes : array of shape (head,), optional
        The right slopes, in place of `num_heads`, `heads`, `max_bias` and `schedule`.
    num_heads, heads, max_bias, schedule
        As in `check_slopes`.
    symmetric : bool
        The attention has no causal mask, so the bias must be ``-slope * |i - j|``.
    query_positions, key_positions : integer arrays of shape (query,) and (key,), optional
        Without them the keys stand at 0, 1, 2 and so on, the queries at the last of them.
    allowed : bool array of shape (query, key), optional
        True = allowed; what else than the future is masked, such as padding.
    masked : bool
        No mask comes after this bias, so that it must mask the future itself.
    dtype, rtol, atol
        As in `check_slopes`.

    Returns
    -------
    Check

    Raises
    ------
    TypeError, ValueError
        As `check_slopes`. ``+inf`` is a value only where a key is masked, and wrong there.

    Examples
    --------
    >>> from alibi_core import alibi_slopes, distance_bias, key_position_bias
    >>> check_bias(distance_bias(alibi_slopes(12), 6)).verdict
    'right'
    >>> print(check_bias(key_position_bias(alibi_slopes(4), 6)))
    bias: equivalent (key-position): the key-position form, slope * j, the same in a softmax \
under a causal mask
      head 0, query 0, key 0: got 0, expected -1.25
    >>> print(check_bias(-distance_bias(alibi_slopes(4), 6)))
    bias: wrong (reversed-sign): the sign is reversed, so that far keys gain
      head 0, query 1, key 0: got 0.25, expected -0.25
      fix: subtract slope * (i - j), the distance from the query back to the key
    """
    given, own = _numbers("bias", bias, dtype)
    precisions = _precisions(given, own, rtol, atol)
    one_head = given.ndim == 2
    given = given[None] if one_head else given
    if given.ndim != 3 or not given.size:
        raise ValueError(
            f"bias must have shape (head, query, key), got shape {np.shape(bias)}; "
            "pass one sequence, such as bias[0], and leave no axis empty"
        )
    grid = _grid(given.shape[1:], symmetric, query_positions, key_positions, allowed)
    _check_finite("bias", given, may_be_infinite=~grid.visible)
    wanted = wanted_slopes(
        len(given),
        slopes=slopes,
        num_heads=num_heads,
        heads=heads,
        max_bias=max_bias,
        schedule=schedule,
    )
    if one_head and (slopes, num_heads, heads) == (None, None, None):
        wanted = replace(wanted, any_slope=True)
    with np.errstate(all="ignore"):
        return _check_bias(given, precisions, grid, wanted, masked)


def check_weights(
    content_logits: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    slopes: npt.ArrayLike | None = None,
    num_heads: int | None = None,
    heads: slice | None = None,
    max_bias: float = 8.0,
    schedule: Schedule = "reference",
    symmetric: bool = False,
    query_positions: npt.ArrayLike | None = None,
    key_positions: npt.ArrayLike | None = None,
    allowed: npt.ArrayLike | None = None,
    scale: float | None = None,
    dtype: Format | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> Check:
    """Which bias and mask explain these attention weights.

    Parameters
    ----------
    content_logits : array of shape (key,), (query, key) or (head, query, key)
        Scaled content scores without bias, logits; ``-inf`` where masked.
    weights : array of shape (head, query, key), or (query, key) for one head
        The weights that came out, shares from 0 to 1.
    slopes, num_heads, heads, max_bias, schedule
        As in `check_bias`. A single head needs `slopes`, or `num_heads` and `heads`: its
        weights do not say which slope is right.
    symmetric, query_positions, key_positions, allowed, dtype, rtol, atol
        As in `check_bias`.
    scale : float, optional
        The factor of the content scores, which a bias must not get too; if left out, ``1 /
        sqrt(head_dim)`` of the usual head sizes is tried.

    Returns
    -------
    Check

    Raises
    ------
    TypeError, ValueError
        As `check_slopes`, for the logits too.

    Examples
    --------
    >>> from alibi_core import alibi_slopes, causal_alibi_weights, causal_weights
    >>> logits = [2.0, 1.4, 0.0, 1.2, 0.4, 1.2]
    >>> check_weights(logits, causal_alibi_weights(logits, alibi_slopes(4))).verdict
    'right'
    >>> print(check_weights(logits, [causal_weights(logits)], slopes=[0.25]))
    weights: wrong (zero): the weights without ALiBi, as if the bias were zero
      head 0, query 1, key 0: got 0.645656306, expected 0.586617579
      fix: add the bias to the logits on this path too, and look whether it is thrown away
    """
    given, own = _numbers("weights", weights, dtype)
    one_head = given.ndim == 2
    given = given[None] if one_head else given
    if given.ndim != 3 or not given.size:
        raise ValueError(
            f"weights must have shape (head, query, key), got shape {np.shape(weights)}; "
            "pass one sequence, such as weights[0], and leave no axis empty"
        )
    if np.isnan(given).any():
        raise ValueError(
            "weights hold NaN; where a query has no allowed key, its weights must be zeros, and "
            "elsewhere look for an infinite logit"
        )
    _check_finite("weights", given)
    logits = number_array("content_logits", content_logits).astype(np.float64)
    if logits.ndim not in (1, 2, 3) or logits.shape != given.shape[-logits.ndim :]:
        raise ValueError(
            f"content_logits of shape {logits.shape} and weights of shape {given.shape} do not "
            "fit; pass logits of the same heads, queries and keys"
        )
    if not (logits < np.inf).all():
        raise ValueError("content_logits hold NaN or +inf; mask a key with -inf")
    logits = np.broadcast_to(logits, given.shape)
    if scale is not None:
        scale = positive_number("scale", scale, "pass 1 / sqrt(head_dim), or leave it out")
    grid = _grid(given.shape[1:], symmetric, query_positions, key_positions, allowed)
    if one_head and slopes is None and heads is None:
        raise ValueError(
            "one head alone can have any slope; pass slopes=[0.25], or num_heads and heads"
        )
    wanted = wanted_slopes(
        len(given),
        slopes=slopes,
        num_heads=num_heads,
        heads=heads,
        max_bias=max_bias,
        schedule=schedule,
    )
    if wanted.num_heads != len(given) and heads is None:
        raise ValueError(
            "weights do not say which heads they are of; pass heads=slice(first, last)"
        )
    precisions = _precisions(given, own, rtol, atol)
    with np.errstate(all="ignore"):
        return _check_weights(given, precisions, logits, grid, wanted, scale)


class _Grid(NamedTuple):
    """Where the queries and keys stand, and which pairs are seen."""

    queries: Positions
    keys: Positions
    symmetric: bool
    allowed: Bools  # by the caller
    visible: Bools  # and by the causal mask

    def forms(self, *, factors_only: bool) -> Iterator[Form]:
        return bias_forms(
            self.queries, self.keys, symmetric=self.symmetric, factors_only=factors_only
        )


def _grid(
    shape: tuple[int, ...],
    symmetric: bool,
    query_positions: npt.ArrayLike | None,
    key_positions: npt.ArrayLike | None,
    allowed: npt.ArrayLike | None,
) -> _Grid:
    num_queries, num_keys = shape
    keys = positions(
        "key_positions", np.arange(num_keys) if key_positions is None else key_positions
    )
    if query_positions is None:
        if num_queries > num_keys:
            raise ValueError(
                f"{num_queries} queries cannot stand at the positions of the last of {num_keys} "
                "keys; pass query_positions and key_positions"
            )
        query_positions = keys[len(keys) - num_queries :]
    queries = positions("query_positions", query_positions)
    if (len(queries), len(keys)) != shape:
        raise ValueError(
            f"there are {len(queries)} query and {len(keys)} key positions, but {num_queries} "
            f"queries and {num_keys} keys; pass one position a token"
        )
    mask = boolean("allowed", True if allowed is None else allowed)
    try:
        mask = np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"allowed must have shape {shape}, got {mask.shape}; pass one mask for all heads"
        ) from None
    visible = mask if symmetric else mask & (queries[:, None] >= keys[None, :])
    return _Grid(queries, keys, symmetric, mask, visible)


# Which form fits


def _fitting(
    given: Floats, wanted: Wanted, fits: Callable[[Floats], bool], *, exact: bool
) -> list[Form]:
    """The forms of the slopes that fit, the right one alone if it does.

    Only `exact` numbers can tell a number of their own: one read from rounded slopes is a guess.
    """
    found = []
    for form in slope_forms(given, wanted):
        if fits(form.values):
            found.append(form)
            if form.verdict == "right":
                return found
    return found or (list(fitted_forms(given, wanted, fits)) if exact else [])


def _check_slopes(given: Floats, precisions: list[_Precision], wanted: Wanted) -> Check:
    right = wanted.right(given)

    def close(precision: _Precision, values: Floats) -> Bools:
        return _close(given, values, _roundings(precision, 1, wanted), precision)

    def fits(precision: _Precision, values: Floats) -> bool:
        return bool(close(precision, values).all())

    own = precisions[0]
    differs = ~close(own, right)
    for precision in precisions:
        exact = _is_exact(precision, own)
        found = _fitting(given, wanted, partial(fits, precision), exact=exact)
        if found:
            best = _rounded(found[0], precision, own)
            differs = ~close(precision, right) if precision.is_stated else differs
            return _answer("slopes", best, differs, given, right, also=found)
    distances = [(float(np.max(np.abs(given - x.values))), x) for x in slope_forms(given, wanted)]
    return _unknown("slopes", distances, differs, given, right)


def _check_bias(
    given: Floats, precisions: list[_Precision], grid: _Grid, wanted: Wanted, masked: bool
) -> Check:
    first, own = next(grid.forms(factors_only=True)), precisions[0]
    slopes = _slopes_in(given, first, grid.visible)
    right_slopes = wanted.right(np.ones(len(given)) if slopes is None else slopes)
    right = _outer(right_slopes, first.values)
    if wanted.any_slope:  # until the form is known in which it stands
        right = np.full(given.shape, np.nan)

    def differs(precision: _Precision) -> Bools:
        close = _close(given, right, _roundings(precision, 4, wanted), precision)
        return grid.visible & ~close & ~np.isnan(right)

    blocked = np.isneginf(given) & grid.visible
    if blocked.any():
        found = _blocked_forms(blocked, grid)
        return _answer("bias", found[0], blocked, given, right, also=found)
    plus = np.isposinf(given)
    if plus.any():
        form = Form(
            "mask-plus-inf",
            "wrong",
            right,
            "masked keys hold +inf, which makes their rows NaN",
            "mask with -inf, or with a boolean mask where True = allowed",
        )
        return _answer("bias", form, plus, given, np.where(grid.visible, right, -np.inf))
    if slopes is None and not given[:, grid.visible].any():
        words = "zero, as it must be, with no two tokens that see each other: it tells no slope"
        matched = (first, Form("none", "right", right_slopes, words))
        form = first._replace(summary=words)
        return _with_mask(matched, form, given, grid, wanted, own, masked)
    if _is_constant(given, first.values, grid.visible):
        form = Form(
            "zero",
            "wrong",
            right,
            f"{'constant in each row' if given[:, grid.visible].any() else 'zero'}, "
            "so there is no ALiBi at all",
            "add -slope * distance to the logits, with the slopes of alibi_slopes(num_heads)",
        )
        return _answer("bias", form, differs(own), given, right)

    for precision in precisions:
        exact = _is_exact(precision, own)
        matches = list(_bias_matches(given, grid, wanted, precision, exact=exact))
        if not matches:
            continue
        matches.sort(key=lambda x: (_faults(x), x[1].verdict == "wrong"))  # a stable sort
        best = matches[0]
        if wanted.any_slope:
            right = _outer(np.abs(best[1].values), first.values)
        form = _one_form(*best)
        if form.verdict == "equivalent" and _steps_lost(given, best, grid.visible):
            form = positions_rounded(best[0].values, precision.format)
        form = _rounded(form, precision, own)
        if form.verdict == "wrong":
            also = [_one_form(*x) for x in matches if _faults(x) == _faults(best)]
            at = precision if precision.is_stated else own
            return _answer("bias", form, differs(at), given, right, also=also)
        check = _with_mask(best, form, given, grid, wanted, precision, masked)
        if check.place is None and check.verdict == "equivalent":
            at = precision if precision.is_stated else own
            return _answer("bias", form, differs(at), given, right)
        return check

    distances = [
        (float(np.max(np.abs(given - _outer(right_slopes, form.values))[:, grid.visible])), form)
        for form in grid.forms(factors_only=True)
        if grid.visible.any()
    ]
    return _unknown("bias", distances, differs(own), given, right)


def _is_constant(given: Floats, factor: Floats, cells: Bools) -> bool:
    """Whether each row holds one number, in spite of its distances."""

    def spread(values: Floats) -> Floats:
        low, high = np.where(cells, values, np.inf), np.where(cells, values, -np.inf)
        return np.asarray(np.max(high, axis=-1) - np.min(low, axis=-1))

    tells = spread(factor) > 0
    return bool(tells.any()) and not (spread(given)[:, tells] > 0).any()


_Match = tuple[Form, Form]  # of the factor and of the slopes


def _bias_matches(
    given: Floats, grid: _Grid, wanted: Wanted, precision: _Precision, *, exact: bool
) -> Iterator[_Match]:
    rtol = _roundings(precision, 4, wanted)
    for form in grid.forms(factors_only=True):
        slopes = _slopes_in(given, form, grid.visible, least=3 if wanted.any_slope else 2)
        if slopes is None or not np.isfinite(slopes).all():
            continue
        fits = partial(_bias_fits, given, grid.visible, rtol, precision, form)
        for found in _fitting(slopes, wanted, fits, exact=exact):
            yield form, found
            if form.verdict == found.verdict == "right":
                return


def _slopes_in(given: Floats, form: Form, cells: Bools, *, least: int = 2) -> Floats | None:
    """The slopes that a bias of this form has, each read from one cell, or from two of a row."""
    if not form.free:
        factor = np.where(cells, form.values, 0)
        query, key = np.unravel_index(np.argmax(np.abs(factor)), factor.shape)
        return given[:, query, key] / factor[query, key] if factor[query, key] else None
    low, high = np.where(cells, form.values, np.inf), np.where(cells, form.values, -np.inf)
    query = np.argmax(np.max(high, axis=1) - np.min(low, axis=1))
    if len(np.unique(form.values[query, cells[query]])) < least:
        return None
    far, near = np.argmin(low[query]), np.argmax(high[query])
    spread = form.values[query, near] - form.values[query, far]
    slopes: Floats = (given[:, query, near] - given[:, query, far]) / spread
    return slopes


def _bias_fits(
    given: Floats, cells: Bools, rtol: float, precision: _Precision, form: Form, slopes: Floats
) -> bool:
    """Whether the bias is `slopes` times the form in these cells: some of them first, then all."""
    thin = np.ix_(*(np.unique(np.linspace(0, n - 1, 32).astype(int)) for n in cells.shape))
    for part in (thin, np.s_[:, :]):
        factor, used = form.values[part], cells[part]
        rows, anchor = np.arange(len(used)), np.argmax(used, axis=1)
        for values, slope in zip(given, slopes, strict=True):
            got, expected, slack = values[part], slope * factor, np.zeros((len(used), 1))
            if form.free:
                at_anchor = got[rows, anchor][:, None]
                constant = at_anchor - expected[rows, anchor][:, None]
                expected, slack = expected + constant, np.abs(constant) + np.abs(at_anchor)
            if not (_close(got, expected, rtol, precision, slack) | ~used).all():
                return False
    return True


def _faults(match: _Match) -> int:
    return sum(form.verdict == "wrong" for form in match)


def _one_form(form: Form, slopes: Form) -> Form:
    """A factor and slopes as one form of the bias."""
    if slopes.verdict == "right":
        if slopes.kind in ("slice", "slope"):
            return form._replace(summary=f"{form.summary}, with {slopes.summary}")
        return form
    if slopes.kind == "negated":
        slopes = slopes._replace(
            kind="reversed-sign",
            summary="the sign is reversed, so that far keys gain",
            fix="subtract slope * (i - j), the distance from the query back to the key",
        )
    else:
        slopes = slopes._replace(summary=f"{form.summary}, with {slopes.summary}")
    if form.verdict != "wrong":
        return slopes
    return Form(
        f"{form.kind}+{slopes.kind}",
        "wrong",
        form.values,
        f"{form.summary}; and {slopes.summary}",
        f"{form.fix}; and {slopes.fix}",
    )


def _steps_lost(given: Floats, match: _Match, cells: Bools) -> bool:
    """Whether rounding moved a key by half a token or more against its neighbour."""
    form, slopes = match
    both = cells[:, 1:] & cells[:, :-1]
    step = np.diff(form.values, axis=-1)
    both &= step != 0  # keys that share a position
    return any(
        (np.abs(np.diff(values, axis=-1) / slope - step) >= np.abs(step) / 2)[both].any()
        for values, slope in zip(given, slopes.values, strict=True)
        if slope
    )


def _blocked_forms(blocked: Bools, grid: _Grid) -> list[Form]:
    """What masks keys that should be seen."""
    found = [
        form
        for form in grid.forms(factors_only=False)
        if form.verdict == "wrong" and (blocked == (form.masked & grid.visible)).all()
    ]
    summary = "keys that the query should see are masked"
    fix = "mask only keys after the query; for padding or a window pass allowed"
    return [*found, Form("visible-masked", "wrong", np.zeros(0), summary, fix)]


def _with_mask(
    match: _Match,
    form: Form,
    given: Floats,
    grid: _Grid,
    wanted: Wanted,
    precision: _Precision,
    masked: bool,
) -> Check:
    """The answer for a bias that is right where it is seen, by what the masked keys hold."""
    hidden = np.broadcast_to(~grid.visible, given.shape)
    open_cells = hidden & ~np.isneginf(given)
    if not open_cells.any():
        return _answer("bias", form, open_cells, given, given)
    factor, slopes = match[0], match[1].values
    rtol = _roundings(precision, 4, wanted)
    everywhere = partial(_bias_fits, given, np.ones_like(grid.visible), rtol, precision)
    goes_on = everywhere(factor, slopes)
    if goes_on and not masked:
        return _answer("bias", form, np.zeros_like(hidden), given, given)
    fix = "mask these keys with -inf, after the bias is added"
    finite = _finite_mask(given, _outer(slopes, factor.values), grid.visible, rtol)
    distance = grid.queries[:, None] - grid.keys[None, :]
    mirrored = factor._replace(values=-np.abs(distance).astype(np.float64), free=False)
    is_mirrored = everywhere(mirrored, slopes)
    if (open_cells != hidden).any() or (masked and (goes_on or is_mirrored)):
        words = "keys that must be masked are not"
        answer = Form("future-not-masked", "wrong", form.values, words, fix)
    elif is_mirrored:
        words = "the symmetric form, right only under a causal mask that comes after it"
        answer = Form("symmetric", "equivalent", form.values, words)
    elif finite is not None:
        words = f"masked keys hold the finite {finite.value:.6g}"
        far = -finite.value / np.max(slopes)
        if far < _FARTHEST:
            words += (
                f", to which the bias of head {int(np.argmax(slopes))} loses from {math.ceil(far)} "
                "tokens on"
            )
        verdict: Verdict = "equivalent" if finite.margin >= _NO_WEIGHT else "wrong"
        if verdict == "wrong":
            words += ": not far enough below every key that is seen"
        answer = Form("finite-mask", verdict, form.values, words, fix)
    elif masked:
        words = "keys that must be masked are not"
        answer = Form("future-not-masked", "wrong", form.values, words, fix)
    else:
        words = "masked keys hold other values, right only under a mask that comes after it"
        answer = Form("future-ignored", "equivalent", form.values, words)
    if form.verdict != "right":
        answer = answer._replace(summary=f"{form.summary}; {answer.summary}")
    return _answer("bias", answer, open_cells, given, np.full(given.shape, -np.inf))


class _FiniteMask(NamedTuple):
    value: float
    margin: float  # from the lowest key that is seen down to the highest that is masked, logits


def _finite_mask(given: Floats, bias: Floats, visible: Bools, rtol: float) -> _FiniteMask | None:
    """The one negative number that masked keys hold, or that is added to their bias."""
    below = [np.min(values[visible], initial=0) - np.max(values[~visible]) for values in given]
    for masked in (given[:, ~visible], (given - bias)[:, ~visible]):
        value = float(np.sort(masked, axis=None)[masked.size // 2])
        if value < 0 and np.max(masked) - np.min(masked) <= 4 * rtol * -value:
            return _FiniteMask(value, float(min(below)))
    return None


# Weights


def _weight_forms(
    logits: Floats, grid: _Grid, wanted: Wanted, scale: float | None
) -> Iterator[tuple[Form, Floats, Bools]]:
    """Forms with the biased logits and the keys that they may use, the right one first."""
    slopes = wanted.right(wanted.all_slopes)
    forms = [form for form in grid.forms(factors_only=False) if not form.free]
    right = forms[0]
    bias = _outer(slopes, right.values)
    for form in forms:
        if form.verdict != "equivalent":
            yield form, logits + _outer(slopes, form.values), grid.allowed & ~form.masked
    add = "add the bias to the logits on this path too, and look whether it is thrown away"
    seen = grid.visible
    words = "the weights without ALiBi, as if the bias were zero"
    yield Form("zero", "wrong", slopes, words, add), logits, seen
    if not grid.symmetric:
        words = "the weights without ALiBi and without the causal mask"
        yield (
            Form("zero-not-masked", "wrong", slopes, words, f"mask the future, and {add}"),
            logits,
            (grid.allowed),
        )
    yield (
        Form(
            "reversed-sign",
            "wrong",
            slopes,
            "the sign of the bias is reversed, so that far keys gain",
            "subtract slope * (i - j), the distance from the query back to the key",
        ),
        logits - bias,
        seen,
    )
    yield (
        Form(
            "multiplied",
            "wrong",
            slopes,
            "the bias is multiplied with the logits",
            "add the bias to the logits",
        ),
        logits * bias,
        seen,
    )
    for factor in [d**-0.5 for d in HEAD_DIMS] if scale is None else (scale,):
        words = f"the bias is multiplied by {factor:.6g} too, the scale of the content scores"
        fix = (
            "add the bias after the content scores are scaled; where the model scales it too, as "
            f"Falcon does, pass slopes={factor:.6g} * alibi_slopes({wanted.num_heads})"
        )
        yield Form("scaled-bias", "wrong", slopes, words, fix), logits + bias * factor, seen
    for form in slope_forms(slopes, wanted):
        if form.kind not in ("negated", "zero") and form.verdict == "wrong":
            summary = f"the bias has {form.summary}"
            biased = logits + _outer(form.values, right.values)
            yield form._replace(summary=summary), biased, seen


def _check_weights(
    given: Floats,
    precisions: list[_Precision],
    logits: Floats,
    grid: _Grid,
    wanted: Wanted,
    scale: float | None,
) -> Check:
    found: dict[_Precision, list[Form]] = {precision: [] for precision in precisions}
    own, tiny = precisions[0], np.finfo(np.float64).tiny
    distances: list[tuple[float, Form]] = []
    right, right_fits = given, dict.fromkeys(precisions, np.ones(given.shape, np.bool_))
    for form, biased, reachable in _weight_forms(logits, grid, wanted, scale):
        usable = reachable & (logits > -np.inf)
        try:
            weights = masked_softmax(biased, usable)
        except ValueError:  # logits too large for this form
            continue
        size = np.where(weights > 0, np.abs(logits) + np.abs(biased), 0)  # a masked key has none
        exponents = 2 * size + 2 * np.sum(weights * size, axis=-1, keepdims=True)
        fits = {}
        for precision in found:
            # Exponents rounded: up to _MOST_ROUNDING or, of small weights, one unit of the format.
            most = np.maximum(_MOST_ROUNDING, precision.eps / np.maximum(weights, tiny))
            rtol = np.minimum(np.expm1(precision.eps * exponents), most)
            rtol += precision.wide_eps * (16 + given.shape[-1] / 4)  # and the sum
            rtol += _roundings(precision, 1, wanted)  # and the weight
            fits[precision] = _close(given, weights, rtol, precision)
        if form.verdict == "right":
            right, right_fits = weights, fits
            empty = ~usable.any(axis=-1, keepdims=True)
            if empty.any() and np.allclose(given, np.where(empty, 1 / given.shape[-1], weights)):
                words = "right but for queries with no allowed key, whose weights are all equal"
                fix = "give such a query weights of zero: a finite mask value cancels in softmax"
                form = Form("masked-row-uniform", "wrong", weights, words, fix)
                return _answer("weights", form, ~fits[own], given, right)
        distances.append((float(np.max(np.abs(given - weights))), form))
        for precision, near in fits.items():
            if near.all():
                found[precision].append(form)
        if form.verdict == "right" and found[own]:
            break
    for precision, forms in found.items():
        if forms:
            best = _rounded(forms[0], precision, own)
            also = forms if forms[0].verdict == "wrong" else ()
            differs = ~right_fits[precision if precision.is_stated else own]
            return _answer("weights", best, differs, given, right, also=also)
    differs = ~right_fits[own]
    for precision in precisions:
        read = _slopes_in_weights(given, logits, grid, precision)
        if read is not None:
            fitted = list(fitted_forms(read[0], wanted, partial(_is_near, *read)))
            if fitted:
                form = fitted[0]._replace(summary=f"the bias has {fitted[0].summary}")
                return _answer("weights", form, differs, given, right, also=fitted)
    return _unknown("weights", distances, differs, given, right)


def _slopes_in_weights(
    given: Floats, logits: Floats, grid: _Grid, precision: _Precision
) -> tuple[Floats, Floats] | None:
    """The slopes of a distance form that explains the weights, and how exactly they are read.

    In the log of a weight, its logit is left with a constant of the row.
    """
    factor = next(grid.forms(factors_only=True)).values
    slopes, errors = np.zeros(len(given)), np.zeros(len(given))
    for head, (weights, content) in enumerate(zip(given, logits, strict=True)):
        counts = weights > precision.eps  # what is smaller is rounded too much
        if (counts & ~grid.visible).any():
            return None
        cells = counts & (content > -np.inf)
        bias = np.where(cells, np.log(weights) - content, 0)
        form = Form("row-constant", "equivalent", factor, "", free=True)
        low, high = np.where(cells, factor, np.inf), np.where(cells, factor, -np.inf)
        query = np.argmax(np.max(high, axis=1) - np.min(low, axis=1))
        far, near = np.argmin(low[query]), np.argmax(high[query])
        spread = factor[query, near] - factor[query, far]
        if not cells[query].any() or spread <= 0:
            return None
        size = np.max(np.abs(np.where(cells, content, 0)) + np.abs(bias))
        error = precision.eps * (16 + len(content) / 4 + 4 * size)
        slopes[head] = (bias[query, near] - bias[query, far]) / spread
        errors[head] = 2 * error / spread
        allowed = _Precision("float64", atol=4 * error)
        if not _bias_fits(bias[None], cells, 0.0, allowed, form, slopes[head : head + 1]):
            return None
    return slopes, errors


def _is_near(read: Floats, errors: Floats, slopes: Floats) -> bool:
    return bool((np.abs(read - slopes) <= errors).all())


# Number formats


def _numbers(name: str, value: npt.ArrayLike, dtype: Format | None) -> tuple[Floats, Format]:
    """The array in float64, and its number format."""
    if dtype is not None and dtype not in get_args(Format):
        every = ", ".join(get_args(Format))
        raise ValueError(f"dtype {dtype!r} is not known; choose one of {every}")
    array = number_array(name, value)
    own = dtype or np.asarray(value).dtype.name
    known: list[Format] = [x for x in get_args(Format) if x == own]
    return array.astype(np.float64, copy=False), known[0] if known else "float64"


def _precisions(
    array: Floats, own: Format, rtol: float = 0.0, atol: float = 0.0
) -> list[_Precision]:
    """The array's format, then the narrower ones that could hold it, then the stated tolerance."""
    found = [_Precision(own)]
    for narrow in get_args(Format)[1:]:
        if _EPS[narrow] > _EPS[own]:
            with np.errstate(all="ignore"):
                wide = narrow == "float32"
                held = array.astype(np.float32) if wide else round_to(array, narrow)
            if np.array_equal(held, array):
                found.append(_Precision(narrow))
    rtol, atol = (_tolerance(*x) for x in (("rtol", rtol), ("atol", atol)))
    if rtol or atol:  # of numbers in text, which may be of float32 as well
        found.append(_Precision("float32" if own == "float64" else own, rtol, atol))
    return found


def _tolerance(name: str, value: float) -> float:
    if value == 0:
        return 0.0
    return positive_number(name, value, "pass how far a number may be off, or 0")


def _is_exact(precision: _Precision, own: _Precision) -> bool:
    """Whether numbers that are read from the array say something."""
    return precision == own or precision == _Precision("float32")


def _check_finite(name: str, array: Floats, *, may_be_infinite: Bools | bool = False) -> None:
    if np.isnan(array).any():
        raise ValueError(
            f"{name} holds NaN at {_first(np.isnan(array))}; "
            "look for a slope of inf or a distance of inf * 0, and mask with -inf alone"
        )
    infinite = np.isinf(array) & ~np.asarray(may_be_infinite)
    if name == "bias":
        infinite &= array > 0  # -inf masks a key, if perhaps the wrong one
    if infinite.any():
        raise ValueError(
            f"{name} holds infinity at {_first(infinite)}; pass finite numbers"
            + (", and -inf only for masked keys" if name == "bias" else "")
        )


def _roundings(precision: _Precision, in_half: int, wanted: Wanted) -> float:
    """The relative difference that rounding may make."""
    half = precision.eps * in_half / 2 if precision.eps > _EPS["float32"] else 0.0
    return half + precision.wide_eps * (wanted.num_heads + 4) + precision.rtol


def _close(
    got: Floats,
    expected: Floats,
    rtol: Floats | float,
    precision: _Precision,
    slack: Floats | float = 0.0,
) -> Bools:
    """Whether each number is the expected one, within rounding.

    `slack` is the size of what was added on the way.
    """
    limit = rtol * (np.abs(expected) + slack) + _LEAST[precision.format] + precision.atol
    near: Bools = np.abs(got - expected) <= limit
    return near


def _rounded(form: Form, found: _Precision, own: _Precision) -> Form:
    """A form that is right only in a narrower format than the array's, or to its tolerance."""
    if found == own or form.verdict == "wrong":
        return form
    if found.is_stated:
        kind = "to-tolerance" if form.verdict == "right" else form.kind
        told = ", ".join(
            f"{name} {value:g}"
            for name, value in (("rtol", found.rtol), ("atol", found.atol))
            if value
        )
        summary = f"{form.summary}, to the tolerance of its digits ({told})"
        return form._replace(kind=kind, verdict="equivalent", summary=summary)
    summary = f"{form.summary}, rounded to {found.format}"
    if found.format == "float32":
        kind = "float32" if form.verdict == "right" else form.kind
        return form._replace(kind=kind, verdict="equivalent", summary=summary)
    fix = (
        f"compute it in float32 or wider; where {found.format} is meant, "
        f"pass dtype={found.format!r}"
    )
    return form._replace(kind="rounded-half", verdict="wrong", summary=summary, fix=fix)


# The answer


def _outer(slopes: Floats, factor: Floats) -> Floats:
    product: Floats = slopes[:, None, None] * factor
    return product


def _first(where: Bools) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(np.argmax(where), where.shape))


def _answer(
    what: str,
    form: Form,
    differs: Bools,
    given: Floats,
    right: Floats,
    *,
    also: Iterable[Form] = (),
    distance: float | None = None,
) -> Check:
    if form.verdict == "right":
        differs = np.zeros(given.shape, np.bool_)
    place = _first(differs) if differs.any() else None
    others = dict.fromkeys(x.kind for x in also if x.kind != form.kind and x.verdict == "wrong")
    return Check(
        what,
        form.verdict,
        form.kind,
        form.summary,
        given=_frozen(given),
        right=_frozen(right),
        differs=_frozen(differs),
        fix=form.fix,
        place=place,
        got=None if place is None else float(given[place]) + 0.0,  # no -0 for a reader
        expected=None if place is None or np.isnan(right[place]) else float(right[place]) + 0.0,
        also=tuple(others) if form.verdict == "wrong" else (),
        distance=distance,
    )


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _unknown(
    what: str,
    distances: list[tuple[float, Form]],
    differs: Bools,
    given: Floats,
    right: Floats,
) -> Check:
    distance, nearest = min(distances, key=lambda x: x[0])
    summary = f"no known form; the nearest is {nearest.kind}, {distance:.3g} away at most"
    fix = "start at the first place that differs, and compare there step by step"
    if np.isnan(right).all():
        fix = "pass the slope of this head, to see where it differs"
    form = Form("unknown", "unknown", given, summary, fix)
    return _answer(what, form, differs, given, right, distance=float(distance))
