"""Arrays from outside, checked: what the command reads, and what the page is given."""

from collections.abc import Mapping
from typing import Any

from alibi_core import Check, check_bias, check_slopes
from alibi_explorer.arrays import Given, array_in

PAGE_LIMIT = 2**20  # bytes of a text or a file; one server checks for all its readers
_PAGE_NUMBERS = 2**18
_PAGE_HEADS = 1024


def check_array(given: Given, *, kind: str | None = None, **options: Any) -> Check:
    """What an array is: slopes if it has one axis, else a bias, unless `kind` says it.

    Parameters
    ----------
    given : Given
    kind : {"slopes", "bias"}, optional
    **options
        Those of `check_bias`; slopes are held against the ones that they have too.

    Raises
    ------
    TypeError, ValueError
        As `check_slopes` and `check_bias`.
    """
    values = without_batch(given).values
    options["dtype"] = options.get("dtype") or given.dtype
    options |= {"rtol": given.rtol, "atol": given.atol}
    if kind_of(given, kind) == "bias":
        return check_bias(values[None] if values.ndim == 1 else values, **options)
    if options.get("slopes") is not None:
        raise ValueError("--slopes are the right slopes of a bias; leave them out for slopes")
    names = ("num_heads", "heads", "max_bias", "schedule", "dtype", "rtol", "atol")
    return check_slopes(values, **{name: options[name] for name in names if name in options})


def kind_of(given: Given, kind: str | None = None) -> str:
    """``slopes`` or ``bias``."""
    return kind or ("slopes" if given.values.ndim == 1 else "bias")


def without_batch(given: Given) -> Given:
    """The array without its axis of a batch, if that has one sequence."""
    is_batch = given.values.ndim == 4 and len(given.values) == 1
    return given._replace(values=given.values[0]) if is_batch else given


def check_asked(asked: Mapping[str, Any]) -> Check:
    """The check that the page asks for.

    Parameters
    ----------
    asked : mapping
        ``text``, or ``file`` with its bytes and ``name``; and as text, as it stands in the form,
        ``num_heads``, ``max_bias``, ``schedule`` and ``attention``. It may be anything.

    Raises
    ------
    TypeError, ValueError
        If it cannot be read or checked; the message says what to do.
    """
    content, name = asked.get("file"), str(asked.get("name", ""))
    if not isinstance(content, bytes):
        content, name = str(asked.get("text", "")).encode("utf-8", "replace"), ""
    if len(content) > PAGE_LIMIT:
        raise ValueError(
            f"it is larger than {PAGE_LIMIT // 2**20} MiB; give fewer heads or tokens, "
            "or run alibi-explorer check on the file"
        )
    if not content.strip():
        raise ValueError("nothing stands here yet; paste slopes or a bias, or choose a file")
    _, point, ending = name.rpartition(".")
    given = array_in(content, point + ending)
    if given.values.size > _PAGE_NUMBERS:
        raise ValueError(
            f"it has {given.values.size} numbers, more than {_PAGE_NUMBERS}; give fewer heads or "
            "tokens, or run alibi-explorer check on the file"
        )
    num_given = 1 if given.values.ndim == 2 else given.values.shape[-3:][0]
    if num_given > _PAGE_HEADS:
        raise ValueError(
            f"it has {num_given} heads, more than {_PAGE_HEADS}; give fewer, "
            "or run alibi-explorer check on the file"
        )
    return check_array(
        given,
        num_heads=_heads(str(asked.get("num_heads", "")).strip()),
        max_bias=_max_bias(str(asked.get("max_bias", "")).strip()),
        schedule=asked.get("schedule", "reference"),
        symmetric=asked.get("attention") == "symmetric",
    )


def _heads(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 0 < int(text) <= _PAGE_HEADS):
        raise ValueError(
            f"{text[:40]!r} is no number of heads; write 1 to {_PAGE_HEADS}, or leave it empty"
        )
    return int(text)


def _max_bias(text: str) -> float:
    try:
        return float(text.replace(",", ".") or 8)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no max bias; write 8, as published") from None
