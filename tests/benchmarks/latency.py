"""Times the served and the embedded explorer beside the same built with other tools, in one run.

Each round visits every build once, in rotated order, so that a machine that gets slower or
busier slows them all alike. Quote the ratios of one run, never single times; README.md says
how to read them.
"""

import argparse
import itertools
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from builds import PYTHON_PEERS, ROOT, Build, all_builds, start, write_embedded
from playwright.sync_api import Browser, Error, Page, Request, sync_playwright

WATCH = Path(__file__).resolve().parent / "watch.js"

BUILD_NAMES = ("handwritten", *PYTHON_PEERS, "served", "embedded")

FLOOR = ("handwritten",)
GOALS = (  # measure, ours, the fastest of these, ratio of the medians at most
    ("change", "served", PYTHON_PEERS, 0.8),
    ("load", "served", PYTHON_PEERS, 1.0),
    ("first_change", "served", PYTHON_PEERS, None),
    ("change", "embedded", FLOOR, 1.1),
    ("load", "embedded", FLOOR, 1.5),
    ("first_change", "embedded", FLOOR, None),
)

OPENING_QUERY = 5
WARM_UP = 3  # presses of a visit that are not counted
PAUSE = 0.05  # seconds between a painted readout and the next press
RETRY = 0.05  # seconds until an early press that moved nothing is repeated
STUCK = 2  # seconds until a control that moved without effect is moved back
LIMIT = 20_000  # milliseconds until a readout that does not come is an error

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    # A page that asks other hosts for fonts or scripts is refused at once, on any machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


@dataclass
class Times:
    """Milliseconds of one build: a list a visit, so that a round can be compared by itself."""

    change: list[list[float]] = field(default_factory=list)
    load: list[list[float]] = field(default_factory=list)
    first_change: list[list[float]] = field(default_factory=list)

    def median(self, measure: str) -> float:
        return statistics.median(flat(getattr(self, measure)))


@dataclass
class Traffic:
    """What one page received."""

    bodies: int = 0  # bytes of the response bodies
    wire: int = 0  # the same as sent: fewer if the server compresses
    messages: int = 0  # bytes of the WebSocket messages
    requests: int = 0
    outside: int = 0  # requests to other hosts, which were refused


def flat(lists: Iterable[list[float]]) -> list[float]:
    return list(itertools.chain.from_iterable(lists))


def p95(samples: list[float]) -> float:
    return sorted(samples)[int(0.95 * (len(samples) - 1))]


# One visit


def expect(page: Page, build: Build, query: int) -> None:
    """Start to look for the readout of `query`; `bench.pending` is its time."""
    page.evaluate(
        "([css, prefix, limit]) => bench.expect(css, prefix, limit)",
        [build.readout, build.prefixes[query], LIMIT],
    )


def focus(page: Page, build: Build) -> int | None:
    """Focus the query control and return its value; None while the page does not have it."""
    value = page.evaluate("([css, nth]) => bench.focus(css, nth)", [build.control, build.nth])
    return None if value is None else int(value)


def press_until_it_takes(page: Page, build: Build) -> float:
    """Move the query from 5 to 4 as early as the page allows; ms since the navigation.

    The press is repeated while the control still stands at 5. Once the control has moved, the
    result is on its way and another press would only delay it, unless nothing comes of it.
    """
    expect(page, build, OPENING_QUERY - 1)
    moved = None
    while not page.evaluate("bench.settled"):
        value = focus(page, build)
        if value == OPENING_QUERY:
            page.keyboard.press("ArrowLeft")
            moved = None
        elif value is not None:
            moved = moved or time.monotonic()
            if time.monotonic() - moved > STUCK:
                page.keyboard.press("ArrowRight")
        time.sleep(RETRY)
    return page.evaluate("bench.pending")


def press(page: Page, build: Build, arrow: str, query: int) -> float:
    """Press an arrow key; ms from the key press to the painted readout of `query`."""
    expect(page, build, query)
    page.keyboard.press(arrow)
    return page.evaluate("bench.pending.then((painted) => painted - bench.pressed)")


@contextmanager
def named(build: Build) -> Iterator[None]:
    """Say which build an error belongs to: ratios without it would flatter ours."""
    try:
        yield
    except Error as error:
        raise SystemExit(f"{build.name}: {error.message}") from error


def new_page(browser: Browser, stack: ExitStack) -> Page:
    """A page in a context of its own, so that nothing is cached."""
    context = stack.enter_context(closing(browser.new_context()))
    context.add_init_script(path=WATCH)
    page = context.new_page()
    page.set_default_timeout(LIMIT)
    return page


def visit(browser: Browser, build: Build, url: str, presses: int, times: Times) -> None:
    """Load the page, change the query again and again, and add to `times`."""
    with ExitStack() as stack:
        stack.enter_context(named(build))
        page = new_page(browser, stack)
        page.goto(url, wait_until="commit")
        expect(page, build, OPENING_QUERY)
        load = page.evaluate("bench.pending")
        first_change = press_until_it_takes(page, build)

        page.wait_for_load_state()
        page.wait_for_timeout(1000)
        query, step = focus(page, build), -1
        samples = []
        for _ in range(WARM_UP + presses):
            step = {0: 1, 5: -1}.get(query, step)
            query += step
            samples.append(press(page, build, "ArrowRight" if step > 0 else "ArrowLeft", query))
            time.sleep(PAUSE)

    times.load.append([load])
    times.first_change.append([first_change])
    times.change.append(samples[WARM_UP:])


def receive(
    browser: Browser, build: Build, url: str, controls: dict[str, str]
) -> tuple[Traffic, dict[str, list[int]]]:
    """Bytes of a first load, and of the WebSocket messages after each press on each control."""
    traffic = Traffic()
    finished: list[Request] = []

    def count_message(payload: str | bytes) -> None:
        traffic.messages += len(payload.encode() if isinstance(payload, str) else payload)

    def count_finished(request: Request) -> None:
        finished.append(request)

    def count_failed(request: Request) -> None:
        traffic.outside += not request.url.startswith(url[: url.rindex("/")])

    def wait_until_quiet(page: Page, seconds: float) -> None:
        seen = None
        while seen != (traffic.messages, len(finished)):
            seen = (traffic.messages, len(finished))
            page.wait_for_timeout(1000 * seconds)

    with ExitStack() as stack:
        stack.enter_context(named(build))
        page = new_page(browser, stack)
        page.on("websocket", lambda websocket: websocket.on("framereceived", count_message))
        page.on("requestfinished", count_finished)
        page.on("requestfailed", count_failed)
        page.goto(url)
        expect(page, build, OPENING_QUERY)
        page.evaluate("bench.pending")
        wait_until_quiet(page, 1.0)
        for request in tuple(finished):
            traffic.bodies += len(request.response().body())
            traffic.wire += request.sizes()["responseBodySize"]
        traffic.requests = len(finished)

        at_load = traffic.messages
        presses: dict[str, list[int]] = {}
        for name, css in controls.items():
            presses[name] = []
            for arrow in 3 * ["ArrowDown"] + 3 * ["ArrowUp"]:
                before = traffic.messages
                page.locator(css).first.focus()
                page.keyboard.press(arrow)
                wait_until_quiet(page, 0.4)
                presses[name].append(traffic.messages - before)
        traffic.messages = at_load
    return traffic, presses


# The report


def print_machine(browser: Browser) -> None:
    peers = ", ".join(f"{name} {version(name)}" for name in PYTHON_PEERS)
    busy = os.getloadavg()[0]
    print(f"Chromium {browser.version}, {peers}; {os.cpu_count()} cores, load average {busy:.1f}")


def print_times(times: dict[str, Times]) -> None:
    print(f"\n{'median ms':12}{'change':>10}{'its p95':>10}{'load':>10}{'first change':>15}")
    for name, of in times.items():
        print(
            f"{name:12}{of.median('change'):10.1f}{p95(flat(of.change)):10.1f}"
            f"{of.median('load'):10.0f}{of.median('first_change'):15.0f}"
        )


def print_ratios(times: dict[str, Times]) -> None:
    print("\nratios of the medians (of each round by itself, smallest to largest)")
    for measure, ours, others, goal in GOALS:
        medians = {name: times[name].median(measure) for name in others}
        other = min(others, key=medians.__getitem__)
        ratio = times[ours].median(measure) / medians[other]
        rounds = [
            statistics.median(our_visit) / statistics.median(other_visit)
            for our_visit, other_visit in zip(
                getattr(times[ours], measure), getattr(times[other], measure), strict=True
            )
        ]
        line = (
            f"  {measure.replace('_', ' '):14}{ours:9}/ {other:12}{ratio:7.3f}"
            f"   ({min(rounds):.2f} to {max(rounds):.2f})"
        )
        if goal is not None:
            line += f"   goal <= {goal}: {'reached' if ratio <= goal else 'MISSED'}"
        print(line)


def print_traffic(traffic: dict[str, Traffic], presses: dict[str, list[int]]) -> None:
    print(
        f"\n{'kB of a load':12}{'bodies':>10}{'as sent':>10}{'WebSocket':>11}"
        f"{'requests':>11}{'to other hosts':>17}"
    )
    for name, of in traffic.items():
        print(
            f"{name:12}{of.bodies / 1000:10.0f}{of.wire / 1000:10.0f}{of.messages / 1000:11.1f}"
            f"{of.requests:11}{of.outside:17}"
        )
    if presses:
        print("\nWebSocket bytes that the served page receives a key press")
        for name, counts in presses.items():
            spread = f"({min(counts)} to {max(counts)})"
            print(f"  {name + ' change':14}{statistics.median(counts):8.0f}   {spread}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="visits of each build")
    parser.add_argument("--presses", type=int, default=20, help="counted key presses a visit")
    parser.add_argument("--only", nargs="+", choices=BUILD_NAMES, help="no ratios then")
    parser.add_argument(
        "--python",
        default=os.environ.get("EXPLORER_PYTHON", str(ROOT / ".venv/bin/python")),
        help="interpreter that runs our pages; default EXPLORER_PYTHON, else .venv/bin/python",
    )
    parser.add_argument("--app", type=Path, default=ROOT / "app", help="what it serves")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    stack = ExitStack()
    files = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    builds = all_builds(options.python, options.app.resolve(), files)
    if options.only:
        builds = {name: builds[name] for name in options.only}
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not on the PATH; install it, or name it with CHROMIUM=")
    if builds.keys() & {"served", "embedded"} and shutil.which(options.python) is None:
        raise SystemExit(f"{options.python} is no interpreter; pass the project's with --python")

    names = list(builds)
    times = {name: Times() for name in names}
    traffic: dict[str, Traffic] = {}
    presses: dict[str, list[int]] = {}
    with stack:
        if "embedded" in builds:
            write_embedded(options.python, builds["embedded"])
        urls = {name: start(build, stack) for name, build in builds.items()}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        stack.enter_context(closing(browser))
        print_machine(browser)

        for name in names:  # the first visit of a server is slow, and not counted
            visit(browser, builds[name], urls[name], 1, Times())
        for turn in range(options.rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                visit(browser, builds[name], urls[name], options.presses, times[name])
            print(f"round {turn + 1} of {options.rounds} done", flush=True)

        for name in names:
            if builds[name].command:
                kinds = ("query", "key", "head") if name == "served" else ()
                controls = {kind: f"[name={kind}]:checked, select[name={kind}]" for kind in kinds}
                traffic[name], changed = receive(browser, builds[name], urls[name], controls)
                presses |= changed

    print_times(times)
    if times.keys() == set(BUILD_NAMES):
        print_ratios(times)
    print_traffic(traffic, presses)


if __name__ == "__main__":
    main()
