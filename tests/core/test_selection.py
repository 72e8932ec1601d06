import dataclasses
import re

import numpy as np
import pytest

from alibi_core import Selection

NAMES = ("num_heads", "head", "query", "key")


def test_defaults_are_the_opening(figures):
    """Without arguments the choice is the opening one."""
    stated = {name: figures["opening"][name] for name in NAMES}
    assert dataclasses.asdict(Selection()).items() >= stated.items()


@pytest.mark.parametrize("name", NAMES)
def test_frozen(name):
    """A choice cannot be changed afterwards."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(Selection(), name, 1)


def test_every_choice_of_the_lesson():
    """Each head of 1 to 16 heads with each of 36 pairs, future keys too, is a choice of its own."""
    choices = {
        Selection(num_heads, head, query, key)
        for num_heads in range(1, 17)
        for head in range(num_heads)
        for query in range(6)
        for key in range(6)
    }
    assert len(choices) == 136 * 36


def test_numpy_integers_become_ints():
    """NumPy integers are stored as ints, so equal choices are equal and hash alike."""
    choice = Selection(np.int64(8), np.uint8(3), np.int16(5), np.int32(0))
    assert [type(getattr(choice, name)) for name in NAMES] == [int] * 4
    assert {choice: "found"}[Selection(8, 3, 5, 0)] == "found"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"num_heads": 17}, "the lesson has no 17 heads; choose 1 to 16"),
        ({"num_heads": 0}, "the lesson has no 0 heads; choose 1 to 16"),
        ({"head": 5}, "head 5 does not exist with 4 heads; choose 0 to 3"),
        ({"head": 4}, "head 4 does not exist with 4 heads; choose 0 to 3"),
        ({"num_heads": 1, "head": 1}, "head 1 does not exist with 1 head; choose 0"),
        ({"head": -1}, "head -1 does not exist with 4 heads; choose 0 to 3"),
        ({"query": 6}, "query 6 is not a position of the 6 tokens; choose 0 to 5"),
        ({"query": -1}, "query -1 is not a position of the 6 tokens; choose 0 to 5"),
        ({"key": 6}, "key 6 is not a position of the 6 tokens; choose 0 to 5"),
        ({"other": 6}, "other 6 is not a position of the 6 tokens; choose 0 to 5"),
        ({"equal": 2}, "equal 2 is neither no nor yes; choose 0 to 1"),
        ({"count": 129}, "the lesson lists no slopes of 129 heads; choose 1 to 128"),
        (
            {"far": 7},
            "the lesson does not look at a distance of 7 tokens; choose 1, 2, 5, 10, 20, 50, 100, "
            "200, 500, 1023, 2047, 5000, 10000, 100000, 1000000",
        ),
        ({"length": 7}, "the lesson has no text of 7 tokens; choose 6, 64, 256, 1024, 4096, 16384"),
        ({"padding": 1}, "the lesson has no padding of 1 slots; choose -2, 0, 2"),
        ({"key": -2}, "key -2 is not a position of the 6 tokens; choose 0 to 5"),
    ],
)
def test_refused_values(choice, message):
    """A value out of range is refused, and the message tells the range."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Selection(**choice)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None])
def test_refused_kinds(name, value):
    """A value that is no integer is refused by its name."""
    with pytest.raises(TypeError, match=f"^{name} must be an integer, got .*; choose"):
        Selection(**{name: value})
