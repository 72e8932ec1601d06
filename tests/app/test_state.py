"""The choice of a visitor, and what becomes of a URL."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_core import Selection
from alibi_explorer.state import ExplorerState, nearest_selection, url_choice

NAMES = ("heads", "head", "query", "key")


@pytest.mark.parametrize(
    ("asked", "choice", "notice"),
    [
        ({}, (4, 0, 5, 0), ""),
        ({"heads": "6", "head": "4", "query": "5", "key": "0"}, (6, 4, 5, 0), ""),
        ({"query": "9"}, (4, 0, 5, 0), "Query “9” is not one of 0 to 5, so 5 is shown."),
        ({"key": "-3"}, (4, 0, 5, 0), "Key “-3” is not one of 0 to 5, so 0 is shown."),
        ({"heads": "99"}, (16, 0, 5, 0), "Heads “99” is not one of 1 to 16, so 16 is shown."),
        ({"head": "7"}, (4, 3, 5, 0), "Head “7” is not one of 0 to 3, so 3 is shown."),
        (
            {"heads": "1", "head": "1"},
            (1, 0, 5, 0),
            "Head “1” is not 0, the only choice, so 0 is shown.",
        ),
        ({"query": "mat"}, (4, 0, 5, 0), "Query “mat” is not one of 0 to 5, so 5 is shown."),
        ({"query": "2.6"}, (4, 0, 3, 0), "Query “2.6” is not one of 0 to 5, so 3 is shown."),
        ({"query": "2.5"}, (4, 0, 2, 0), "Query “2.5” is not one of 0 to 5, so 2 is shown."),
        ({"query": "1_0"}, (4, 0, 5, 0), "Query “1_0” is not one of 0 to 5, so 5 is shown."),
        ({"query": "nan"}, (4, 0, 5, 0), "Query “nan” is not one of 0 to 5, so 5 is shown."),
        ({"key": "1e999"}, (4, 0, 5, 5), "Key “1e999” is not one of 0 to 5, so 5 is shown."),
        (
            {"query": "x", "key": ""},
            (4, 0, 5, 0),
            "Query “x” is not one of 0 to 5, so 5 is shown; key “” is not one of 0 to 5, so 0 is "
            "shown.",
        ),
        (
            {"query": "<script>alert(1)</script>"},
            (4, 0, 5, 0),
            "Query “<script>alert(1)</scrip…” is not one of 0 to 5, so 5 is shown.",
        ),
        ({"key": "\u202eab"}, (4, 0, 5, 0), "Key “�ab” is not one of 0 to 5, so 0 is shown."),
        (
            {"length": "1000"},
            (4, 0, 5, 0),
            "Length “1000” is not one of 6, 64, 256, 1024, 4096, 16384, so 1024 is shown.",
        ),
        ({"key": "\0\n"}, (4, 0, 5, 0), "Key “��” is not one of 0 to 5, so 0 is shown."),
        ({"utm_source": "course"}, (4, 0, 5, 0), ""),
    ],
)
def test_a_url_gives_the_nearest_choice_and_one_line(asked, choice, notice):
    """What is valid is taken; what is not gives the nearest choice and says so."""
    selection, said = nearest_selection(asked)
    assert (selection.num_heads, selection.head, selection.query, selection.key) == choice
    assert said == notice


def test_fewer_heads_keep_the_head_where_it_exists():
    """Changing the number of heads keeps the head, else head 0, without a complaint."""
    base = Selection(num_heads=6, head=4)
    assert nearest_selection({"heads": 5}, base) == (Selection(num_heads=5, head=4), "")
    assert nearest_selection({"heads": 4}, base) == (Selection(num_heads=4, head=0), "")


anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())
)


@given(st.dictionaries(st.sampled_from(NAMES), anything))
def test_nothing_that_is_asked_breaks_the_choice(asked):
    """Any value at all gives a valid choice, and a line exactly if the choice is not as asked."""
    selection, notice = nearest_selection(asked)

    def is_as_asked(name):
        try:
            return (
                float(re.fullmatch("[-+.0-9eE]+", str(asked[name]))[0])
                == (url_choice(selection)[name])
            )
        except (TypeError, ValueError):
            return False

    assert bool(notice) is not all(map(is_as_asked, asked))


@pytest.mark.parametrize("written", ["05", "5.0", "+5", "5e0"])
def test_a_number_may_be_written_in_any_way(written):
    """Another spelling of a valid number is that number, without a complaint."""
    assert nearest_selection({"query": written}) == (Selection(query=5), "")


def test_a_number_too_long_to_read_is_no_choice():
    """An integer of thousands of digits is answered like any nonsense."""
    selection, notice = nearest_selection({"query": 10**5000})
    assert selection == Selection()
    assert notice.startswith("Query “a number too long to r")


@given(st.integers(1, 16), st.integers(0, 15), st.integers(0, 5), st.integers(0, 5))
def test_a_choice_survives_its_url(num_heads, head, query, key):
    """What a choice writes to the URL is read back as the same choice."""
    selection = Selection(num_heads, min(head, num_heads - 1), query, key)
    asked = {name: str(value) for name, value in url_choice(selection).items()}
    assert nearest_selection(asked) == (selection, "")


def test_the_calculation_follows_the_selection():
    """Setting the choice works out its calculation; a wrong value changes nothing."""
    state = ExplorerState()
    state.selection = Selection(query=3)
    assert state.calculation.selection == Selection(query=3)
    with pytest.raises(ValueError, match="Selection"):
        state.selection = {"query": 2}
    assert state.calculation.selection == Selection(query=3)
