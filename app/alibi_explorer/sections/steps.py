"""Step by step: the weights of one row, a column at a time at the reader's pace."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import worked_row


def fill(calculation: Calculation) -> dict[str, str]:
    return {"table": worked_row(calculation), "words": _words(calculation)}


def _words(calculation: Calculation) -> str:
    pair = calculation.pair
    key = text.key_token(calculation, pair.key)
    denominator = text.number(calculation.alibi_denominators[pair.query].item())
    exponential = text.number(pair.alibi_exponential)
    sign = "=" if text.is_exact(pair.alibi_exponential) else "≈"
    bias = f"{text.exact(calculation.slope)} × {text.number(pair.distance)}"
    if pair.allowed:
        biased = (
            f"For {key}: {text.number(pair.content_logit)} {text.MINUS} {bias} "
            f"{text.equals(pair.biased_logit)} {text.exact(pair.biased_logit)}."
        )
        away = f"{key} lies {text.tokens_apart(pair.tokens_apart)} back, so it loses {bias} logits."
        made = f"e<sup>{text.exact(pair.biased_logit)}</sup> {sign} {exponential}."
    else:
        biased = f"{key} lies ahead: the mask writes {text.MINUS + text.INFINITY} in its place."
        away = f"{key} lies ahead of the query: the mask decides there, not the bias."
        made = f"e<sup>{text.MINUS}{text.INFINITY}</sup> {sign} {exponential}."
    sentences = (
        "Each key brings its content logit. Who asks, and from where, does not change it here.",
        f"The slope times the distance is taken away. {away}",
        f"Content and bias are added, then the mask is applied. {biased}",
        f"The exponential makes every logit positive. {made} {_sum(calculation)}.",
        f"Each exponential is divided by that sum: {exponential} ÷ {denominator} "
        f"{text.equals_percent(pair.alibi_weight)} {text.percent(pair.alibi_weight)} for {key}. "
        "The shares sum to 1.",
    )
    return "".join(f"<li>{sentence}</li>" for sentence in sentences)


def _sum(calculation: Calculation) -> str:
    """The denominator with its addends, or alone if there is one."""
    query = calculation.selection.query
    denominator = calculation.alibi_denominators[query].item()
    exponentials = calculation.alibi_exponentials[query, calculation.allowed[query]].tolist()
    sign = "=" if text.is_exact(denominator) else "≈"
    total = f"{sign} {text.number(denominator)}"
    if len(exponentials) == 1:
        return f"The one allowed key makes the sum, {total}"
    keys = text.key_count(len(exponentials))
    return f"The sum over {keys}: {' + '.join(map(text.number, exponentials))} {total}"


SECTION = Section(
    name="steps",
    title="From distance to weight",
    kind="illustrative",
    depends_on={"table": ("slope", "query"), "words": ("slope", "query", "key")},
    fill=fill,
)
