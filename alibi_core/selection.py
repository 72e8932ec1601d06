"""What has the reader chosen?

A number of heads, one of these heads, a query position and a key position. A key in the
query's future is a valid choice: seeing it masked is part of the lesson.
"""

from dataclasses import dataclass

from alibi_core._checks import one_of
from alibi_core.lesson import HEAD_COUNTS, OPENING, TOKENS


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

    def __post_init__(self) -> None:
        num_heads = one_of("num_heads", self.num_heads, HEAD_COUNTS, "the lesson has no {} heads")
        heads = "1 head" if num_heads == 1 else f"{num_heads} heads"
        absent = f"head {{}} does not exist with {heads}"
        checked = {
            "num_heads": num_heads,
            "head": one_of("head", self.head, range(num_heads), absent),
            "query": position("query", self.query),
            "key": position("key", self.key),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # a NumPy integer becomes an int


def position(name: str, value: object) -> int:
    """`value` as a position of the lesson's tokens; `name` is ``query`` or ``key``."""
    absent = f"{name} {{}} is not a position of the {len(TOKENS)} tokens"
    return one_of(name, value, range(len(TOKENS)), absent)
