"""Times the core: `calculate`, and weights and attention of long sequences.

Beside `calculate`, in the same loop, stands the least that yields the same weights: one causal
softmax over logits of the same shape (head, query, key) that are already there. Beside long
sequences stand plain NumPy and, where torch is installed, eager PyTorch, its SDPA with a ready bias
and its compiled FlexAttention, all on one thread; and a copy of the lower triangle, the least that
any weights take.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import math
import shutil
import statistics
import sys
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the checkout, installed or not

from alibi_core import Selection, alibi_attention, alibi_slopes, calculate, causal_alibi_weights
from alibi_core.lesson import HEAD_COUNTS, TOKENS

try:
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:
    torch = None

GOAL = 1.0  # ms, median of `calculate`
LEAST_EAGER = 3.0  # eager PyTorch / ours, weights, from FAR tokens on
FAR = 2048
LEAST_SDPA = 1.0  # SDPA with a ready bias / ours, attention
MOST_COPIES = 4.0  # ours / a copy of the lower triangle, weights
WARM_UP = 100
ROUNDS = 5
HEAD_DIM = 64
MATRICES = 8  # of shape (head, query, key), the most that are there at once


def causal_softmax(logits, allowed):
    """Softmax over the allowed keys, and nothing else."""
    masked = np.where(allowed, logits, -np.inf)
    exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def milliseconds(function, *arguments):
    start = time.perf_counter_ns()
    function(*arguments)
    return (time.perf_counter_ns() - start) / 1e6


def verdict(is_reached):
    return "reached" if is_reached else "MISSED"


def time_lesson():
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
    print(f"calculate, {len(ours)} selections of {sum(HEAD_COUNTS)} heads")
    print(f"  median             {median:8.3f} ms   goal below {GOAL} ms: {verdict(median < GOAL)}")
    print(f"  p95                {sorted(ours)[int(0.95 * (len(ours) - 1))]:8.3f} ms")
    print(f"  one causal softmax {statistics.median(plain):8.3f} ms")
    print(f"  ratio              {median / statistics.median(plain):8.1f}")


def numpy_bias(slopes, num_tokens):
    j = np.arange(num_tokens, dtype=np.float32)
    return slopes[:, None, None] * (j - j[:, None])


def numpy_weights(logits, slopes):
    num_tokens = logits.shape[-1]
    allowed = np.tri(num_tokens, dtype=bool)
    return causal_softmax(logits + numpy_bias(slopes, num_tokens), allowed)


def numpy_attention(q, k, v, slopes):
    return numpy_weights(q @ k.swapaxes(-2, -1) / np.float32(HEAD_DIM**0.5), slopes) @ v


def eager_bias(slopes, num_tokens):
    """Bias and causal mask in one."""
    j = torch.arange(num_tokens)
    bias = slopes[:, None, None] * (j - j[:, None])
    return bias.masked_fill(j > j[:, None], -torch.inf)


def eager_weights(logits, slopes):
    return (logits + eager_bias(slopes, logits.shape[-1])).softmax(dim=-1)


def eager_attention(q, k, v, slopes):
    return eager_weights(q @ k.transpose(-2, -1) / HEAD_DIM**0.5, slopes) @ v


def copy_lower_triangle(logits, rows=64):
    copied = np.zeros_like(logits)
    for start in range(0, logits.shape[-1], rows):
        block = ..., slice(start, start + rows), slice(start + rows)
        copied[block] = logits[block]
    return copied


def compiled_attention():
    """FlexAttention, compiled once; None where it cannot be."""
    if torch is None or not any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++"))):
        return None
    compiled = torch.compile(flex_attention, dynamic=True)

    def prepared(q, k, v, slopes):
        def alibi(score, batch, head, i, j):
            return score + slopes[head] * (j - i)

        def causal(batch, head, i, j):
            return j <= i

        num_tokens = q.shape[-2]
        mask = create_block_mask(causal, None, None, num_tokens, num_tokens, device="cpu")
        return partial(compiled, q, k, v, score_mod=alibi, block_mask=mask)

    return prepared


def compare(title, builds, unchecked=()):
    """Times builds in turn, {name: a function}, ours first; gives the median ratio of each to it.

    All but the `unchecked` must give what ours gives.
    """
    ours, *others = builds
    expected = builds[ours]()
    for name in others:
        if name not in unchecked:
            found = np.asarray(builds[name]())
            if not all(map(partial(np.allclose, rtol=1e-4, atol=1e-5), found, expected)):
                raise SystemExit(f"{title}: {name} gives other numbers than ours; mend it first")
            del found
    del expected
    times = {name: [] for name in builds}
    for turn in range(ROUNDS):
        for name in [*builds][turn % len(builds) :] + [*builds][: turn % len(builds)]:
            times[name].append(milliseconds(builds[name]))
    print(title)
    ratios = {}
    for name, taken in times.items():
        rounds = [theirs / own for theirs, own in zip(taken, times[ours], strict=True)]
        ratios[name] = statistics.median(taken) / statistics.median(times[ours])
        print(
            f"  {name:30} {statistics.median(taken):10.1f} ms {ratios[name]:8.2f} "
            f"[{min(rounds):.2f}, {max(rounds):.2f}]"
        )
    return ratios


def time_long(num_heads, num_tokens, flex):
    """Weights and attention of one sequence; gives the goals, {text: whether it is reached}."""
    case = f"{num_heads} heads, {num_tokens} tokens"
    generator = np.random.default_rng(0)
    slopes = alibi_slopes(num_heads).astype(np.float32)
    q, k, v = (
        generator.normal(size=(1, num_heads, num_tokens, HEAD_DIM)).astype(np.float32)
        for _ in range(3)
    )
    logits = (q @ k.swapaxes(-2, -1))[0] / np.float32(HEAD_DIM**0.5)
    copy = "copy of the lower triangle"
    weights = {
        "ours": partial(causal_alibi_weights, logits, slopes),
        "plain NumPy": partial(numpy_weights, logits, slopes),
        copy: partial(copy_lower_triangle, logits),
    }
    attention = {
        "ours": partial(alibi_attention, q, k, v, slopes),
        "plain NumPy": partial(numpy_attention, q, k, v, slopes),
    }
    if torch:
        eager = tuple(map(torch.from_numpy, (q, k, v, slopes)))
        weights["eager PyTorch"] = partial(eager_weights, torch.from_numpy(logits), eager[-1])
        attention["eager PyTorch"] = partial(eager_attention, *eager)
    ratios = compare(f"weights, {case}", weights, unchecked=[copy])
    goals = {f"at most {MOST_COPIES} copies: weights, {case}": 1 / ratios[copy] <= MOST_COPIES}
    if torch and num_tokens >= FAR:
        goal = f"eager PyTorch at least {LEAST_EAGER} times ours: weights, {case}"
        goals[goal] = ratios["eager PyTorch"] >= LEAST_EAGER
    weights.clear()
    del logits
    if torch:
        bias = eager_bias(eager[-1], num_tokens)[None]
        sdpa = "SDPA with a ready bias"
        attention[sdpa] = partial(scaled_dot_product_attention, *eager[:3], attn_mask=bias)
        if flex:
            attention["FlexAttention, compiled"] = flex(*eager)
        ratios = compare(f"attention, {case}", attention)
        goals[f"no slower than SDPA: attention, {case}"] = ratios[sdpa] >= LEAST_SDPA
    else:
        compare(f"attention, {case}", attention)
    return goals


def free_memory():
    """Bytes that a process may take; unlimited where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except OSError:
        return math.inf


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="*", default=[512, 2048, 4096])
    parser.add_argument("--heads", type=int, nargs="+", default=[8, 32])
    chosen = parser.parse_args()
    time_lesson()
    flex = compiled_attention()
    if torch is None:
        print("torch is not installed: NumPy alone is compared; make peers installs it")
    else:
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        if flex is None:
            print("no C++ compiler: FlexAttention is skipped")
    print(f"long sequences, one thread, float32, medians of {ROUNDS} rounds; ratios to ours")
    goals = {}
    for num_tokens, num_heads in product(chosen.tokens, chosen.heads):
        needed = MATRICES * 4 * num_heads * num_tokens**2
        if needed > free_memory():
            print(f"{num_heads} heads, {num_tokens} tokens: skipped, needs {needed / 1e9:.0f} GB")
            continue
        goals |= time_long(num_heads, num_tokens, flex)
    for goal, is_reached in goals.items():
        print(f"{verdict(is_reached):8} {goal}")


if __name__ == "__main__":
    main()
