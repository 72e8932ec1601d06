"""The worksheet: the current choice as a calculation by hand, with blanks and with its answers."""

from collections.abc import Callable

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import worked_row

BLANK = '<span class="blank">…………</span>'


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "given": _given(calculation),
        "blanks": _lines(calculation, _blank),
        "blank_row": worked_row(calculation, _blank),
        "answers": _lines(calculation, _answer),
        "answer_row": worked_row(calculation),
    }


def _blank(_: str) -> str:
    return BLANK


def _answer(value: str) -> str:
    return f"<b>{value}</b>"


def _given(calculation: Calculation) -> str:
    chosen = calculation.selection
    return (
        f"Query {text.query_token(calculation, chosen.query)}, key "
        f"{text.key_token(calculation, chosen.key)}, slope {text.exact(calculation.slope)} logits "
        "per token; the content logits stand in the table."
    )


def _lines(calculation: Calculation, write: Callable[[str], str]) -> str:
    """The steps of the pair; `write` turns a result into what stands in its place."""
    pair = calculation.pair
    exponential = write(text.fixed(pair.alibi_exponential, 4))
    denominator = write(text.fixed(calculation.alibi_denominators[pair.query].item(), 4))
    sign = text.equals_percent(pair.alibi_weight)
    steps = (
        ("Distance in tokens, i − j", write(text.number(pair.distance))),
        ("May the query use the key?", write("yes" if pair.allowed else "no, it lies ahead")),
        ("Bias, −m(i − j)", f"{write(text.signed(pair.distance_bias))} logits"),
        ("Content logit plus bias", f"{write(text.exact(pair.summed_logit))} logits"),
        ("Biased logit, after the mask", f"{write(text.exact(pair.biased_logit))} logits"),
        ("Exponential, e to that logit", exponential),
        ("Their sum, from the table below", denominator),
        (
            "Attention weight, exponential ÷ sum",
            f"{exponential} ÷ {denominator} {write(f'{sign} {text.percent(pair.alibi_weight)}')}",
        ),
    )
    return "".join(f"<dt>{name}</dt><dd>{result}</dd>" for name, result in steps)


SECTION = Section(
    name="worksheet",
    title="Worksheet",
    kind="illustrative",
    depends_on={
        "given": ("slope", "query", "key"),
        "blanks": (),
        "blank_row": ("query",),
        "answers": ("slope", "query", "key"),
        "answer_row": ("slope", "query"),
    },
    fill=fill,
)
