"""Arrays from files, which may be anything: bounded in memory, never unpickled.

Each reader takes the bytes and gives the arrays by name. What an array claims to be is held
against the bytes that are there before memory is taken for it.
"""

import csv
import io
import json
import math
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

LIMIT = 64 * 2**20  # bytes of a file, or of an array that a file holds packed
TEXT_LIMIT = 8 * 2**20  # a number in a list takes many times its text
MOST_NUMBERS = 2**24

_DEEPEST = 3  # axes
_MOST_MEMBERS = 10_000
_LIST = re.compile(rb"\s*(?:[\w.]{0,40}\(|[\[{])")  # also "tensor([" and "(0.5, 0.25)"
_FLOAT = re.compile(r"""(?:\b(?:np|numpy)\.)?\bfloat\d*\(['"]?([^()'"]*)['"]?\)""")
_INFINITY = re.compile(r"\b(?:np|numpy|math|torch)\.(?=inf\b)")
_TOKEN = re.compile(r"[\[\](),]|[^\s\[\](),]+")
_WORDS = ("-inf", "-Infinity")  # as JSON without infinities has it
_DECIMALS = re.compile(r"\d*\.(\d*)(?:[eE]([+-]?\d{1,9}))?")
_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 9  # with more, a float64 is printed whole
_DTYPE = re.compile(r"""\bdtype=['"]?(?:\w+\.)?(float64|float32|float16|bfloat16)\b""")
_SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
}


class Given(NamedTuple):
    """An array with what its file says of it.

    `dtype` names a number format that the array has not itself; `rtol` and `atol` say how far
    printed digits may be off the number that was printed.
    """

    values: npt.NDArray[Any]
    dtype: str | None = None
    rtol: float = 0.0
    atol: float = 0.0


Arrays = Mapping[str, Callable[[], Given]]  # each read only when it is chosen


def read_array(source: str, name: str | None = None) -> Given:
    """The array in a file, or on standard input for ``-``.

    Parameters
    ----------
    source : str
        A path that ends in .npy, .npz, .json, .csv, .txt or .safetensors, or ``-``.
    name : str, optional
        Which array, where the file holds several.

    Returns
    -------
    Given
        Real numbers of one dtype, of any shape.

    Raises
    ------
    ValueError
        If the file is none of these, is broken, too large, or holds no such array.
    OSError
        If it cannot be read.
    """
    if source == "-":
        shown, ending, content = "standard input", "", _read_some(sys.stdin.buffer)
    else:
        shown, ending = source, Path(source).suffix
        _check_ending(ending)
        try:
            with Path(source).open("rb") as file:
                content = _read_some(file)
        except OSError as error:
            raise OSError(
                f"cannot read {source}: {error.strerror or error}; name a file that is there"
            ) from error
    try:
        return array_in(content, ending, name)
    except ValueError as error:
        raise ValueError(f"{shown}: {error}") from None


def array_in(content: bytes, ending: str = "", name: str | None = None) -> Given:
    """The array in the bytes of a file, told by the file's ending or else by how it begins.

    Raises ValueError as `read_array`.
    """
    if len(content) > LIMIT:
        raise ValueError(
            f"it is larger than {LIMIT // 2**20} MiB; save the one array to check, "
            "or fewer heads and tokens of it"
        )
    if not content.strip():
        raise ValueError("it is empty; write the array into it first")
    _check_ending(ending)
    kind = ending[1:].lower()
    kind = _kind_of(content) if kind in ("", "txt") else kind
    if kind in ("json", "csv") and len(content) > TEXT_LIMIT:
        raise ValueError(
            f"it has more than {TEXT_LIMIT // 2**20} MiB of text; "
            "save the array with numpy.save, or fewer heads and tokens of it"
        )
    try:
        given = _chosen(_READERS[kind](content), name)
    except RecursionError:
        raise ValueError("it is nested too deeply; an array has at most 3 axes") from None
    return _as_printed(given, _text(content)) if kind in ("json", "csv") else given


def _as_printed(given: Given, text: str) -> Given:
    """The array with its number format, if the text names it, and half of its last digit."""
    dtype = _DTYPE.search(text)
    given = given._replace(dtype=dtype[1] if dtype else None)
    printed = [(len(x[1]), x[2]) for x in _DECIMALS.finditer(text)]
    is_relative = bool(printed) and all(exponent for _, exponent in printed)
    if is_relative:
        digits = max(digits for digits, _ in printed)
    else:
        digits = max((digits - int(exponent or 0) for digits, exponent in printed), default=0)
    if not _FEWEST_DECIMALS <= digits <= _MOST_DECIMALS:
        return given
    half = 0.5 * 10.0**-digits
    return given._replace(rtol=half) if is_relative else given._replace(atol=half)


def _check_ending(ending: str) -> None:
    if ending and ending.lower() not in ENDINGS:
        raise ValueError(
            f"a file that ends in {_short(ending)} is of no known kind; save it as .npy, .npz, "
            ".json, .csv or .safetensors (a tensor of PyTorch: numpy.save(path, "
            "tensor.float().numpy()))"
        )


def _read_some(file: IO[bytes]) -> bytes:
    """What is there, up to a little more than the limit, and memory for that alone."""
    content = bytearray()
    while len(content) <= LIMIT and (piece := file.read(2**16)):
        content += piece
    return bytes(content)


def _kind_of(content: bytes) -> str:
    """The kind of file, by how it begins."""
    if content.startswith(np.lib.format.MAGIC_PREFIX):
        return "npy"
    if content.startswith(b"PK"):
        return "npz"
    if content[8:9] == b"{" and b"\0" in content[:8]:
        return "safetensors"
    return "json" if _LIST.match(content) else "csv"


def _chosen(arrays: Arrays, name: str | None) -> Given:
    names = list(arrays)
    listed = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    if not names:
        raise ValueError("no array is in it; save one, under any name")
    if name is None and len(names) > 1:
        raise ValueError(
            f"{len(names)} arrays are in it; save one alone, or choose one with --name: {listed}"
        )
    if name is not None and name not in arrays:
        raise ValueError(f"no array {name!r} is in it; choose one of {listed}")
    return arrays[names[0] if name is None else name]()


def _npy(content: bytes) -> Arrays:
    return {"array": partial(_npy_array, content)}


def _npy_array(content: bytes) -> Given:
    """One .npy array. NumPy's reader would take memory for the shape that the header claims."""
    file = io.BytesIO(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a header that Python 2 wrote
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                header = np.lib.format.read_array_header_1_0(file)
            elif version == (2, 0):
                header = np.lib.format.read_array_header_2_0(file)
            else:
                raise ValueError("no format 1.0 or 2.0")
        shape, fortran, dtype = header
    except Exception as error:  # the header is read as Python, which fails in many ways
        words = str(error).partition("\n")[0][:100]
        raise ValueError(f"no .npy array can be read ({words}); write it with numpy.save") from None
    if dtype.subdtype is not None or dtype.names is not None:
        raise ValueError(f"it holds {_short(str(dtype))}, not numbers; save numbers alone")
    if dtype.hasobject:
        raise ValueError(
            "it holds Python objects, which are not unpickled; "
            "save numbers: numpy.save(path, numpy.asarray(array, dtype=float))"
        )
    body = content[file.tell() :]
    return _from_bytes(body, dtype, shape, "F" if fortran else "C")


def _from_bytes(body: bytes | bytearray, dtype: Any, shape: Any, order: Any = "C") -> Given:
    dtype = np.dtype(dtype)
    size = math.prod(shape) if all(type(n) is int and n >= 0 for n in shape) else -1
    if size * dtype.itemsize != len(body) or dtype.itemsize == 0:
        raise ValueError(
            f"it claims shape {_short(shape)} of {dtype} but has {len(body)} bytes of it; "
            "write the file anew, it is broken or cut off"
        )
    if len(shape) > 8:
        raise ValueError(f"it has {len(shape)} axes; an array has at most 3")
    if max(size, *shape, 0) > MOST_NUMBERS:  # also of an empty array, which has no bytes
        raise ValueError(
            f"its shape {_short(shape)} has more than {MOST_NUMBERS} numbers; "
            "save fewer heads and tokens of it"
        )
    if dtype == np.dtype("V2"):  # what numpy.save makes of the bfloat16 of ml_dtypes
        return _bfloat16(np.frombuffer(body, "<u2").reshape(shape, order=order))
    array = np.frombuffer(body, dtype).reshape(shape, order=order)
    return Given(array.astype(dtype.newbyteorder("="), copy=False))


def _bfloat16(bits: npt.NDArray[Any]) -> Given:
    """It is the upper half of a float32."""
    wide = np.asarray(bits.astype(np.uint32) << 16)  # NumPy makes a scalar of an array without axes
    return Given(wide.view(np.float32), "bfloat16")


def _npz(content: bytes) -> Arrays:
    if content.count(b"PK\x01\x02") > _MOST_MEMBERS:  # each takes memory when the list is read
        raise ValueError(f"more than {_MOST_MEMBERS} arrays are in it; save the one to check")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        members = archive.infolist()
    except Exception:  # a broken archive fails in many ways
        raise ValueError("no .npz archive can be read; write it with numpy.savez") from None

    def member(info: zipfile.ZipInfo) -> Given:
        name = info.filename
        try:
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError  # others may ask for any memory, and NumPy writes none
            with archive.open(info) as file:
                unpacked = _read_some(file)  # whatever size it claims
        except Exception:
            raise ValueError(f"{name!r} cannot be unpacked; write it with numpy.savez") from None
        if len(unpacked) > LIMIT:
            raise ValueError(
                f"{name!r} unpacks to more than {LIMIT // 2**20} MiB; "
                "save fewer heads and tokens of it"
            )
        return _npy_array(unpacked)

    return {
        info.filename.removesuffix(".npy"): partial(member, info)
        for info in members
        if info.filename.endswith(".npy")
    }


def _safetensors(content: bytes) -> Arrays:
    try:
        from safetensors import SafetensorError, deserialize
    except ModuleNotFoundError:
        raise ValueError(
            "this kind of file needs safetensors; "
            "install it with: pip install 'alibi-explorer[safetensors]'"
        ) from None
    try:
        tensors = dict(deserialize(content))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ValueError(f"no tensors can be read ({error}); write the file anew") from None

    def tensor(name: str) -> Given:
        kind = tensors[name]["dtype"]
        if kind not in _SAFETENSORS:
            raise ValueError(f"{name!r} is of type {kind}; save it as float32")
        given = _from_bytes(tensors[name]["data"], _SAFETENSORS[kind], tensors[name]["shape"])
        return _bfloat16(given.values) if kind == "BF16" else given

    return {name: partial(tensor, name) for name in tensors}


def _json(content: bytes) -> Arrays:
    text = _text(content)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if text.lstrip()[:1] != "{" and _LIST.match(content):
            return {"array": partial(_numbers, _printed(text))}
        raise ValueError(
            f"line {error.lineno}, column {error.colno} is no JSON ({error.msg}); "
            "write lists of numbers, such as [0.25, 0.0625]"
        ) from None
    except ValueError:
        raise ValueError("a number in it has too many digits; write floats") from None
    if isinstance(value, dict):
        return {name: partial(_numbers, item) for name, item in value.items()}
    return {"array": partial(_numbers, value)}


def _printed(text: str) -> object:
    """Nested lists as Python, NumPy and PyTorch print them."""
    if "..." in text:
        raise ValueError("numbers are left out at '...'; print all of them, with .tolist()")
    start, end = text.find("["), text.rfind("]") + 1
    if 0 <= start < end and "(" in text[:start]:  # what stands around them: tensor(..., dtype=...)
        text = text[start:end]
    mismatch = ValueError("its brackets do not match; write one list, such as [0.25, 0.0625]")
    level: list[Any] = []
    outer: list[list[Any]] = []
    for token in _TOKEN.findall(_INFINITY.sub("", _FLOAT.sub(r"\1", text))):
        if token in "[(":
            if len(outer) > _DEEPEST:
                raise ValueError("it is nested too deeply; an array has at most 3 axes")
            outer.append(level)
            level = []
            outer[-1].append(level)
        elif token in "])":
            if not outer:
                raise mismatch
            level = outer.pop()
        elif token != ",":
            level.append(_number(token))
    if outer or len(level) != 1:
        raise mismatch
    return level[0]


def _csv(content: bytes) -> Arrays:
    text = _text(content)
    first = next((line for line in text.splitlines() if line.strip()), "")
    between = next((mark for mark in (";", "\t", ",") if mark in first), " ")
    rows: list[list[float]] = []
    try:
        lines = csv.reader(io.StringIO(text), delimiter=between, skipinitialspace=True)
        for line in lines:
            cells = [cell.strip() for cell in line if cell.strip() or between != " "]
            if not any(cells):
                continue
            if not cells[-1]:  # after a mark at the end of the line
                cells.pop()
            rows.append([_number(cell, f"line {lines.line_num}: ") for cell in cells])
    except csv.Error as error:
        raise ValueError(f"no CSV can be read ({error}); write one row of numbers a line") from None
    if len(rows) == 1:
        return {"array": partial(_numbers, rows[0])}
    if all(len(row) == 1 for row in rows):
        return {"array": partial(_numbers, [row[0] for row in rows])}
    return {"array": partial(_numbers, rows)}


def _number(text: str, where: str = "") -> float:
    try:
        if "_" in text:  # which Python reads as a digit left out
            raise ValueError
        return float(text)
    except ValueError:
        fix = "write numbers alone, without a header"
        if re.fullmatch(r"[+-]?\d+,\d*", text):
            fix = "write decimals with a point, such as 0.25"
        raise ValueError(f"{where}{text[:40]!r} is no number; {fix}") from None


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8 text; save it as text, or give it its ending") from None


def _numbers(value: object) -> Given:
    """Nested lists of numbers as an array."""
    shape: list[int] = []
    level = value
    while isinstance(level, list):
        shape.append(len(level))
        if not level:
            raise ValueError(
                f"an empty list is in it, shape {_short(shape)}; write numbers into it"
            )
        if len(shape) > _DEEPEST:
            raise ValueError("it has more than 3 axes; write (head), (query, key) or all three")
        level = level[0]
    if not shape:
        raise ValueError(f"{_short(value)} is no list of numbers; write [0.25, 0.0625]")
    flat: list[float] = []
    _flatten(value, shape, (), flat)
    return Given(np.array(flat).reshape(shape))


def _flatten(value: object, shape: list[int], at: tuple[int, ...], flat: list[float]) -> None:
    place = f" at {list(at)}" if at else ""
    if len(at) == len(shape):
        if isinstance(value, str) and value in _WORDS:
            value = -math.inf
        if isinstance(value, list):
            raise ValueError(f"it is ragged: a list stands{place} in place of a number")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{_short(value)}{place} is no number; write numbers alone")
        try:
            flat.append(float(value))
        except OverflowError:
            raise ValueError(f"the number{place} is too large for a float; check it") from None
        return
    if not isinstance(value, list) or len(value) != shape[len(at)]:
        got = f"{len(value)} entries" if isinstance(value, list) else "no list"
        raise ValueError(
            f"it is ragged: {got}{place} in place of {shape[len(at)]}; "
            "write rows of one length, with -Infinity where a key is masked"
        )
    for index, item in enumerate(value):
        _flatten(item, shape, (*at, index), flat)


def _short(value: object) -> str:
    text = repr(tuple(value) if isinstance(value, list) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_READERS = {
    "npy": _npy,
    "npz": _npz,
    "safetensors": _safetensors,
    "json": _json,
    "csv": _csv,
}
ENDINGS = (".txt", *(f".{kind}" for kind in _READERS))
