"""Two keys compete: content odds against distance odds, without the rest of the row."""

from collections.abc import Sequence

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED

CONTENTS = (("content of the lesson", "illustrative"), ("all content equal", "arithmetic"))
"""By ``equal``: which content competes, and what a claim on it rests on."""


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "sentence": _sentence(calculation),
        "odds": _odds(calculation),
        "weights": _weights(calculation),
        "row": _row(calculation),
        "heads": _heads(calculation),
    }


def _names(calculation: Calculation) -> tuple[str, str]:
    chosen = calculation.selection
    return text.key_token(calculation, chosen.key), text.token(calculation, chosen.other)


def _sentence(calculation: Calculation) -> str:
    key, other = _names(calculation)
    competition, compared = calculation.competition, calculation.competition.comparison
    factor = (
        "One token farther multiplies the ratio of two weights by "
        f"e<sup>{text.MINUS}m</sup> ≈ "
        f"{text.significant(competition.token_factor)} in this head."
    )
    if competition.farther == 0:
        return f"{key} stands against itself: choose another second key. {factor}"
    place = "farther than" if competition.farther > 0 else "nearer than"
    away = text.tokens_apart(competition.tokens_apart)
    content = "as strong as" if compared.content_log_odds == 0 else "stronger than"
    if compared.content_log_odds < 0:
        content = "weaker than"
    head = calculation.selection.head
    weighs = f"{text.about(compared.odds)} times as much as {other}, so "
    weighs += "more" if head in competition.heads_for_key else "less"
    if head in competition.heads_tied:
        weighs = f"as much as {other}: the two tie"
    return (
        f"{key} is {away} {place} {other}, and its content is {content} the other's. In this "
        f"head it weighs {weighs}. {factor}"
    )


def _odds(calculation: Calculation) -> str:
    compared = calculation.competition.comparison
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{text.number(log_odds)}</td>'
        f"<td>{text.significant(odds)}</td></tr>"
        for name, log_odds, odds in (
            ("content", compared.content_log_odds, compared.content_odds),
            ("distance", compared.distance_log_odds, compared.distance_odds),
            ("together", compared.log_odds, compared.odds),
        )
    )
    key, other = _names(calculation)
    return (
        f"<table><caption>Odds of {key} against {other}</caption><thead><tr>"
        '<th scope="col">from</th><th scope="col">log odds <small>logits, they add</small></th>'
        '<th scope="col">odds <small>ratio, they multiply</small></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _weights(calculation: Calculation) -> str:
    chosen = calculation.selection
    header, cells = [], []
    for key in range(len(calculation.tokens)):
        name = text.key_token(calculation, key)
        share = calculation.competition.weights[chosen.query, key].item()
        is_masked = not calculation.allowed[chosen.query, key]
        header.append(f'<th scope="col">{name}</th>')
        cells.append(
            f"<td{' class=masked' if is_masked else ''}>"
            f"{MASKED if is_masked else text.percent(share)}</td>"
        )
    content, kind = CONTENTS[chosen.equal]
    return (
        f"<table><caption>Row of {text.query_token(calculation, chosen.query)}, {content} "
        f'<small class="kind">{kind}</small></caption><thead><tr><th scope="col">key</th>'
        f'{"".join(header)}</tr></thead><tbody><tr><th scope="row">weight</th>{"".join(cells)}'
        "</tr></tbody></table>"
    )


def _row(calculation: Calculation) -> str:
    if calculation.competition.farther == 0:
        return "A ratio of weights needs two keys: choose another second key."
    if calculation.weight_ratio is None:
        chosen = calculation.selection
        one_allowed = calculation.allowed[chosen.query, [chosen.key, chosen.other]].any()
        which = (
            "may not use both of these keys: one lies ahead of it"
            if one_allowed
            else "may use neither of these keys: both lie ahead of it"
        )
        return f"The query {which}. The odds hold for every query that may use both."
    key, other = _names(calculation)
    row = f"The weight of {key} over that of {other} is the odds above."
    if calculation.selection.equal:
        row = "Each token farther multiplies the weight by the same factor, e<sup>−m</sup>."
    return (
        f"{row} Both weights have the same denominator, so it cancels: no third key changes this "
        "ratio."
    )


def _heads(calculation: Calculation) -> str:
    key, other = _names(calculation)
    competition = calculation.competition
    if competition.farther == 0:
        return "A key always ties with itself."
    tie = competition.comparison.tie_slope
    if tie is None:
        equal = competition.comparison.content_log_odds == 0
        why = "is nearer" if equal else "is nearer and has the stronger content"
        winner = key if competition.heads_for_key else other
        break_even = f"{winner} {why}: no slope makes the two tie, and it wins in every head."
    else:
        break_even = (
            f"The two tie at slope {text.about(tie)} logits per token. {key} weighs more in "
            f"{_listed(competition.heads_for_key)}, {other} in "
            f"{_listed(competition.heads_for_other)}."
        )
        if competition.heads_tied:
            break_even += f" They tie in {_listed(competition.heads_tied)}."
    return break_even


def _listed(heads: Sequence[int]) -> str:
    if not heads:
        return "no head"
    name = "head" if len(heads) == 1 else "heads"
    return f"{name} {text.listed([str(head) for head in heads])}"


SECTION = Section(
    name="compete",
    title="Two keys compete",
    kind="illustrative",
    depends_on={
        "sentence": ("slope", "key", "other", "equal"),
        "odds": ("slope", "key", "other", "equal"),
        "weights": ("slope", "query", "equal"),
        "row": ("query", "key", "other", "equal"),
        "heads": ("num_heads", "key", "other", "equal"),
    },
    fill=fill,
)
