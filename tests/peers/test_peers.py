"""The core gives what published implementations give, as kept in a file and as installed.

``make peers`` installs torch and transformers and asks them; without them their values are those
of ``kept.npz``.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from alibi_core import (
    alibi_attention,
    alibi_slopes,
    distance_bias,
    key_position_bias,
    positions_from_padding,
    round_to,
)

PEERS = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("values.py"))))
POSITIONS = positions_from_padding(PEERS.PADDED)
IS_TOKEN = PEERS.PADDED.astype(bool)
NAMES = ("BLOOM", "MPT", "MPT, max bias 16", "Falcon")


@pytest.fixture(scope="module", params=["kept", "installed"])
def peers(request):
    """The peers' values: from the file, or from the libraries themselves."""
    if request.param == "kept":
        with np.load(PEERS.KEPT) as kept:
            return dict(kept)
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return PEERS.values()


def of_all(function, head_counts=PEERS.HEAD_COUNTS):
    """What a function of a number of heads gives for all of them, heads one after the other."""
    return np.concatenate([function(int(num_heads)) for num_heads in head_counts], axis=1)


def slopes_of(name, num_heads):
    slopes = alibi_slopes(num_heads, max_bias=16 if name == "MPT, max bias 16" else 8)
    return round_to(slopes, "bfloat16") if name == "Falcon" else slopes


def bias_of(name, num_heads):
    """Our bias in the peer's form, of shape (batch, head, key)."""
    slopes = slopes_of(name, num_heads)
    if name == "BLOOM":
        return np.stack([key_position_bias(slopes, key_positions=at)[:, 0] for at in POSITIONS])
    if name == "Falcon":
        return key_position_bias(slopes, PEERS.TOKENS, emulate="bfloat16")[None, :, 0]
    return distance_bias(slopes, PEERS.TOKENS)[None, :, -1]


def output_of(name, num_heads):
    """Our attention to the peer's inputs, of shape (batch, head, query, VALUE_DIM)."""
    slopes = slopes_of(name, num_heads)
    if name == "BLOOM":
        at = {"query_positions": POSITIONS, "key_positions": POSITIONS}
        qkv = PEERS.inputs(num_heads, batch=len(POSITIONS))
        return alibi_attention(*qkv, slopes, **at, allowed=IS_TOKEN[:, None, None, :])
    if name == "Falcon":
        qkv = PEERS.inputs(num_heads, share=PEERS.shared(num_heads))
        return alibi_attention(*qkv, slopes, scale_bias=True)
    return alibi_attention(*PEERS.inputs(num_heads), slopes)


@pytest.mark.parametrize("name", NAMES)
def test_slopes(peers, name):
    """For 1 to 128 heads each head's bias changes by our slope from one key to the next."""
    row = 1 if name == "BLOOM" else 0  # that without padding
    steps = np.diff(peers[f"{name} bias"][row, :, -5 : -3 if name == "Falcon" else None])
    slopes = of_all(lambda num_heads: slopes_of(name, num_heads)[None])[0]
    np.testing.assert_allclose(steps, np.broadcast_to(slopes[:, None], steps.shape), rtol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_biases(peers, name):
    """For 1 to 128 heads: BLOOM's at padded positions, MPT's distances, Falcon's in bfloat16."""
    ours = of_all(lambda num_heads: bias_of(name, num_heads))
    np.testing.assert_allclose(peers[f"{name} bias"], ours, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_outputs(peers, name):
    """PyTorch's SDPA with the peer's bias: BLOOM's padded batch, Falcon's shared key heads too."""
    ours = of_all(lambda num_heads: output_of(name, num_heads), peers["output_counts"])
    theirs = peers[f"{name} output"]
    assert theirs.dtype == ours.dtype == np.float32
    if name == "BLOOM":  # what stands at padding is not read
        theirs, ours = (x.swapaxes(1, 2)[IS_TOKEN] for x in (theirs, ours))
    if name == "Falcon":  # it rounds the bias too, which changes nothing at powers of two
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=2**-8)
        slopes = of_all(lambda num_heads: slopes_of(name, num_heads)[None], peers["output_counts"])
        theirs, ours = (x[:, np.log2(slopes[0]) % 1 == 0] for x in (theirs, ours))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=2e-6)
