"""Can the reader work an example, and which readings of ALiBi are mistaken?

Each question states its inputs, and the core's own functions give every number that follows from
them. Its texts are plain and name these numbers in braces: ``{bias}``, or ``{weight:percent}``
with the function of the view's formatting that writes it.

Source: `EXAMPLES` are the worked examples and practice questions of the lesson's texts; the
other questions are our own, over common misreadings of Press, Smith and Lewis, "Train Short, Test
Long" (arXiv:2108.12409).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from alibi_core.bias import distance_bias, key_position_bias
from alibi_core.calculation import calculate
from alibi_core.compare import compare_keys
from alibi_core.lesson import PAPER_RESULT
from alibi_core.selection import Selection
from alibi_core.slopes import alibi_slopes

Values = Mapping[str, float | tuple[float, ...]]


@dataclass(frozen=True)
class Answer:
    """One answer that a reader may give.

    Attributes
    ----------
    given : str or float
        The text of an option, or the number that one may come to.
    correction : str
        What one might think and what is so, to follow "Not quite: "; empty for the right answer.
    """

    given: str | float
    correction: str = ""


@dataclass(frozen=True)
class Question:
    """One question, with the answer worked out.

    Attributes
    ----------
    name : str
        One word, used in the URL.
    prompt : str
        Template of the question.
    answers : tuple of Answer
        One of them right. All of a kind: the options to choose from, or numbers of which the wrong
        ones are expected slips.
    worked : str
        Template of the answer, worked with numbers.
    values : mapping of str to float or tuple of float
        The named numbers of the templates.
    unit : str
        Of a number; empty for a position, an index or a ratio.
    tolerance : float
        How far from the right number an answer may be, in its unit.
    hint : str
        Template of the correction for any other number.
    rests_on : str
        What its answer rests on: ``arithmetic`` (follows from the formula), ``illustrative`` (the
        lesson's teaching values) or ``measured`` (an experiment, with its conditions).
    selection : Selection
        What the explorer can show of it.
    """

    name: str
    prompt: str
    answers: tuple[Answer, ...]
    worked: str
    values: Values
    selection: Selection
    rests_on: str = "arithmetic"
    unit: str = ""
    tolerance: float = 0.0
    hint: str = ""

    @property
    def right(self) -> str | float:
        """The right option, as a template, or the right number."""
        return next(answer.given for answer in self.answers if not answer.correction)

    @property
    def kind(self) -> str:
        """``choice`` or ``number``."""
        return "choice" if isinstance(self.right, str) else "number"


def _pair(content: float, slope: float, distance: int) -> dict[str, float]:
    """One query-key pair: content, penalty, bias and biased logit in logits."""
    bias = distance_bias([slope], query_positions=[distance], key_positions=[0]).item()
    return {
        "content": content,
        "slope": slope,
        "distance": distance,
        "penalty": -bias,
        "bias": bias,
        "biased": content + bias,
        "added": content - bias,
    }


def _not_in_percent(share: float) -> Answer:
    return Answer(share, "this is the weight as a share of 1. In percent it is 100 times that.")


def _biased_logit(
    name: str, prompt: str, after: str, values: dict[str, float], selection: Selection
) -> Question:
    """A question for the biased logit of one pair."""
    return Question(
        name=name,
        prompt=prompt,
        answers=(
            Answer(values["biased"]),
            Answer(
                values["added"],
                "this adds the penalty of {penalty} logits. The distance bias is its negative, "
                "{bias}, and lowers the logit.",
            ),
            Answer(
                values["bias"],
                "this is the distance bias alone. The content logit, {content}, is still to be "
                "added.",
            ),
            Answer(
                values["penalty"],
                "this is slope times distance. It is still to be taken away from the content "
                "logit, {content}.",
            ),
        ),
        worked="{content} − {slope} × {distance} = {content} − {penalty} = {biased} logits."
        + after,
        values=values,
        unit="logits",
        tolerance=0.005,
        hint="the biased logit is the content logit minus slope times distance.",
        selection=selection,
    )


def _examples() -> tuple[Question, ...]:
    near, far = _pair(2.0, 0.25, 10 - 7), _pair(2.0, 0.25, 10 - 2)
    steep, shallow = _pair(3.0, 0.5, 20), _pair(3.0, 0.03, 20)
    kept = {
        name: compare_keys((0.0, 0.0), (20, 0), pair["slope"]).odds
        for name, pair in (("steep_odds", steep), ("shallow_odds", shallow))
    }
    slope = alibi_slopes(4)[-1].item()
    distance = PAPER_RESULT.test_tokens - 1
    unseen = _pair(0.0, slope, distance)
    no_logit = calculate(Selection(query=2, key=2))
    at_twenty = {
        name: calculate(Selection(num_heads=8, head=head, far=20))
        for name, head in (("steep", 0), ("shallow", 4))
    }
    like_small = calculate(Selection())
    return (
        _biased_logit(
            "near",
            "A query stands at position {query}, a key at position {key}. The content logit is "
            "{content}, the slope {slope}. What is the biased logit?",
            " The explorer has a pair with the same numbers.",
            near | {"query": 10, "key": 7},
            Selection(query=3, key=0),
        ),
        _biased_logit(
            "zero",
            "The same query at position {query}, content logit {content}, slope {slope}, but a "
            "key at position {key}. What is the biased logit?",
            " A logit of {biased} is not a weight of {biased}: its exponential is {exponential}. "
            "The explorer has a pair with this logit; its weight is {weight:percent}.",
            far
            | {
                **{"query": 10, "key": 2, "exponential": math.exp(far["biased"])},
                "weight": no_logit.pair.alibi_weight,
            },
            no_logit.selection,
        ),
        _biased_logit(
            "steep",
            "Content logit {content}, slope {slope}, distance {distance}. What is the biased "
            "logit?",
            " The penalty outgrows this content logit. The explorer has a head with this slope.",
            steep,
            at_twenty["steep"].selection,
        ),
        _biased_logit(
            "shallow",
            "Again content logit {content} and distance {distance}, now with slope {slope}. What "
            "is the biased logit?",
            " At the same distance this key is less penalised than with slope {steep}. The nearest "
            "slope of {heads} heads is {nearest}, in head {head}.",
            shallow
            | {
                "steep": steep["slope"],
                "heads": at_twenty["shallow"].selection.num_heads,
                "head": at_twenty["shallow"].selection.head,
                "nearest": at_twenty["shallow"].slope,
            },
            at_twenty["shallow"].selection,
        ),
        _biased_logit(
            "small",
            "Content logit {content}, slope {slope}, distance {distance}. What is the biased "
            "logit?",
            " The explorer has numbers near these: slope {near_slope} at distance {near_distance}.",
            _pair(1.5, 0.2, 6)
            | {"near_slope": like_small.slope, "near_distance": like_small.pair.distance},
            like_small.selection,
        ),
        Question(
            name="spread",
            prompt="One head has slope {shallow}, another {steep}. Why does the first reach "
            "farther back?",
            answers=(
                Answer(
                    "A small slope raises the logits of far keys.",
                    "one might think that far keys gain. No allowed key gains: the bias is 0 at "
                    "the query's own key and negative at all others.",
                ),
                Answer(
                    "The causal mask lets the first head see more keys.",
                    "one might think that each head has a mask of its own. The causal mask is the "
                    "same in every head; only the slopes differ.",
                ),
                Answer(
                    "A small slope takes little away for each token of distance, so content "
                    "decides more."
                ),
            ),
            worked="At equal content a key {distance} tokens back weighs exp(−{shallow} × "
            "{distance}) ≈ {shallow_odds:significant} times as much as the query's own key in "
            "the first head, and exp(−{steep} × {distance}) ≈ {steep_odds:significant} times "
            "in the second.",
            values={
                **kept,
                "steep": steep["slope"],
                "shallow": shallow["slope"],
                "distance": steep["distance"],
            },
            selection=Selection(head=3),
        ),
        Question(
            name="length",
            prompt="A model was trained on texts of {tokens} tokens. Why is its distance bias "
            "defined at distance {distance} too, where a learned table of {tokens} positions "
            "has no row?",
            answers=(
                Answer("It is a product of slope and distance, which needs no table."),
                Answer(
                    "Training has learned a bias for every distance.",
                    "one might think that distances are learned. The bias is worked out from the "
                    "slope, which is fixed before training.",
                ),
                Answer(
                    "ALiBi models are good at any length.",
                    "one might take defined for good. How well a model does on longer texts has "
                    "to be measured; arithmetic does not say it.",
                ),
            ),
            worked="With slope {slope} the bias is −{slope} × {distance} = {bias} logits. The "
            "formula has an answer at any distance; how good a model is there is another question.",
            values=unseen | {"tokens": PAPER_RESULT.train_tokens},
            selection=Selection(head=3, far=distance),
        ),
    )


def _ours() -> tuple[Question, ...]:
    return (*_on_weights(), *_on_mask_and_shift(), *_on_slopes(), *_on_use())


def _on_weights() -> tuple[Question, ...]:
    opening = calculate(Selection())
    query, pair = opening.selection.query, opening.pair
    next_pair = opening.pair_at(query, 1)
    cut = Selection(num_heads=8, head=0, far=PAPER_RESULT.train_tokens - 1)
    cut_off, cut_away = calculate(cut), calculate(cut).far_away
    apart = calculate(Selection(key=query - 1, other=query, equal=1))
    ratio = apart.competition.comparison
    rivals = calculate(Selection(other=query)).competition.comparison
    rival = opening.pair_at(query, query)
    if rivals.tie_slope is None:
        raise ValueError("the opening key must have a slope at which it ties; mend the lesson")
    return (
        Question(
            name="weight",
            rests_on="illustrative",
            prompt="In head {head} of {heads} the biased logits of one row are {logits}, keys 0 to "
            "{query}. What is the attention weight of key {key}?",
            answers=(
                Answer(100 * pair.alibi_weight),
                _not_in_percent(pair.alibi_weight),
                Answer(
                    100 * pair.plain_weight,
                    "this is the weight without ALiBi. The logits given here hold the distance "
                    "bias already.",
                ),
                Answer(
                    100 / opening.allowed_counts[query].item(),
                    "this is an equal share for each key. Softmax shares by the exponentials of "
                    "the logits.",
                ),
            ),
            worked="exp({biased}) ÷ the sum of all exponentials ≈ {exponential:number} ÷ "
            "{denominator:number} ≈ {weight:percent}. Without the bias it would be "
            "{plain:percent}.",
            values={
                "head": opening.selection.head,
                "heads": opening.selection.num_heads,
                "query": query,
                "key": pair.key,
                "logits": tuple(opening.biased_logits[query].tolist()),
                "biased": pair.biased_logit,
                "exponential": pair.alibi_exponential,
                "denominator": opening.alibi_denominators[query].item(),
                "weight": pair.alibi_weight,
                "plain": pair.plain_weight,
            },
            unit="%",
            tolerance=0.1,
            hint="take the exponential of each logit, and divide that of key {key} by the sum of "
            "all.",
            selection=opening.selection,
        ),
        Question(
            name="cutoff",
            prompt="A key is {distance} tokens back, in a head with slope {slope}. Content is "
            "equal. Is its weight exactly 0 by the formula?",
            answers=(
                Answer(
                    "Yes, a steep head stops before that.",
                    "one might think that a steep head has a last distance. The bias falls in a "
                    "straight line and has no end.",
                ),
                Answer("No, it is tiny and more than 0."),
                Answer(
                    "Yes, beyond some distance the bias becomes −∞.",
                    "one might take the bias for a mask. Only the causal mask sets a logit to −∞.",
                ),
            ),
            worked="The bias is −{slope} × {distance} = {bias} logits. Against the query's own key "
            "the weight is exp({bias}), about 10 to the power {exponent:number.1}: more than 0. "
            "A computer may round a number so small to 0; the formula does not.",
            values={
                "distance": cut.far,
                "slope": cut_off.slope,
                "bias": cut_away.biases[cut.head].item(),
                "exponent": cut_away.relative_exponents[cut.head].item(),
            },
            selection=cut,
        ),
        Question(
            name="monotone",
            rests_on="illustrative",
            prompt="In head {head} of {heads}, query {query} looks back to keys 0 to {query}. Does "
            "key {key}, the farthest, get the smallest weight?",
            answers=(
                Answer(
                    "Yes, a weight falls with every token of distance.",
                    "one might think that weights follow distance alone. The bias does; the "
                    "weight depends on content too.",
                ),
                Answer(
                    "Yes, because the slope is positive.",
                    "a positive slope makes the bias fall with distance. Content logits can "
                    "still turn the order of the weights.",
                ),
                Answer("No, its strong content makes up for its distance."),
            ),
            worked="Key {key}: {content} − {penalty} = {biased} logits, {weight:percent}. "
            "Key {next}, one token nearer: {next_content} − {next_penalty} = {next_biased} logits, "
            "{next_weight:percent}.",
            values={
                "head": opening.selection.head,
                "heads": opening.selection.num_heads,
                "query": query,
                "key": pair.key,
                "content": pair.content_logit,
                "penalty": pair.penalty,
                "biased": pair.biased_logit,
                "weight": pair.alibi_weight,
                "next": next_pair.key,
                "next_content": next_pair.content_logit,
                "next_penalty": next_pair.penalty,
                "next_biased": next_pair.biased_logit,
                "next_weight": next_pair.alibi_weight,
            },
            selection=opening.selection,
        ),
        Question(
            name="ratio",
            prompt="Two keys have equal content, and one is a single token farther. The slope is "
            "{slope}. How many times the nearer key's weight does the farther one get?",
            answers=(
                Answer(ratio.odds),
                Answer(
                    1 - apart.slope,
                    "one might think that a token takes the share {slope} away. It takes "
                    "{slope} from the logit; the weights follow its exponential.",
                ),
                Answer(
                    ratio.distance_log_odds,
                    "this is the difference of the two logits. The ratio of the weights is its "
                    "exponential.",
                ),
            ),
            worked="The denominator of the row cancels, so the ratio is exp(−{slope}) ≈ "
            "{odds:significant}, whatever the other keys are.",
            values={"slope": apart.slope, "odds": ratio.odds},
            tolerance=0.005,
            hint="in a ratio of two weights the denominator cancels. What is left is the "
            "exponential of the difference of the logits.",
            selection=apart.selection,
        ),
        Question(
            name="tie",
            rests_on="illustrative",
            prompt="One key has content logit {content} at distance {distance}, another {rival} at "
            "distance {rival_distance}. At which slope do both get the same weight?",
            answers=(
                Answer(rivals.tie_slope),
                Answer(
                    rivals.content_log_odds,
                    "this is the difference in content. It has to cover {distance} tokens, so "
                    "divide it by these.",
                ),
            ),
            worked="({content} − {rival}) ÷ ({distance} − {rival_distance}) = {log_odds} ÷ "
            "{distance} = {tie} logits per token. In a steeper head the nearer key weighs more.",
            values={
                "content": pair.content_logit,
                "distance": pair.distance,
                "rival": rival.content_logit,
                "rival_distance": rival.distance,
                "log_odds": rivals.content_log_odds,
                "tie": rivals.tie_slope,
            },
            unit="logits per token",
            tolerance=0.001,
            hint="at a tie both biased logits are equal. Divide the difference in content by the "
            "difference in distance.",
            selection=Selection(other=query),
        ),
    )


def _on_mask_and_shift() -> tuple[Question, ...]:
    ahead = calculate(Selection(query=2, key=4))
    masked, mirrored = ahead.pair, ahead.pair_at(4, 2)
    opening = calculate(Selection())
    query, pair, forms = opening.selection.query, opening.pair, opening.forms
    by_key = key_position_bias([opening.slope], query + 1)[0, 0]
    shifted = {
        "query": query,
        "key": pair.key,
        "slope": opening.slope,
        "constant": forms.key_position_constants[query].item(),
        "weight": pair.alibi_weight,
        "shifted": forms.key_position_weights[query, pair.key].item(),
    }
    return (
        Question(
            name="masked",
            prompt="Query {query} and key {key}, under the causal mask. What is the attention "
            "weight?",
            answers=(Answer(100 * masked.alibi_weight),),
            worked="Key {key} lies {apart} tokens ahead of query {query}. The formula of the bias "
            "gives {bias:signed} logits there, but the mask comes after it: the biased logit is "
            "{biased} and the weight exactly {weight:percent}, whatever the content.",
            values={
                "query": masked.query,
                "key": masked.key,
                "apart": masked.tokens_apart,
                "bias": masked.distance_bias,
                "biased": masked.biased_logit,
                "weight": masked.alibi_weight,
            },
            unit="%",
            hint="one might reckon with the bias here. The key is ahead of the query, so the mask "
            "decides alone.",
            selection=ahead.selection,
        ),
        Question(
            name="mirror",
            rests_on="illustrative",
            prompt="Without the causal mask the bias −m·|i − j| is the same for query {query} and "
            "key {key} as for query {key} and key {query}. Are the weights under the causal mask "
            "symmetric too?",
            answers=(
                Answer("No, one of the two keys is masked."),
                Answer(
                    "Yes, the lower triangle can be copied to the upper one.",
                    "one might think that symmetry of the bias carries over. Above the diagonal "
                    "every key is ahead of its query and has no weight.",
                ),
                Answer(
                    "Yes, because both distances are {apart} tokens.",
                    "the two keys are equally far apart, but one of them lies ahead. The mask "
                    "asks which way, not how far.",
                ),
            ),
            worked="Query {key} gives key {query} a weight of {mirrored:percent}. Query {query} "
            "gives key {key}, which lies ahead, {weight:percent}.",
            values={
                "query": masked.query,
                "key": masked.key,
                "apart": masked.tokens_apart,
                "weight": masked.alibi_weight,
                "mirrored": mirrored.alibi_weight,
            },
            selection=Selection(query=4, key=2),
        ),
        Question(
            name="positive",
            rests_on="illustrative",
            prompt="A library adds m·j to the logit of key j. With slope {slope} that is {biases}, "
            "and no value is negative. Is this a bug?",
            answers=(
                Answer(
                    "Yes, a distance bias is never positive.",
                    "in the form −m(i − j) no allowed key has a positive bias. This is another "
                    "form: each row is higher by one constant.",
                ),
                Answer("No, under a causal mask the weights are the same."),
                Answer(
                    "Yes, it prefers the last keys of the text, not the nearest.",
                    "one might read it so. Under the causal mask the last allowed key is the "
                    "nearest.",
                ),
            ),
            worked="For query {query} the form −m(i − j) gives {distance_biases}. Each value is "
            "m·i = {slope} × {query} = {constant} logits lower, the same for every key, and "
            "softmax does not see that: key {key} gets {shifted:percent} either way.",
            values={
                **shifted,
                "biases": tuple(by_key.tolist()),
                "distance_biases": tuple(opening.distance_bias[query].tolist()),
            },
            selection=opening.selection,
        ),
        Question(
            name="shift",
            rests_on="illustrative",
            prompt="Key {key} has {weight:percent} of a row. Now every logit of this row gets "
            "{constant} more. What is the weight of key {key}?",
            answers=(Answer(100 * shifted["shifted"]), _not_in_percent(shifted["shifted"])),
            worked="Still {shifted:percent}. Every exponential of the row is multiplied by "
            "exp({constant}), and so is their sum: the factor cancels.",
            values=shifted,
            unit="%",
            tolerance=0.1,
            hint="one might think that a higher logit means a higher weight. Here all logits "
            "of the row rise alike.",
            selection=opening.selection,
        ),
    )


def _on_slopes() -> tuple[Question, ...]:
    six = calculate(Selection(num_heads=6, count=6))
    steepest = calculate(Selection(num_heads=6, head=six.schedule.order[0], count=6))
    eight = alibi_slopes(8)
    single = calculate(Selection(num_heads=1, count=1))
    alone, (alone_source,) = single.slope, single.slope_sources
    return (
        Question(
            name="order",
            prompt="A model has {heads} heads, 0 to {last}. Which one is the steepest?",
            answers=(
                Answer(
                    "Head 0",
                    "one might think that slopes fall with the head index. They do for "
                    "powers of two; here head 0 has {first_slope}.",
                ),
                Answer("Head {steepest}"),
                Answer(
                    "Head {last}",
                    "one might think that slopes rise with the head index. Head {last} has "
                    "{last_slope}.",
                ),
            ),
            worked="The slopes, from head 0 on: {slopes}. The first {kept} are the whole "
            "{kept}-head schedule. Head {steepest} begins the entries taken from the "
            "{source}-head schedule, with {steepest_slope}.",
            values={
                "heads": six.selection.num_heads,
                "last": six.selection.num_heads - 1,
                "steepest": steepest.selection.head,
                "steepest_slope": steepest.slope,
                "first_slope": six.slopes[0].item(),
                "last_slope": six.slopes[-1].item(),
                "slopes": tuple(six.slopes.tolist()),
                "kept": six.appended_heads[0],
                "source": steepest.slope_sources[steepest.selection.head].schedule_heads,
            },
            selection=steepest.selection,
        ),
        Question(
            name="learned",
            prompt="Where do the slopes of a model with {heads} heads come from?",
            answers=(
                Answer(
                    "They are learned with the projections.",
                    "the projections of query, key and value are learned. The slopes are not: "
                    "they stay as they were set.",
                ),
                Answer(
                    "They depend on the length of the text.",
                    "one might think that longer texts need other slopes. The schedule knows the "
                    "number of heads and nothing of the text.",
                ),
                Answer("They follow from the number of heads and stay fixed."),
            ),
            worked="With {heads} heads the schedule starts at {first}, and each further slope is "
            "{ratio} times the one before, down to {last}. Training changes none of them.",
            values={
                "heads": len(eight),
                "first": eight[0].item(),
                "ratio": (eight[1] / eight[0]).item(),
                "last": eight[-1].item(),
            },
            selection=Selection(num_heads=8, count=8),
        ),
        Question(
            name="onehead",
            prompt="A model has a single head. What is its slope by the reference schedule?",
            answers=(
                Answer(alone),
                Answer(
                    eight[0].item(),
                    "this is the first slope of {heads} heads. With one head the first step of "
                    "the schedule is also its last.",
                ),
                Answer(
                    1.0,
                    "one might begin at a slope of 1. The schedule begins one step below 1, and "
                    "with one head this step leads to the shallowest slope.",
                ),
            ),
            worked="The schedule of a power of two ends at 2 to the power {exponent}, however many "
            "heads it has. A single head is the last: its slope is 1 ÷ {inverse} = {slope} logits "
            "per token, as of head {last} of {heads}.",
            values={
                "slope": alone,
                "inverse": 1 / alone,
                "exponent": alone_source.exponent,
                "heads": len(eight),
                "last": len(eight) - 1,
            },
            unit="logits per token",
            tolerance=0.00001,
            hint="in the schedule of H heads, a power of two, head h has the slope 2 to the power "
            "{exponent}(h + 1)/H. Here H is 1 and h is 0.",
            selection=single.selection,
        ),
    )


def _on_use() -> tuple[Question, ...]:
    opening = calculate(Selection())
    pair, step = opening.pair, opening.cached_step
    head_dim = 64
    root = math.sqrt(head_dim)
    product = pair.content_logit * root
    return (
        Question(
            name="scale",
            rests_on="illustrative",
            prompt="q·k is {product}, and a head has {head_dim} dimensions. The slope is {slope}, "
            "the distance {distance}. What is the biased logit?",
            answers=(
                Answer(pair.biased_logit),
                Answer(
                    (product + pair.distance_bias) / root,
                    "this divides the bias too. Only q·k is divided by the root of the "
                    "dimensions; the bias is added after it.",
                ),
                Answer(
                    product + pair.distance_bias,
                    "q·k is not divided yet. The content logit is q·k ÷ √{head_dim}.",
                ),
            ),
            worked="The content logit is {product} ÷ √{head_dim} = {product} ÷ {root} = "
            "{content}. The bias comes after the division: {content} − {slope} × {distance} = "
            "{biased} logits.",
            values={
                "product": product,
                "head_dim": head_dim,
                "root": root,
                "slope": opening.slope,
                "distance": pair.distance,
                "content": pair.content_logit,
                "biased": pair.biased_logit,
            },
            unit="logits",
            tolerance=0.005,
            hint="divide q·k by the root of {head_dim}, then take slope times distance away.",
            selection=opening.selection,
        ),
        Question(
            name="cache",
            rests_on="illustrative",
            prompt="A cache holds {keys} keys, at positions 0 to {query}. The newest query belongs "
            "to the last of them and comes alone. Which position does it have in the distance?",
            answers=(
                Answer(float(pair.query)),
                Answer(
                    0.0,
                    "the query is the first of its batch, but not of the text. Its place is that "
                    "of the last stored key.",
                ),
                Answer(
                    float(pair.query + 1),
                    "one might count the stored keys. Positions start at 0, and the query's own "
                    "key is in the cache already.",
                ),
            ),
            worked="It stands at position {query}. In the example of the lesson key 0 then gets "
            "{weight:percent}. Taken for position 0, the query finds key 0 nearest, and it gets "
            "{restarted:percent}.",
            values={
                "keys": opening.allowed_counts[pair.query].item(),
                "query": pair.query,
                "weight": step.weights[0].item(),
                "restarted": step.restarted_weights[0].item(),
            },
            hint="the position of a query is its place in the text, counted from 0.",
            selection=opening.selection,
        ),
        Question(
            name="speed",
            prompt="The paper reports training that was {faster}\u202f% faster. What was faster?",
            answers=(
                Answer(
                    "An attention kernel with the bias.",
                    "one might read it so. Whole trainings were timed, on shorter texts.",
                ),
                Answer(
                    "Training on shorter texts: {train} tokens instead of {test}.",
                ),
                Answer(
                    "Every model with ALiBi, at any length.",
                    "it is one experiment, with one size of model and its own lengths.",
                ),
            ),
            worked="A model of {size} billion parameters, trained on texts of {train} tokens, "
            "matched at {test} tokens the perplexity of one with sinusoidal positions trained at "
            "{test}. Because its texts were shorter, its training took {memory}\u202f% less memory "
            "and was {faster}\u202f% faster.",
            values={
                "faster": PAPER_RESULT.faster_percent,
                "memory": PAPER_RESULT.less_memory_percent,
                "train": PAPER_RESULT.train_tokens,
                "test": PAPER_RESULT.test_tokens,
                "size": PAPER_RESULT.billion_parameters,
            },
            selection=Selection(far=PAPER_RESULT.train_tokens - 1),
            rests_on="measured",
        ),
    )


EXAMPLES: tuple[Question, ...] = _examples()
"""The worked examples and practice questions of the lesson's texts."""

QUESTIONS: tuple[Question, ...] = (*EXAMPLES, *_ours())
"""All questions, in the order of the lesson."""
