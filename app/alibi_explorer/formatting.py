"""Numbers to text: the only place where anything is rounded.

A true minus sign, never "-0", units beside the number.
"""

import math
from collections.abc import Sequence
from html import escape

from alibi_core import Calculation, SlopeSource

MINUS = "−"
INFINITY = "∞"
THIN_SPACE = "\u202f"
NO_BREAK = "\u00a0"


def number(value: float, decimals: int = 4) -> str:
    """At most `decimals` decimals, no trailing zeros: 0.75, −1.25, −∞."""
    if math.isinf(value):
        return INFINITY if value > 0 else MINUS + INFINITY
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return _true_minus(text)


def exact(value: float) -> str:
    """All digits where eight decimals hold them, as those of the documented slopes; else four."""
    return number(value, 8 if is_exact(value, 8) else 4)


def is_exact(value: float, decimals: int = 4) -> bool:
    """Whether rounding to `decimals` decimals loses nothing but float64's own last digits."""
    return math.isinf(value) or abs(float(f"{value:.{decimals}f}") - value) < 1e-12


def equals(value: float) -> str:
    """The sign before a value printed by `exact`: "=" if its digits are all, else "≈"."""
    return "=" if is_exact(value, 8) else "≈"


def about(value: float) -> str:
    """As `significant`, with its sign where digits are left out: 0.16, ≈ 0.3333."""
    return f"{'' if is_exact(value, 8) else f'≈{NO_BREAK}'}{significant(value)}"


def equals_percent(share: float) -> str:
    """The sign before a share printed by `percent`: "=" if its digits are all, else "≈"."""
    return "=" if is_exact(100 * share, 1) else "≈"


def fixed(value: float, decimals: int) -> str:
    """Exactly `decimals` decimals, for columns that line up."""
    return number(value) if math.isinf(value) else _true_minus(f"{value:.{decimals}f}")


def column(values: Sequence[float], decimals: int = 4) -> list[str]:
    """Numbers that line up: as many decimals as the longest of them needs, at most `decimals`."""
    written = [number(value, decimals) for value in values if math.isfinite(value)]
    needed = max((len(text.partition(".")[2]) for text in written), default=0)
    return [fixed(value, needed) for value in values]


def signed(value: float) -> str:
    """With its sign, as the bias of a future key is shown: +0.25."""
    return f"+{exact(value)}" if value > 0 else exact(value)


def percent(share: float) -> str:
    """A weight with its unit: 20.0 %; exactly 0 is "0 %", and what is not all is not 100 %."""
    return f"{percent_digits(share)}{THIN_SPACE}%"


def grouped(value: float, decimals: int = 4) -> str:
    """As `number`, with the thousands apart: 1 000 000."""
    whole, point, rest = number(value, decimals).partition(".")
    sign, digits = (MINUS, whole[1:]) if whole.startswith(MINUS) else ("", whole)
    if digits.isdigit():
        digits = f"{int(digits):,}".replace(",", THIN_SPACE)
    return f"{sign}{digits}{point}{rest}"


def significant(value: float, digits: int = 4) -> str:
    """All digits where eight decimals hold them, else so many that count: 0.6376, 2.226, 12.18."""
    return exact(value) if is_exact(value, 8) else number(value, _decimals(value, digits))


def grouped_significant(value: float, digits: int = 4) -> str:
    """As `significant`, with the thousands apart: −3.99609375, −723.4, −707 107."""
    return grouped(value, 8 if is_exact(value, 8) else _decimals(value, digits))


def power_of_ten(value: float) -> str:
    """A power of ten as such: 10<sup>−12</sup>."""
    exponent = round(math.log10(value))
    if not math.isclose(value, 10.0**exponent):
        raise ValueError(f"{value!r} is no power of ten; write it with number()")
    return f"10<sup>{number(exponent)}</sup>"


def tiny(share: float, exponent: float) -> str:
    """A share that is never quite nothing: in percent, or below 0.1 % as a power of ten."""
    return percent(share) if share >= 0.001 else f"10<sup>{grouped(exponent, 1)}</sup>"


def percent_digits(share: float) -> str:
    """A weight without its unit, for cells whose caption states it."""
    digits = "0" if share == 0 else f"{100 * share:.1f}"
    if digits == "100.0" and share < 1:
        return "above 99.9"
    return "under 0.1" if digits == "0.0" else digits


def points(difference: float) -> str:
    """A difference of two weights in percentage points, with its sign: −15.9, +3.2, 0.0."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else _true_minus(text)


def told_apart(*values: float) -> list[str]:
    """Numbers from outside, of any size, with nine digits, or all to tell them apart."""
    for digits in (9, 17):
        written = [f"{value + 0.0:.{digits}g}".replace("inf", INFINITY) for value in values]
        if len(set(written)) == len(values):
            break
    return [text.replace("-", MINUS) for text in written]


def tokens_apart(count: int) -> str:
    return f"{count} token" if count == 1 else f"{count} tokens"


def key_count(count: int) -> str:
    return "1 allowed key" if count == 1 else f"{count} allowed keys"


def token(calculation: Calculation, position: int) -> str:
    """Word and position, "The (0)", so that "The" and "the" are told apart."""
    return f"{escape(calculation.tokens[position])} ({position})"


def query_token(calculation: Calculation, position: int) -> str:
    return f'<span class="q">{token(calculation, position)}</span>'


def key_token(calculation: Calculation, position: int) -> str:
    return f'<span class="k">{token(calculation, position)}</span>'


def listed(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def power(source: SlopeSource) -> str:
    """The slope as a power of two: 2<sup>−2</sup>."""
    return f"2<sup>{number(source.exponent)}</sup>"


def place(source: SlopeSource) -> str:
    """Which entry of which schedule, counted from 1 as readers count."""
    return f"entry {source.number} of the {source.schedule_heads}-head schedule"


def short_place(source: SlopeSource) -> str:
    """The same for a narrow column: 8-head, entry 1."""
    return f"{source.schedule_heads}-head, entry {source.number}"


def _decimals(value: float, digits: int) -> int:
    """How many decimals show so many digits that count."""
    return max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else 0


def _true_minus(text: str) -> str:
    if text.startswith("-"):
        return text[1:] if not text.strip("-0.") else MINUS + text[1:]
    return text
