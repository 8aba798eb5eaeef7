"""Buckets of distances against the code of `transformers`."""

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from model.parts.relative_bias import bucket_of_offset, last_bucket_from, relative_buckets

SIZES = [(32, 128), (32, 512), (32, 64), (8, 7), (5, 20), (64, 4096)]


@pytest.mark.parametrize(("n_buckets", "furthest"), SIZES)
def test_buckets_are_those_of_t5(n_buckets: int, furthest: int) -> None:
    offsets = torch.arange(-2 * furthest, 2 * furthest + 1)
    expected = T5Attention._relative_position_bucket(offsets, True, n_buckets, furthest)
    assert torch.equal(bucket_of_offset(offsets, n_buckets, furthest), expected)


@pytest.mark.parametrize(("n_buckets", "furthest", "distance"), [(32, 128, 91), (32, 512, 305), (8, 7, 4)])
def test_the_last_bucket_begins_where_no_further_key_has_another(
    n_buckets: int, furthest: int, distance: int
) -> None:
    assert last_bucket_from(n_buckets, furthest) == distance
    for side in (-1, 1):
        buckets = bucket_of_offset(side * torch.arange(2 * furthest), n_buckets, furthest)
        assert (buckets[distance:] == buckets[-1]).all()
        assert buckets[distance - 1] != buckets[-1]


def test_the_pairs_of_a_text_have_the_buckets_of_their_offsets() -> None:
    buckets = relative_buckets(torch.arange(4), 8, 7)
    assert buckets[1].tolist() == bucket_of_offset(torch.tensor([-1, 0, 1, 2]), 8, 7).tolist()
