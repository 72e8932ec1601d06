"""One pair: from content logit to weight, in numbers that one can check by hand."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import bar


def fill(calculation: Calculation) -> dict[str, str]:
    return {"sentence": _sentence(calculation), **_steps(calculation)}


def _sentence(calculation: Calculation) -> str:
    pair = calculation.pair
    query = text.query_token(calculation, pair.query)
    key = text.key_token(calculation, pair.key)
    if not pair.allowed:
        return (
            f"{query} cannot look ahead to {key}: it lies {text.tokens_apart(pair.tokens_apart)} "
            f"in the future, so the causal mask sets the logit to "
            f"{text.exact(pair.biased_logit)} and the weight is "
            f"{text.percent(pair.alibi_weight)}, with ALiBi and without."
        )
    keys = text.key_count(calculation.allowed_counts[pair.query].item())
    weights = (
        f"Among {keys} it gets {text.percent(pair.alibi_weight)} of the attention with ALiBi, "
        f"against {text.percent(pair.plain_weight)} without."
    )
    content = f"content logit {text.exact(pair.content_logit)}"
    if pair.distance == 0:
        look = f"{query} looks at itself: at distance 0 the bias leaves the {content} as it is."
    else:
        look = (
            f"{query} looks back {text.tokens_apart(pair.distance)} to {key}: a bias of "
            f"{text.exact(pair.distance_bias)} takes its {content} to "
            f"{text.exact(pair.biased_logit)}."
        )
    return f"{look} {weights}"


def _steps(calculation: Calculation) -> dict[str, str]:
    """The numbers of each step; its name and formula stand in the prose."""
    pair = calculation.pair
    distance = text.number(pair.distance)
    return {
        "bias": _line(
            _operator(text.MINUS),
            _part(text.exact(calculation.slope), "slope m"),
            _operator("×"),
            _part(f"({distance})" if pair.distance < 0 else distance, "i − j, tokens"),
            _operator(text.equals(pair.distance_bias)),
            _part(text.signed(pair.distance_bias), "bias, logits"),
        ),
        "sum": _line(
            _part(text.exact(pair.content_logit), "content logit c"),
            _operator("+"),
            _part(_bracketed(pair.distance_bias), "bias, logits"),
            _operator(text.equals(pair.summed_logit)),
            _part(text.exact(pair.summed_logit), "before the mask"),
        ),
        "mask": _line(
            _part(
                *(("allowed", "key is not ahead") if pair.allowed else ("masked", "key is ahead"))
            ),
            _operator("→"),
            _part(text.exact(pair.biased_logit), "biased logit s"),
        ),
        "with": _weight(
            pair.biased_logit,
            pair.alibi_exponential,
            calculation.alibi_denominators[pair.query].item(),
            pair.alibi_weight,
            "with",
        ),
        "without": _weight(
            pair.plain_logit,
            pair.plain_exponential,
            calculation.plain_denominators[pair.query].item(),
            pair.plain_weight,
            "without",
        ),
    }


def _weight(logit: float, exponential: float, denominator: float, weight: float, kind: str) -> str:
    return _line(
        _part(text.number(exponential), f"exp({text.exact(logit)})"),
        _operator("÷"),
        _part(text.number(denominator), "sum over allowed keys"),
        _operator(text.equals_percent(weight)),
        _part(text.percent(weight), "weight", f"result {kind}"),
        bar(weight, kind),
    )


def _line(*parts: str) -> str:
    return " ".join(parts)


def _part(value: str, label: str, kind: str = "") -> str:
    return f'<span class="part {kind}"><b>{value}</b> <small>{label}</small></span>'


def _operator(sign: str) -> str:
    return f'<span class="operator">{sign}</span>'


def _bracketed(bias: float) -> str:
    return f"({text.exact(bias)})" if bias < 0 else text.exact(bias)


SECTION = Section(
    name="pair",
    title="One pair",
    kind="illustrative",
    depends_on={
        "sentence": ("slope", "query", "key"),
        "bias": ("slope", "query", "key"),
        "sum": ("slope", "query", "key"),
        "mask": ("slope", "query", "key"),
        "with": ("slope", "query", "key"),
        "without": ("query", "key"),
    },
    fill=fill,
)
