"""Every control by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from alibi_core import alibi_slopes
from alibi_explorer import formatting


def test_opening_choice(explorer):
    """The page opens at the lesson's choice, with its documented 20.0 % and 35.9 %."""
    explorer.open()
    explorer.shows(heads=4, head=0, query=5, key=0)
    expect(explorer.slot("pair.sentence")).to_contain_text("20.0\u202f% of the attention")
    expect(explorer.slot("pair.sentence")).to_contain_text("35.9\u202f% without")


@pytest.mark.parametrize("name", ["query", "key"])
def test_token_by_mouse(explorer, name):
    """A click on a token chooses it as query or as key."""
    explorer.open()
    for position in (3, 5, 1):
        explorer.chip(name, position).click()
        explorer.shows(**{name: position})


@pytest.mark.parametrize("name", ["query", "key"])
def test_token_by_keyboard(explorer, name):
    """Arrow keys walk the tokens, past the ends to the other side, and the focus stays."""
    explorer.open("?query=4&key=4")
    explorer.control(name).focus()
    for press, position in (
        ("ArrowRight", 5),
        ("ArrowRight", 0),
        ("ArrowLeft", 5),
        ("ArrowUp", 4),
        ("ArrowDown", 5),
    ):
        explorer.page.keyboard.press(press)
        explorer.shows(**{"query": 4, "key": 4, name: position})
        expect(explorer.control(name)).to_be_focused()


def test_steps_by_keyboard(explorer):
    """The buttons of the steps stop at the ends, and keep the focus there."""
    explorer.open("?sections=steps")
    stepper = explorer.page.locator("[data-stepper]")
    for name, walk in (("Next step", (2, 3, 4, 5, 5)), ("Back", (4, 3, 2, 1, 1))):
        button = stepper.get_by_role("button", name=name)
        button.focus()
        for step in walk:
            explorer.page.keyboard.press("Enter")
            expect(stepper.locator(".at")).to_have_text(f"Step {step} of 5")
            expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-disabled", "true")


@pytest.mark.parametrize("name", ["heads", "head"])
def test_select_by_mouse(explorer, name):
    """The number of heads and the head are chosen from native lists."""
    explorer.open()
    for value in (3, 1):
        explorer.select(name, value)
        explorer.shows(**{name: value})


@pytest.mark.parametrize(
    ("name", "start", "steps"),
    [
        ("heads", 8, {"ArrowDown": 9, "ArrowUp": 8, "Home": 1, "7": 7, "End": 16}),
        ("head", 2, {"ArrowDown": 3, "ArrowUp": 2, "Home": 0, "3": 3, "End": 7}),
    ],
)
def test_select_by_keyboard(explorer, name, start, steps):
    """In a list the arrow keys step, Home and End go to its ends and a digit to its entry."""
    choice = {"heads": 8, "head": 0, name: start}
    explorer.open(f"?heads={choice['heads']}&head={choice['head']}")
    explorer.control(name).focus()
    for press, value in steps.items():
        explorer.page.keyboard.press(press)
        explorer.shows(**(choice | {name: value}))
        expect(explorer.control(name)).to_be_focused()


@pytest.mark.parametrize("heads", [1, 6, 16])
def test_head_list(explorer, heads):
    """The list of heads follows their number, and each entry states its slope."""
    explorer.open()
    explorer.select("heads", heads)
    expect(explorer.control("head").locator("option")).to_have_text(
        [
            f"{head} · slope {formatting.exact(slope)}"
            for head, slope in enumerate(alibi_slopes(heads).tolist())
        ]
    )


def test_number_of_heads_keeps_the_head(explorer):
    """Another number of heads keeps the head where it still exists, else shows head 0."""
    explorer.open("?heads=6&head=4")
    for heads, head in ((8, 4), (5, 4), (4, 0)):
        explorer.select("heads", heads)
        explorer.shows(heads=heads, head=head)
    expect(explorer.page.locator(".notice")).to_have_text("")


def test_future_key(explorer):
    """A key of the future can be chosen: it is masked, its logit −∞ and its weight 0 %."""
    explorer.open()
    explorer.choose(query=2, key=4)
    explorer.shows(query=2, key=4)
    sentence = explorer.slot("pair.sentence")
    expect(sentence).to_contain_text(re.compile(r"causal mask .* −∞ .* 0\u202f%"))
    row = explorer.page.locator(".row tr[data-key='4']")
    expect(row.locator("td")).to_have_text(
        ["−2", "0.4", "masked", "−∞", "0\u202f%", "–", "0\u202f%", "–"]
    )
    masked = explorer.page.locator(".tokens.key .mask-word")
    assert [masked.nth(key).is_visible() for key in range(6)] == [key > 2 for key in range(6)]


@pytest.mark.parametrize(
    ("name", "presses", "value"),
    [
        ("query", 20 * ["ArrowRight"], (5 + 20) % 6),
        ("key", 20 * ["ArrowLeft"], -20 % 6),
        ("heads", 9 * ["ArrowDown"] + 11 * ["ArrowUp"], 16 - 11),
        ("head", 13 * ["ArrowDown"] + 7 * ["ArrowUp"], 13 - 7),
    ],
)
def test_held_key(explorer, name, presses, value):
    """Twenty presses in a row end at the choice of the last one, with the focus where it was."""
    start = {"heads": 14, "head": 0}
    explorer.open("?heads=14")
    explorer.control(name).focus()
    for press in presses:
        explorer.page.keyboard.press(press)
    explorer.shows(**(start | {name: value}))
    expect(explorer.control(name)).to_be_focused()


@pytest.fixture
def slow_socket(explorer):
    """Holds the page's WebSocket back; calling it waits for the socket and lets it through."""
    sockets = []
    explorer.page.route_web_socket("**/app/ws*", lambda socket: sockets.append(socket))

    def let_through():
        for _ in range(150):
            if sockets:
                break
            explorer.page.wait_for_timeout(100)
        (socket,) = sockets
        socket.connect_to_server()

    return let_through


@pytest.mark.parametrize("choice", [{"query": 2}, {"key": 1}, {"head": 3}, {"heads": 6}])
def test_early_pick(explorer, slow_socket, choice):
    """What is picked before the connection stands is honoured once it does."""
    explorer.page.goto(explorer.url)
    explorer.choose(**choice)
    assert "heads" not in explorer.page.url
    slow_socket()
    explorer.shows(**choice)


def test_early_number_of_heads_without_the_head(explorer, slow_socket):
    """A number of heads picked early replaces a head that it does not have by head 0."""
    explorer.page.goto(explorer.url + "?heads=6&head=5")
    explorer.choose(heads=2)
    slow_socket()
    explorer.shows(heads=2, head=0)
    expect(explorer.page.locator(".notice")).to_have_text("")


def test_row_of_the_table(explorer):
    """A click anywhere on a row of the table chooses its key, as does its button by keyboard."""
    explorer.open()
    explorer.page.locator(".row tr[data-key='3'] td").nth(2).click()
    explorer.shows(key=3)
    explorer.page.get_by_role("button", name="cat (1)").click()
    explorer.shows(key=1)
    button = explorer.page.get_by_role("button", name="mat (5)")
    button.press("Enter")
    explorer.shows(key=5)
    expect(button).to_be_focused()
    explorer.page.get_by_role("button", name="on (3)").press("Space")
    explorer.shows(key=3)


def test_row_of_the_table_of_slopes(explorer):
    """A click on a row of the table of slopes chooses its head, as does its button."""
    explorer.open("?heads=6")
    explorer.open_details()
    rows = explorer.slot("heads.table").locator("tbody tr")
    rows.nth(4).locator("td").nth(1).click()
    explorer.shows(heads=6, head=4)
    rows.nth(2).get_by_role("button").press("Enter")
    explorer.shows(heads=6, head=2)
    expect(rows.nth(2).get_by_role("button")).to_be_focused()


def test_card_of_a_head(explorer):
    """A click or Enter on the card of a head chooses this head; the focus stays on the card."""
    explorer.open("?heads=6")
    cards = explorer.page.locator(".card")
    expect(cards).to_have_count(6)
    cards.nth(4).click()
    explorer.shows(heads=6, head=4)
    cards.nth(2).press("Enter")
    explorer.shows(heads=6, head=2)
    expect(cards.nth(2)).to_be_focused()


def test_cell_of_a_table_by_mouse(explorer):
    """A click on a cell of a head's table chooses query and key, a masked one too."""
    explorer.open()
    explorer.open_details()
    table = explorer.slot("head.difference")
    for query, key in ((3, 1), (1, 4)):
        table.locator(f"td[data-query='{query}'][data-key='{key}']").click()
        explorer.shows(query=query, key=key)


def test_cell_of_a_table_by_keyboard(explorer):
    """In a head's table the arrow keys walk the cells, Home and End a row, Enter chooses."""
    explorer.open("?query=2&key=1")
    explorer.open_details()
    press = explorer.page.keyboard.press
    focused = explorer.page.locator("td:focus")

    def stands_at(query, key):
        expect(focused).to_have_attribute("data-query", str(query))
        expect(focused).to_have_attribute("data-key", str(key))

    chosen = explorer.slot("head.plain").locator("td[tabindex='0']")
    expect(chosen).to_have_count(1)
    chosen.focus()
    stands_at(2, 1)
    for key_press, query, key in (
        ("ArrowRight", 2, 2),
        ("ArrowDown", 3, 2),
        ("ArrowLeft", 3, 1),
        ("ArrowUp", 2, 1),
        ("End", 2, 5),
        ("ArrowRight", 2, 5),
        ("Home", 2, 0),
        ("ArrowLeft", 2, 0),
    ):
        press(key_press)
        stands_at(query, key)
    explorer.shows(query=2, key=1)
    press("Enter")
    explorer.shows(query=2, key=0)
    stands_at(2, 0)
    press("End")
    press("Space")
    explorer.shows(query=2, key=5)
    stands_at(2, 5)
