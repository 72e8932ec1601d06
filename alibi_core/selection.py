"""What has the reader chosen?

A number of heads, one of these heads, a query position and a key position. A key in the
query's future is a valid choice: seeing it masked is part of the lesson. Some sections ask for
one thing more: a second key, equal content, a longer list of heads, a far distance, a length of
text, padding.
"""

from dataclasses import dataclass

from alibi_core._checks import one_of
from alibi_core.lesson import CHOICES, OPENING, POSITIONS


@dataclass(frozen=True)
class Selection:
    """The reader's choice; without arguments the lesson's opening choice.

    Attributes
    ----------
    num_heads : int
        Number of heads, 1 to 16.
    head : int
        Head, 0 to ``num_heads - 1``.
    query, key : int
        Positions, 0 to 5.
    other : int
        Position of a second key, 0 to 5, which competes with the first.
    equal : int
        1 lets keys of equal content compete, 0 those of the lesson.
    count : int
        Number of heads, 1 to 128, whose slopes are listed.
    far : int
        A distance in tokens, one of `lesson.FAR_DISTANCES`.
    length : int
        A number of tokens, one of `lesson.LENGTHS`, whose last row is shown in number formats.
    padding : int
        Slots of padding, one of `lesson.PADDINGS`: negative before the sentence, else behind it.

    Raises
    ------
    TypeError
        If a value is not an integer (``True`` and ``"6"`` are not).
    ValueError
        If a value is out of its range; the message names the range.
    """

    num_heads: int = OPENING["num_heads"]
    head: int = OPENING["head"]
    query: int = OPENING["query"]
    key: int = OPENING["key"]
    other: int = OPENING["other"]
    equal: int = OPENING["equal"]
    count: int = OPENING["count"]
    far: int = OPENING["far"]
    length: int = OPENING["length"]
    padding: int = OPENING["padding"]

    def __post_init__(self) -> None:
        num_heads = one_of("num_heads", self.num_heads, CHOICES["num_heads"], _ABSENT["num_heads"])
        heads = "1 head" if num_heads == 1 else f"{num_heads} heads"
        absent = _ABSENT | {"head": f"head {{}} does not exist with {heads}"}
        for name, choices in {"head": range(num_heads), **CHOICES}.items():
            value = one_of(name, getattr(self, name), choices, absent[name])
            object.__setattr__(self, name, value)  # a NumPy integer becomes an int


_ABSENT = {
    "num_heads": "the lesson has no {} heads",
    **{
        name: f"{name} {{}} is not a position of the {len(POSITIONS)} tokens"
        for name in ("query", "key", "other")
    },
    "equal": "equal {} is neither no nor yes",
    "count": "the lesson lists no slopes of {} heads",
    "far": "the lesson does not look at a distance of {} tokens",
    "length": "the lesson has no text of {} tokens",
    "padding": "the lesson has no padding of {} slots",
}


def position(name: str, value: object) -> int:
    """`value` as a position of the lesson's tokens; `name` is ``query`` or ``key``."""
    return one_of(name, value, POSITIONS, _ABSENT[name])
