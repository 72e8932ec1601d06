"""A walk through the page: each stop sets the explorer and says what to look at."""

from dataclasses import dataclass
from functools import cache

from alibi_core import Calculation, Selection, calculate
from alibi_explorer import formatting as text


@dataclass(frozen=True)
class Stop:
    """One step of the tour.

    Attributes
    ----------
    text : str
        HTML with the names of `_values` in braces where a number or a token stands.
    selection : Selection
        What the step chooses; its text is filled from its calculation.
    section : str
        The section that the step speaks of.
    """

    text: str
    selection: Selection
    section: str


@cache
def written(stop: Stop) -> str:
    """The text of a stop as HTML, every number from the calculation of its choice."""
    return stop.text.format_map(_values(calculate(stop.selection)))


def _values(calculation: Calculation) -> dict[str, str]:
    """What a text may name, formatted."""
    chosen, pair, forms = calculation.selection, calculation.pair, calculation.forms
    competition = calculation.competition
    tie = competition.comparison.tie_slope
    away = calculation.far_away
    return {
        "query": text.query_token(calculation, pair.query),
        "key": text.key_token(calculation, pair.key),
        "other": text.token(calculation, chosen.other),
        "heads": text.number(chosen.num_heads),
        "head": text.number(chosen.head),
        "distance": text.number(pair.distance),
        "apart": text.tokens_apart(pair.tokens_apart),
        "keys": text.key_count(calculation.allowed_counts[pair.query].item()),
        "slope": text.exact(calculation.slope),
        "first_slope": text.exact(calculation.slopes[0].item()),
        "content": text.number(pair.content_logit),
        "bias": text.exact(pair.distance_bias),
        "logit": text.exact(pair.biased_logit),
        "with": text.percent(pair.alibi_weight),
        "without": text.percent(pair.plain_weight),
        "outweighed": text.listed(
            [text.token(calculation, key) for key in pair.nearer_outweighed] or ["none"]
        ),
        "sum": text.number(calculation.alibi_denominators[pair.query].item()),
        "tie": "none" if tie is None else text.significant(tie),
        "factor": text.significant(competition.token_factor),
        "bias_alone": text.percent(
            calculation.mask_and_bias.bias_alone[pair.query, pair.key].item()
        ),
        "key_bias": text.signed(forms.key_position_bias[pair.key].item()),
        "row_constant": text.exact(forms.key_position_constants[pair.query].item()),
        "restarted": text.percent(calculation.cached_step.restarted_weights[pair.key].item()),
        "far": text.grouped(chosen.far),
        "far_bias": text.exact(away.biases[chosen.head].item()),
    }


STOPS: tuple[Stop, ...] = (
    Stop(
        "Start with one pair. {query} looks back {apart} to {key}. In this head the slope is "
        "{slope}, so the bias is {bias}: the key gets {with} of the attention, against {without} "
        "without the bias.",
        Selection(),
        "pair",
    ),
    Stop(
        "Now every key of {query}. {key} is the farthest, and yet it gets more than the nearer "
        "{outweighed}: its content logit {content} outweighs the distance.",
        Selection(),
        "row",
    ),
    Stop(
        "The weights of a row are made together. Take its columns one by one: the biased logits "
        "of {keys} become exponentials, and each is divided by their sum, {sum}.",
        Selection(),
        "steps",
    ),
    Stop(
        "The same pair in head {head}, whose slope is {slope}. The same distance gives a bias of "
        "only {bias} logits, and {key} gets {with}.",
        Selection(head=2),
        "pair",
    ),
    Stop(
        "{query} looks at itself. At distance {distance} the bias is {bias}, in every head. Its "
        "weight still changes, from {without} to {with}, as the other keys lose logits.",
        Selection(key=5),
        "pair",
    ),
    Stop(
        "{key} lies {apart} ahead of {query}. The causal mask makes its logit {logit} and its "
        "weight exactly {with}. In the maps this is the hatched triangle, whatever the slope.",
        Selection(query=2, key=4),
        "head",
    ),
    Stop(
        "With {heads} heads the slopes do not fall with the index. Head {head} has {slope}, which "
        "is steeper than the first head's {first_slope}: compare their dots on the log scale.",
        Selection(num_heads=6, head=4),
        "heads",
    ),
    Stop(
        "Two keys compete. {key} has the stronger content, {other} is nearer. They tie at a slope "
        "of {tie}. This head has {slope}, and each token farther multiplies the ratio by "
        "{factor}. Choose another head and see which key wins.",
        Selection(key=0, other=5),
        "compete",
    ),
    Stop(
        "The mask and the bias have different jobs. The bias alone leaves {key}, which lies ahead "
        "of {query}, a weight of {bias_alone}. Only the mask takes it to {with}.",
        Selection(query=2, key=4),
        "mask",
    ),
    Stop(
        "Code may add a bias by the position of the key: {key} gets a bias of {key_bias} instead "
        "of {bias} logits. In the row of {query} every key has the same {row_constant} logits too "
        "much, so softmax gives the same weights.",
        Selection(key=4),
        "shift",
    ),
    Stop(
        "The bias is defined at any distance. At {far} tokens it is {far_bias} logits in head "
        "{head}. That is arithmetic: how good a model is at such lengths has to be measured.",
        Selection(head=3, far=2047),
        "far",
    ),
    Stop(
        "Last, the cache. The newest query, {query}, stands behind the keys stored before it, and "
        "{key} gets {with}. Counted as the first position it would give that key {restarted}.",
        Selection(),
        "cache",
    ),
)
