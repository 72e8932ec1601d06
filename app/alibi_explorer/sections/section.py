"""What a section is: a name, slots of HTML with what each depends on, and one pure fill."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from alibi_core import Calculation
from alibi_explorer.figures import Figures


@dataclass(frozen=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    name : str
        Used in the URL and as the prefix of its slots; its prose is ``prose/<name>.html``.
    title : str
    kind : str
        What its claim rests on: ``arithmetic`` (follows from the formula), ``illustrative`` (our
        teaching values) or ``measured`` (an experiment, with its conditions). A part that rests
        on something else has a label of its own; empty where every part has.
    depends_on : mapping of slot to tuple of str
        Which fields of the selection, or the ``slope`` of its head, the slot's HTML is a
        function of. The page sends a slot only when one of them changed.
    fill : callable
        Calculation to ``{slot: HTML}``, pure: it lays out and formats, and never computes.
    figures : class, optional
        Builds the Bokeh figures of the section for one session.
    """

    name: str
    title: str
    kind: str
    depends_on: Mapping[str, tuple[str, ...]]
    fill: Callable[[Calculation], dict[str, str]]
    figures: type[Figures] | None = None


def values_of(calculation: Calculation) -> dict[str, float]:
    """What a slot may depend on: the choice, and the slope of its head."""
    return vars(calculation.selection) | {"slope": calculation.slope}
