"""The builds of the explorer that are compared, and how each is started."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).resolve().parent / "peers"
PYTHON_PEERS = ("streamlit", "dash", "gradio")
TOKENS = ("The", "cat", "sat", "on", "the", "mat")

QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True)
class Build:
    """One build of the explorer; it opens at query 5, key 0, head 0 of four.

    Attributes
    ----------
    command : tuple of str
        Starts its server on ``{port}``; empty if it is a file.
    control : str
        CSS of the element that takes the arrow keys for the query, the `nth` of its kind.
    readout : str
        CSS of the element whose text starts with ``prefixes[query]`` for that query and for no
        other.
    folder : Path
        Where the command runs.
    path : str
        Of the page, below the server or below the folder.
    """

    name: str
    command: tuple[str, ...]
    control: str
    readout: str
    nth: int = 0
    prefixes: tuple[str, ...] = tuple(f"q{query} " for query in range(6))
    folder: Path = PEERS
    path: str = ""


def all_builds(python: str, app: Path, files: Path) -> dict[str, Build]:
    """The floor, the peers, and ours: `app` served by `python`, and its one file in `files`."""
    address = "127.0.0.1"
    streamlit = (
        *(sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port={port}"),
        *(f"--server.address={address}", "--server.headless=true"),
        "--browser.gatherUsageStats=false",
    )
    dash = (sys.executable, "dash_app.py", "{port}")
    gradio = (sys.executable, "gradio_app.py", "{port}")
    panel = (
        *(python, "-m", "panel", "serve", str(app), "--port={port}", f"--address={address}"),
        f"--allow-websocket-origin={address}:{{port}}",
    )
    ours = ("input[name=query]:checked", '[data-slot="pair.sentence"]')
    prefixes = tuple(f"{token} ({query}) " for query, token in enumerate(TOKENS))
    builds = (
        Build("handwritten", (), "#query", "#out", path="handwritten.html"),
        Build("streamlit", streamlit, "input[type=range]", "[data-testid=stText]", nth=1),
        Build("dash", dash, "[role=slider]", "#out", nth=1),
        Build("gradio", gradio, "input[type=range]", "#out textarea", nth=1),
        Build("served", panel, *ours, prefixes=prefixes, folder=ROOT, path=app.name),
        Build("embedded", (), *ours, prefixes=prefixes, folder=files, path="embedded.html"),
    )
    return {build.name: build for build in builds}


def write_embedded(python: str, build: Build) -> None:
    """Write the explorer as one file, as an author does."""
    command = [python, "-m", "alibi_explorer", "embed", "-o", str(build.folder / build.path)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def start(build: Build, stack: ExitStack) -> str:
    """Start a build's server for as long as `stack` is open; returns the page's address."""
    if not build.command:
        return (build.folder / build.path).as_uri()
    port = _free_port()
    log = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
    process = subprocess.Popen(
        [part.format(port=port) for part in build.command],
        cwd=build.folder,
        env=os.environ | QUIET,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    stack.callback(_stop, process)
    end = time.monotonic() + 90
    while time.monotonic() < end and process.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return f"http://127.0.0.1:{port}/{build.path}"
        time.sleep(0.1)
    log.seek(0)
    raise SystemExit(f"{build.name} does not start:\n{log.read().decode()[-2000:]}")


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
