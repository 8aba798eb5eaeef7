"""By hand: rotations by 90 degrees, the slopes that the paper prints, buckets, and windows in a row."""

import numpy as np
import pytest
import torch

from model.parts import rotary
from model.theory import relative_positions as theory


def test_a_pair_is_turned_by_its_frequency_times_the_position():
    np.testing.assert_allclose(theory.rotary_frequencies(4, 10_000.0), [1, 0.01])
    turned = theory.rotated(np.array([1.0, 0.0, 0.0, 1.0]), 3, 10_000.0)
    np.testing.assert_allclose(turned, [np.cos(3), np.sin(3), -np.sin(0.03), np.cos(0.03)])
    by = rotary.factors(rotary.angles(10_000.0, 4, 4), interleaved=True)
    by_torch = rotary.rotate(torch.tensor([1.0, 0, 0, 1]).expand(1, 1, 4, 4), by, interleaved=True)
    np.testing.assert_allclose(by_torch[0, 0, 3], turned, atol=1e-6)


@pytest.mark.parametrize("offset", [-7, 0, 5])
def test_a_pair_that_is_moved_along_keeps_its_score(offset):
    scores = theory.moved_scores([10, 20, 400], offset, 16, 10_000.0)
    # a pair of ones has length √2, so it adds 2 cos(ω φ)
    np.testing.assert_allclose(
        scores, 2 * theory.rotary_score(np.array([offset]), 16, 10_000.0).sum(), atol=1e-9
    )


def test_slopes_of_alibi_are_those_of_the_paper():
    np.testing.assert_allclose(theory.alibi_slopes(8), [1 / 2**n for n in range(1, 9)])
    np.testing.assert_allclose(theory.alibi_slopes(16)[:2], [2**-0.5, 2**-1])


def test_buckets_are_exact_nearby_and_shared_far_away():
    buckets = theory.t5_buckets(200)
    assert buckets[200 - 8 : 200 + 8].tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23]
    assert set(buckets[:72]) == {15}
    assert buckets[-1] == 31


def test_windows_add_up_until_a_layer_sees_everything():
    assert theory.reach(3, 4, 0).tolist() == [4, 8, 12]
    assert theory.reach(4, 4, 3).tolist() == [np.inf] * 4
