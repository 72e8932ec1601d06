"""The head: bias and weights of every query-key pair of one head."""

from alibi_core import Calculation
from alibi_explorer import formatting as text
from alibi_explorer.figures import HeadFigures
from alibi_explorer.heatmaps import HEATMAPS
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import matrix


def fill(calculation: Calculation) -> dict[str, str]:
    selection = calculation.selection
    heads = "1 head" if selection.num_heads == 1 else f"{selection.num_heads} heads"
    caption = (
        f"Head {selection.head} of {heads}, slope {text.exact(calculation.slope)} logits per token"
    )
    tables = {name: matrix(calculation, heatmap) for name, heatmap in HEATMAPS.items()}
    return {"caption": caption, **tables}


SECTION = Section(
    name="head",
    title="The head",
    kind="illustrative",
    depends_on={
        "caption": ("num_heads", "head"),
        **{name: heat.depends_on for name, heat in HEATMAPS.items()},
    },
    fill=fill,
    figures=HeadFigures,
)
