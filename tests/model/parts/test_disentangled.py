"""Disentangled scores of two tokens, worked by hand, and the vectors of relative positions."""

import math

import numpy as np
import torch

from model.config import ModelConfig
from model.family_options import Disentangled
from model.hooks import watch
from model.parts.disentangled import DisentangledAttention, RelativePositions, relative_positions

CONFIG = ModelConfig(
    d_model=2,
    n_layers=1,
    n_heads=1,
    d_k=2,
    d_v=2,
    d_ff=2,
    n_positions=2,
    vocab_size=4,
    positions="none",
    pooling="mean",
)


def test_three_maps_of_two_tokens_add_up_to_the_scores():
    options = Disentangled(furthest=2)
    positions = RelativePositions(CONFIG, options)
    # of the keys at 2 behind the query (which do not occur), 1 behind, at it, 1 before
    vectors = np.array([[9.0, 9.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    positions.vectors.weight.data = torch.tensor(vectors, dtype=torch.float32)
    attention = DisentangledAttention(CONFIG, options, positions)
    w_k, w_q = np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [1.0, 1.0]])
    for linear, weight in ((attention.position_k, w_k), (attention.position_q, w_q)):
        assert linear is not None
        linear.weight.data = torch.tensor(weight, dtype=torch.float32)
        linear.bias.data = torch.tensor([0.5, -0.5])
    q, k = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 1.0], [1.0, 1.0]])
    # token 0 sees itself by vector 2 and token 1, 1 behind it, by vector 1; token 1 sees token 0 by vector 3
    number = np.array([[2, 1], [3, 2]])
    keys, queries = vectors @ w_k.T + [0.5, -0.5], vectors @ w_q.T + [0.5, -0.5]
    scale = math.sqrt(2 * 3)
    expected = {name: np.zeros((2, 2)) for name in ("content_to_content", "content_to_position")}
    expected["position_to_content"] = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            expected["content_to_content"][i, j] = q[i] @ k[j] / scale
            expected["content_to_position"][i, j] = q[i] @ keys[number[i, j]] / scale
            expected["position_to_content"][i, j] = queries[number[i, j]] @ k[j] / scale
    maps: dict[str, torch.Tensor] = {}
    watchers = {name: lambda value, name=name: maps.update({name: value}) for name in expected}
    with watch(attention, watchers), torch.inference_mode():
        scores = attention.score(
            *(torch.tensor(values, dtype=torch.float32)[None, None] for values in (q, k))
        )
    for name, values in expected.items():
        np.testing.assert_allclose(maps[name][0, 0], values, atol=1e-6)
    np.testing.assert_allclose(scores[0, 0], sum(expected.values()), atol=1e-6)


def test_far_positions_share_vectors_and_near_ones_do_not():
    options = Disentangled(furthest=64, n_buckets=8)
    of_last_query = relative_positions(torch.arange(100), options)[-1].flip(0)
    assert of_last_query[:6].tolist() == [8, 9, 10, 11, 12, 13]
    assert (of_last_query.diff() >= 0).all()
    assert of_last_query[63:].unique().tolist() == [15]
    assert relative_positions(torch.arange(100), options)[0, 99] == 0


def test_without_buckets_the_furthest_positions_share_the_last_vector():
    assert relative_positions(torch.arange(4), Disentangled(furthest=2)).tolist() == [
        [2, 1, 0, 0],
        [3, 2, 1, 0],
        [3, 3, 2, 1],
        [3, 3, 3, 2],
    ]
