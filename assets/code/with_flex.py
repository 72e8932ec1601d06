# Causal ALiBi attention by PyTorch's FlexAttention; the bias is never stored.
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

num_heads, head, query, key = 4, 0, 5, 0


def alibi_slopes(num_heads):
    """The largest smaller power of two, then every second slope of twice as many heads."""
    power = 1 << (num_heads.bit_length() - 1)
    kept = [2 ** (-8 * n / power) for n in range(1, power + 1)]
    appended = [2 ** (-4 * n / power) for n in range(1, 2 * power, 2)]
    return kept + appended[: num_heads - power]


def alibi(score, batch, head, i, j):
    return score + slopes[head] * (j - i)  # -m(i - j)


def causal(batch, head, i, j):
    return j <= i


content = torch.tensor([2.0, 1.4, 0.0, 1.2, 0.4, 1.2], dtype=torch.float64)  # one a key
tokens = len(content)
slopes = torch.tensor(alibi_slopes(num_heads), dtype=content.dtype)

# (batch, head, token, dim), such that q @ k.T is the content logits and the output the weights
k = content[:, None].expand(1, num_heads, tokens, 1)
q = torch.ones_like(k)
v = torch.eye(tokens, dtype=k.dtype).expand(1, num_heads, tokens, tokens)

# Fused, and without PyTorch's warning: flex_attention = torch.compile(flex_attention)
block_mask = create_block_mask(causal, None, None, tokens, tokens, device="cpu")
output = flex_attention(q, k, v, score_mod=alibi, block_mask=block_mask)
plain = flex_attention(q, k, v, block_mask=block_mask)

at = (0, head, query, key)
allowed = causal(*at)
logit = alibi(content[key].item(), *at) if allowed else -torch.inf
print("slope", round(slopes[head].item(), 8))
print("bias", round(alibi(0.0, *at).item(), 8) if allowed else "masked")
print("biased logit", round(float(logit), 8))
print(f"weight with ALiBi {output[at]:.1%}")
print(f"weight without {plain[at]:.1%}")
