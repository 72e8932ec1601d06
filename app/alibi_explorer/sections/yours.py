"""Check yours: what is given to the page, its verdict, and the numbers that differ."""

from alibi_core import Check
from alibi_explorer.sections.section import Section
from alibi_explorer.tables import comparison


def answer(check: Check) -> dict[str, str]:
    """Plain text and HTML; no word of what was given is in the HTML, only its numbers."""
    return {"verdict": check.verdict, "text": str(check), "table": comparison(check)}


def unread(words: str) -> dict[str, str]:
    """The answer where there is no verdict."""
    return {"verdict": "unread", "text": words, "table": ""}


SECTION = Section(
    name="yours",
    title="Check yours",
    kind="arithmetic",
    depends_on={},
    fill=lambda _: {},
)
