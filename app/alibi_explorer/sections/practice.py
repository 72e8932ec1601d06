"""Practice: the reader predicts and is told what is so; every number was worked out by the core."""

import re
from collections.abc import Mapping
from html import escape

from alibi_core import Calculation
from alibi_core.practice import QUESTIONS, Answer, Question
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section

SHOWN_IN: Mapping[str, str] = {
    "near": "pair",
    "zero": "pair",
    "steep": "far",
    "shallow": "far",
    "small": "pair",
    "spread": "heads",
    "length": "far",
    "weight": "row",
    "cutoff": "far",
    "monotone": "row",
    "ratio": "compete",
    "tie": "compete",
    "masked": "pair",
    "mirror": "head",
    "positive": "shift",
    "shift": "shift",
    "order": "heads",
    "learned": "slopes",
    "onehead": "slopes",
    "scale": "pair",
    "cache": "cache",
    "speed": "far",
}
"""The section that shows what a question asks about."""

PARTS: Mapping[str, str] = {"speed": "measured"}
"""The part of that section that a link leads to, where it is not its start."""


class _Written(float):
    """A number that a template writes with a function of `formatting`: ``{weight:percent}``."""

    def __format__(self, spec: str) -> str:
        name, _, decimals = (spec or "exact").partition(".")
        written: str = getattr(text, name)(float(self), *([int(decimals)] if decimals else []))
        return written


def fill(_: Calculation) -> dict[str, str]:
    return {"questions": "".join(map(_question, QUESTIONS))}


def asked(html: str, names: tuple[str, ...]) -> str:
    """The questions with those of `names` first, in that order, and the others hidden."""
    items = {item.split('"', 2)[1]: item for item in re.split(r"(?=<li )", html) if item}
    hidden = [item.replace("<li", "<li hidden", 1) for of, item in items.items() if of not in names]
    return "".join([*(items[name] for name in names), *hidden])


def _question(question: Question) -> str:
    fields = _choice(question) if question.kind == "choice" else _number(question)
    name = question.name
    return (
        f'<li data-question="{name}"><fieldset><legend>{_text(question, question.prompt)} '
        f'<small class="kind">{question.rests_on}</small></legend>'
        f'{fields}</fieldset><p class="check"><button type="button" data-check>Check</button> '
        f'<span class="verdict" role="status" id="practice-{name}"></span></p>'
        f'<div class="answer" hidden><p>{_text(question, question.worked)}</p>'
        f"{_link(question)}</div></li>"
    )


def _choice(question: Question) -> str:
    return "".join(
        f'<label class="option"><input type="radio" name="practice-{question.name}"'
        f"{_correction(question, answer.correction)}> "
        f"<span>{_text(question, str(answer.given))}</span></label>"
        for answer in question.answers
    )


def _number(question: Question) -> str:
    unit = f" in {question.unit}" if question.unit else ""
    within = f", within {text.exact(question.tolerance)}" if question.tolerance else ""
    return (
        f'<label class="field">Your answer{unit}{within}<input inputmode="decimal" '
        f'autocomplete="off" aria-describedby="practice-{question.name}" '
        f'data-unit="{question.unit}"{_correction(question, question.hint)}></label>'
        f"{''.join(_slip(question, answer) for answer in question.answers)}"
    )


def _slip(question: Question, answer: Answer) -> str:
    """A number that readers come to, right or wrong, for the script to find; it is not shown.

    The tolerance is around what the answer shows, and counts what stands at its edge.
    """
    assert not isinstance(answer.given, str)
    value = round(answer.given, 1) if question.unit == "%" else answer.given
    tolerance = question.tolerance * (1 + 1e-9)
    return (
        f'<span hidden data-value="{value!r}" data-tolerance="{tolerance!r}"'
        f"{_correction(question, answer.correction)}></span>"
    )


def _correction(question: Question, correction: str) -> str:
    return f' data-correction="{_text(question, correction)}"'


def _link(question: Question) -> str:
    chosen, part = question.selection, PARTS.get(question.name)
    return (
        f'<p><button type="button" data-pick data-to="{SHOWN_IN[question.name]}" '
        f"{f'data-part={part} ' if part else ''}"
        f'data-heads="{chosen.num_heads}" data-head="{chosen.head}" data-query="{chosen.query}" '
        f'data-key="{chosen.key}" data-other="{chosen.other}" data-equal="{chosen.equal}" '
        f'data-count="{chosen.count}" data-far="{chosen.far}">Show it in the explorer</button></p>'
    )


def _text(question: Question, template: str) -> str:
    """A template of the question with its numbers written, safe in HTML and in attributes."""
    written = {
        name: _Written(value)
        if isinstance(value, (int, float))
        else text.listed([text.exact(part) for part in value])
        for name, value in question.values.items()
    }
    return escape(template.format_map(written))


SECTION = Section(
    name="practice",
    title="Practice",
    kind="",
    depends_on={"questions": ()},
    fill=fill,
)
