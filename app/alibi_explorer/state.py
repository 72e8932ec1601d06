"""What one visitor has chosen, and the calculation that follows from it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import param

from alibi_core import Calculation, Selection, calculate
from alibi_core.lesson import CHOICES

URL_NAMES = {
    **{"heads": "num_heads", "head": "head", "query": "query", "key": "key"},
    **{"other": "other", "equal": "equal", "count": "count", "far": "far"},
    **{"length": "length", "padding": "padding"},
}
"""Names in the URL and in messages of the page, to fields of `Selection`."""

SHARED_NAMES = ("heads", "head", "query", "key")
"""What every section follows; a URL names the rest only where it is not the opening choice."""

NOTICE = {
    "wrong": "{name} “{shown}” is not {valid}, so {chosen} is shown",
    "range": "one of {first} to {last}",
    "list": "one of {listed}",
    "only": "{first}, the only choice",
}
"""What a reader is told of a value that is no choice, here and on the page without a server."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class ExplorerState(param.Parameterized):
    """The choice of one visitor; setting `selection` works out `calculation`."""

    selection = param.ClassSelector(class_=Selection, allow_None=False, doc="The reader's choice.")
    calculation = param.ClassSelector(class_=Calculation, doc="The worked result of the choice.")

    def __init__(self, selection: Selection | None = None) -> None:
        selection = Selection() if selection is None else selection
        super().__init__(selection=selection, calculation=calculate(selection))

    @param.depends("selection", watch=True)
    def _work_out(self) -> None:
        self.calculation = calculate(self.selection)


def nearest_selection(
    asked: Mapping[str, object], base: Selection | None = None
) -> tuple[Selection, str]:
    """The valid choice nearest to what a URL or a message asks for.

    Parameters
    ----------
    asked : mapping
        Values by URL name (``heads``, ``head``, ``query``, ``key`` and those of single sections),
        of any kind; others are ignored.
    base : Selection, optional
        Where a name is not asked for; the opening choice by default. If its head does not
        exist with the number of heads asked for, head 0 takes its place.

    Returns
    -------
    selection : Selection
    notice : str
        Empty, or one line of plain text on what was changed and what to choose.
    """
    base = Selection() if base is None else base
    problems = []

    def nearest(name: str, choices: Sequence[int], current: int) -> int:
        if name not in asked:
            return current
        value = _text(asked[name])
        number = float(value) if _NUMBER.fullmatch(value) else math.nan
        chosen = current if math.isnan(number) else _nearest(number, choices)
        if number != chosen:
            first, last = choices[0], choices[-1]
            kind = "list" if len(choices) < last - first + 1 else "range"
            valid = NOTICE["only" if first == last else kind].format(
                first=first, last=last, listed=", ".join(map(str, choices))
            )
            problems.append(
                NOTICE["wrong"].format(name=name, shown=_shown(value), valid=valid, chosen=chosen)
            )
        return chosen

    num_heads = nearest("heads", CHOICES["num_heads"], base.num_heads)
    kept_head = base.head if base.head < num_heads else 0
    chosen = {"num_heads": num_heads, "head": nearest("head", range(num_heads), kept_head)}
    for name, field in URL_NAMES.items():
        if field not in chosen:
            chosen[field] = nearest(name, CHOICES[field], getattr(base, field))
    selection = replace(base, **chosen)
    notice = "; ".join(problems)
    return selection, f"{notice[0].upper()}{notice[1:]}." if notice else ""


def url_choice(selection: Selection) -> dict[str, int]:
    """The choice by URL name: what every section follows, and what else was chosen."""
    opening = Selection()
    return {
        name: getattr(selection, field)
        for name, field in URL_NAMES.items()
        if name in SHARED_NAMES or getattr(selection, field) != getattr(opening, field)
    }


def _text(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of thousands of digits
        return "a number too long to read"


def _nearest(number: float, choices: Sequence[int]) -> int:
    """The nearest choice, the lower of two."""
    within = min(max(number, choices[0]), choices[-1])
    return min(choices, key=lambda choice: abs(choice - within))


def _shown(value: str) -> str:
    """The value as one short printable piece of text."""
    text = _UNPRINTABLE.sub("�", value)
    return text if len(text) <= 24 else f"{text[:23]}…"
