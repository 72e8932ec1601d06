"""One frozen palette for light and dark, and the fixed ranges of every colour scale.

The query is blue and the key orange (after Okabe and Ito, safe for colour-blind readers) wherever
they occur. Weights use one hue from the background up, the bias another; a difference runs
between the two with the background at zero. A shade means the same in every choice.
"""

from dataclasses import asdict, dataclass

import numpy as np

LEVELS = 100
"""Shades and bars come in levels 0 to 100, as classes ``s0`` to ``s100``."""


@dataclass(frozen=True)
class Palette:
    """Colours as #rrggbb. `weight` and `bias` are the far ends of their scales."""

    page: str
    surface: str
    raised: str
    text: str
    muted: str
    line: str
    control: str
    query: str
    key: str
    weight: str
    weight_strong: str
    bias: str
    hatch: str


LIGHT = Palette(
    page="#f6f5f1",
    surface="#ffffff",
    raised="#f1f0ea",
    text="#1a1d21",
    muted="#565d66",
    line="#d9d7ce",
    control="#7d828a",
    query="#0068a6",
    key="#b34700",
    weight="#2bb38a",
    weight_strong="#00785a",
    bias="#d48ab3",
    hatch="#b9b6aa",
)
DARK = Palette(
    page="#101317",
    surface="#171b20",
    raised="#20262d",
    text="#e8eaed",
    muted="#a4acb5",
    line="#333b44",
    control="#7b8691",
    query="#62b8ec",
    key="#f2a24d",
    weight="#0a7054",
    weight_strong="#35c498",
    bias="#8d4670",
    hatch="#4d5661",
)

WEIGHT_RANGE = (0.0, 1.0)
BIAS_RANGE = (-4.0, 0.0)
DIFFERENCE_RANGE = (-0.5, 0.5)
DISTANCE_RANGE = (0.0, 6.0)  # distances from 1 to 1,000,000 tokens, on a log scale
EXPONENT_RANGE = (-8.0, 0.0)  # slopes from 1/256 to 1, on a log scale


def level(value: float, scale: tuple[float, float]) -> int:
    """Where `value` stands in a fixed range: 0 at its first end, 100 at its second."""
    start, end = scale
    return round(LEVELS * min(max((value - start) / (end - start), 0.0), 1.0))


def weight_shade(share: float) -> str:
    """Classes of a cell that holds a weight."""
    return f"weight s{level(share, WEIGHT_RANGE)}"


def bias_shade(bias: float) -> str:
    """Classes of a cell that holds a distance bias in logits."""
    return f"bias s{LEVELS - level(bias, BIAS_RANGE)}"


def difference_shade(difference: float) -> str:
    """Classes of a cell that holds a difference of weights: two hues that meet at zero."""
    low, high = DIFFERENCE_RANGE
    if difference < 0:
        return f"loss s{level(difference, (0.0, low))}"
    return f"gain s{level(difference, (0.0, high))}"


def ramp(*colours: str) -> list[str]:
    """LEVELS + 1 colours through the given ones, mixed evenly in sRGB as CSS color-mix does."""
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours])
    places = np.linspace(0, len(colours) - 1, LEVELS + 1)
    mixed = [np.interp(places, range(len(colours)), channel) for channel in stops.T]
    return [
        "#" + "".join(f"{round(part):02x}" for part in colour)
        for colour in zip(*mixed, strict=True)
    ]


def figure_colours(palette: Palette) -> dict[str, str | list[str]]:
    """Every colour that a figure names, the scales included; the page swaps light for dark."""
    return {
        **asdict(palette),
        "weight_ramp": ramp(palette.surface, palette.weight),
        "bias_ramp": ramp(palette.bias, palette.surface),  # Bokeh maps from low to high
        "difference_ramp": ramp(palette.bias, palette.surface, palette.weight),
    }


def css_variables() -> str:
    """The palette as CSS custom properties and the levels as classes."""
    dark = asdict(DARK)
    colours = "".join(
        f"--{name.replace('_', '-')}:light-dark({light},{dark[name]});"
        for name, light in asdict(LIGHT).items()
    )
    levels = "".join(f".s{step}{{--s:{step}}}" for step in range(LEVELS + 1))
    return f".alibi,body:has(.alibi){{{colours}}}{levels}"
