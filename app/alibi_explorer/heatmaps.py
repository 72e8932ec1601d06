"""The four arrays of a head that are shown as a picture and as a table alike."""

from collections.abc import Callable
from typing import NamedTuple

from alibi_explorer import formatting as text
from alibi_explorer import theme


class Heatmap(NamedTuple):
    """One array of the head as a picture and as a table.

    `values` is the array's path on the calculation and `depends_on` what it is a function of;
    `scale` is the fixed range in the array's own unit, `ends` its two ends as a legend says them.
    """

    caption: str
    values: str
    written: Callable[[float], str]
    shade: Callable[[float], str]
    scale: tuple[float, float]
    ends: tuple[str, str]
    colours: str
    depends_on: tuple[str, ...]


def _ends(
    written: Callable[[float], str], scale: tuple[float, float], unit: str = ""
) -> tuple[str, str]:
    return f"{written(scale[0])}{unit}", f"{written(scale[1])}{unit}"


def _whole_percent(share: float) -> str:
    return text.number(100 * share)


HEATMAPS = {
    "bias": Heatmap(
        caption="Distance bias, logits",
        values="distance_bias",
        written=text.number,
        shade=theme.bias_shade,
        scale=theme.BIAS_RANGE,
        ends=_ends(text.number, theme.BIAS_RANGE),
        colours="bias_ramp",
        depends_on=("slope",),
    ),
    "alibi": Heatmap(
        caption="Weight with ALiBi, % of the row",
        values="alibi_weights",
        written=text.percent_digits,
        shade=theme.weight_shade,
        scale=theme.WEIGHT_RANGE,
        ends=_ends(_whole_percent, theme.WEIGHT_RANGE, " %"),
        colours="weight_ramp",
        depends_on=("slope",),
    ),
    "plain": Heatmap(
        caption="Weight without ALiBi, % of the row",
        values="plain_weights",
        written=text.percent_digits,
        shade=theme.weight_shade,
        scale=theme.WEIGHT_RANGE,
        ends=_ends(_whole_percent, theme.WEIGHT_RANGE, " %"),
        colours="weight_ramp",
        depends_on=(),
    ),
    "difference": Heatmap(
        caption="With minus without, percentage points",
        values="weight_difference",
        written=text.points,
        shade=theme.difference_shade,
        scale=theme.DIFFERENCE_RANGE,
        ends=_ends(text.points, theme.DIFFERENCE_RANGE),
        colours="difference_ramp",
        depends_on=("slope",),
    ),
}

SYMMETRIC_BIAS = HEATMAPS["bias"]._replace(
    caption="Bias without the causal mask, logits", values="mask_and_bias.symmetric_bias"
)
"""The absolute distance, for attention that may look ahead."""
