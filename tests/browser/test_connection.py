"""The socket between page and server: lost, found, shared, and let go."""

import json
import re
import sys
import urllib.request

from playwright.sync_api import expect

SERVER_AWAY = ("net::ERR_", "WebSocket")
"""What the browser's console says while no server answers."""

COUNTING_SERVER = """
import gc
import sys

import panel as pn
from bokeh.document import Document
from panel.io.application import build_single_handler_application
from tornado.web import RequestHandler


class Counts(RequestHandler):
    def get(self):
        gc.collect()
        documents = sum(isinstance(found, Document) for found in gc.get_objects())
        self.write({"documents": documents, "sessions": len(server.get_sessions())})


sys.path.insert(0, "")  # as python -m panel does
server = pn.serve(
    {"app": build_single_handler_application("app")},
    port=int(sys.argv[1]),
    show=False,
    start=False,
    extra_patterns=[("/counts", Counts)],
    unused_session_lifetime_milliseconds=3000,
    check_unused_sessions_milliseconds=300,
)
server.run_until_shutdown()
"""
"""Serves the app as ``panel serve app`` does, and at /counts what it holds in memory."""


def test_lost_connection(explorer_of, page, start_server, allowed_problems):
    """A lost server is told in words; choices made meanwhile come back with the server."""
    allowed_problems += SERVER_AWAY
    server = start_server()
    explorer = explorer_of(page, server.url)
    explorer.open()
    alert = page.get_by_role("alert")
    expect(alert).to_have_count(0)
    explorer.choose(heads=6, head=4)
    explorer.shows(heads=6, head=4)
    page.evaluate("window.beforeTheLoss = true")

    server.kill()
    expect(alert).to_be_visible()
    expect(alert).to_contain_text("connection to the server was lost")
    explorer.choose(query=3, key=1)
    page.wait_for_url(re.compile(r"(?=.*heads=6)(?=.*head=4)(?=.*query=3)(?=.*key=1)"))

    server.start()
    page.wait_for_function("!window.beforeTheLoss")
    explorer.shows(heads=6, head=4, query=3, key=1)
    expect(page.locator(".notice")).to_have_text("")
    expect(alert).to_have_count(0)
    explorer.choose(key=2)
    explorer.shows(heads=6, head=4, query=3, key=2)


def test_number_of_heads_while_disconnected(explorer_of, page, start_server, allowed_problems):
    """A number of heads chosen without a server comes back with a head that it has, silently."""
    allowed_problems += SERVER_AWAY
    server = start_server()
    explorer = explorer_of(page, server.url)
    explorer.open("?heads=6&head=5")
    server.kill()
    expect(page.get_by_role("alert")).to_be_visible()
    page.evaluate("window.beforeTheLoss = true")
    explorer.choose(heads=2)
    page.wait_for_url("**/*heads=2*")
    server.start()
    page.wait_for_function("!window.beforeTheLoss")
    explorer.shows(heads=2, head=0)
    expect(page.locator(".notice")).to_have_text("")


def test_two_visitors(explorer, explorer_of, context, watch):
    """Two visitors of one server each keep their own choice."""
    other = explorer_of(watch(context.new_page()), explorer.url)
    explorer.open()
    other.open("?query=2&key=1")
    explorer.choose(heads=6, head=4)
    other.choose(key=0)
    explorer.shows(heads=6, head=4)
    other.shows(query=2, key=0)
    explorer.choose(query=1)
    explorer.shows(heads=6, head=4, query=1)
    other.shows(query=2, key=0)


# Now and then Bokeh keeps a session whose page leaves just as a message is under way; a leak of
# ours would keep all thirty.
LOST = 2


def test_sessions_are_let_go(context, watch, explorer_of, start_server, tmp_path):
    """Thirty visits leave no more documents in the server's memory than the first three."""
    script = tmp_path / "counting_server.py"
    script.write_text(COUNTING_SERVER)
    server = start_server([sys.executable, str(script)])
    idle = context.new_page()

    def counts():
        with urllib.request.urlopen(f"http://localhost:{server.port}/counts") as answer:
            return json.load(answer)

    def left_after(visits):
        """Documents in memory once that many readers have come, changed something and gone."""
        for visit in range(visits):
            explorer = explorer_of(watch(context.new_page()), server.url)
            explorer.open()
            if visit == 0:
                explorer.draw()
                assert counts()["documents"] > 0
            explorer.choose(query=visit % 5)
            explorer.shows(query=visit % 5)
            explorer.page.close()
        for _ in range(200):
            if counts()["sessions"] == 0:
                break
            idle.wait_for_timeout(100)
        left = counts()
        assert left["sessions"] <= LOST
        return left["documents"]

    first = left_after(3)
    assert left_after(27) <= first + LOST
