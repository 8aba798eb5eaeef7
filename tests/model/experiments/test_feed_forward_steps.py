from dataclasses import replace

import numpy as np
import torch

from model.experiments.feed_forward_steps import feed_forward_steps, largest_indices
from model.parts.block import GatedFeedForward
from model.transformer import FeedForward
from tests.model import tiny

CONFIG = replace(tiny.TEXT, d_model=2, d_ff=2, activation="relu", n_heads=1, d_k=2, d_v=2)
X = np.array([2.0, -1.0])


def set_weights(layer: FeedForward, **weights: list[list[float]]) -> FeedForward:
    with torch.no_grad():
        for name, rows in weights.items():
            getattr(layer, name).weight.copy_(torch.tensor(rows).T)
            getattr(layer, name).bias.zero_()
    return layer


def test_without_a_gate_what_is_hidden_is_what_was_activated() -> None:
    eye = [[1.0, 0.0], [0.0, 1.0]]
    steps = feed_forward_steps(X, set_weights(FeedForward(CONFIG), expand=eye, contract=eye))
    assert steps.gate is None
    np.testing.assert_array_equal(steps.before, [2, -1])
    np.testing.assert_array_equal(steps.hidden, [2, 0])
    np.testing.assert_array_equal(steps.out, [2, 0])


def test_a_gate_multiplies_each_activation() -> None:
    layer = set_weights(
        GatedFeedForward(CONFIG),
        expand=[[1.0, 0.0], [0.0, -3.0]],
        gate=[[0.0, 1.0], [1.0, 0.0]],
        contract=[[1.0, 1.0], [0.0, 2.0]],
    )
    steps = feed_forward_steps(X, layer)
    np.testing.assert_array_equal(steps.before, [2, 3])
    np.testing.assert_array_equal(steps.activated, [2, 3])
    np.testing.assert_array_equal(steps.gate, [-1, 2])
    np.testing.assert_array_equal(steps.hidden, [-2, 6])
    np.testing.assert_array_equal(steps.by_unit, [[-2, -2], [0, 12]])
    np.testing.assert_array_equal(steps.out, [-2, 10])
    assert steps.strongest(1) == [1]


def test_of_equal_numbers_the_first_comes_first() -> None:
    assert largest_indices(np.array([1.0, 3.0, 3.0, 2.0]), 3) == [1, 2, 3]
