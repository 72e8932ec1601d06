"""What the served page and the notebook answer, without a browser."""

import pytest

from alibi_core import Selection, calculate
from alibi_explorer import explorer
from alibi_explorer.page import ExplorerView
from alibi_explorer.sections import SECTIONS, fill_all
from alibi_explorer.state import ExplorerState, url_choice


class Recorded(ExplorerView):
    """Keeps what it sends to the page."""

    def __init__(self, selection=None):
        self.sent = []
        super().__init__(ExplorerState(selection))

    def _send_msg(self, data):
        self.sent.append(data)


def test_an_answer_holds_the_slots_that_changed():
    """A pick is answered with the choice, its number, and the fills of what depends on it."""
    view = Recorded()
    view._handle_msg({"query": 3, "picks": 7})
    assert view.sent == [
        {
            "choice": {"heads": 4, "head": 0, "query": 3, "key": 0},
            "fills": fill_all(calculate(Selection(query=3)), {"query"}),
            "notice": "",
            "picks": 7,
        }
    ]


def test_several_changes_are_one_answer():
    """Number of heads, head and pair in one message are worked out and sent once."""
    view = Recorded()
    view._handle_msg({"heads": 6, "head": 4, "query": 3, "key": 1, "picks": 1})
    assert len(view.sent) == 1
    assert view.sent[0]["fills"] == fill_all(
        calculate(Selection(6, 4, 3, 1)), {"num_heads", "head", "slope", "query", "key"}
    )


def test_what_is_already_chosen_sends_no_fills():
    """The same choice again is answered, so that the page knows, but nothing is refilled."""
    view = Recorded()
    view._handle_msg({"query": 5, "picks": 2})
    assert [(answer["fills"], answer["picks"]) for answer in view.sent] == [({}, 2)]
    assert "notice" not in view.sent[0], "what was said of the URL still holds"


def test_a_view_shown_again_gets_every_slot():
    """A notebook that shows a view again starts from the choice of today."""
    view = Recorded()
    view._handle_msg({"query": 2, "picks": 1})
    view._handle_msg({"all": True})
    assert view.sent[-1]["fills"] == fill_all(calculate(Selection(query=2)))


@pytest.mark.parametrize(
    "message",
    [
        "text",
        None,
        [1, 2],
        {},
        {"figures": "nonsense"},
        {"figures": None},
        {"figures": {"head": 1}},
        {"picks": "many"},
        {"query": {"deep": [1]}},
        {"heads": "<script>", "head": None, "key": 1e999},
    ],
)
def test_no_message_breaks_a_session(message):
    """Whatever a socket sends, the session goes on with a valid choice."""
    view = Recorded()
    view._handle_msg(message)
    view._handle_msg({"query": 1, "key": 1, "heads": 4, "head": 2, "picks": 9})
    answer = view.sent[-1]
    assert answer["choice"] == {"heads": 4, "head": 2, "query": 1, "key": 1}
    assert answer["picks"] == 9


def test_figures_are_drawn_once_and_only_when_asked_for():
    """A section's figures stand in their frames after the page asked for them, and once."""
    view = Recorded()
    assert [len(frame) for frame in view.frames] == [0, 0, 0, 0, 0]
    view._handle_msg({"figures": "head"})
    view._handle_msg({"figures": "head"})
    assert [len(frame) for frame in view.frames] == [1, 1, 1, 1, 0]


def test_figures_follow_the_choice():
    """Drawn figures change with a pick; a click in one of them is a pick."""
    view = Recorded()
    view._handle_msg({"figures": "head"})
    view._pick({"query": 4, "key": 2})
    assert view._figures["head"]._chosen.data == {"x": [2], "y": [4]}
    assert url_choice(view._state.selection) == {"heads": 4, "head": 0, "query": 4, "key": 2}


def test_every_figure_has_a_name_of_its_section():
    """Figure names begin with their section's, so that the page can ask by section."""
    for section in SECTIONS:
        for name in section.figures.names if section.figures else ():
            assert name.startswith(f"{section.name}.")


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        ({"query": 9}, ValueError, "query 9 is not a position of the 6 tokens; choose 0 to 5"),
        ({"head": 5}, ValueError, "head 5 does not exist with 4 heads; choose 0 to 3"),
        ({"num_heads": 17}, ValueError, "the lesson has no 17 heads; choose 1 to 16"),
        ({"key": "0"}, TypeError, "key must be an integer, got '0' of type str; choose 0 to 5"),
    ],
)
def test_wrong_arguments_in_a_notebook_name_the_fix(choice, error, message):
    """`explorer` raises before it shows anything, and says what to choose."""
    with pytest.raises(error) as caught:
        explorer(**choice)
    assert str(caught.value) == message


def test_a_notebook_view_carries_its_own_page():
    """What `explorer` returns holds the whole page at the choice asked for."""
    view = explorer(query=5, key=0, num_heads=6, head=4)
    assert fill_all(calculate(Selection(6, 4)))["pair.sentence"] in view.html
