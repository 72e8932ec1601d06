"""The markup that the served page, the notebook and any other host share."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from alibi_core import Calculation
from alibi_core.lesson import HEAD_COUNTS
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.sections import SECTIONS, fill_all
from alibi_explorer.state import url_choice
from alibi_explorer.theme import css_variables

THEMES = ("auto", "light", "dark")


def assets() -> Path:
    """The folder of assets: inside the installed package, or beside ``app`` in a checkout."""
    packaged = Path(__file__).parent / "assets"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "assets"


@cache
def stylesheet() -> str:
    return css_variables() + (assets() / "style.css").read_text("utf-8")


def explorer_html(
    calculation: Calculation, *, notice: str = "", theme: str = "auto", figures: bool = True
) -> str:
    """The whole explorer as HTML, every slot filled.

    Parameters
    ----------
    calculation : Calculation
    notice : str
        Plain text for the line below the controls; escaped here.
    theme : str
        One of `THEMES`.
    figures : bool
        Whether the host draws Bokeh figures; without them the tables take their place.
    """
    fills = {slot: Markup(html) for slot, html in fill_all(calculation).items()}
    return (
        _environment()
        .get_template("explorer.html")
        .render(
            fills=fills,
            choice=url_choice(calculation.selection),
            tokens=calculation.tokens,
            head_counts=HEAD_COUNTS,
            sections=SECTIONS,
            heatmaps=HEATMAPS,
            notice=notice,
            theme=theme,
            themes=THEMES,
            figures=figures,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(assets()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
