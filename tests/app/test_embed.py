"""One file without a server: its table, its size, its policy."""

import base64
import gzip
import hashlib
import itertools
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alibi_core import Selection, calculate
from alibi_core.lesson import CHOICES, HEAD_COUNTS, TOKENS
from alibi_explorer import embed
from alibi_explorer.embed import SCRIPTS, embedded_page, lesson_table
from alibi_explorer.layout import QUESTION_NAMES, SECTION_NAMES, View, script
from alibi_explorer.sections import ALL_SECTIONS, fill_all
from alibi_explorer.state import URL_NAMES


@pytest.fixture(scope="module")
def page():
    return embedded_page()


@pytest.fixture(scope="module")
def table():
    return with_numbers(json.loads(lesson_table()))


def with_numbers(table):
    """What the page's script does first: blocks in their order, and their numbers."""
    table["blocks"] = [
        (form, pieces)
        for form, gaps in enumerate(table["blocks"])
        for pieces in (zip(*(gap.split("\t") for gap in gaps), strict=True) if gaps else [()])
    ]
    for slot in table["slots"].values():
        first = 0
        for row in filter(None, slot["rows"]):
            row[:] = [*itertools.accumulate(row, initial=first)][1:]
            first = row[0]
    return table


def looked_up(table, selection):
    """What the page's script does: rows by the choice, blocks, pieces into a skeleton."""
    choice = {name: getattr(selection, field) for name, field in URL_NAMES.items()}
    choice["slope"] = table["slopes"][str(selection.num_heads)][selection.head]
    fills = {}
    for name, slot in table["slots"].items():
        at = 0
        for value in slot["on"]:
            at = at * len(table["choices"][value]) + table["choices"][value].index(choice[value])
        fills[name] = "".join(block(table, number) for number in slot["rows"][at])
    return fills


def block(table, number):
    form, pieces = table["blocks"][number]
    pairs = itertools.zip_longest(table["skeletons"][form], pieces, fillvalue="")
    return "".join(itertools.chain.from_iterable(pairs))


def test_the_table_gives_every_fill_of_every_choice(table):
    """For all 36 pairs in all 136 heads, each slot looked up is what its section fills."""
    for num_heads in HEAD_COUNTS:
        for head in range(num_heads):
            for query, key in itertools.product(range(len(TOKENS)), repeat=2):
                selection = Selection(num_heads, head, query, key)
                assert looked_up(table, selection).items() <= fill_all(calculate(selection)).items()


@settings(max_examples=500)
@given(data=st.data(), num_heads=st.sampled_from(HEAD_COUNTS))
def test_the_table_gives_the_fills_of_single_sections(table, data, num_heads):
    """What single sections ask for, from a second key to padding, is looked up too."""
    chosen = {name: data.draw(st.sampled_from(CHOICES[name]), name) for name in CHOICES}
    head = data.draw(st.integers(0, num_heads - 1), "head")
    selection = Selection(**chosen | {"num_heads": num_heads, "head": head})
    assert looked_up(table, selection).items() <= fill_all(calculate(selection)).items()


def test_the_table_holds_every_slot_of_every_section(table):
    """A section added to the page is in the table by itself, but for what never changes."""
    assert set(table["slots"]) == {
        f"{section.name}.{slot}"
        for section in ALL_SECTIONS
        for slot, names in section.depends_on.items()
        if names
    }


def test_head_counts_share_sixteen_slopes(table):
    """What depends on a slope is stored sixteen times, not once a head."""
    assert {slope for heads in table["slopes"].values() for slope in heads} == set(range(16))
    assert len(table["slots"]["head.alibi"]["rows"]) == 16
    assert len(table["slots"]["row.keys"]["rows"]) == 16 * 6
    assert len(table["slots"]["pair.sentence"]["rows"]) == 16 * 36


def test_the_file_is_small(page):
    """With all sections and choices it takes less than 180 kB gzipped."""
    assert len(gzip.compress(page.encode(), 9)) < 180_000


def test_the_file_loads_nothing(page):
    """No address but those of XML names, no import, no BokehJS."""
    assert not re.findall(r"(?:src|href)=\"(?![{#])", page.replace("&lt;iframe src=&#34;{src}", ""))
    code = script(*SCRIPTS)
    for word in (
        "import ",
        "import(",
        "fetch(",
        "XMLHttpRequest",
        "localStorage",
        "eval(",
        "Bokeh",
    ):
        assert word not in code


def test_the_script_has_no_number_of_the_lesson():
    """No logit, weight or slope stands in the scripts, and no exp, log or power is taken."""
    code = re.sub(r"//.*", "", script(*SCRIPTS))
    numbers = set(re.findall(r"(?<![\w$#])\d+(?:\.\d+)?(?![\w])", code))
    assert numbers <= {"0", "1", "-1", "3", "23", "24", "150", "200", "500"}, numbers
    assert not re.search(r"Math\.(exp|log|pow|sqrt)|\*\*", code)


def test_nothing_from_outside_becomes_html():
    """The one assignment of HTML takes fills, and fills come from the table or the server."""
    code = script(*SCRIPTS)
    assert re.findall(r".*(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write).*", code) == [
        "  wanted.innerHTML = html"
    ]


def test_the_policy_allows_its_own_script_and_style_only(page):
    """default-src 'none', and hashes that fit what stands in the file."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1].replace(
        "&#x27;", "'"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, element in (("script-src", "script"), ("style-src", "style")):
        (text,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert ' style="' not in re.sub(r"data-frame=\"[^\"]*\"", "", page.split('id="lesson"')[0])


def test_no_fill_carries_an_inline_style(table):
    """A strict policy would refuse it, so marks are classes."""
    assert " style=" not in json.dumps(table["slots"])


def test_the_file_opens_with_the_choice_asked_for():
    """Choice and view stand in the HTML itself, for readers without scripts."""
    view = View(("row", "pair"), ("query",), "dark", title=False)
    page = embedded_page(Selection(6, 4, 3, 1), view)
    static = page.split('<script type="application/json"')[0]
    assert fill_all(calculate(Selection(6, 4, 3, 1)))["pair.sentence"] in static
    shown = re.findall(r'data-section="(\w+)"[^>]*?( hidden)?>', static)
    assert shown[:2] == [("row", ""), ("pair", "")]
    assert {name for name, hidden in shown[2:] if hidden} == set(SECTION_NAMES) - {"row", "pair"}
    assert re.findall(r'data-control="(\w+)"( hidden)?', static) == [
        ("theme", " hidden"),
        ("query", ""),
        ("key", " hidden"),
        ("heads", " hidden"),
        ("head", " hidden"),
        ("share", " hidden"),
    ]
    assert 'data-theme="dark" data-choice' in static
    assert '<div class="title" hidden>' in static
    assert "<noscript>" in static


def test_the_file_asks_the_questions_wanted():
    """`questions` shows these first and in that order, and hides the others."""
    page = embedded_page(view=View(questions=("order", "near")))
    asked = re.findall(r'<li (hidden )?data-question="(\w+)"', page)
    assert asked[:2] == [("", "order"), ("", "near")]
    assert {hidden for hidden, _ in asked[2:]} == {"hidden "}
    assert sorted(name for _, name in asked) == sorted(QUESTION_NAMES)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ({"questions": ("seven",)}, "there is no question 'seven'; choose from near, zero"),
        ({"questions": ()}, "practice needs a question; choose from near, zero"),
        ({"sections": ("pair", "rows")}, "there is no section 'rows'; choose from pair, row"),
        ({"sections": ()}, "a page needs a section; choose from pair, row"),
        ({"sections": ("row", "row")}, "a section is named twice in row, row; name each once"),
        ({"controls": ("slope",)}, "there is no control 'slope'; choose from heads, head"),
        ({"theme": "sepia"}, "there is no theme 'sepia'; choose from auto, light, dark"),
        ({"sections": "row"}, "sections must be a list of names, got 'row'; pass ['row']"),
        ({"height": True}, "height True is no number of pixels; pass a whole one"),
    ],
)
def test_a_wrong_view_names_the_fix(view, message):
    """A name that does not exist is refused with the names that do."""
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        embed(**view)


def test_a_notebook_shows_the_file_inline():
    """`embed` displays the page in a sandboxed frame with its source inside."""
    shown = embed(query=3, height=700)._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert (
        'title="ALiBi explorer" sandbox="allow-scripts allow-modals" width="100%" height="700"'
        in shown
    )
