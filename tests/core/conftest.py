"""The documented figures, and a slow reference in plain Python: lists and loops, no NumPy."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def figures():
    """Every figure that the lesson text states."""
    path = Path(__file__).parent / "data" / "figures.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def reference():
    """The method, written a second time from the paper."""
    return SimpleNamespace(
        slopes=slopes,
        bias=bias,
        allowed=allowed,
        softmax=softmax,
        weights=weights,
        mix=mix,
        attend=attend,
    )


def slopes(num_heads):
    power = 1
    while 2 * power <= num_heads:
        power = 2 * power
    kept = [256 ** -((head + 1) / power) for head in range(power)]
    appended = [256 ** -((2 * extra + 1) / (2 * power)) for extra in range(num_heads - power)]
    return kept + appended


def bias(slope, num_tokens):
    return [[-slope * (i - j) for j in range(num_tokens)] for i in range(num_tokens)]


def allowed(num_tokens):
    return [[j <= i for j in range(num_tokens)] for i in range(num_tokens)]


def softmax(logits, usable):
    exponentials = [math.exp(s) if use else 0.0 for s, use in zip(logits, usable, strict=True)]
    total = math.fsum(exponentials)
    return [e / total if total else 0.0 for e in exponentials]


def weights(content, slope):
    """Causal weights of one head; `content` is a (query, key) list of lists."""
    tokens = range(len(content))
    penalties, mask = bias(slope, len(content)), allowed(len(content))
    logits = [[content[i][j] + penalties[i][j] for j in tokens] for i in tokens]
    return [softmax(logits[i], mask[i]) for i in tokens]


def mix(q, k, v, slope):
    """Attention of one head; q, k and v are (token, dim) lists of lists."""
    scale = math.sqrt(len(q[0]))
    shares = weights([[dot(x, y) / scale for y in k] for x in q], slope)
    columns = list(zip(*v, strict=True))
    return [[dot(row, column) for column in columns] for row in shares]


def attend(q, k, v, slope, queries, keys, usable, scale):
    """One head of one row at any positions; `usable` is a (query, key) list of lists of bool."""
    output = []
    for x, i, row in zip(q, queries, usable, strict=True):
        logits = [scale * dot(x, y) - slope * abs(i - j) for y, j in zip(k, keys, strict=True)]
        top = max((s for s, use in zip(logits, row, strict=True) if use), default=0.0)
        shares = softmax([s - top if use else 0.0 for s, use in zip(logits, row, strict=True)], row)
        output.append([dot(shares, column) for column in zip(*v, strict=True)])
    return output


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))
