"""What a reader gives to the page: read, checked, shown, and never kept."""

import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alibi_core import (
    alibi_slopes,
    causal_mask,
    check_bias,
    check_slopes,
    distance_bias,
    key_position_bias,
)
from alibi_explorer import checking, page
from alibi_explorer.page import ExplorerView
from alibi_explorer.state import ExplorerState
from alibi_explorer.tables import comparison

INF = float("inf")


class Recorded(ExplorerView):
    def __init__(self):
        super().__init__(ExplorerState())
        self.sent = []

    def _send_msg(self, message):
        self.sent.append(message)


def answer(**asked):
    view = Recorded()
    view._handle_msg({"check": asked})
    (message,) = view.sent
    return message["checked"]


class Cells(HTMLParser):
    """The cells of a table in rows, each its text and its class."""

    def __init__(self, html):
        super().__init__()
        self.rows = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append(["", dict(attributes).get("class", "")])

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1][0] += data


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_slopes_and_bias_are_told_apart_by_their_axes():
    """One row of numbers is slopes, rows of rows are a bias, and a file is what it holds."""
    assert answer(text="0.5, 0.25, 0.125") == {
        "verdict": "wrong",
        "text": str(check_slopes([0.5, 0.25, 0.125])),
        "table": comparison(check_slopes([0.5, 0.25, 0.125])),
    }
    assert answer(text="[[0., -inf], [-0.5, 0.]]")["text"].startswith("bias: right")
    bias = key_position_bias(alibi_slopes(6), 5)
    assert answer(file=npy(bias[None]), name="bias.NPY")["verdict"] == "equivalent"


def test_the_options_of_the_page_reach_the_check():
    """Heads, max bias, schedule and attention are those of the check; empty is the default."""
    part = repr(alibi_slopes(16, max_bias=4)[4:8].tolist())
    options = {"num_heads": " 16 ", "max_bias": "4", "schedule": "reference"}
    assert answer(text=part, **options)["verdict"] == "right"
    assert answer(text=part, num_heads="", max_bias="")["verdict"] != "right"
    assert answer(text=part, num_heads="16", max_bias="4,0")["verdict"] == "right"
    geometric = repr(alibi_slopes(12, schedule="geometric").tolist())
    assert answer(text=geometric, schedule="geometric")["verdict"] == "right"
    both = repr(distance_bias([0.5], 4, symmetric=True).tolist())
    assert "right (symmetric)" in answer(text=both, max_bias="1", attention="symmetric")["text"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "nothing stands here yet; paste"),
        ({"text": " \n"}, "nothing stands here yet; paste"),
        ({"text": None}, "'None' is no number; write"),
        ({"text": "0.5 <script>alert(1)</script>"}, "'<script>alert(1)</script>' is no number; "),
        ({"text": "[0.5, nan]"}, "holds NaN at (1,); "),
        ({"text": "[[1, 2], [3]]"}, "ragged: 1 entries at [1] in place of 2; "),
        ({"text": "1 " * (checking.PAGE_LIMIT // 2 + 1)}, "larger than 1 MiB; give fewer"),
        ({"file": b"\x80\x05cos\nsystem\n", "name": "model.pkl"}, "of no known kind; save it"),
        ({"file": npy(np.zeros((2, 2, 2, 2))), "name": "a.npy"}, "must have shape (head, query"),
        ({"file": npy(np.zeros(2**17)) + b"0", "name": "a.npy"}, "larger than 1 MiB; give fewer"),
        ({"file": npy(np.zeros(2**18 + 1, np.int8)), "name": "a.npy"}, "numbers, more than"),
        ({"file": b"", "name": "a.npy"}, "nothing stands here yet; paste"),
        (
            {"file": npy(np.ones(1025)), "name": "a.npy"},
            "has 1025 heads, more than 1024; give fewer",
        ),
        ({"text": "1", "num_heads": "many"}, "'many' is no number of heads; write"),
        ({"text": "1", "num_heads": "9" * 5000}, "is no number of heads; write"),
        ({"text": "1", "num_heads": "0"}, "'0' is no number of heads; write"),
        ({"text": "1", "max_bias": "x"}, "'x' is no max bias; write 8"),
        ({"text": "1", "max_bias": "-1"}, "max_bias must be positive"),
        ({"text": "1", "schedule": "none"}, "schedule"),
        ({"text": "1", "schedule": ["reference"]}, "schedule"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_fix(asked, words):
    """Each bad input is answered by one line of text with what to do, and by no table."""
    found = answer(**asked)
    assert (found["verdict"], found["table"]) == ("unread", "")
    assert found["text"].startswith("Not read: ")
    assert words in found["text"]
    assert len(found["text"]) < 400


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    ["text", "file", "name", "num_heads", "max_bias", "schedule", "attention", "check"]
)


@given(st.dictionaries(names, anything))
@settings(max_examples=200, deadline=None)
def test_no_message_breaks_a_session(asked):
    """Whatever a socket sends, the answer is a verdict or a reason, and the session goes on."""
    found = answer(**asked)
    assert set(found) == {"verdict", "text", "table"}
    assert found["text"]


def test_a_fault_of_ours_is_answered_too(monkeypatch, caplog):
    """Whatever breaks in a check, the reader is told, and the log has the fault."""

    def broken(asked):
        raise ZeroDivisionError

    monkeypatch.setattr(page, "check_asked", broken)
    found = answer(text="0.5")
    assert (found["verdict"], found["table"]) == ("unread", "")
    assert "a fault of the explorer, not of yours" in found["text"]
    assert "ZeroDivisionError" in caplog.text


def test_a_message_keeps_nothing():
    """What was given is in the answer alone: the session holds no more than before."""
    view = Recorded()
    before = set(vars(view))
    view._handle_msg({"check": {"text": "0.123456 0.5"}})
    view.sent.clear()
    assert set(vars(view)) == before
    assert "0.123456" not in repr(vars(view))


def test_a_table_marks_what_differs():
    """Each number that differs is marked, with the right one below; the others stand alone."""
    bias = np.where(causal_mask(4), distance_bias(alibi_slopes(2), 4), -INF)
    bias[1, 2, 0] = 0.5
    rows = Cells(comparison(check_bias(bias))).rows
    assert [cell[0] for cell in rows[0]] == ["query, key", "0", "1", "2", "3"]
    assert rows[3][1:] == [
        ["≠ 0.5−0.0078125", "differs"],
        ["−0.00390625", ""],
        ["0", ""],
        ["−∞", "masked"],
    ]
    assert sum(cell[1] == "differs" for row in rows for cell in row) == 1


def test_a_table_of_slopes():
    """Slopes stand one a row."""
    rows = Cells(comparison(check_slopes([0.25, 0.5]))).rows
    assert [[cell[0] for cell in row] for row in rows[1:]] == [
        ["0", "≠ 0.250.0625"],
        ["1", "≠ 0.50.00390625"],
    ]
    right = comparison(check_slopes(alibi_slopes(2)))
    assert "≠" not in right


def test_a_large_table_shows_the_part_with_the_fault():
    """Of a long bias eight queries and keys are shown, the first that differs among them."""
    bias = np.array(distance_bias(alibi_slopes(12), 40))
    bias[7, 39, 20] = 1
    html = comparison(check_bias(bias))
    assert "head 7 of 12, queries 32 to 39 of 40, keys 16 to 23 of 40" in html
    assert len(re.findall("<td", html)) == 64
    assert html.count('class="differs"') == 1
    slopes = alibi_slopes(128)
    slopes[100] = 3
    html = comparison(check_slopes(slopes))
    assert "heads 92 to 107 of 128" in html
    assert html.count('class="differs"') == 1


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_any_two_numbers_are_told_apart(got, right):
    """Numbers of any size stand in few letters, and are different in print where they differ."""
    from alibi_explorer.formatting import told_apart

    written = told_apart(got, right)
    assert (written[0] == written[1]) == (got == right)
    assert max(map(len, written)) <= 25
    assert "-" not in "".join(written)
