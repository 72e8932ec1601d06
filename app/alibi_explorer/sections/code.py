"""Code for this state: the reader's choice in NumPy and PyTorch, and what it prints."""

from collections.abc import Mapping

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import worked_row

LISTINGS: Mapping[str, str] = {
    "with_numpy": "NumPy",
    "with_eager": "PyTorch, step by step",
    "with_sdpa": "PyTorch, SDPA with a bias",
    "with_flex": "PyTorch, FlexAttention",
}
"""Files of ``assets/code`` by name, with their titles; the page writes the choice into them."""


def fill(calculation: Calculation) -> dict[str, str]:
    return {
        "slope": text.exact(calculation.slope),
        "row": worked_row(calculation),  # of which the style shows the chosen key
        "without": text.percent(calculation.pair.plain_weight),
    }


SECTION = Section(
    name="code",
    title="Code for this state",
    kind="illustrative",
    depends_on={"slope": ("slope",), "row": ("slope", "query"), "without": ("query", "key")},
    fill=fill,
)
