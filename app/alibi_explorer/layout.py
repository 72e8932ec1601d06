"""The markup that the served page, the notebook and the embedded page share."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from alibi_core import MODELS as PUBLISHED
from alibi_core import Calculation, Selection
from alibi_core.lesson import CHOICES, HEAD_COUNTS, MODELS, OPENING, PAPER_RESULT
from alibi_core.practice import QUESTIONS
from alibi_core.slopes import Schedule
from alibi_explorer.arrays import ENDINGS
from alibi_explorer.checking import PAGE_LIMIT
from alibi_explorer.formatting import grouped, number
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.sections import SECTIONS, SERVED_SECTIONS, fill_all
from alibi_explorer.sections.code import LISTINGS
from alibi_explorer.sections.practice import asked
from alibi_explorer.snippet import frame
from alibi_explorer.state import SHARED_NAMES, URL_NAMES
from alibi_explorer.theme import css_variables
from alibi_explorer.tour import STOPS, written

TITLE = "ALiBi explorer"
THEMES = ("auto", "light", "dark")
SECTION_NAMES = tuple(section.name for section in SECTIONS)
QUESTION_NAMES = tuple(question.name for question in QUESTIONS)
_OPENING = {name: OPENING[of] for name, of in URL_NAMES.items() if name not in SHARED_NAMES}
CONTROL_NAMES = (*SHARED_NAMES, "theme", "share")


@dataclass(frozen=True)
class View:
    """What of the explorer a page shows, as in its URL.

    Attributes
    ----------
    sections : tuple of str
        Names of the sections, in the order wanted; at least one.
    controls : tuple of str
        Names of the controls; none of them is a choice too.
    theme : str
        ``auto`` follows the system; ``light`` or ``dark``.
    title : bool
        Whether the page carries its title.
    questions : tuple of str
        Names of the practice questions, in the order wanted; at least one.

    Raises
    ------
    TypeError
        If `title` is not a boolean.
    ValueError
        If a name does not exist or stands twice; the message lists the names.
    """

    sections: tuple[str, ...] = SECTION_NAMES
    controls: tuple[str, ...] = CONTROL_NAMES
    theme: str = THEMES[0]
    title: bool = True
    questions: tuple[str, ...] = QUESTION_NAMES

    def __post_init__(self) -> None:
        _check_names("section", self.sections, SECTION_NAMES)
        _check_names("control", self.controls, CONTROL_NAMES)
        _check_names("question", self.questions, QUESTION_NAMES)
        _check_names("theme", (self.theme,), THEMES)
        if not isinstance(self.title, bool):
            raise TypeError(f"title must be True or False, got {self.title!r}")
        if not self.sections:
            raise ValueError(f"a page needs a section; choose from {', '.join(SECTION_NAMES)}")
        if not self.questions:
            raise ValueError(
                f"practice needs a question; choose from {', '.join(QUESTION_NAMES)}, or leave "
                "the section practice out"
            )


def _check_names(kind: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {kind} {name!r}; choose from {', '.join(known)}")
    if len(set(names)) < len(names):
        raise ValueError(f"a {kind} is named twice in {', '.join(names)}; name each once")


def assets() -> Path:
    """The folder of assets: inside the installed package, or beside ``app`` in a checkout."""
    packaged = Path(__file__).parent / "assets"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "assets"


@cache
def stylesheet() -> str:
    return css_variables() + (assets() / "style.css").read_text("utf-8")


@cache
def script(*names: str) -> str:
    """The named scripts of the assets, one after the other."""
    return "\n".join((assets() / name).read_text("utf-8") for name in names)


def explorer_html(
    calculation: Calculation, *, notice: str = "", view: View | None = None, served: bool = True
) -> str:
    """The whole explorer as HTML, every slot filled.

    Parameters
    ----------
    calculation : Calculation
    notice : str
        Plain text for the line below the controls; escaped here.
    view : View, optional
        What is shown; everything by default. The rest is there, but hidden.
    served : bool
        Whether a server stands behind the page, which draws Bokeh figures and checks arrays;
        without it tables take their place, and the sections that need it are left out.
    """
    view = view or View()
    fills = {slot: Markup(html) for slot, html in fill_all(calculation).items()}
    fills["practice.questions"] = Markup(asked(fills["practice.questions"], view.questions))
    shown = {section.name: section for section in SECTIONS}
    order = [*view.sections, *(name for name in SECTION_NAMES if name not in view.sections)]
    template = _environment().get_template("explorer.html")
    return template.render(
        fills=fills,
        choice=_choice(calculation.selection),
        opening=_OPENING,
        tokens=calculation.tokens,
        head_counts=HEAD_COUNTS,
        choices=CHOICES,
        models=MODELS,
        published=PUBLISHED,
        number=number,
        paper=PAPER_RESULT,
        grouped=grouped,
        sections=[*(shown[name] for name in order), *(SERVED_SECTIONS if served else ())],
        tour=_tour(),
        listings={name: _listing(name) for name in LISTINGS},
        left_out=set(SECTION_NAMES) - set(view.sections),
        view=view,
        heatmaps=HEATMAPS,
        notice=notice,
        themes=THEMES,
        frame=frame("{src}"),
        served=served,
        endings=ENDINGS,
        page_limit=PAGE_LIMIT,
        schedules=get_args(Schedule),
        max_bias=calculation.schedule.sources[0].max_bias,
        page_title=TITLE,
    )


def _choice(selection: Selection) -> dict[str, int]:
    return {name: getattr(selection, of) for name, of in URL_NAMES.items()}


def _tour() -> list[dict[str, object]]:
    return [
        {
            "section": stop.section,
            "choice": _choice(stop.selection),
            "html": Markup(written(stop)),
        }
        for stop in STOPS
    ]


@cache
def _listing(name: str) -> dict[str, str]:
    """A file of code, cut where the choice goes; in the file stands the opening choice."""
    names = [URL_NAMES[shared] for shared in SHARED_NAMES]
    left = f"{', '.join(names)} = "
    opening = ", ".join(str(OPENING[of]) for of in names)
    code = (assets() / "code" / f"{name}.py").read_text("utf-8")
    before, after = code.split(left + opening)
    return {"title": LISTINGS[name], "before": before + left, "after": after}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(assets()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment
