"""Step by step: the weights of one row, a column at a time at the reader's pace."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED, weight

COLUMNS = (
    ("content", "logits"),
    ("bias", "−m(i − j), logits"),
    ("biased logit", "sum, logits"),
    ("exponential", "e to the logit"),
    ("share", "of the sum"),
)


def fill(calculation: Calculation) -> dict[str, str]:
    return {"table": _table(calculation), "words": _words(calculation)}


def _table(calculation: Calculation) -> str:
    query = calculation.selection.query
    header = "".join(f'<th scope="col">{name} <small>{unit}</small></th>' for name, unit in COLUMNS)
    rows = []
    for key in range(len(calculation.tokens)):
        pair = calculation.pair_at(query, key)
        cells = (
            text.number(pair.content_logit),
            text.exact(pair.distance_bias) if pair.allowed else MASKED,
            text.exact(pair.biased_logit),
            text.fixed(pair.alibi_exponential, 4),
            weight(pair.alibi_weight, "with"),
        )
        rows.append(
            f'<tr data-key="{key}"{"" if pair.allowed else " class=masked"}>'
            f'<th scope="row">{text.key_token(calculation, key)}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        )
    denominator = text.fixed(calculation.alibi_denominators[query].item(), 4)
    total = text.number(calculation.alibi_sums[query].item(), 12)
    return (
        f"<table><caption>Keys of {text.query_token(calculation, query)}</caption>"
        f'<thead><tr><th scope="col">key</th>{header}</tr></thead><tbody>{"".join(rows)}</tbody>'
        '<tfoot><tr><th scope="row">sum</th><td>–</td><td>–</td><td>–</td>'
        f"<td>{denominator}</td><td>{total}</td></tr></tfoot></table>"
    )


def _words(calculation: Calculation) -> str:
    pair = calculation.pair
    key = text.key_token(calculation, pair.key)
    keys = text.key_count(calculation.allowed_counts[pair.query].item())
    denominator = text.fixed(calculation.alibi_denominators[pair.query].item(), 4)
    exponential = text.fixed(pair.alibi_exponential, 4)
    bias = f"{text.exact(calculation.slope)} × {text.number(pair.distance)}"
    if pair.allowed:
        biased = (
            f"For {key}: {text.number(pair.content_logit)} {text.MINUS} {bias} "
            f"{text.equals(pair.biased_logit)} {text.exact(pair.biased_logit)}."
        )
        away = f"{key} lies {text.tokens_apart(pair.tokens_apart)} back, so it loses {bias} logits."
        made = f"e<sup>{text.exact(pair.biased_logit)}</sup> ≈ {exponential}."
    else:
        biased = f"{key} lies ahead: the mask writes {text.MINUS + text.INFINITY} in its place."
        away = f"{key} lies ahead of the query: the mask decides there, not the bias."
        made = f"e<sup>{text.MINUS}{text.INFINITY}</sup> = {exponential}."
    sentences = (
        "Each key brings its content logit. Who asks, and from where, does not change it here.",
        f"The slope times the distance is taken away. {away}",
        f"Content and bias are added, then the mask is applied. {biased}",
        f"The exponential makes every logit positive. {made} The sum over {keys} is {denominator}.",
        f"Each exponential is divided by that sum: {exponential} ÷ {denominator} ≈ "
        f"{text.percent(pair.alibi_weight)} for {key}. The shares sum to 1.",
    )
    return "".join(f"<li>{sentence}</li>" for sentence in sentences)


SECTION = Section(
    name="steps",
    title="From distance to weight",
    kind="arithmetic",
    depends_on={"table": ("slope", "query"), "words": ("slope", "query", "key")},
    fill=fill,
)
