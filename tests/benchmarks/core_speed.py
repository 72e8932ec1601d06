"""Times `calculate` over every head of 1 to 16 heads and every query-key pair.

Beside it, in the same loop, the least that yields the same weights: one causal softmax over
logits of the same shape (head, query, key) that are already there.
"""

import statistics
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the checkout, installed or not

from alibi_core import Selection, calculate
from alibi_core.lesson import HEAD_COUNTS, TOKENS

GOAL = 1.0  # ms, median
WARM_UP = 100


def causal_softmax(logits, allowed):
    """Softmax over the allowed keys, and nothing else."""
    masked = np.where(allowed, logits, -np.inf)
    exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def milliseconds(function, *arguments):
    start = time.perf_counter_ns()
    function(*arguments)
    return (time.perf_counter_ns() - start) / 1e6


def main():
    positions = range(len(TOKENS))
    selections = [
        Selection(num_heads=num_heads, head=head, query=query, key=key)
        for num_heads in HEAD_COUNTS
        for head, query, key in product(range(num_heads), positions, positions)
    ]
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(HEAD_COUNTS[-1], len(TOKENS), len(TOKENS)))
    allowed = np.tri(len(TOKENS), dtype=bool)

    generator.shuffle(selections)
    ours, plain = [], []
    for selection in selections[-WARM_UP:] + selections:
        ours.append(milliseconds(calculate, selection))
        plain.append(milliseconds(causal_softmax, logits[: selection.num_heads], allowed))
    ours, plain = ours[WARM_UP:], plain[WARM_UP:]

    median = statistics.median(ours)
    verdict = "reached" if median < GOAL else "MISSED"
    print(f"calculate, {len(ours)} selections of {sum(HEAD_COUNTS)} heads")
    print(f"  median             {median:8.3f} ms   goal below {GOAL} ms: {verdict}")
    print(f"  p95                {sorted(ours)[int(0.95 * (len(ours) - 1))]:8.3f} ms")
    print(f"  one causal softmax {statistics.median(plain):8.3f} ms")
    print(f"  ratio              {median / statistics.median(plain):8.1f}")


if __name__ == "__main__":
    main()
