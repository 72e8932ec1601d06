"""What published implementations give: biases, and attention by PyTorch with them.

``build_alibi_tensor`` of BLOOM and of Falcon and ``build_mpt_alibi_tensor`` in transformers give
the biases; with each of them and a causal mask ``scaled_dot_product_attention`` gives outputs on
the CPU. Run as a script it renews ``kept.npz``, so that `test_peers.py` needs neither library.
"""

import math
from importlib.metadata import version
from pathlib import Path

import numpy as np

KEPT = Path(__file__).with_name("kept.npz")
HEAD_COUNTS = range(1, 129)
KEPT_COUNTS = (1, 2, 3, 6, 7, 12, 16, 40)
"""Numbers of heads whose outputs are kept, to have a small file; the biases are kept of all."""

PADDED = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
"""Attention masks of a batch: padding on the left, none, and on the right."""
TOKENS = PADDED.shape[1]
HEAD_DIM, VALUE_DIM = 4, 2


def inputs(num_heads, *, batch=1, share=1):
    """q, k and v of shape (batch, head, token, dim) in float32; `share` heads have one key head."""
    dims = (num_heads, HEAD_DIM), (num_heads // share, HEAD_DIM), (num_heads // share, VALUE_DIM)
    shapes = [(batch, heads, TOKENS, dim) for heads, dim in dims]
    return [
        (2 * np.sin(n + np.arange(math.prod(shape)))).reshape(shape).astype(np.float32)
        for n, shape in enumerate(shapes)
    ]


def shared(num_heads):
    """How many heads share a key head: two, or all of an odd count."""
    return num_heads if num_heads % 2 else 2


def values(output_counts=HEAD_COUNTS):
    """The peers' biases for 1 to 128 heads and outputs for some, heads one after the other.

    Returns
    -------
    dict of arrays
        ``versions`` of the libraries, ``output_counts``; for each peer ``NAME bias`` of shape
        (batch, head, key) and ``NAME output`` of shape (batch, head, query, VALUE_DIM), in float32.
    """
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    future = torch.full((TOKENS, TOKENS), -torch.inf).triu(1)
    padding = torch.where(torch.from_numpy(PADDED) == 1, 0, torch.finfo(torch.float32).min)
    biases, outputs = {}, {}
    for num_heads in HEAD_COUNTS:
        for name, bias in _biases(num_heads).items():
            biases.setdefault(f"{name} bias", []).append(bias.numpy())
            if num_heads not in output_counts:
                continue
            share = shared(num_heads) if name == "Falcon" else 1
            q, k, v = map(torch.from_numpy, inputs(num_heads, batch=len(bias), share=share))
            mask = bias[:, :, None, :] + future
            if name == "BLOOM":
                mask = mask + padding[:, None, None, :]
            if name == "Falcon":  # as its model does
                mask = mask / math.sqrt(HEAD_DIM)
            output = scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=share > 1)
            outputs.setdefault(f"{name} output", []).append(output.numpy())
    return {
        "versions": np.array([f"{name} {version(name)}" for name in ("torch", "transformers")]),
        "output_counts": np.array(output_counts),
        **{name: np.concatenate(arrays, axis=1) for name, arrays in (biases | outputs).items()},
    }


def _biases(num_heads):
    """Each peer's bias, a tensor of shape (batch, head, key)."""
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor as mpt

    padded = torch.from_numpy(PADDED)
    unpadded = torch.ones(1, TOKENS, dtype=torch.int64)
    return {
        "BLOOM": bloom(padded, num_heads, torch.float32).reshape(len(padded), num_heads, TOKENS),
        "MPT": mpt(num_heads, TOKENS).reshape(1, num_heads, TOKENS),
        "MPT, max bias 16": mpt(num_heads, TOKENS, 16).reshape(1, num_heads, TOKENS),
        "Falcon": falcon(unpadded, num_heads, torch.float32).reshape(1, num_heads, TOKENS),
    }


if __name__ == "__main__":
    kept = values(KEPT_COUNTS)
    np.savez_compressed(KEPT, **kept)
    print(f"{KEPT.name}: {KEPT.stat().st_size} bytes, {', '.join(kept['versions'])}")
