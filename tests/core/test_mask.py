import numpy as np
import pytest

from alibi_core import causal_mask


@pytest.mark.parametrize("num_tokens", [1, 2, 6, 12])
def test_plain_reference(num_tokens, reference):
    """A query may use its own position and the earlier ones, and True says allowed."""
    mask = causal_mask(num_tokens)
    assert mask.dtype == np.bool_
    assert mask.tolist() == reference.allowed(num_tokens)


def test_opening_row(figures):
    """The opening query may use the stated number of keys."""
    opening = figures["opening"]
    row = causal_mask(len(opening["tokens"]))[opening["query"]]
    assert np.count_nonzero(row) == opening["allowed_keys"]


@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-1, ValueError), ("3", TypeError), (True, TypeError)]
)
def test_refused_numbers_of_tokens(value, error):
    """A number of tokens that is no whole number from 1 is refused, and told what to pass."""
    with pytest.raises(error, match=r"num_tokens must be .*; pass a whole number from 1"):
        causal_mask(value)
