"""The command ``alibi-explorer``."""

import argparse
import contextlib
import sys
from collections.abc import Sequence

import panel as pn

from alibi_explorer.page import TITLE, served_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 2 where something must be put right first."""
    parser = argparse.ArgumentParser(
        prog="alibi-explorer",
        description="See how ALiBi turns content logits into attention weights.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve the explorer to a browser")
    serve.add_argument("--port", type=_port, default=5006, help="default: 5006; 0 picks a free one")
    serve.add_argument(
        "--address", default="localhost", help="where to listen (default: localhost)"
    )
    serve.add_argument(
        "--allow-websocket-origin",
        action="append",
        metavar="HOST[:PORT]",
        help="a host whose pages may show the explorer; may be repeated",
    )
    serve.add_argument("--show", action="store_true", help="open it in a browser")
    serve.set_defaults(run=_serve)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def _serve(options: argparse.Namespace) -> int:
    pn.extension()
    try:
        server = pn.serve(
            {"app": served_page},
            title={"app": TITLE},
            port=options.port,
            address=options.address,
            websocket_origin=options.allow_websocket_origin,
            show=options.show,
            start=False,
            verbose=False,
        )
    except OSError as error:
        print(
            f"alibi-explorer: cannot listen on {options.address}:{options.port} "
            f"({error.strerror or error}); choose another port with --port, or 0 for a free one",
            file=sys.stderr,
        )
        return 2
    print(
        f"ALiBi explorer: http://{options.address}:{server.port}/app (Ctrl+C stops it)", flush=True
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.run_until_shutdown()
    return 0


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; choose 0 to 65535")
    return int(text)
