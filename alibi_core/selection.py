"""What has the reader chosen?

A number of heads, one of these heads, a query position and a key position. A key in the
query's future is a valid choice: seeing it masked is part of the lesson.
"""

from dataclasses import dataclass

from alibi_core._checks import whole_number
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
        for name in ("num_heads", "head", "query", "key"):
            minimum = HEAD_COUNTS[0] if name == "num_heads" else 0
            object.__setattr__(self, name, whole_number(name, getattr(self, name), minimum=minimum))
        if self.num_heads > HEAD_COUNTS[-1]:
            raise ValueError(
                f"the lesson has no {self.num_heads} heads; "
                f"choose {HEAD_COUNTS[0]} to {HEAD_COUNTS[-1]}"
            )
        if self.head >= self.num_heads:
            heads = "1 head" if self.num_heads == 1 else f"{self.num_heads} heads"
            choice = "0" if self.num_heads == 1 else f"0 to {self.num_heads - 1}"
            raise ValueError(f"head {self.head} does not exist with {heads}; choose {choice}")
        for name in ("query", "key"):
            position = getattr(self, name)
            if position >= len(TOKENS):
                raise ValueError(
                    f"{name} {position} is not a position of the {len(TOKENS)} tokens; "
                    f"choose 0 to {len(TOKENS) - 1}"
                )
