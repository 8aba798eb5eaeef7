"""Buckets of distances against the code of `transformers`."""

import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from model.config import ModelConfig
from model.parts.relative_bias import (
    GridBias,
    GridBiasedScores,
    bucket_of_offset,
    last_bucket_from,
    relative_buckets,
)

SIZES = [(32, 128), (32, 512), (32, 64), (8, 7), (5, 20), (64, 4096)]


@pytest.mark.parametrize(("n_buckets", "furthest"), SIZES)
def test_buckets_are_those_of_t5(n_buckets, furthest):
    offsets = torch.arange(-2 * furthest, 2 * furthest + 1)
    expected = T5Attention._relative_position_bucket(offsets, True, n_buckets, furthest)
    assert torch.equal(bucket_of_offset(offsets, n_buckets, furthest), expected)


@pytest.mark.parametrize(("n_buckets", "furthest", "distance"), [(32, 128, 91), (32, 512, 305), (8, 7, 4)])
def test_the_last_bucket_begins_where_no_further_key_has_another(n_buckets, furthest, distance):
    assert last_bucket_from(n_buckets, furthest) == distance
    for side in (-1, 1):
        buckets = bucket_of_offset(side * torch.arange(2 * furthest), n_buckets, furthest)
        assert (buckets[distance:] == buckets[-1]).all()
        assert buckets[distance - 1] != buckets[-1]


def test_the_pairs_of_a_text_have_the_buckets_of_their_offsets():
    buckets = relative_buckets(torch.arange(4), 8, 7)
    assert buckets[1].tolist() == bucket_of_offset(torch.tensor([-1, 0, 1, 2]), 8, 7).tolist()


def of_grid(side: int, n_heads: int = 1, seed: int | None = None) -> GridBias:
    config = ModelConfig(
        d_model=4 * n_heads,
        n_layers=1,
        n_heads=n_heads,
        d_k=4,
        d_v=4,
        d_ff=8,
        n_positions=side**2 + 1,
        image_size=4 * side,
        patch_size=4,
    )
    bias = GridBias(config)
    values = torch.arange(bias.table.numel()).float()
    if seed is not None:
        values = torch.randn(values.shape, generator=torch.Generator().manual_seed(seed))
    bias.table.data = values.view(bias.table.shape)
    return bias


def test_a_grid_of_two_by_two_by_hand():
    bias = of_grid(2)
    # the numbers 0 to 8 are for the query's row minus the key's, -1, 0 or 1, and the same of columns:
    #   0 1 2     the query is a row above the key
    #   3 4 5     both in one row; 3 where the query is left of the key
    #   6 7 8     the query is a row below
    # then 9 for class token to patch, 10 for patch to class token, 11 for the class token to itself
    expected = [
        [11, 9, 9, 9, 9],
        [10, 4, 3, 1, 0],
        [10, 5, 4, 2, 1],
        [10, 7, 6, 4, 3],
        [10, 8, 7, 5, 4],
    ]
    np.testing.assert_array_equal(bias()[0].detach(), expected)
    # by the key, seen from the query
    np.testing.assert_array_equal(bias.by_offset()[0].detach(), [[8, 7, 6], [5, 4, 3], [2, 1, 0]])
    np.testing.assert_array_equal(bias.of_class_token()[0].detach(), [9, 10, 11])


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_every_pair_of_patches_has_the_bias_of_its_offset(side):
    bias = of_grid(side, n_heads=3, seed=0)
    by_offset, full = bias.by_offset().detach(), bias().detach()
    assert by_offset.shape == (3, 2 * side - 1, 2 * side - 1)
    for query in range(side**2):
        for key in range(side**2):
            rows, columns = key // side - query // side, key % side - query % side
            torch.testing.assert_close(
                full[:, query + 1, key + 1], by_offset[:, side - 1 + rows, side - 1 + columns]
            )
    to_patch, from_patch, itself = bias.of_class_token().detach().unbind(1)
    torch.testing.assert_close(full[:, 0, 1:], to_patch[:, None].expand(-1, side**2))
    torch.testing.assert_close(full[:, 1:, 0], from_patch[:, None].expand(-1, side**2))
    torch.testing.assert_close(full[:, 0, 0], itself)


def test_the_own_and_the_shared_bias_add_up():
    own, shared = of_grid(2, n_heads=2, seed=1), of_grid(2, n_heads=2, seed=2)
    scores = torch.randn(1, 2, 5, 5, generator=torch.Generator().manual_seed(3))
    for parts in ((own, None), (None, shared), (own, shared)):
        biased = GridBiasedScores(*parts)
        present = [part for part in parts if part is not None]
        torch.testing.assert_close(biased(scores), scores + sum(part() for part in present))
        torch.testing.assert_close(biased.by_offset(), sum(part.by_offset() for part in present))
        torch.testing.assert_close(biased.of_class_token(), sum(part.of_class_token() for part in present))
    assert [name for name, _ in GridBiasedScores(own, shared).named_parameters()] == ["own.table"]
