# Causal ALiBi attention in NumPy.
import numpy as np

num_heads, head, query, key = 4, 0, 5, 0


def alibi_slopes(num_heads):
    """The largest smaller power of two, then every second slope of twice as many heads."""
    power = 1 << (num_heads.bit_length() - 1)
    kept = [2 ** (-8 * n / power) for n in range(1, power + 1)]
    appended = [2 ** (-4 * n / power) for n in range(1, 2 * power, 2)]
    return kept + appended[: num_heads - power]


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


content = np.array([2.0, 1.4, 0.0, 1.2, 0.4, 1.2])  # one a key
tokens = len(content)
slopes = np.array(alibi_slopes(num_heads))

i = np.arange(tokens)[:, None]  # query positions
j = np.arange(tokens)[None, :]  # key positions
allowed = j <= i
bias = slopes[:, None, None] * (j - i)  # (head, query, key); -m(i - j)
logits = np.where(allowed, content + bias, -np.inf)
weights = softmax(logits)
plain = softmax(np.where(allowed, content, -np.inf))

at = (head, query, key)
print("slope", round(slopes[head].item(), 8))
print("bias", round(bias[at].item(), 8) if key <= query else "masked")
print("biased logit", round(logits[at].item(), 8))
print(f"weight with ALiBi {weights[at]:.1%}")
print(f"weight without {plain[query, key]:.1%}")
