"""The command ``alibi-explorer``."""

import argparse
import contextlib
import dataclasses
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode, urlsplit, urlunsplit

from alibi_core import Check, Selection, alibi_slopes, calculate, check_weights
from alibi_core.check import Format
from alibi_core.slopes import Schedule
from alibi_explorer.arrays import read_array
from alibi_explorer.checking import check_array, kind_of, without_batch
from alibi_explorer.embed import embedded_page
from alibi_explorer.layout import CONTROL_NAMES, SECTION_NAMES, THEMES, TITLE, View
from alibi_explorer.snippet import HOSTS
from alibi_explorer.state import url_choice


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 2 where something must be put right first.

    `check` ends with 1 where the array is wrong or unknown.
    """
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        print(end="", flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
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
    _add_output(picture, "alibi-explorer", "name of both files, without ending")
    picture.set_defaults(run=_picture)

    snippet = commands.add_parser("snippet", help="print what to paste into a course page")
    snippet.add_argument(
        "host", choices=HOSTS, help="the kind of page: %(choices)s", metavar="HOST"
    )
    snippet.add_argument(
        "--src", required=True, help="the URL of the embedded file or the served page"
    )
    _add_choice(snippet, opening=False)
    _add_view(snippet)
    snippet.set_defaults(run=_snippet)

    slopes = commands.add_parser("slopes", help="print the slopes of a number of heads")
    slopes.add_argument("heads", type=int, help=f"number of heads, 1 to {_MOST_HEADS}")
    slopes.add_argument(
        "--format", choices=_SLOPE_FORMATS, default="text", help="default: one slope a line"
    )
    slopes.add_argument(
        "--heads", type=_slice, dest="part", metavar="FIRST:END", help="only these, from 0"
    )
    _add_schedule(slopes)
    slopes.set_defaults(run=_slopes)

    check = commands.add_parser(
        "check",
        help="say what slopes, a bias or weights are",
        description="Say what slopes (head), a bias (query, key) or (head, query, key), or, with "
        "--logits, weights are. The exit code is 0 for right or equivalent, 1 for wrong or "
        "unknown, 2 for what cannot be read.",
    )
    _add_check(check)
    check.set_defaults(run=_check)
    return parser


def _add_schedule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schedule", choices=get_args(Schedule), default="reference")
    parser.add_argument("--max-bias", type=float, default=8.0, help="default: 8, as published")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help=".npy, .npz, .json, .csv, .txt or .safetensors; - reads standard input",
    )
    parser.add_argument("--name", help="which array, where the file holds several")
    parser.add_argument(
        "--kind",
        choices=("slopes", "bias"),
        help="what it should be (default: one axis is slopes, more are a bias)",
    )
    parser.add_argument(
        "--logits", metavar="FILE", help="content logits: then FILE is attention weights"
    )
    parser.add_argument("--logits-name", help="which array of that file")
    parser.add_argument("--num-heads", type=int, help="heads of the whole model")
    parser.add_argument(
        "--heads", type=_slice, metavar="FIRST:END", help="which of them these are, from 0"
    )
    parser.add_argument("--slopes", type=_floats, help="the right slopes, in place of a schedule")
    _add_schedule(parser)
    parser.add_argument(
        "--symmetric", action="store_true", help="no causal mask: the bias is -slope * |i - j|"
    )
    parser.add_argument(
        "--causal", action="store_false", dest="symmetric", help="the default: a causal mask"
    )
    parser.add_argument(
        "--masked", action="store_true", help="the bias must hold the causal mask itself"
    )
    parser.add_argument("--query-positions", type=_positions, metavar="4:8 or 4,5,6,7")
    parser.add_argument("--key-positions", type=_positions, metavar="0:8 or 0,1,2")
    parser.add_argument("--scale", type=float, help="the factor of the content scores, for weights")
    parser.add_argument(
        "--dtype", choices=get_args(Format), help="the number format that the numbers came from"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_choice(parser: argparse.ArgumentParser, *, opening: bool = True) -> None:
    """The choice; without `opening`, what is not given is None."""
    default = url_choice(Selection()) if opening else {}
    for name, what in (
        ("heads", "number of heads, 1 to 16"),
        ("head", "head, from 0"),
        ("query", "query position, 0 to 5"),
        ("key", "key position, 0 to 5"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default.get(name), help=what)


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


def _add_output(parser: argparse.ArgumentParser, default: str, what: str = "file") -> None:
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(default), help=f"{what} (default: {default})"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")


def _selection(options: argparse.Namespace) -> Selection:
    names = {"heads": "num_heads", "head": "head", "query": "query", "key": "key"}
    given = {field: getattr(options, name) for name, field in names.items()}
    return Selection(**{field: value for field, value in given.items() if value is not None})


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
    _check_target(options.output, force=options.force)  # before the page is worked out
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

    kinds, output = ("svg", "png"), options.output
    stem = output.stem if output.suffix[1:] in kinds else output.name
    files = {kind: output.with_name(f"{stem}.{kind}") for kind in kinds}
    for path in files.values():
        _check_target(path, force=options.force)
    calculation = calculate(_selection(options))
    pictures = {kind: picture(calculation, kind, dark=options.theme == "dark") for kind in kinds}
    for kind, path in files.items():
        _write(path, pictures[kind], force=True)
        print(figure_html(calculation, path.name))
    return 0


def _snippet(options: argparse.Namespace) -> int:
    choice = url_choice(_selection(options))
    given = {name: choice[name] for name in choice if getattr(options, name) is not None}
    print(HOSTS[options.host](_address(options.src, given, _view(options))))
    return 0


def _slopes(options: argparse.Namespace) -> int:
    _check_heads(options.heads)
    if options.part and options.part.stop > options.heads:
        raise ValueError(
            f"heads {options.part.start} to {options.part.stop - 1} do not all exist with "
            f"{options.heads} heads; choose a part of 0:{options.heads}"
        )
    slopes = alibi_slopes(
        options.heads, heads=options.part, max_bias=options.max_bias, schedule=options.schedule
    )
    print(_SLOPE_FORMATS[options.format]([repr(slope) for slope in slopes.tolist()]))
    return 0


# repr gives the shortest text that reads back as the same float64.
_SLOPE_FORMATS: dict[str, Callable[[list[str]], str]] = {
    "text": "\n".join,
    "json": lambda slopes: f"[{', '.join(slopes)}]",
    "csv": ",".join,
    "c": lambda slopes: (
        f"static const double alibi_slopes[{len(slopes)}] = {{{', '.join(slopes)}}};"
    ),
    "torch": lambda slopes: f"torch.tensor([{', '.join(slopes)}], dtype=torch.float64)",
}
_MOST_HEADS = 65536


def _check_heads(heads: int | None) -> None:
    if heads is not None and heads > _MOST_HEADS:
        raise ValueError(f"{heads} heads are too many; choose 1 to {_MOST_HEADS}")


def _check(options: argparse.Namespace) -> int:
    check = _checked(options)
    if options.json:
        found = {x.name: getattr(check, x.name) for x in dataclasses.fields(check) if x.compare}
        for number in ("got", "expected"):
            if found[number] is not None and not math.isfinite(found[number]):
                found[number] = str(found[number])  # JSON has no infinity
        print(json.dumps(found, allow_nan=False))
    else:
        print(check)
    return 0 if check.ok else 1


def _checked(options: argparse.Namespace) -> Check:
    _check_heads(options.num_heads)
    given = read_array(options.file, options.name)
    wanted: dict[str, Any] = {
        "num_heads": options.num_heads,
        "heads": options.heads,
        "max_bias": options.max_bias,
        "schedule": options.schedule,
        "slopes": options.slopes,
        "symmetric": options.symmetric,
        "query_positions": options.query_positions,
        "key_positions": options.key_positions,
        "dtype": options.dtype or given.dtype,
    }
    if not options.logits:
        unused: tuple[str, ...] = ("scale", "logits_name")
        what = kind_of(without_batch(given), options.kind)
        if what == "slopes":
            unused += ("slopes", "symmetric", "masked", "query_positions", "key_positions")
        _refuse(options, unused, what)
        return check_array(given, kind=options.kind, masked=options.masked, **wanted)
    _refuse(options, ("kind", "masked"), "weights")
    if options.file == options.logits == "-":
        raise ValueError("weights and logits cannot both be standard input; name a file")
    logits = without_batch(read_array(options.logits, options.logits_name))
    weights = without_batch(given).values
    weights = weights[None] if weights.ndim == 1 else weights  # one query
    wanted |= {"scale": options.scale, "atol": given.atol}
    wanted["rtol"] = given.rtol + 2 * logits.atol  # a logit that is off moves two exponentials
    return check_weights(logits.values, weights, **wanted)


def _refuse(options: argparse.Namespace, names: Collection[str], what: str) -> None:
    for name in names:
        if getattr(options, name) not in (None, False):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} says nothing of {what}; leave it out")


def _address(src: str, choice: Mapping[str, int], view: View) -> str:
    """`src` with the choice, and with what of the view differs from everything."""
    try:
        parts = urlsplit(src)
    except ValueError as error:
        raise ValueError(f"--src {src!r} is no web address ({error}); give a whole URL") from None
    if parts.scheme not in ("", "http", "https") or not src.strip():
        raise ValueError(f"--src {src!r} is no web address; give an http, https or relative URL")
    asked: dict[str, object] = dict(choice)
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
    kept = [part for part in parts.query.split("&") if part.partition("=")[0] not in asked]
    query = "&".join(filter(None, (*kept, urlencode(asked, safe=","))))
    return urlunsplit(parts._replace(query=query))


def _write(path: Path, content: bytes, *, force: bool) -> None:
    """Write a whole file or none, and no file that is there without `force`."""
    _check_target(path, force=force)
    path = path.resolve()  # a link stays a link; its file is written
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(
            f"cannot write in {path.parent} ({error.strerror}); name another folder with -o"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _check_target(path: Path, *, force: bool) -> None:
    if str(path) == "-":
        raise OSError("standard output takes no whole file; name one, such as -o explorer.html")
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


def _slice(text: str) -> slice:
    first, colon, end = text.partition(":")
    if not (colon and first.isdecimal() and end.isdecimal() and int(first) < int(end)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of the heads; write 4:8")
    return slice(int(first), int(end))


def _positions(text: str) -> range | list[int]:
    try:
        if ":" in text:
            first, end = map(int, text.split(":"))
            if end - first > _MOST_POSITIONS:
                raise argparse.ArgumentTypeError(f"{text!r} are too many positions")
            return range(first, end)
        return [int(position) for position in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} are no positions; write 4:8, or 4,5,6,7"
        ) from None


_MOST_POSITIONS = 2**24


def _floats(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers; write 0.25,0.0625") from None
