import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alibi_core import block_mask, causal_mask, positions_from_packing, positions_from_padding

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_positions_count_the_tokens_before(mask):
    """A token stands where as many tokens as came before it say; padding stands at 0."""
    expected = [sum(mask[:at]) if real else 0 for at, real in enumerate(mask)]
    positions = positions_from_padding(mask)
    assert positions.tolist() == expected
    assert positions.dtype == np.int64


@pytest.mark.parametrize("kind", [bool, np.int64, np.uint8])
def test_padding_on_either_side(kind):
    """Left padding, right padding and none give the tokens the same positions, row by row."""
    mask = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 1, 1, 0]], dtype=kind)
    positions = positions_from_padding(mask)
    assert positions[mask == 1].tolist() == [0, 1, 2] * 3
    assert positions[mask == 0].tolist() == [0] * 6


@pytest.mark.parametrize(
    ("mask", "error", "fix"),
    [
        ([0.0, 1.0], TypeError, "booleans or integers, got dtype float64; pass 1 for a token"),
        ([0, -10000], ValueError, r"0 and 1 only, got \[-10000, 0\]; pass 1 for a token"),
        ([], TypeError, "got dtype float64"),
        (True, ValueError, r"an axis of at least one token, got shape \(\)"),
        (np.zeros((2, 0), bool), ValueError, r"at least one token, got shape \(2, 0\)"),
    ],
)
def test_refused_masks(mask, error, fix):
    """A mask that adds 0 or a large negative number is none of tokens and padding."""
    with pytest.raises(error, match=fix):
        positions_from_padding(mask)


@given(LENGTHS)
def test_packed_sequences_have_their_own_positions_and_masks(lengths):
    """Each sequence counts from 0, sees itself under the causal mask, and nothing else."""
    ids = np.repeat(range(len(lengths)), lengths)
    assert positions_from_packing(ids).tolist() == [at for size in lengths for at in range(size)]
    expected = np.zeros((len(ids), len(ids)), bool)
    for start, size in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        expected[start : start + size, start : start + size] = causal_mask(size)
    np.testing.assert_array_equal(block_mask(ids), expected)
    np.testing.assert_array_equal(block_mask(ids, causal=False), expected | expected.T)


def test_rows_of_a_batch_are_packed_on_their_own():
    """The same id in another row of the batch is another sequence."""
    ids = [[5, 5, 5, 2], [5, 2, 2, 2]]
    assert positions_from_packing(ids).tolist() == [[0, 1, 2, 0], [0, 0, 1, 2]]
    masks = block_mask(ids)
    assert masks.shape == (2, 4, 4)
    for row, mask in zip(ids, masks, strict=True):
        np.testing.assert_array_equal(mask, block_mask(row))


@pytest.mark.parametrize("wrong", [[0.0, 1.0], [], 3, ["a"], [True]])
@pytest.mark.parametrize("function", [block_mask, positions_from_packing])
def test_refused_ids(function, wrong):
    """Ids that are not integers, one a token, are refused with an example."""
    with pytest.raises(ValueError, match=r"integers, one a token, .* such as \[0, 0, 0, 1, 1\]"):
        function(wrong)
