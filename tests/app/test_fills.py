"""Every fill for every choice: 36 pairs in each of the 136 heads of 1 to 16 heads."""

import itertools
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from alibi_core import MODELS, Selection, alibi_slopes, calculate
from alibi_core.lesson import CHOICES, HEAD_COUNTS, TOKENS
from alibi_explorer.embed import embedded_page
from alibi_explorer.formatting import MINUS
from alibi_explorer.sections import ALL_SECTIONS, fill_all, values_of

FIGURES = Path(__file__).parents[1] / "core" / "data" / "figures.json"
PAIRS = list(itertools.product(range(len(TOKENS)), repeat=2))
HEADS = [(count, head) for count in HEAD_COUNTS for head in range(count)]
SHARED = [
    Selection(count, head, query, key)
    for (count, head), (query, key) in itertools.product(HEADS, PAIRS)
]
"""What every section follows: 36 pairs in each of 136 heads."""
ASIDE = [
    *(
        Selection(count, head, query, key, other, equal)
        for (count, head), query in itertools.product([(16, 0), (6, 4), (6, 1), (1, 0)], (2, 5))
        for key, other in PAIRS
        for equal in range(2)
    ),
    *(Selection(*heads, count=count) for count in CHOICES["count"] for heads in ((4, 0), (6, 4))),
    *(Selection(count, 0, far=far) for count in HEAD_COUNTS for far in CHOICES["far"]),
]
"""What single sections ask for."""
SLOTS = {
    f"{section.name}.{slot}": names
    for section in ALL_SECTIONS
    for slot, names in section.depends_on.items()
}


class Cells(HTMLParser):
    """Collects the text of each cell, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("rect", "br", "input"):
            self.open.append(tag)
        if tag in ("td", "th", "option"):
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if any(tag in ("td", "th", "option") for tag in self.open):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def every_fill():
    """(values, fills) of every choice, computed once."""
    calculations = map(calculate, [*SHARED, *ASIDE])
    return [(values_of(calculation), fill_all(calculation)) for calculation in calculations]


def test_no_fill_holds_a_bad_number_or_an_empty_cell(every_fill):
    """No NaN, -0, None, Python infinity, hyphen as minus, or empty cell, in any fill."""
    assert len(SHARED) == 36 * 136
    bad = re.compile(rf"\bnan\b|None|\binf\b|(?<![\w-])-\d|{MINUS}0(?![.\d])|{MINUS}0\.0+(?!\d)")
    distinct = {html for _, fills in every_fill for html in fills.values()}
    for html in distinct:
        parsed = Cells(html)
        assert not parsed.open, "a tag is left open"
        assert not bad.search(" ".join(parsed.texts)), html
        assert all(cell.strip() for cell in parsed.cells), html


def test_a_slot_is_a_function_of_what_it_depends_on(every_fill):
    """Two choices that agree in a slot's `depends_on` give the same HTML: a table can hold it."""
    for name, depends_on in SLOTS.items():
        seen: dict[tuple[float, ...], str] = {}
        for values, fills in every_fill:
            at = tuple(values[value] for value in depends_on)
            assert seen.setdefault(at, fills[name]) == fills[name]


def test_no_slot_depends_on_more_than_it_shows(every_fill):
    """Leaving out any one dependency would show a wrong text: none is stated in vain."""
    for name, depends_on in SLOTS.items():
        for left_out in depends_on:
            rest = [value for value in depends_on if value != left_out]
            seen: dict[tuple[float, ...], str] = {}
            assert any(
                seen.setdefault(tuple(values[value] for value in rest), fills[name]) != fills[name]
                for values, fills in every_fill
            ), f"{name} does not need {left_out}"


def test_only_what_changed_is_filled():
    """A change of the key refills what depends on the key, and nothing else."""
    fills = fill_all(calculate(Selection()), {"key"})
    assert set(fills) == {name for name, depends_on in SLOTS.items() if "key" in depends_on}
    assert not {name.split(".")[0] for name in fills} & {"head", "heads", "slopes", "far"}


def test_a_fill_is_pure():
    """The same calculation gives the same fills, and is not changed by them."""
    calculation = calculate(Selection(6, 4, 3, 1))
    assert fill_all(calculation) == fill_all(calculation)


def test_every_slot_has_one_place_and_every_place_a_slot():
    """The markup of the page holds each slot of each section, and no other."""
    from alibi_explorer.layout import explorer_html

    for figures in (True, False):
        html = explorer_html(calculate(Selection()), figures=figures)
        assert sorted(re.findall(r'data-slot="([^"]+)"', html)) == sorted(SLOTS)


def test_the_opening_sentence_says_the_documented_figures():
    """mat (5) looks back 5 tokens to The (0): -1.25, 2 to 0.75, 20.0 % against 35.9 %."""
    sentence = "".join(Cells(fill_all(calculate(Selection()))["pair.sentence"]).texts)
    assert sentence == (
        "mat (5) looks back 5 tokens to The (0): a bias of −1.25 takes its content logit 2 to "
        "0.75. Among 6 allowed keys it gets 20.0\u202f% of the attention with ALiBi, against "
        "35.9\u202f% without."
    )


def test_every_documented_figure_is_on_the_page():
    """Each figure of the two documents stands where a reader finds it, as the page writes it."""
    documented = json.loads(FIGURES.read_text(encoding="utf-8"))
    fills = fill_all(calculate(Selection()))
    opening = words(fills)
    for part in (
        "mat (5) looks back 5 tokens to The (0): a bias of −1.25 takes its content logit 2 to 0.75",
        "Among 6 allowed keys it gets 20.0 % of the attention with ALiBi, against 35.9 % without",
    ):
        assert part in opening["pair.sentence"]
    rows = re.findall(r"<tr.*?</tr>", fills["row.keys"])
    for row, content in zip(rows, documented["content_logits"], strict=True):
        assert f"<td>{content:.1f}</td>" in row

    for num_heads, slopes in documented["slopes"].items():
        heads = words(fill_all(calculate(Selection(num_heads=int(num_heads)))))["heads.table"]
        places = [heads.find(f" {slope} ") for slope in slopes]
        assert places == sorted(places)
        assert -1 not in places
    for num_heads, ratio in documented["slope_ratio"].items():
        selection = Selection(num_heads=int(num_heads), count=int(num_heads))
        assert f"{ratio} times" in words(fill_all(calculate(selection)))["slopes.remark"]

    far = documented["long_distance_bias"]
    for distance in (1023, 2047):
        selection = Selection(far=distance)
        assert f"−{-far[str(distance)]}" in words(fill_all(calculate(selection)))["far.table"]

    questions = opening["practice.questions"]
    for example in documented["worked_examples"] + documented["practice"]:
        product = f"{example['slope']:g} × {example['distance']}"
        result = f"{example['biased_logit']:g}".replace("-", "−")
        assert re.search(
            rf"{example['content_logit']:g} − {product} = [^=]* = {result} logits", questions
        )

    page = words({"page": embedded_page()})["page"]
    paper = documented["paper"]
    for part in (
        f"{paper['parameters']} parameters",
        f"{paper['train_tokens']} tokens",
        f"{paper['test_tokens']}",
        f"{paper['less_memory_percent']} % less memory",
        f"{paper['faster_percent']} % faster",
    ):
        assert part in page, part


def words(fills):
    """The fills without their marks."""
    texts = {}
    for name, text in fills.items():
        blocks = re.sub(r"</?(?:span|b|i|small)\b[^>]*>", "", text)
        texts[name] = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", blocks)))
    return texts


def test_the_published_models_are_those_of_the_core():
    """Each model has its row; a name can be clicked only where the slopes it shows are its own."""
    from alibi_explorer.layout import explorer_html

    html = explorer_html(calculate(Selection()))
    rows = re.findall(
        r"<tr>(?:(?!<tr>).)*?</tr>", html[html.index('class="published"') :].split("</table>")[0]
    )[1:]
    assert len(rows) == len(MODELS)
    for row, model in zip(rows, MODELS, strict=True):
        cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        assert cells[:5] == [
            *(model.name, str(model.num_heads), f"{model.max_bias:.0f}", model.schedule),
            "symmetric" if model.symmetric else "causal",
        ]
        assert all(text in cells[5] for text in (model.source, model.code, model.note))
        button = f'<button type="button" data-count="{model.num_heads}" data-pick>'
        assert (button in row) == (
            np.array_equal(model.slopes, alibi_slopes(model.num_heads)) and not model.scale_bias
        )
        assert "href" not in row
