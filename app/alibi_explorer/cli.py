"""The command ``alibi-explorer``."""

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

from alibi_core import Selection, calculate
from alibi_explorer.embed import embedded_page
from alibi_explorer.layout import CONTROL_NAMES, SECTION_NAMES, THEMES, TITLE, View
from alibi_explorer.snippet import HOSTS
from alibi_explorer.state import url_choice


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 2 where something must be put right first."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except (TypeError, ValueError, OSError) as error:
        print(f"alibi-explorer: {error}", file=sys.stderr)
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
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
        help="a host name under which readers reach the explorer; may be repeated",
    )
    serve.add_argument("--show", action="store_true", help="open it in a browser")
    serve.set_defaults(run=_serve)

    embed = commands.add_parser("embed", help="write the explorer as one HTML file")
    _add_choice(embed)
    _add_view(embed)
    _add_output(embed, "alibi-explorer.html")
    embed.set_defaults(run=_embed)

    picture = commands.add_parser("picture", help="write a choice as SVG and PNG with a caption")
    _add_choice(picture)
    picture.add_argument("--theme", choices=("light", "dark"), default="light")
    _add_output(picture, "alibi-explorer")
    picture.set_defaults(run=_picture)

    snippet = commands.add_parser("snippet", help="print what to paste into a course page")
    snippet.add_argument(
        "host", choices=HOSTS, help="the kind of page: %(choices)s", metavar="HOST"
    )
    snippet.add_argument(
        "--src", required=True, help="the URL of the embedded file or the served page"
    )
    _add_choice(snippet)
    _add_view(snippet)
    snippet.set_defaults(run=_snippet)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    opening = url_choice(Selection())
    parser.add_argument(
        "--heads", type=int, default=opening["heads"], help="number of heads, 1 to 16"
    )
    parser.add_argument("--head", type=int, default=opening["head"], help="head, from 0")
    parser.add_argument(
        "--query", type=int, default=opening["query"], help="query position, 0 to 5"
    )
    parser.add_argument("--key", type=int, default=opening["key"], help="key position, 0 to 5")


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sections",
        type=_names,
        default=View.sections,
        help=f"in the order wanted, from {','.join(SECTION_NAMES)}",
    )
    parser.add_argument(
        "--controls",
        type=_names,
        default=View.controls,
        help=f"from {','.join(CONTROL_NAMES)}; or none",
    )
    parser.add_argument(
        "--questions",
        type=_names,
        default=View.questions,
        help="of the section practice, in the order wanted; a wrong name lists them all",
    )
    parser.add_argument("--theme", default=View.theme, help=" | ".join(THEMES))
    parser.add_argument("--title", choices=("on", "off"), default="on", help="default: on")


def _add_output(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(default), help=f"file (default: {default})"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")


def _selection(options: argparse.Namespace) -> Selection:
    return Selection(
        num_heads=options.heads, head=options.head, query=options.query, key=options.key
    )


def _view(options: argparse.Namespace) -> View:
    return View(
        options.sections,
        options.controls,
        options.theme,
        options.title == "on",
        options.questions,
    )


def _serve(options: argparse.Namespace) -> int:
    # Panel takes a second to import, which the other commands need not wait for.
    import panel as pn

    from alibi_explorer.page import served_page

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
        raise OSError(
            f"cannot listen on {options.address}:{options.port} ({error.strerror or error}); "
            "choose another port with --port, or 0 for a free one"
        ) from error
    print(
        f"{TITLE}: http://{options.address}:{server.port}/app (Ctrl+C stops it)",
        flush=True,
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.run_until_shutdown()
    return 0


def _embed(options: argparse.Namespace) -> int:
    page = embedded_page(_selection(options), _view(options))
    _write(options.output, page.encode(), force=options.force)
    print(f"{options.output}: {len(page.encode()) / 1000:.0f} kB")
    return 0


def _picture(options: argparse.Namespace) -> int:
    try:
        from alibi_explorer.picture import figure_html, picture
    except ModuleNotFoundError as error:
        raise ValueError(
            f"pictures need {error.name}; install it with: pip install matplotlib"
        ) from error

    calculation = calculate(_selection(options))
    files = {
        options.output.with_name(f"{options.output.name}.{kind}"): picture(
            calculation, kind, dark=options.theme == "dark"
        )
        for kind in ("svg", "png")
    }
    for path in files:
        _check_target(path, force=options.force)
    for path, content in files.items():
        _write(path, content, force=True)
        print(figure_html(calculation, path.name))
    return 0


def _snippet(options: argparse.Namespace) -> int:
    print(HOSTS[options.host](_address(options.src, _selection(options), _view(options))))
    return 0


def _address(src: str, selection: Selection, view: View) -> str:
    """`src` with the choice, and with what of the view differs from everything."""
    parts = urlsplit(src)
    if parts.scheme not in ("", "http", "https") or not src.strip():
        raise ValueError(f"--src {src!r} is no web address; give an http, https or relative URL")
    asked: dict[str, object] = dict(url_choice(selection))
    everything = View()
    if view.sections != everything.sections:
        asked["sections"] = ",".join(view.sections)
    if view.questions != everything.questions:
        asked["questions"] = ",".join(view.questions)
    if view.controls != everything.controls:
        asked["controls"] = ",".join(view.controls) or "none"
    if view.theme != everything.theme:
        asked["theme"] = view.theme
    if not view.title:
        asked["title"] = "off"
    query = "&".join(filter(None, (parts.query, urlencode(asked, safe=","))))
    return urlunsplit(parts._replace(query=query))


def _write(path: Path, content: bytes, *, force: bool) -> None:
    """Write a whole file or none, and no file that is there without `force`."""
    _check_target(path, force=force)
    path = path.resolve()  # a link stays a link; its file is written
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _check_target(path: Path, *, force: bool) -> None:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(f"{path} is a device or a pipe; name a file, such as -o explorer.html")
    if path.is_dir():
        raise OSError(f"{path} is a folder; name a file in it, such as -o {path / 'explorer.html'}")
    if not path.parent.is_dir():
        raise OSError(f"the folder {path.parent} does not exist; make it first, or name another")
    if path.exists() and not force:
        raise OSError(f"{path} exists; give another name with -o, or --force to overwrite it")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return () if names == ("none",) else names


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; choose 0 to 65535")
    return int(text)
