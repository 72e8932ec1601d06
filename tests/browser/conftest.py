"""The served page in a real Chromium, and what the core says that it must show."""

import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

from playwright.sync_api import TimeoutError as PageTimeout  # noqa: E402

from alibi_core import Selection, calculate  # noqa: E402
from alibi_explorer.sections import fill_all  # noqa: E402
from alibi_explorer.state import URL_NAMES, url_choice  # noqa: E402

PROBE = Path(__file__).with_name("probe.js")
LOG_ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d )", re.MULTILINE)
LOG_PROBLEM = re.compile(r"Traceback|ERROR|Error|[EW]-10\d\d")
PAGE_LEFT = re.compile(
    r"never retrieved\n.*exception=WebSocketClosedError\(\)>|assert self\._session is not None"
)
"""What Tornado and Bokeh log where a page goes away while a message is under way."""


WHOLE = ".alibi[data-live]:not([data-late])"
"""The page once its script answers and its sections are laid out, which is done one a frame."""

IDLE = """() => new Promise((done) => {
    setTimeout(done, 1000)  // a frame out of view is not painted
    requestAnimationFrame(() => requestIdleCallback(() => setTimeout(done), {timeout: 300}))
})"""
"""Waits until the page has put in what is out of view."""


class Server:
    """``panel serve app``, or another command that listens on a port, with its log in a file."""

    def __init__(self, log, command=None):
        self.log = log
        self.port = _free_port()
        self.url = f"http://localhost:{self.port}/app"
        self._command = command or (sys.executable, "-m", "panel", "serve", "app", "--port")
        self.start()

    def start(self):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._command, str(self.port)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        patience = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > patience:
                self.kill()
                raise RuntimeError(f"no server at {self.url}:\n{self.log.read_text()}")
            time.sleep(0.1)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def problems(self):
        """Entries of the log that a sound page does not write."""
        entries = LOG_ENTRY.split(self.log.read_text())
        return [
            entry for entry in entries if LOG_PROBLEM.search(entry) and not PAGE_LEFT.search(entry)
        ]

    def _answers(self):
        try:
            with urllib.request.urlopen(self.url, timeout=30):
                return True
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{self.url}: {error}\n{self.log.read_text()}") from error
        except OSError:
            return False


class Explorer:
    """The page as a reader has it: open it, choose, and see that it shows what the core says."""

    def __init__(self, page, url):
        self.page = page
        self.url = url
        self.frames = []  # what the page's WebSocket has received
        self._socket = None
        page.on("websocket", self._note_socket)

    def _note_socket(self, socket):
        self._socket = socket
        socket.on("framereceived", lambda frame: self.frames.append(str(frame)))

    def open(self, search=""):
        """Go to the page and wait until it is live."""
        self._go(lambda: self.page.goto(self.url + search))

    def reload(self):
        self._go(self.page.reload)

    def _go(self, navigate):
        """Live means: every figure has its frame, the server has answered once, all is laid out."""
        self.frames.clear()
        self._socket = None
        navigate()
        if self._socket is None:
            self.page.wait_for_event("websocket")
        while not any('"choice"' in frame for frame in self.frames):
            self._socket.wait_for_event("framereceived")
        self.page.wait_for_function("document.querySelector('[data-figure] > *') !== null")
        self.page.wait_for_selector(WHOLE)

    def draw(self):
        """Scroll past every figure, as they are drawn once they come near; their names."""
        names = self.page.evaluate("probe.figureNames()")
        for name in names:
            self.page.locator(f'[data-figure="{name}"]').scroll_into_view_if_needed()
            self.page.locator(f'[data-figure="{name}"] canvas').first.wait_for()
        return names

    def choose(self, heads=None, head=None, query=None, key=None):
        """Choose by mouse; the number of heads comes first, as the list of heads follows it."""
        if heads is not None:
            self.select("heads", heads)
        if head is not None:
            self.select("head", head)
        for name, position in (("query", query), ("key", key)):
            if position is not None:
                self.chip(name, position).click()

    def select(self, name, value):
        self.control(name).select_option(str(value))

    def control(self, name):
        """The native control: a select, or the chosen radio of a group."""
        return self.page.locator(f"select[name={name}], input[name={name}]:checked")

    def chip(self, name, position):
        return self.page.locator(f"label:has(input[name={name}][value='{position}'])")

    def slot(self, name):
        return self.page.locator(f'[data-slot="{name}"]')

    def open_details(self):
        self.page.evaluate(
            "document.querySelectorAll('section details').forEach((all) => all.open = true)"
        )

    def shows(self, heads=4, head=0, query=5, key=0):
        """Wait until controls, URL, marks and every slot show this choice; its calculation."""
        calculation = calculate(Selection(num_heads=heads, head=head, query=query, key=key))
        expected = [url_choice(calculation.selection), fill_all(calculation)]
        try:
            self.page.wait_for_function(
                "(expected) => probe.differences(expected).length === 0", arg=expected
            )
        except PageTimeout:
            differences = self.page.evaluate("(expected) => probe.differences(expected)", expected)
            lines = "\n".join(line[:160] for line in differences)
            pytest.fail(f"{self.page.url} does not show {expected[0]}:\n{lines}")
        return calculation

    def figure(self, name):
        return self.page.evaluate("(name) => probe.figure(name)", name)

    def place(self, figure, x, y):
        """Scroll a figure into view; where its point (x, y) is in the window."""
        self.page.locator(f'[data-figure="{figure}"]').scroll_into_view_if_needed()
        return self.page.evaluate("(point) => probe.place(point)", [figure, x, y])


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The checkout's own page, served once for all tests of a worker."""
    server = Server(tmp_path_factory.mktemp("server") / "log")
    yield server
    server.kill()
    assert server.problems() == []


@pytest.fixture
def start_server(tmp_path):
    """Starts a server of the test's own."""
    servers = []

    def start(command=None):
        servers.append(Server(tmp_path / f"log{len(servers)}", command))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    switches = (
        "no-sandbox",
        "disable-gpu",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
    return {
        **browser_type_launch_args,
        **({"executable_path": found} if found else {}),
        "args": [f"--{switch}" for switch in switches],
    }


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    return {**browser_context_args, "viewport": {"width": 1280, "height": 800}}


@pytest.fixture
def allowed_problems():
    """Parts of complaints that a test expects; it may add to them."""
    return []


@pytest.fixture
def problems(allowed_problems):
    """What the browser complains about; a test fails at its end if anything unexpected is in it."""
    problems = []
    yield problems
    assert [line for line in problems if not any(part in line for part in allowed_problems)] == []


@pytest.fixture
def watch(problems):
    """Notes the problems of a page and adds the probe to it."""

    def watch(page):
        def note_console(message):
            if message.type in ("error", "warning"):
                problems.append(f"console {message.type}: {message.text}")

        def note_request(request):
            address = urlsplit(request.url)
            if address.scheme not in ("data", "blob", "file") and address.hostname != "localhost":
                problems.append(f"request to {request.url}")

        def note_dialog(dialog):
            problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.set_default_timeout(15_000)
        page.add_init_script(path=PROBE)
        page.on("console", note_console)
        page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
        page.on("request", note_request)
        page.on("dialog", note_dialog)
        return page

    return watch


@pytest.fixture
def page(page, watch):
    return watch(page)


@pytest.fixture
def explorer_of(watch):
    """An `Explorer` of a further page or another server."""
    return lambda page, url: Explorer(page, url)


@pytest.fixture
def explorer(page, server):
    return Explorer(page, server.url)


@pytest.fixture
def choices():
    """Varied choices: one head and sixteen, kept and appended, allowed and masked pairs."""
    names = ("heads", "head", "query", "key")
    varied = (
        (4, 0, 5, 0),
        (1, 0, 0, 0),
        (2, 1, 5, 5),
        (3, 2, 4, 1),
        (4, 3, 2, 5),
        (6, 4, 5, 0),
        (6, 5, 3, 2),
        (7, 6, 1, 4),
        (8, 0, 4, 4),
        (12, 8, 5, 3),
        (16, 15, 5, 1),
        (16, 0, 0, 5),
    )
    return [dict(zip(names, choice, strict=True)) for choice in varied]


def _free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


class Embedded(Explorer):
    """The page without a server, alone or in a frame: live once loaded, its URL its own affair."""

    def __init__(self, page, url=None):
        self.page = page  # or a frame
        self.url = url or page.url

    def open(self, search=""):
        self.page.goto(self.url + search)
        self.wait()

    def wait(self):
        """Live means: the script answers, and every section is laid out."""
        self.page.wait_for_selector(WHOLE)

    def differences(self, **choice):
        """What the page shows otherwise than the core, once what is out of view has followed."""
        calculation = calculate(Selection(**{URL_NAMES[name]: choice[name] for name in choice}))
        expected = [url_choice(calculation.selection), fill_all(calculation)]
        patience = time.monotonic() + 5  # it follows section by section, in idle moments
        while True:
            self.page.evaluate(IDLE)
            lines = self.page.evaluate("(expected) => probe.differences(expected)", expected)
            found = [line for line in lines if not line.startswith("URL has")]
            if not found or time.monotonic() > patience:
                return found

    def choice(self):
        """What the controls say."""
        return self.page.evaluate("probe.choice()")

    def shows(self, heads=4, head=0, query=5, key=0):
        """See that controls, marks and every slot show this choice, as soon as it is chosen."""
        choice = {"heads": heads, "head": head, "query": query, "key": key}
        self.page.wait_for_function(
            """(choice) => {
                const {elements} = document.querySelector("form.controls")
                const standing = (name) => elements.namedItem(name).value
                return Object.keys(choice).every((name) => standing(name) == choice[name])
            }""",
            arg=choice,
        )
        assert self.differences(**choice) == []


@pytest.fixture(scope="session")
def serve_folder():
    """Serves a folder on loopback, to the end of the session; gives its URL."""
    servers = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/favicon.ico":  # a browser asks for it by itself
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_):
            pass

    def serve(folder):
        handler = functools.partial(Handler, directory=folder)
        servers.append(ThreadingHTTPServer(("localhost", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://localhost:{servers[-1].server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def embedded_of():
    """An `Embedded` of a page or of a frame in it."""
    return Embedded
