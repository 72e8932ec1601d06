"""What does the lesson show, and which figures does it state?

Six tokens, one fixed content logit a key, and an opening choice. The content logits are
teaching values, not outputs of a trained model: key 0's 2.0 comes from the lesson text, the
other five are chosen so that its opening percentages come out (35.9 % without ALiBi, 20.0 %
with) while key 0, the farthest, still beats every key but the query's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from alibi_core import models
from alibi_core.models import Model

TOKENS: tuple[str, ...] = ("The", "cat", "sat", "on", "the", "mat")
"""The sentence; position 0 is "The"."""

CONTENT_LOGITS: tuple[float, ...] = (2.0, 1.4, 0.0, 1.2, 0.4, 1.2)
"""One content logit a key, in logits; the same whatever the query or the head."""

HEAD_COUNTS: range = range(1, 17)
"""The numbers of heads that the lesson offers."""

FAR_DISTANCES: tuple[int, ...] = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1023, 2047, 5_000, 10_000, 100_000, 1_000_000),
)
"""Distances that the lesson looks at beyond its sentence, in tokens."""

FAR_MARKS: tuple[int, ...] = (1, 10, 100, 1023, 2047, 10_000, 100_000, 1_000_000)
"""Distances along the ruler at which it lists the bias of every head, in tokens."""

LENGTHS: tuple[int, ...] = (6, 64, 256, 1024, 4096, 16_384)
"""Texts whose last row the lesson works out in several number formats, in tokens."""

PADDINGS: tuple[int, ...] = (-2, 0, 2)
"""Slots of padding that the lesson puts beside its sentence; before it where negative."""

POSITIONS: range = range(len(TOKENS))

CHOICES: dict[str, Sequence[int]] = {
    "num_heads": HEAD_COUNTS,
    "query": POSITIONS,
    "key": POSITIONS,
    "other": POSITIONS,
    "equal": range(2),
    "count": range(1, 129),
    "far": FAR_DISTANCES,
    "length": LENGTHS,
    "padding": PADDINGS,
}
"""What each part of a choice may be; the head is one of ``num_heads``."""

OPENING: dict[str, int] = {
    **{"num_heads": 4, "head": 0, "query": 5, "key": 0},
    **{"other": 5, "equal": 0, "count": 12, "far": 1023, "length": 4096, "padding": -2},
}
"""The choice that the lesson opens with: "mat" looks back to "The" in head 0 of four."""

PAPER = (
    "Press, Smith and Lewis, Train Short, Test Long: Attention with Linear Biases Enables "
    "Input Length Extrapolation, ICLR 2022 (arXiv:2108.12409)"
)
LESSON = "the lesson text ALiBi: Attention with Linear Biases"


@dataclass(frozen=True)
class Figure:
    """One figure that a source states.

    Attributes
    ----------
    value : float or tuple of float
        As printed by the source.
    unit : str
    source : str
        Which text states it, and where.
    """

    value: float | tuple[float, ...]
    unit: str
    source: str


_FOLLOW = f"{LESSON}, Follow one query-key pair"
_HEADS = f"{LESSON}, Different heads, different distance penalties"
_LENGTH = f"{LESSON}, What length extrapolation means"

FIGURES: dict[str, Figure] = {
    "opening distance": Figure(5, "tokens", _FOLLOW),
    "opening slope": Figure(0.25, "logits per token", _FOLLOW),
    "opening distance bias": Figure(-1.25, "logits", _FOLLOW),
    "opening content logit": Figure(2.0, "logits", _FOLLOW),
    "opening biased logit": Figure(0.75, "logits", _FOLLOW),
    "opening weight with ALiBi": Figure(20.0, "percent", _FOLLOW),
    "opening weight without ALiBi": Figure(35.9, "percent", _FOLLOW),
    "opening allowed keys": Figure(6, "keys", _FOLLOW),
    "slopes of 4 heads": Figure((0.25, 0.0625, 0.015625, 0.00390625), "logits per token", _HEADS),
    "slopes of 6 heads": Figure(
        (0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125), "logits per token", _HEADS
    ),
    "slopes of 8 heads": Figure(
        (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625),
        "logits per token",
        f"{_HEADS}; {PAPER}, section 3",
    ),
    "slope ratio of 4 heads": Figure(0.25, "ratio", _HEADS),
    "slope ratio of 8 heads": Figure(0.5, "ratio", _HEADS),
    "bias at distance 1023, slope 0.00390625": Figure(-3.99609375, "logits", _LENGTH),
    "bias at distance 2047, slope 0.00390625": Figure(-7.99609375, "logits", _LENGTH),
}
"""The documented figures that the core reproduces, by name; the tests hold each."""


@dataclass(frozen=True)
class PaperResult:
    """What the paper's comparison measured, with its conditions.

    Attributes
    ----------
    billion_parameters : float
        Size of both models.
    train_tokens, test_tokens : int
        Length that the ALiBi model was trained at, and that it was tested at. There it matched
        the perplexity of a model with sinusoidal positions trained at `test_tokens`.
    less_memory_percent, faster_percent : int
        What its training saved, because its texts were shorter.
    not_promised_times : int
        How many times the training length the result is no promise for.
    source : str
    """

    billion_parameters: float
    train_tokens: int
    test_tokens: int
    less_memory_percent: int
    faster_percent: int
    not_promised_times: int
    source: str


PAPER_RESULT = PaperResult(1.3, 1024, 2048, 11, 11, 16, f"{PAPER}; {_LENGTH}")


MODELS: tuple[Model, ...] = tuple(
    next(model for model in models.MODELS if model.name == name)
    for name in ("Jina v2 base", "Baichuan-13B", "BLOOM")
)
"""Models whose number of heads is no power of two, for the lesson to point at."""
