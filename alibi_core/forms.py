"""What do people make of ALiBi, right and wrong?

Each form is something that an array of slopes, biases or weights can be, with its name, its
verdict and what to do about it. `check` holds a given array against them, one after the other.

A bias is ``slope * factor``: ``-(i - j)`` is the factor of the distance form. So there are two
tables, one of slopes and one of factors.

Sources: Press, Smith and Lewis, "Train Short, Test Long" (arXiv:2108.12409), section 3; the
mistakes are ones that people reported in public issues of libraries that have ALiBi.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from alibi_core._checks import count, positive_number, slope_array
from alibi_core.precision import Half, round_to
from alibi_core.slopes import Schedule, alibi_slopes, slope_sources

Verdict = Literal["right", "equivalent", "wrong", "unknown"]
Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

_HALVES: tuple[Half, ...] = ("bfloat16", "float16")
_MOST_HEADS = 128  # of models in which a part is searched for
HEAD_DIMS = (16, 32, 40, 48, 64, 72, 80, 96, 112, 120, 128, 160, 192, 256)


class Form(NamedTuple):
    """One form.

    `values` are slopes of shape (head,), or a factor of shape (query, key). `masked` says which
    keys the form leaves out, `free` that any constant may be added to a row.
    """

    kind: str
    verdict: Verdict
    values: Floats
    summary: str
    fix: str = ""
    masked: Any = np.False_
    free: bool = False


@dataclass(frozen=True)
class Wanted:
    """The slopes that are right: those of all heads of the model, and which of them are wanted.

    Without `heads`, any part of the model's heads will do. `any_slope` takes one slope as it is.
    """

    all_slopes: Floats
    num_heads: int
    heads: slice | None = None
    max_bias: float = 8.0
    schedule: Schedule | None = "reference"  # None where the caller gave the slopes
    stated: bool = False
    any_slope: bool = False

    def part(self, slopes: Floats, given: Floats) -> Floats:
        """The wanted heads of `slopes`; where they are not stated, the ones most like `given`."""
        return _nearest_part(slopes, given) if self.heads is None else slopes[self.heads]

    def right(self, given: Floats) -> Floats:
        if self.any_slope:
            return np.abs(given) if given.all() else np.ones(len(given))
        return self.part(self.all_slopes, given)


def wanted_slopes(
    num_given: int,
    *,
    slopes: npt.ArrayLike | None,
    num_heads: int | None,
    heads: slice | None,
    max_bias: float,
    schedule: Schedule,
) -> Wanted:
    """The options of a check, put together and checked against the number of heads given."""
    max_bias = positive_number("max_bias", max_bias, "pass 8.0, as published")
    if slopes is not None:
        if (num_heads, heads) != (None, None):
            raise ValueError("slopes say all; pass either slopes, or num_heads and heads")
        expected = slope_array(slopes).astype(np.float64)
        if len(expected) != num_given:
            raise ValueError(
                f"there are {num_given} heads but {len(expected)} slopes; pass one slope a head"
            )
        return Wanted(expected, num_given, None, max_bias, None, True)
    total = num_given if num_heads is None else count("num_heads", num_heads)
    full = alibi_slopes(total, max_bias=max_bias, schedule=schedule)
    chosen = len(full if heads is None else alibi_slopes(total, heads=heads))
    if chosen < num_given or (heads is not None and chosen != num_given):
        raise ValueError(
            f"there are {num_given} heads but the options ask for {chosen}; "
            "pass num_heads of the whole model, and heads=slice(first, last) of this part"
        )
    return Wanted(full, total, heads, max_bias, schedule, num_heads is not None)


def slope_forms(given: Floats, wanted: Wanted) -> Iterator[Form]:
    """What slopes can be, the right ones first; `given` only says which part of the heads."""
    right, n, total = wanted.right(given), len(given), wanted.num_heads
    if wanted.any_slope:
        yield Form("slope", "right", right, f"slope {right[0]:.6g}, taken as it is")
    elif wanted.schedule is None:
        yield Form("expected", "right", right, "the expected slopes")
    elif n < total:
        named = f"{_heads(wanted.all_slopes, right)} of the {wanted.schedule} schedule"
        yield Form("slice", "right", right, named)
    else:
        yield Form(wanted.schedule, "right", right, f"the {wanted.schedule} schedule of {total}")
    if wanted.schedule is not None and not wanted.any_slope:
        yield from _schedules(given, wanted, wanted.schedule)
    for kind, summary, order in (
        ("sorted", "the right slopes sorted, the steepest first", np.sort(wanted.all_slopes)[::-1]),
        ("ascending", "the right slopes sorted, the shallowest first", np.sort(wanted.all_slopes)),
    ):
        if not wanted.any_slope:
            fix = "keep the slopes in head order, as alibi_slopes gives them"
            yield Form(kind, "wrong", wanted.part(order, given), summary, fix)
    yield Form(
        "negated",
        "wrong",
        -right,
        "the right slopes with a minus sign",
        "pass positive slopes; the minus sign belongs to the bias, -slope * distance",
    )
    yield Form(
        "zero",
        "wrong",
        np.zeros(n),
        "zero for every head, so there is no ALiBi at all",
        "fill the slopes with alibi_slopes(num_heads), also after weights are loaded",
    )


def _schedules(given: Floats, wanted: Wanted, schedule: Schedule) -> Iterator[Form]:
    """Slopes of other rules, and other heads."""
    n, total, max_bias = len(given), wanted.num_heads, wanted.max_bias
    if n < total:
        if wanted.heads is not None:
            part = _nearest_part(wanted.all_slopes, given)
            yield Form(
                "wrong-slice",
                "wrong",
                part,
                f"{_heads(wanted.all_slopes, part)}, which are not the heads asked for",
                "slice the slopes of all heads by the first and the last head of this rank",
            )
        yield Form(
            "local-count",
            "wrong",
            alibi_slopes(n, max_bias=max_bias, schedule=schedule),
            f"the schedule of {n} heads in place of a part of the {total}",
            f"make the slopes of all {total} heads first, then slice them",
        )
    other: Schedule = "geometric" if schedule == "reference" else "reference"
    yield Form(
        other,
        "wrong",
        wanted.part(alibi_slopes(total, max_bias=max_bias, schedule=other), given),
        f"the {other} schedule of {total}, not the {schedule} one",
        f"use alibi_slopes({total}, schedule={schedule!r}), "
        f"or pass schedule={other!r} if the model was trained so",
    )
    for name in (schedule, other):
        sources = slope_sources(total, max_bias=max_bias, schedule=name)
        exponents = np.array([-max_bias * x.entry / x.schedule_heads for x in sources])
        yield Form(
            "off-by-one",
            "wrong",
            wanted.part(np.exp2(exponents), given),
            "slopes whose exponent counts heads from 0 instead of 1",
            "use 2 ** (-max_bias * (h + 1) / H) with h from 0, so that head 0 is not 1",
        )
    longer = 1 << (total - 1).bit_length()
    yield Form(
        "next-power",
        "wrong",
        wanted.part(alibi_slopes(longer, max_bias=max_bias)[:total], given),
        f"the first {total} slopes of {longer}",
        _then_every_second(total),
    )
    if schedule == "reference" and total & (total - 1):
        for kind, values, words in _extra_heads(total, max_bias):
            fix = _then_every_second(total)
            yield Form(kind, "wrong", wanted.part(values, given), words, fix)
    for key_heads in (x for x in range(2, total // 2 + 1) if total % x == 0):
        few = alibi_slopes(key_heads, max_bias=max_bias, schedule=schedule)
        for values in (np.repeat(few, total // key_heads), np.tile(few, total // key_heads)):
            yield Form(
                "repeated",
                "wrong",
                wanted.part(values, given),
                f"the slopes of {key_heads} heads, each {total // key_heads} times",
                f"use alibi_slopes({total}), one slope a query head; key heads are shared, "
                "slopes are not",
            )


def _then_every_second(total: int) -> str:
    return (
        f"use alibi_slopes({total}): all slopes of the next smaller power of two, then every "
        "second one of twice as many"
    )


def _extra_heads(total: int, max_bias: float) -> Iterator[tuple[str, Floats, str]]:
    """What a count that is no power of two gets where its generator is wrong."""
    kept = 1 << (total.bit_length() - 1)
    extra = total - kept
    fewer, more = (alibi_slopes(x, max_bias=max_bias) for x in (kept, 2 * kept))
    for values, words in (
        (more, f"the first {extra} of {2 * kept}, not every second one"),
        (fewer, f"the first {extra} of {kept} again"),
        (fewer[::2], f"every second one of {kept}, not of {2 * kept}"),
    ):
        if len(values) >= extra:
            slopes = np.concatenate([fewer, values[:extra]])
            yield "extra-heads", slopes, f"the slopes of {kept}, then {words}"
    swapped = np.concatenate([more[::2], more[1::2]])[:total]
    yield "swapped", swapped, f"the odd and the even entries of {2 * kept} heads swapped"


def fitted_forms(given: Floats, wanted: Wanted, fits: Callable[[Floats], bool]) -> Iterator[Form]:
    """Slope forms with a number of their own, which is read from the slopes: those that fit."""
    n, right = len(given), wanted.right(given)
    if wanted.any_slope or not given.all():
        return
    if n > 1:
        if fits(alike := np.full(n, given[0])):
            fix = f"give each head a slope of its own, as alibi_slopes({wanted.num_heads}) does"
            yield Form("alike", "wrong", alike, f"slope {given[0]:.6g} for every head", fix)
        shuffled = np.sort(right)[np.argsort(np.argsort(given))]
        if fits(shuffled):
            fix = "keep the slopes in head order, as alibi_slopes gives them"
            yield Form("shuffled", "wrong", shuffled, "the right slopes in another order", fix)
    if wanted.schedule is not None and (given > 0).all() and (given != 1).all():
        yield from _other_max_bias(given, wanted, wanted.schedule, fits)
        yield from _other_heads(given, wanted, wanted.schedule, fits)
    factor = float(np.median(given / right))
    if n > 1 and factor and fits(right * factor):
        yield Form(
            "scaled",
            "wrong",
            right * factor,
            f"the right slopes times {factor:.6g}{_known_factor(factor)}",
            "add the bias after all scaling of the logits, with the slopes as they are; where the "
            f"model scales it too, as Falcon does, pass slopes={factor:.6g} * "
            f"alibi_slopes({wanted.num_heads})",
        )


def _other_max_bias(
    given: Floats, wanted: Wanted, schedule: Schedule, fits: Callable[[Floats], bool]
) -> Iterator[Form]:
    right = wanted.right(given)
    exact = wanted.max_bias * np.median(np.log2(given) / np.log2(right))
    for max_bias in (float(np.rint(exact)), float(exact))[: min(len(given), 2)]:  # one fits any
        if not 0 < max_bias < 1000:
            continue
        full = alibi_slopes(wanted.num_heads, max_bias=max_bias, schedule=schedule)
        if fits(values := wanted.part(full, given)):
            yield Form(
                "other-max-bias",
                "wrong",
                values,
                f"the {schedule} schedule with max_bias {max_bias:.6g}, not {wanted.max_bias:g}",
                f"use max_bias {wanted.max_bias:g}, or pass max_bias={max_bias:.6g} "
                "if the model was trained so",
            )
            return


def _other_heads(
    given: Floats, wanted: Wanted, schedule: Schedule, fits: Callable[[Floats], bool]
) -> Iterator[Form]:
    n = len(given)
    for total in range(n + 1, _MOST_HEADS + 1) if n > 1 and not wanted.stated else ():
        full = alibi_slopes(total, max_bias=wanted.max_bias, schedule=schedule)
        if fits(values := _nearest_part(full, given)):
            yield Form(
                "other-heads",
                "wrong",
                values,
                f"{_heads(full, values)} of {total}, not the slopes of a model of {n} heads",
                f"use alibi_slopes({n}), or pass num_heads={total} if these are part of its heads",
            )
            return


def bias_forms(
    query_positions: Positions, key_positions: Positions, *, symmetric: bool, factors_only: bool
) -> Iterator[Form]:
    """What the factor of the slope can be, the right one first.

    `factors_only` says that the masks are another matter, so that a form is its factor alone.
    """
    distance = (query_positions[:, None] - key_positions[None, :]).astype(np.float64)
    keys = np.broadcast_to(key_positions.astype(np.float64), distance.shape)
    local = np.subtract.outer(np.arange(len(query_positions)), np.arange(len(key_positions)))
    local = local.astype(np.float64)
    future = distance < 0

    if symmetric:
        yield Form("symmetric", "right", -np.abs(distance), "the symmetric distance form")
    else:
        yield Form("distance", "right", -distance, "the distance form", masked=future)
    if not np.array_equal(local, distance):
        at_start = (
            "the queries are counted from the start of the keys",
            "give the queries their own positions; with a cache the newest of T keys is at T - 1",
        )
        yield Form("query-position", "wrong", -np.abs(local), *at_start)
        if not factors_only:
            yield Form("query-position", "wrong", -local, *at_start, masked=local < 0)
            if not symmetric:  # only the bias counts so, not the mask
                yield Form("query-position", "wrong", -np.abs(local), *at_start, masked=future)

    needs_mask = "use -slope * abs(i - j) where there is no causal mask"
    for kind, factor, summary, free in (
        ("key-position", keys, "the key-position form, slope * j", False),
        (
            "last-row",
            keys - np.max(keys),
            "the last row of the distance form for every query",
            False,
        ),
        (
            "row-constant",
            -distance,
            "the distance form with a constant added to each row",
            True,
        ),
    ):
        if symmetric:
            yield Form(
                "not-symmetric",
                "wrong",
                factor,
                f"{summary}, which rewards keys after the query",
                needs_mask,
                free=free,
            )
        else:
            words = f"{summary}, the same in a softmax under a causal mask"
            yield Form(kind, "equivalent", factor, words, masked=future, free=free)
    if symmetric:
        words = "the symmetric form with a constant added to each row, the same in a softmax"
        yield Form("row-constant", "equivalent", -np.abs(distance), words, free=True)
    if symmetric and not factors_only:
        summary = "right up to the query, but keys after it are masked"
        fix = "leave the causal mask out, or check without symmetric"
        yield Form("future-masked", "wrong", -distance, summary, fix, masked=future)
    elif not factors_only:
        fix = "mask every key after the query, after the bias is added"
        for factor, form in ((-distance, ""), (-np.abs(distance), " symmetric")):
            summary = f"the{form} bias is right, but keys after the query are not masked"
            yield Form("future-not-masked", "wrong", factor, summary, fix)

    for half in _HALVES:
        rounded_keys, rounded_queries = (
            round_to(x.astype(np.float64), half) for x in (key_positions, query_positions)
        )
        if (rounded_keys == key_positions).all() and (rounded_queries == query_positions).all():
            continue
        rounded = rounded_queries[:, None] - rounded_keys[None, :]
        for factor in (
            np.broadcast_to(rounded_keys, rounded.shape),
            -np.abs(rounded) if symmetric else -rounded,
        ):
            yield positions_rounded(factor, half)


def positions_rounded(factor: Floats, half: str) -> Form:
    return Form(
        "positions-rounded",
        "wrong",
        factor,
        f"positions rounded to {half}, which has not every whole number",
        "use the distance form, or compute it in a wider format and round the result",
    )


def _heads(full: Floats, part: Floats) -> str:
    start = _start(full, part)
    return f"head {start}" if len(part) == 1 else f"heads {start} to {start + len(part) - 1}"


def _nearest_part(full: Floats, given: Floats) -> Floats:
    """As many neighbouring heads as given, those whose slopes are most like them."""
    start = _start(full, given)
    return full[start : start + len(given)]


def _start(full: Floats, given: Floats) -> int:
    with np.errstate(all="ignore"):
        logs = np.log2(np.maximum(np.abs(given), np.finfo(np.float64).tiny))
        parts = np.lib.stride_tricks.sliding_window_view(np.log2(full), len(given))
        return int(np.argmin(np.max(np.abs(parts - logs), axis=1)))


def _known_factor(factor: float) -> str:
    for name, known in (("log2(e)", np.log2(np.e)), ("ln(2)", np.log(2.0))):
        if abs(factor / known - 1) < 1e-3:
            return f", which is {name}"
    dim = 1 / factor / factor if factor > 1e-3 else 0.0
    return f", which is 1/sqrt({dim:.0f})" if dim >= 2 and abs(dim / round(dim) - 1) < 1e-3 else ""
