"""The explorer as one HTML file: the fills of every choice in a table that a script looks up.

A slot's HTML is a function of the few values in its ``depends_on``, and what depends on a head
depends on its slope alone, so the table holds each slot once for each of these values: the
head counts 1 to 16 share sixteen slopes. An entry is a list of blocks, such as the rows of a table,
and blocks are shared too. Those of one form differ in a few pieces of text and a few shades; the
rest, the skeleton, is stored once.
"""

import base64
import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from html import escape

from alibi_core import Selection, alibi_slopes, calculate
from alibi_core.lesson import HEAD_COUNTS, OPENING, TOKENS
from alibi_explorer.layout import TITLE, View, explorer_html, script, stylesheet
from alibi_explorer.sections import ALL_SECTIONS, values_of
from alibi_explorer.snippet import HEIGHT, frame
from alibi_explorer.state import NOTICE, URL_NAMES

_BLOCK = re.compile(r"(?=<(?:tr|li|option|button)\b)")
"""Where an entry is cut: what is in two of them is stored once."""
_GAP = re.compile(r"((?<=>)[^<]+|^[^<]+|\bs\d+\b(?=[^<>]*>))")
"""What may differ between blocks of one form: text between tags, and shades within one."""
_BETWEEN = "\t"  # stands in no fill


def embedded_page(selection: Selection | None = None, view: View | None = None) -> str:
    """The whole explorer as one HTML document that needs no server and no network.

    Parameters
    ----------
    selection : Selection, optional
        The choice that it opens with; the lesson's opening choice by default.
    view : View, optional
        The sections, controls, theme and title that it opens with; everything by default.

    Returns
    -------
    str
        A complete HTML document. Its own policy allows its script and its style by their
        hashes and refuses everything else.
    """
    calculation = calculate(selection or Selection())
    styles, code = stylesheet(), script("arrange.js", "explorer.js", "host.js", "embedded.js")
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(styles)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TITLE}</title>
<style>{styles}</style>
</head>
<body>
<main>{explorer_html(calculation, view=view, figures=False)}</main>
<script type="application/json" id="lesson">{lesson_table()}</script>
<script>{code}</script>
</body>
</html>
"""


class Embedded:
    """The explorer inline in a notebook: it displays itself, also where the kernel is gone."""

    def __init__(self, page: str, height: int) -> None:
        self.page = page
        self.height = height

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="{TITLE}" sandbox="allow-scripts" '
            f'width="100%" height="{self.height}" style="border: 0"></iframe>'
        )


def embed(
    query: int = OPENING["query"],
    key: int = OPENING["key"],
    num_heads: int = OPENING["num_heads"],
    head: int = OPENING["head"],
    *,
    sections: tuple[str, ...] = View.sections,
    controls: tuple[str, ...] = View.controls,
    theme: str = View.theme,
    title: bool = View.title,
    height: int = HEIGHT,
) -> Embedded:
    """The explorer for a notebook cell, without a server.

    Parameters
    ----------
    query, key : int
        Positions, 0 to 5.
    num_heads : int
        Number of heads, 1 to 16.
    head : int
        Head, 0 to ``num_heads - 1``.
    sections, controls, theme, title
        What is shown, as in `View`.
    height : int
        Height of the frame in CSS pixels.

    Returns
    -------
    Embedded
        Displays itself at the end of a cell.

    Raises
    ------
    TypeError, ValueError
        If a value is wrong; the message tells what to choose.
    """
    selection = Selection(num_heads=num_heads, head=head, query=query, key=key)
    view = View(tuple(sections), tuple(controls), theme, title)
    if not isinstance(height, int) or height < 1:
        raise ValueError(f"height {height!r} is no number of pixels; pass a whole one, such as 900")
    return Embedded(embedded_page(selection, view), height)


@cache
def lesson_table() -> str:
    """The table of all fills as JSON that may stand inside a script element.

    ``slopes[heads][head]`` numbers the slopes. ``slots[name]`` has in ``on`` what the slot depends
    on, and in ``rows`` for these values the numbers of its blocks. ``blocks`` has for each the
    number of a skeleton and the pieces that fill its gaps, ``skeletons`` the text around the gaps.
    """
    slopes: dict[float, int] = {}
    heads: dict[int, list[int]] = {count: [] for count in HEAD_COUNTS}
    entries: dict[str, dict[str, str]] = defaultdict(dict)
    for num_heads in HEAD_COUNTS:
        for head, slope in enumerate(alibi_slopes(num_heads).tolist()):
            heads[num_heads].append(slopes.setdefault(slope, len(slopes)))
            for query, key in itertools.product(range(len(TOKENS)), repeat=2):
                _add_entries(entries, Selection(num_heads, head, query, key), slopes)
    url_names = {field: name for name, field in URL_NAMES.items()}
    rows, blocks, skeletons = _compact(entries)
    slots = {
        f"{section.name}.{slot}": {
            "on": [url_names.get(name, name) for name in names],
            "rows": rows[f"{section.name}.{slot}"],
        }
        for section in ALL_SECTIONS
        for slot, names in section.depends_on.items()
    }
    table = {"slopes": heads, "positions": len(TOKENS), "slots": slots, "blocks": blocks}
    table |= {"skeletons": skeletons, "notice": NOTICE, "frame": frame("{src}")}
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).replace("</", r"<\/")


def _add_entries(
    entries: Mapping[str, dict[str, str]], selection: Selection, slopes: Mapping[float, int]
) -> None:
    """Fill those slots that have no entry yet for the values they depend on."""
    calculation = calculate(selection)
    values = values_of(calculation) | {"slope": slopes[calculation.slope]}
    for section in ALL_SECTIONS:
        places = {
            f"{section.name}.{slot}": ",".join(str(values[name]) for name in names)
            for slot, names in section.depends_on.items()
        }
        if any(place not in entries[name] for name, place in places.items()):
            for slot, html in section.fill(calculation).items():
                name = f"{section.name}.{slot}"
                entries[name].setdefault(places[name], html)


def _compact(
    entries: Mapping[str, Mapping[str, str]],
) -> tuple[dict[str, dict[str, list[int]]], list[tuple[int, str]], list[list[str]]]:
    """The entries of all slots as rows of blocks, the blocks, and their skeletons."""
    numbers: dict[str, int] = {}
    rows = {
        name: {
            place: [numbers.setdefault(block, len(numbers)) for block in _BLOCK.split(html)]
            for place, html in places.items()
        }
        for name, places in entries.items()
    }
    forms: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for block in numbers:
        parts = _GAP.split(block)
        forms[tuple(parts[::2])].append(parts)

    blocks: list[tuple[int, str]] = [(0, "")] * len(numbers)
    skeletons: list[list[str]] = []
    for alike in forms.values():
        gaps = [len(set(column)) > 1 for column in zip(*alike, strict=True)]
        skeleton = [""]
        for part, is_gap in zip(alike[0], gaps, strict=True):
            if is_gap:
                skeleton.append("")
            else:
                skeleton[-1] += part
        for parts in alike:
            filled = _BETWEEN.join(itertools.compress(parts, gaps))
            blocks[numbers["".join(parts)]] = (len(skeletons), filled)
        skeletons.append(skeleton)
    return rows, blocks, skeletons


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
