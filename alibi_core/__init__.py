"""ALiBi (Attention with Linear Biases) in plain NumPy, one file a concept.

Read them in this order; each docstring says which question its file answers:
slopes, precision, bias, mask, softmax, attention (the method), batch, blockwise (the same for
padded, packed, cached and long sequences), compare and reach (what follows from it), models (who
uses it), forms and check (whether yours is right), then lesson, selection, claims, calculation
(the worked example that the explorer shows) and practice (its questions).
"""

from alibi_core.slopes import SlopeSource, alibi_slopes, slope_sources
from alibi_core.precision import round_to
from alibi_core.bias import distance_bias, key_position_bias, row_constant, token_distance
from alibi_core.mask import causal_mask
from alibi_core.softmax import masked_softmax
from alibi_core.attention import (
    causal_alibi_attention,
    causal_alibi_weights,
    causal_weights,
    newest_query_weights,
)
from alibi_core.batch import block_mask, positions_from_packing, positions_from_padding
from alibi_core.blockwise import alibi_attention
from alibi_core.compare import KeyComparison, compare_keys
from alibi_core.reach import e_distance, half_distance, nearest_share
from alibi_core.check import AlibiFault, Check, check_bias, check_slopes, check_weights
from alibi_core.models import MODELS, Model
from alibi_core.selection import Selection
from alibi_core.calculation import Calculation, Pair, calculate

__all__ = [
    "MODELS",
    "AlibiFault",
    "Calculation",
    "Check",
    "KeyComparison",
    "Model",
    "Pair",
    "Selection",
    "SlopeSource",
    "alibi_attention",
    "alibi_slopes",
    "block_mask",
    "calculate",
    "causal_alibi_attention",
    "causal_alibi_weights",
    "causal_mask",
    "causal_weights",
    "check_bias",
    "check_slopes",
    "check_weights",
    "compare_keys",
    "distance_bias",
    "e_distance",
    "half_distance",
    "key_position_bias",
    "masked_softmax",
    "nearest_share",
    "newest_query_weights",
    "positions_from_packing",
    "positions_from_padding",
    "round_to",
    "row_constant",
    "slope_sources",
    "token_distance",
]
