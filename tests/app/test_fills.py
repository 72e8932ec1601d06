"""Every fill for every choice: 36 pairs in each of the 136 heads of 1 to 16 heads."""

import itertools
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from alibi_core import MODELS as PUBLISHED
from alibi_core import Selection, alibi_slopes, calculate, calculation
from alibi_core.claims import compete
from alibi_core.lesson import CHOICES, CONTENT_LOGITS, HEAD_COUNTS, MODELS, TOKENS
from alibi_explorer.embed import embedded_page
from alibi_explorer.formatting import MINUS
from alibi_explorer.layout import assets, explorer_html
from alibi_explorer.sections import ALL_SECTIONS, fill_all, shift, values_of

FIGURES = Path(__file__).parents[1] / "core" / "data" / "figures.json"
PAIRS = list(itertools.product(range(len(TOKENS)), repeat=2))
HEADS = [(count, head) for count in HEAD_COUNTS for head in range(count)]
SHARED = [
    Selection(count, head, query, key)
    for (count, head), (query, key) in itertools.product(HEADS, PAIRS)
]
"""What every section follows: 36 pairs in each of 136 heads."""
SLOPES = [*((16, head) for head in range(16))]
"""A head for each slope of the lesson."""
ASIDE = [
    *(
        Selection(count, head, query, key, other, equal)
        for (count, head), query in itertools.product([(16, 0), (6, 4), (6, 1), (1, 0)], (2, 5))
        for key, other in PAIRS
        for equal in range(2)
    ),
    *(Selection(*heads, count=count) for count in CHOICES["count"] for heads in ((4, 0), (6, 4))),
    *(Selection(count, 0, far=far) for count in HEAD_COUNTS for far in CHOICES["far"]),
    *(Selection(*heads, length=length) for heads in SLOPES for length in CHOICES["length"]),
    *(
        Selection(*heads, query, padding=slots)
        for heads in SLOPES
        for query in range(len(TOKENS))
        for slots in CHOICES["padding"]
    ),
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

    for served in (True, False):
        html = explorer_html(calculate(Selection()), served=served)
        assert sorted(re.findall(r'data-slot="([^"]+)"', html)) == sorted(SLOTS)


def test_the_opening_sentence_says_the_documented_figures():
    """mat (5) looks back 5 tokens to The (0): -1.25, 2 to 0.75, 20.0 % against 35.9 %."""
    sentence = "".join(Cells(fill_all(calculate(Selection()))["pair.sentence"]).texts)
    assert sentence == (
        "mat (5) looks back 5 tokens to The (0): a bias of −1.25 takes its content logit 2 to "
        "0.75. Among 6 allowed keys it gets 20.0\u202f% of the attention with ALiBi, against "
        "35.9\u202f% without."
    )


def test_a_part_is_labelled_by_what_it_rests_on(monkeypatch):
    """What other content logits would change is illustrative, at its place; the rest need not be.

    A label holds until the next one of its section.
    """
    choices = [Selection(), Selection(query=2, key=4, other=1), Selection(equal=1)]
    before = [fill_all(calculate(choice)) for choice in choices]
    monkeypatch.setattr(calculation, "CONTENT_LOGITS", tuple(reversed(CONTENT_LOGITS)))
    calculation._steps_of_head.cache_clear()
    after = [fill_all(calculate(choice)) for choice in choices]
    monkeypatch.undo()
    calculation._steps_of_head.cache_clear()
    by_content = {
        name
        for old, new in zip(before, after, strict=True)
        for name in old
        if old[name] != new[name]
    }

    html = explorer_html(calculate(Selection()), served=False)
    labels, label = {}, ""
    for kind, slot in re.findall(
        r'<(?:h2|h3)[^>]*>(?:(?!</h).)*?<small class="kind">(\w+)|data-slot="([^"]+)"', html
    ):
        label = kind or label
        labels[slot] = label
    assert {"shift.weights", "steps.table", "compete.odds", "mask.weights"} <= by_content
    assert {"shift.forms", "slopes.table", "far.marks", "mask.matrix"}.isdisjoint(by_content)
    for slot in by_content:
        assert labels[slot] == "illustrative" or slot in OWN_LABEL, slot
    assert labels["shift.forms"] == labels["mask.matrix"] == labels["far.marks"] == "arithmetic"
    assert OWN_LABEL["heads.strip"] in html
    assert OWN_LABEL["heads.weights"] in html
    odds = [fills["compete.weights"] for fills in before]
    assert "illustrative" in odds[0]
    assert "arithmetic" in odds[2]


OWN_LABEL = {
    "heads.strip": "one small heatmap a head; illustrative</h3>",
    "heads.weights": "Weights of all heads as a table; illustrative</summary>",
}
"""Parts of an arithmetic section whose heading says it in words, without a node more."""


def test_the_row_of_the_competition_follows_its_content():
    """With all content equal the row of the query falls by e to the minus slope a token."""
    equal = words(fill_all(calculate(Selection(equal=1))))
    assert "Row of mat (5), all content equal arithmetic" in equal["compete.weights"]
    assert "8.2 % 10.5 % 13.4 % 17.3 % 22.2 % 28.5 %" in equal["compete.weights"]
    lesson = words(fill_all(calculate(Selection())))
    assert "Row of mat (5), content of the lesson illustrative" in lesson["compete.weights"]
    assert "20.0 % 14.1 % 4.5 % 19.0 % 11.0 % 31.4 %" in lesson["compete.weights"]


def test_tied_heads_are_named():
    """A head at the slope of the break-even is on neither side, and is said."""
    chosen = calculate(Selection(other=1))
    tie = compete(np.array([0.25, 0.0, *[0.0] * 4]), chosen.slopes, head=0, key=0, other=1)
    vars(chosen)["competition"] = tie
    fills = words(fill_all(chosen))
    assert "The (0) weighs more in heads 1, 2 and 3, cat (1) in no head." in fills["compete.heads"]
    assert fills["compete.heads"].strip().endswith("They tie in head 0.")
    assert "it weighs as much as cat (1): the two tie." in fills["compete.sentence"]


def test_the_shortcut_is_seen_to_fail_for_every_query():
    """Whatever the query, the first one's rows differ, and the winner of each column is named."""
    for query in range(6):
        fills = words(fill_all(calculate(Selection(query=query))))
        assert " largest The (0) " in fills["shift.unmasked"]
        assert fills["shift.winners"] == (
            "By −m·|i − j| The (0) gives most to The (0), 52.0 %; by the shortcut to mat (5), "
            "31.4 %. The row of the shortcut is right, to a difference of 10 −12 , for mat (5) "
            "alone."
        )
    last = words(fill_all(calculate(Selection())))["shift.unmasked"]
    assert "largest The (0) mat (5) mat (5)" in last


def test_each_form_has_its_own_weights():
    """Three columns of weights, and the bias of each beside them."""
    weights = words(fill_all(calculate(Selection())))["shift.weights"]
    assert "The (0) 20.0 % 20.0 % 20.0 %" in weights
    assert "mat (5) 31.4 % 31.4 % 31.4 %" in weights


def test_the_plain_rule_stands_beside_the_schedule():
    """Each head has the slope of both, and a sign where they differ."""
    twelve = words(fill_all(calculate(Selection(count=12))))["slopes.table"]
    assert "2 0.125 2 −3 8-head, entry 3 ≠ 0.25" in twelve
    assert twelve.count("≠ 0") == 12
    eight = words(fill_all(calculate(Selection(count=8))))["slopes.table"]
    assert "2 0.125 2 −3 8-head, entry 3 0.125" in eight
    assert "≠ 0" not in eight


def test_every_head_has_its_bias_along_the_ruler():
    """Each head at each mark to a million tokens, the documented ones with all their digits."""
    marks = words(fill_all(calculate(Selection())))["far.marks"]
    assert " 1 10 100 1 023 2 047 10 000 100 000 1 000 000 " in marks
    assert (
        "3 −0.00390625 −0.0390625 −0.390625 −3.99609375 −7.99609375 −39.0625 −390.625 −3 906.25"
    ) in marks


def test_a_share_below_one_is_not_written_as_all():
    """The nearest 10,001 keys hold more than 99.9 %, and only all keys hold 100.0 %."""
    nearly = words(fill_all(calculate(Selection(far=10_000))))["far.table"]
    assert "above 99.9 %" in nearly
    assert "100.0 %" not in nearly
    assert "above" not in words(fill_all(calculate(Selection(far=1_000_000))))["far.table"]


def test_sentences_hold_where_they_are_easily_wrong():
    """Both keys ahead, the first token, one token of distance, and sums with all their digits."""
    fills = words(fill_all(calculate(Selection(query=0, key=4, other=5))))
    assert fills["compete.row"].startswith("The query may use neither of these keys: both lie")
    assert "right for the first token, −m·|i − j|" in fills["cache.steps"]
    fills = words(fill_all(calculate(Selection(num_heads=4, head=2, query=3, key=1, other=5))))
    assert fills["compete.row"].startswith("The query may not use both of these keys: one lies")
    assert "0.0156 − 0.0469 ≈ −0.0312" in fills["shift.forms"]
    assert "wrong, −m·|i − j|" in fills["cache.steps"]
    fills = words(fill_all(calculate(Selection(query=1, key=0))))
    assert "Distance in tokens, i − j 1 " in fills["worksheet.answers"]


def test_printed_sums_are_true():
    """What stands on both sides of a "=" in the three forms is equal, in every head and row."""
    for num_heads, head in ((4, 2), (6, 4), (12, 10), (16, 15)):
        for query in range(6):
            selection = Selection(num_heads=num_heads, head=head, query=query)
            forms = words(fill_all(calculate(selection)))["shift.forms"].replace("−", "-")
            sums = re.findall(r"(\S+) - \(?([^\s)]+)\)? = (\S+)", forms)
            assert sums
            for one, two, result in sums:
                assert float(one) - float(two) == float(result)


def test_number_formats_say_the_loss():
    """At 4,096 tokens bfloat16 levels the nearest keys in the key-position form alone."""
    fills = words(fill_all(calculate(Selection())))
    exact, level = "6.3 8.1 10.4 13.4 17.2 22.1", "12.1 12.1 12.1 12.1 12.1 12.1 27.0"
    assert f"bfloat16 {exact} under 0.1" in fills["formats.distance"]
    assert f"bfloat16 {level}" in fills["formats.position"]
    assert f"float64 {exact} 0" in fills["formats.position"]
    assert fills["formats.remark"] == (
        "At key 4 095, the last, the key-position form stands at 1 023.75 logits. Numbers of "
        "that size lie 0.5 apart in float16 and 4 in bfloat16, and the biases of neighbouring keys "
        "0.25. So float16 and bfloat16 give some neighbouring keys the same bias."
    )
    short = words(fill_all(calculate(Selection(length=64))))["formats.remark"]
    assert short.endswith("So every format tells neighbouring keys apart.")


def test_padding_says_what_it_takes():
    """Before the sentence it needs the mask, behind it the future hides it, and none changes."""
    before, none, behind = (
        words(fill_all(calculate(Selection(padding=slots)))) for slots in (-2, 0, 2)
    )
    assert "which stands in slot 7" in before["padding.table"]
    assert "1 padding masked masked 2.0 %" in before["padding.table"]
    assert "2 The (0) −1.25 20.0 % 19.3 %" in before["padding.table"]
    assert "without it, padding takes 3.6 % of this row" in before["padding.remark"]
    assert "0 The (0) −1.25 20.0 % 20.0 %" in none["padding.table"]
    assert "padding" not in none["padding.table"].partition("masked")[2]
    assert "7 padding masked masked masked" in behind["padding.table"]
    for fills in (before, none, behind):
        assert fills["padding.remark"].endswith("up to a difference of 10 −12 ? ✓ yes.")


def test_the_steps_say_what_is_exact():
    """Equal signs stand before exact values, the others before rounded ones; the sum has parts."""
    ahead = words(fill_all(calculate(Selection(query=2, key=4))))["steps.words"]
    assert "e −∞ = 0." in ahead
    assert "0 ÷ 8.6" in ahead
    assert " = 0 % for the (4)" in ahead
    nothing = words(fill_all(calculate(Selection(query=2, key=2))))["steps.words"]
    assert "e 0 = 1." in nothing
    opening = words(fill_all(calculate(Selection())))["steps.words"]
    assert "e 0.75 ≈ 2.117." in opening
    assert "The sum over 6 allowed keys: 2.117 + 1.4918 + 0.4724 + 2.0138 + 1.1618 + 3.3201 ≈ " in (
        opening
    )
    alone = words(fill_all(calculate(Selection(query=0))))["steps.words"]
    assert "The one allowed key makes the sum, ≈ 7.3891." in alone


def test_typed_numbers_come_from_the_core():
    """A tolerance, an exponent or a result of the paper in prose changes with the core."""
    prose = "".join(path.read_text("utf-8") for path in (assets() / "prose").glob("*.html"))
    assert not re.search(r"10<sup>|\bsixteen\b|2<sup>", prose)
    source = "".join(path.read_text("utf-8") for path in Path(shift.__file__).parent.glob("*.py"))
    assert "10<sup>" not in source
    assert "−8(" not in source
    assert "no promise at 16 times the length" in words({"page": embedded_page()})["page"]


def test_the_sources_of_the_models_can_be_read():
    """They stand as text, which a finger and a keyboard reach, and not in a tooltip."""
    html = explorer_html(calculate(Selection()))
    for model in MODELS:
        assert f"{model.source} ({model.name})" in html
        assert f'title="{model.source}"' not in html


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
    html = explorer_html(calculate(Selection()))
    rows = re.findall(
        r"<tr>(?:(?!<tr>).)*?</tr>", html[html.index('class="published"') :].split("</table>")[0]
    )[1:]
    assert len(rows) == len(PUBLISHED)
    for row, model in zip(rows, PUBLISHED, strict=True):
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
