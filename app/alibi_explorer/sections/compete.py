"""Two keys compete: content odds against distance odds, without the rest of the row."""

from collections.abc import Sequence

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "sentence": _sentence(calculation),
        "odds": _odds(calculation),
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
    winner = "more" if calculation.selection.head in competition.heads_for_key else "less"
    return (
        f"{key} is {away} {place} {other}, and its content is {content} the other's. In this "
        f"head it weighs {text.significant(compared.odds)} times as much: {winner} than {other}. "
        f"{factor}"
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


def _row(calculation: Calculation) -> str:
    chosen = calculation.selection
    query = text.query_token(calculation, chosen.query)
    ratio = calculation.weight_ratio
    if ratio is None:
        return (
            f"{query} may not use both of these keys: one lies ahead of it. The odds above hold "
            "for every query that may."
        )
    first, second = (
        calculation.pair_at(chosen.query, position) for position in (chosen.key, chosen.other)
    )
    weights = f"{text.percent(first.alibi_weight)} ÷ {text.percent(second.alibi_weight)}"
    return (
        f"In the row of {query}, with the content of the lesson: {weights} ≈ "
        f"{text.significant(ratio)}. Both weights have the same denominator, so it cancels: no "
        "third key changes this ratio."
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
            f"The two tie at slope {text.significant(tie)} logits per token. {key} weighs more in "
            f"{_listed(competition.heads_for_key)}, {other} in "
            f"{_listed(competition.heads_for_other)}."
        )
    return break_even


def _listed(heads: Sequence[int]) -> str:
    if not heads:
        return "no head"
    name = "head" if len(heads) == 1 else "heads"
    return f"{name} {text.listed([str(head) for head in heads])}"


SECTION = Section(
    name="compete",
    title="Two keys compete",
    kind="arithmetic",
    depends_on={
        "sentence": ("slope", "key", "other", "equal"),
        "odds": ("slope", "key", "other", "equal"),
        "row": ("slope", "query", "key", "other"),
        "heads": ("num_heads", "key", "other", "equal"),
    },
    fill=fill,
)
