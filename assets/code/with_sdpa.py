# Causal ALiBi attention by PyTorch's scaled_dot_product_attention with a bias.
import torch
from torch.nn.functional import scaled_dot_product_attention

num_heads, head, query, key = 4, 0, 5, 0


def alibi_slopes(num_heads):
    """The largest smaller power of two, then every second slope of twice as many heads."""
    power = 1 << (num_heads.bit_length() - 1)
    kept = [2 ** (-8 * n / power) for n in range(1, power + 1)]
    appended = [2 ** (-4 * n / power) for n in range(1, 2 * power, 2)]
    return kept + appended[: num_heads - power]


content = torch.tensor([2.0, 1.4, 0.0, 1.2, 0.4, 1.2], dtype=torch.float64)  # one a key
tokens = len(content)
slopes = torch.tensor(alibi_slopes(num_heads), dtype=content.dtype)

# (batch, head, token, dim), such that q @ k.T is the content logits and the output the weights
k = content[:, None].expand(1, num_heads, tokens, 1)
q = torch.ones_like(k)
v = torch.eye(tokens, dtype=k.dtype).expand(1, num_heads, tokens, tokens)

i = torch.arange(tokens)[:, None]  # query positions
j = torch.arange(tokens)[None, :]  # key positions
allowed = j <= i
bias = slopes[:, None, None] * (j - i)  # (head, query, key); -m(i - j)
mask = bias.masked_fill(~allowed, -torch.inf)  # added to the logits: is_causal stays False
output = scaled_dot_product_attention(q, k, v, attn_mask=mask)
plain = scaled_dot_product_attention(q, k, v, is_causal=True)

at = (0, head, query, key)
print("slope", round(slopes[head].item(), 8))
print("bias", round(bias[head, query, key].item(), 8) if key <= query else "masked")
print("biased logit", round((content[key] + mask[head, query, key]).item(), 8))
print(f"weight with ALiBi {output[at]:.1%}")
print(f"weight without {plain[at]:.1%}")
