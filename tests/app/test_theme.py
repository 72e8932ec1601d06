"""The palette: readable in both themes, with fixed ranges."""

import itertools
from dataclasses import asdict

import pytest

from alibi_core import Selection, calculate
from alibi_core.lesson import HEAD_COUNTS
from alibi_explorer import theme

PALETTES = {"light": theme.LIGHT, "dark": theme.DARK}


def luminance(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_text_is_readable(palette):
    """Every text colour has a contrast of at least 4.5 on every background it stands on."""
    for text, ground in itertools.product(("text", "muted", "query", "key"), ("page", "surface")):
        assert contrast(getattr(palette, text), getattr(palette, ground)) >= 4.5, (text, ground)
    for text in ("text", "muted", "key"):
        assert contrast(getattr(palette, text), palette.raised) >= 4.5, text
    for chosen in ("query", "key"):
        assert contrast(palette.surface, getattr(palette, chosen)) >= 4.5, "word on a chosen token"


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
@pytest.mark.parametrize("scale", ["weight_ramp", "bias_ramp", "difference_ramp"])
def test_numbers_are_readable_on_every_shade(palette, scale):
    """The number in a cell has a contrast of at least 4.5 at both ends of the scale and between."""
    for shade in theme.figure_colours(palette)[scale]:
        assert contrast(palette.text, shade) >= 4.5


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_marks_stand_out(palette):
    """Borders of controls, bars and outlines have a contrast of at least 3 on their background."""
    for mark, ground in (("control", "surface"), ("control", "page"), ("weight_strong", "surface")):
        assert contrast(getattr(palette, mark), getattr(palette, ground)) >= 3, (mark, ground)


def test_a_ramp_runs_through_its_colours():
    """The ends are the given colours, the middle of three is the second."""
    ramp = theme.ramp("#000000", "#ff0080", "#ffffff")
    assert len(ramp) == theme.LEVELS + 1
    assert (ramp[0], ramp[50], ramp[100]) == ("#000000", "#ff0080", "#ffffff")


def test_level():
    """A value's level is its place in the fixed range; beyond the ends it stays at the end."""
    levels = [theme.level(value, (-4, 0)) for value in (-5, -4, -1, 0, 1)]
    assert levels == [0, 0, 75, 100, 100]


def test_the_fixed_ranges_hold_every_value_of_the_lesson():
    """No bias, weight or difference of any choice lies outside the range of its colours."""
    for count in HEAD_COUNTS:
        for head in range(count):
            calculation = calculate(Selection(count, head))
            for values, (low, high) in (
                (calculation.distance_bias, theme.BIAS_RANGE),
                (calculation.alibi_weights, theme.WEIGHT_RANGE),
                (calculation.weight_difference, theme.DIFFERENCE_RANGE),
            ):
                allowed = values[calculation.allowed]
                assert low <= allowed.min()
                assert allowed.max() <= high


def test_shades_tell_sign_and_size():
    """Zero is the background; a loss and a gain of the same size are as strong, in two hues."""
    assert theme.difference_shade(0.0) == "gain s0"
    assert theme.difference_shade(0.25) == "gain s50"
    assert theme.difference_shade(-0.25) == "loss s50"
    assert theme.bias_shade(0.0) == "bias s0"
    assert theme.bias_shade(-4.0) == "bias s100"
    assert theme.weight_shade(0.2) == "weight s20"


def test_css_and_figures_share_the_palette():
    """Each colour of the palette is a CSS property with its light and its dark value."""
    css = theme.css_variables()
    for name, light in asdict(theme.LIGHT).items():
        assert f"--{name.replace('_', '-')}:light-dark({light},{asdict(theme.DARK)[name]});" in css
