"""The controls: the one list among them that follows the choice."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.sections.section import Section


def fill(calculation: Calculation) -> dict[str, str]:
    chosen = calculation.selection.head
    options = "".join(
        f'<option value="{head}"{" selected" if head == chosen else ""}>'
        f"{head} · slope {text.exact(slope)}</option>"
        for head, slope in enumerate(calculation.slopes.tolist())
    )
    return {"heads": options}


SECTION = Section(
    name="controls",
    title="Controls",
    kind="arithmetic",
    depends_on={"heads": ("num_heads", "head")},
    fill=fill,
)
