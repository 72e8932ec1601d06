"""The row: every key of one query, because a weight depends on all of them."""

from alibi_core import Calculation, Pair
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import MASKED, weight


def fill(calculation: Calculation) -> dict[str, str]:
    query = calculation.selection.query
    pairs = [calculation.pair_at(query, key) for key in range(len(calculation.tokens))]
    contents = text.column([pair.content_logit for pair in pairs])
    biases = text.column([pair.distance_bias for pair in pairs if pair.allowed])
    logits = text.column([pair.biased_logit for pair in pairs])
    masked = [MASKED] * (len(pairs) - len(biases))
    rows = "".join(
        _key_row(calculation, *cells)
        for cells in zip(pairs, contents, biases + masked, logits, strict=True)
    )
    keys = text.key_count(calculation.allowed_counts[query].item())
    sums = "".join(
        f"<td>{text.number(total[query].item(), 12)}</td><td>–</td>"
        for total in (calculation.alibi_sums, calculation.plain_sums)
    )
    return {
        "caption": f"Keys of {text.query_token(calculation, query)}",
        "keys": rows,
        "sums": f'<th scope="row" colspan="5">sum over {keys}; 1 is 100 %</th>{sums}',
        "remark": _remark(calculation),
    }


def _key_row(calculation: Calculation, pair: Pair, content: str, bias: str, logit: str) -> str:
    name = f'<button type="button">{text.key_token(calculation, pair.key)}</button>'
    ranks = [str(rank) if pair.allowed else "–" for rank in (pair.alibi_rank, pair.plain_rank)]
    return (
        f'<tr data-key="{pair.key}" data-pick{"" if pair.allowed else " class=masked"}>'
        f'<th scope="row">{name}</th>'
        f"<td>{text.number(pair.distance)}</td><td>{content}</td><td>{bias}</td><td>{logit}</td>"
        f"<td>{weight(pair.alibi_weight, 'with')}</td><td>{ranks[0]}</td>"
        f"<td>{weight(pair.plain_weight, 'without')}</td><td>{ranks[1]}</td></tr>"
    )


def _remark(calculation: Calculation) -> str:
    pair = calculation.pair
    key = text.key_token(calculation, pair.key)
    if not pair.allowed:
        return (
            f"{key} comes after the query. Its content logit of {text.number(pair.content_logit)} "
            "does not matter here: the causal mask has the last word."
        )
    if pair.nearer_outweighed:
        nearer = text.listed([text.key_token(calculation, key) for key in pair.nearer_outweighed])
        return (
            f"{key} is farther away than {nearer}, yet weighs more: a strong content logit can "
            "beat distance. The bias is a preference, not a cutoff."
        )
    if pair.distance == 0:
        return f"{key} is the query's own position: the only key that the bias leaves as it is."
    return (
        f"No key nearer than {key} has a smaller weight in this row. Choose another key or head: "
        "that depends on content and slope, not on distance alone."
    )


SECTION = Section(
    name="row",
    title="The row",
    kind="illustrative",
    depends_on={
        "caption": ("query",),
        "keys": ("slope", "query"),
        "sums": ("query",),
        "remark": ("slope", "query", "key"),
    },
    fill=fill,
)
