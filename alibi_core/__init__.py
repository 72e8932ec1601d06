"""ALiBi (Attention with Linear Biases) in plain NumPy, one file a concept.

Read them in this order; each docstring says which question its file answers:
slopes, bias, mask, softmax, attention (the method), then lesson, selection, calculation
(the worked example that the explorer shows).
"""

from alibi_core.slopes import SlopeSource, alibi_slopes, slope_sources
from alibi_core.bias import distance_bias, token_distance
from alibi_core.mask import causal_mask
from alibi_core.softmax import masked_softmax
from alibi_core.attention import causal_alibi_attention, causal_alibi_weights, causal_weights
from alibi_core.selection import Selection
from alibi_core.calculation import Calculation, Pair, calculate

__all__ = [
    "Calculation",
    "Pair",
    "Selection",
    "SlopeSource",
    "alibi_slopes",
    "calculate",
    "causal_alibi_attention",
    "causal_alibi_weights",
    "causal_mask",
    "causal_weights",
    "distance_bias",
    "masked_softmax",
    "slope_sources",
    "token_distance",
]
