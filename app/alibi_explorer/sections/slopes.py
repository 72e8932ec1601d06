"""Where the slopes come from: two schedules, any number of heads."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import dot


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "remark": _remark(calculation),
        "table": _table(calculation),
        "order": _order(calculation),
        "geometric": _geometric(calculation),
    }


def _remark(calculation: Calculation) -> str:
    count = calculation.selection.count
    schedule = calculation.schedule
    heads = "1 head" if count == 1 else f"{count} heads"
    kept, last = schedule.sources[0].schedule_heads, schedule.sources[-1].schedule_heads
    rest = "the last the first" if count == kept + 1 else "the rest every second"
    if schedule.ratio is not None:
        start = (
            f"{heads}: a power of two, so one geometric sequence gives every slope. Each is "
            f"{text.about(schedule.ratio)} times the one before."
        )
    elif not schedule.differing_heads:
        start = f"{heads}: a power of two, so one geometric sequence gives every slope."
    else:
        start = (
            f"{heads}: the first {kept} take the whole {kept}-head schedule, {rest} entry of the "
            f"{last}-head schedule."
        )
    if count == 1:
        slope = text.exact(schedule.slopes[0].item())
        return f"{start} It is {slope}, the shallowest slope of every power of two."
    return start


def _table(calculation: Calculation) -> str:
    schedule = calculation.schedule
    differing = set(schedule.differing_heads)
    rows = "".join(
        f'<tr><th scope="row">{head}</th><td>{text.significant(slope)}{dot(source.exponent)}</td>'
        f"<td>{text.power(source)}</td><td>{text.short_place(source)}</td>"
        f"<td>{'≠ ' if head in differing else ''}{text.significant(geometric)}</td></tr>"
        for head, (slope, geometric, source) in enumerate(
            zip(
                schedule.slopes.tolist(),
                schedule.geometric_slopes.tolist(),
                schedule.sources,
                strict=True,
            )
        )
    )
    return (
        "<table><caption>Slopes in head order; dots on a log scale</caption><thead><tr>"
        '<th scope="col">head</th><th scope="col">slope <small>logits per token</small></th>'
        '<th scope="col">exactly</th><th scope="col">from schedule</th>'
        '<th scope="col">plain rule <small>≠ where it differs</small></th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _order(calculation: Calculation) -> str:
    return ", ".join(str(head) for head in calculation.schedule.order)


def _geometric(calculation: Calculation) -> str:
    schedule = calculation.schedule
    count = calculation.selection.count
    if not schedule.differing_heads:
        return "Here the plain geometric rule gives the same slopes."
    first = schedule.differing_heads[0]
    slope, geometric = schedule.slopes[first].item(), schedule.geometric_slopes[first].item()
    exponent = text.number(-schedule.sources[0].max_bias)
    return (
        f"The plain geometric rule, 2<sup>{exponent}(h + 1)/{count}</sup> for every head h, gives "
        f"other slopes in {len(schedule.differing_heads)} of {count} heads. The first is head "
        f"{first}: {text.about(geometric)} instead of {text.about(slope)}. "
        "Run with the other list, a model gets other biases than it was trained with."
    )


SECTION = Section(
    name="slopes",
    title="Where the slopes come from",
    kind="arithmetic",
    depends_on={
        "remark": ("count",),
        "table": ("count",),
        "order": ("count",),
        "geometric": ("count",),
    },
    fill=fill,
)
