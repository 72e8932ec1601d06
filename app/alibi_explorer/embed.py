"""The explorer as one HTML file: the fills of every choice in a table that a script looks up.

A slot's HTML is a function of the few values in its ``depends_on``, and what depends on a head
depends on its slope alone, so the table holds each slot once for each of these values: the
head counts 1 to 16 share sixteen slopes. An entry is a list of blocks, such as the rows of a table,
and blocks are shared too. Those of one form differ in a few pieces of text and a few shades; the
rest, the skeleton, is stored once.
"""

import base64
import gzip
import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape

from alibi_core import Selection, alibi_slopes, calculate
from alibi_core.lesson import CHOICES, HEAD_COUNTS, OPENING, TOKENS
from alibi_explorer.formatting import MINUS, THIN_SPACE
from alibi_explorer.layout import TITLE, View, explorer_html, script, stylesheet
from alibi_explorer.sections import ALL_SECTIONS
from alibi_explorer.snippet import HEIGHT
from alibi_explorer.state import NOTICE, URL_NAMES

SCRIPTS = (
    *("paint.js", "arrange.js", "practice.js", "explorer.js", "tour.js", "host.js"),
    "embedded.js",
)
_BLOCK = re.compile(r"(?=<(?:tr|li|option|button)\b)|(?<=[.:;] )(?=[A-Z])")
"""Where an entry is cut: a row or a sentence that stands in two of them is stored once."""
_GAP = re.compile(
    rf"((?:{'|'.join(TOKENS)}) \(\d\)"
    rf"|(?<![\w<=\"])[{MINUS}+]?\d[\d{THIN_SPACE}.]*"
    r"|\bs\d+\b(?=[^<>]*>))"
)
"""What may differ between blocks of one form: tokens and numbers in the text, and shades."""
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
    styles, code = (
        stylesheet(),
        script(*SCRIPTS),
    )
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
<main>{explorer_html(calculation, view=view, served=False)}</main>
<script type="application/gzip" id="lesson">{_packed(lesson_table())}</script>
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
            f'<iframe srcdoc="{escape(self.page)}" title="{TITLE}" '
            'sandbox="allow-scripts allow-modals" '  # modals, so that the worksheet can be printed
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
    questions: tuple[str, ...] = View.questions,
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
    sections, controls, theme, title, questions
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
    for name, names in (("sections", sections), ("controls", controls), ("questions", questions)):
        if isinstance(names, str):
            raise TypeError(f"{name} must be a list of names, got {names!r}; pass [{names!r}]")
    view = View(tuple(sections), tuple(controls), theme, title, tuple(questions))
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise ValueError(f"height {height!r} is no number of pixels; pass a whole one, such as 900")
    return Embedded(embedded_page(selection, view), height)


@cache
def lesson_table() -> str:
    """The table of all fills as JSON.

    ``choices`` has what each part of a choice may be, ``slopes[heads][head]`` numbers the slopes.
    ``slots[name]`` has in ``on`` what the slot depends on, and in ``rows``, in the order of these
    choices, the numbers of its blocks: each as its difference from the one before, the first of a
    row from the first of the last row, because small differences pack well. ``skeletons`` has for
    each form of block the text around its gaps, ``blocks`` what fills each gap, in all blocks of
    that form. Blocks are numbered form by form.
    """
    slopes: dict[float, int] = {}
    heads: dict[int, list[int]] = {
        count: [slopes.setdefault(slope, len(slopes)) for slope in alibi_slopes(count).tolist()]
        for count in HEAD_COUNTS
    }
    choices: dict[str, Sequence[int]] = dict(CHOICES)
    choices |= {"head": range(max(HEAD_COUNTS)), "slope": range(len(slopes))}
    entries: dict[str, dict[tuple[int, ...], str]] = {}
    for section in ALL_SECTIONS:
        for names in set(section.depends_on.values()) - {()}:
            fills: dict[tuple[int, ...], dict[str, str]] = {}
            for selection in _selections(names):
                values = vars(selection) | {"slope": heads[selection.num_heads][selection.head]}
                place = tuple(choices[name].index(values[name]) for name in names)
                fills[place] = section.fill(calculate(selection))
            for slot, on in section.depends_on.items():
                if on == names:
                    entries[f"{section.name}.{slot}"] = {
                        place: fill[slot] for place, fill in fills.items()
                    }
    rows, blocks, skeletons = _compact(entries)
    url_names = {field: name for name, field in URL_NAMES.items()}
    slots = {
        f"{section.name}.{slot}": {
            "on": [url_names.get(name, name) for name in names],
            "rows": _differences(
                rows[f"{section.name}.{slot}"].get(place)
                for place in itertools.product(*(range(len(choices[name])) for name in names))
            ),
        }
        for section in ALL_SECTIONS
        for slot, names in section.depends_on.items()
        if names  # what depends on nothing stands on the page for good
    }
    table = {
        "choices": {url_names.get(name, name): list(values) for name, values in choices.items()},
        "slopes": heads,
        "slots": slots,
        "blocks": blocks,
        "skeletons": skeletons,
        "notice": NOTICE,
    }
    return json.dumps(table, ensure_ascii=False, separators=(",", ":"))


def _selections(names: Collection[str]) -> Iterator[Selection]:
    """A selection for every combination of values of `names`."""
    heads = [(OPENING["num_heads"], OPENING["head"])]
    if "num_heads" in names:
        heads = [(count, head) for count in HEAD_COUNTS for head in range(count)]
        heads = heads if "head" in names else [(count, 0) for count in HEAD_COUNTS]
    elif "slope" in names:
        slopes = {
            slope: (count, head)
            for count in HEAD_COUNTS
            for head, slope in enumerate(alibi_slopes(count).tolist())
        }
        heads = list(slopes.values())
    rest = [name for name in CHOICES if name in names and name != "num_heads"]
    for num_heads, head in heads:
        for values in itertools.product(*(CHOICES[name] for name in rest)):
            yield Selection(num_heads, head, **dict(zip(rest, values, strict=True)))


def _compact(
    entries: Mapping[str, Mapping[tuple[int, ...], str]],
) -> tuple[dict[str, dict[tuple[int, ...], list[int]]], list[list[str]], list[list[str]]]:
    """The entries of all slots as rows of blocks, what fills the gaps, and the skeletons."""
    cut = {
        name: {place: _BLOCK.split(html) for place, html in places.items()}
        for name, places in entries.items()
    }
    forms: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for block in dict.fromkeys(
        block for places in cut.values() for parts in places.values() for block in parts
    ):
        parts = _GAP.split(block)
        forms[tuple(parts[::2])].append(parts)

    numbers: dict[str, int] = {}
    blocks: list[list[str]] = []
    skeletons: list[list[str]] = []
    for alike in forms.values():
        gaps = [len(set(column)) > 1 for column in zip(*alike, strict=True)]
        skeleton = [""]
        for part, is_gap in zip(alike[0], gaps, strict=True):
            if is_gap:
                skeleton.append("")
            else:
                skeleton[-1] += part
        blocks.append(
            [_BETWEEN.join(column) for column in itertools.compress(zip(*alike, strict=True), gaps)]
        )
        skeletons.append(skeleton)
        for parts in alike:
            numbers["".join(parts)] = len(numbers)
    rows = {
        name: {place: [numbers[block] for block in parts] for place, parts in places.items()}
        for name, places in cut.items()
    }
    return rows, blocks, skeletons


def _differences(rows: Iterable[list[int] | None]) -> list[list[int] | None]:
    """Rows of numbers as differences; None where a choice does not exist."""
    written: list[list[int] | None] = []
    first = 0
    for row in rows:
        if row is None:
            written.append(None)
            continue
        written.append([after - before for before, after in itertools.pairwise([first, *row])])
        first = row[0]
    return written


def _packed(text: str) -> str:
    """A tenth of the text, for a page that unpacks it after its first paint."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
