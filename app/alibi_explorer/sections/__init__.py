"""The sections of the page, in reading order."""

from collections.abc import Collection

from alibi_core import Calculation
from alibi_explorer.sections import (
    cache,
    compete,
    controls,
    far,
    formats,
    head,
    heads,
    mask,
    padding,
    pair,
    practice,
    row,
    shift,
    slopes,
    steps,
    worksheet,
    yours,
)
from alibi_explorer.sections.section import Section, values_of

SECTIONS: tuple[Section, ...] = (
    pair.SECTION,
    row.SECTION,
    head.SECTION,
    heads.SECTION,
    steps.SECTION,
    compete.SECTION,
    mask.SECTION,
    shift.SECTION,
    slopes.SECTION,
    far.SECTION,
    cache.SECTION,
    padding.SECTION,
    formats.SECTION,
    practice.SECTION,
    worksheet.SECTION,
)

SERVED_SECTIONS: tuple[Section, ...] = (yours.SECTION,)
"""What only a page with a server behind it has, as it computes; they come last."""

ALL_SECTIONS: tuple[Section, ...] = (controls.SECTION, *SECTIONS)
"""With the controls, whose list of heads is a fill too."""


def fill_all(calculation: Calculation, changed: Collection[str] | None = None) -> dict[str, str]:
    """The HTML of every slot, by ``section.slot``; with `changed`, only what depends on it."""
    fills = {}
    for section in ALL_SECTIONS:
        wanted = {
            slot
            for slot, names in section.depends_on.items()
            if changed is None or not set(names).isdisjoint(changed)
        }
        if wanted:
            parts = section.fill(calculation)
            fills.update(
                {f"{section.name}.{slot}": parts[slot] for slot in parts if slot in wanted}
            )
    return fills


__all__ = ["ALL_SECTIONS", "SECTIONS", "SERVED_SECTIONS", "Section", "fill_all", "values_of"]
