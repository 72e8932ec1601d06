"""The lesson every peer shows: six keys, fixed content logits, ALiBi."""

import numpy as np

CONTENT_LOGITS = np.array([2.0, 1.4, 0.0, 1.2, 0.4, 1.2])
AXIS = list(range(6))


def slopes(num_heads):
    """One slope a head, by the published rule."""
    power = 2 ** int(np.floor(np.log2(num_heads)))
    result = 2.0 ** (-8.0 * np.arange(1, power + 1) / power)
    if power < num_heads:
        result = np.concatenate([result, slopes(2 * power)[0::2][: num_heads - power]])
    return result


def softmax(logits):
    """Softmax along the last axis."""
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def grids(num_heads, head):
    """Distance bias (-inf where masked) and attention weight, both (query, key)."""
    query, key = np.indices((6, 6))
    bias = np.where(key <= query, -slopes(num_heads)[head] * (query - key), -np.inf)
    return bias, softmax(CONTENT_LOGITS + bias)


def readout(query, key, num_heads, head):
    """The line every peer must show for a state: what the timer waits for."""
    bias, weight = grids(num_heads, head)
    return (
        f"q{query} k{key} H{num_heads} h{head} "
        f"bias {bias[query, key]:.4f} weight {100 * weight[query, key]:.1f}%"
    )
