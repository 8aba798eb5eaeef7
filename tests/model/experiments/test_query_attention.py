"""The attention of one query with rotation, bias and disentangled scores, on two tokens worked by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from model.capture import capture
from model.config import ModelConfig
from model.experiments.query_attention import AttentionSteps, attention_steps, cross_pattern
from model.family_options import Disentangled, Rotary
from model.parts.block import GroupedLinear
from model.parts.disentangled import DisentangledAttention, RelativePositions
from model.parts.relative_bias import BiasedScores
from model.parts.rotary import Rotated
from model.transformer import Attention
from tests.model import tiny
from tests.tolerance import rounding

CONFIG = ModelConfig(
    **dict.fromkeys(("d_model", "d_k", "d_v", "d_ff", "n_positions"), 2),
    **dict.fromkeys(("n_layers", "n_heads"), 1),
    vocab_size=10,
)
X = np.array([[1.0, 0.0], [2.0, 1.0]])  # what is read at the two positions
LAYER, HEAD = 1, 0


def with_identities(attention: Attention) -> Attention:
    """The same attention, whose linear maps change nothing."""
    with torch.no_grad():
        for linear in (attention.w_q, attention.w_k, attention.w_v, attention.w_o):
            linear.weight.copy_(torch.eye(2))
            linear.bias.zero_()
    return attention


def of_second(attention: Attention) -> AttentionSteps:
    """The steps of the second position as the query."""
    return attention_steps(X, attention, np.ones((1, 2), bool), 0, 1)


def test_without_other_parts_nothing_is_rotated_or_added():
    steps = of_second(with_identities(Attention(CONFIG)))
    assert steps.rotation is None
    assert steps.terms == {}
    np.testing.assert_allclose(steps.dots, [2, 5])
    np.testing.assert_allclose(steps.scores, [2 / math.sqrt(2), 5 / math.sqrt(2)])
    assert steps.squared_divisor == 2


def test_a_rotation_by_one_radian_for_each_position():
    attention = with_identities(Attention(CONFIG))
    for name in ("q", "k"):
        setattr(attention, name, Rotated(Rotary(bases=(10_000.0,)), 0, 2))
    steps = of_second(attention)
    turned = [2 * math.cos(1) - math.sin(1), 2 * math.sin(1) + math.cos(1)]
    np.testing.assert_allclose(steps.rotation.angles, [[0], [1]])
    np.testing.assert_array_equal(steps.rotation.pairs, [[0, 1]])
    np.testing.assert_array_equal(steps.rotation.q, [2, 1])
    np.testing.assert_array_equal(steps.rotation.k, X)
    np.testing.assert_allclose(steps.q, turned)
    np.testing.assert_allclose(steps.k, [[1, 0], turned])
    np.testing.assert_allclose(steps.dots, [turned[0], 5])  # the key at the query's position is turned alike
    np.testing.assert_array_equal(steps.v, X)


def test_a_bias_for_the_key_before_and_for_the_query_itself():
    attention, table = with_identities(Attention(CONFIG)), nn.Embedding(4, 1)
    attention.scale = 1.0
    attention.scores = BiasedScores(table, furthest=4)
    with torch.no_grad():  # bucket 0: the query itself, 1: keys before it
        table.weight.copy_(torch.tensor([[10.0], [-3.0], [0.0], [0.0]]))
    steps = of_second(attention)
    np.testing.assert_allclose(steps.scaled, [2, 5])
    np.testing.assert_allclose(steps.terms["bias"], [-3, 10])
    np.testing.assert_allclose(steps.scores, [-1, 15])
    np.testing.assert_allclose(steps.pattern[1], 1 / (1 + math.exp(-16)))
    assert steps.squared_divisor == 1


def disentangled(**options: bool) -> AttentionSteps:
    """The vectors of relative positions are (0, 1) for a key behind the query, (1, 0) for itself and (3, -1) for one before."""
    chosen = Disentangled(furthest=2, shared_maps=True, **options)
    positions = RelativePositions(CONFIG, chosen)
    with torch.no_grad():
        positions.vectors.weight.copy_(torch.tensor([[9.0, 9.0], [0.0, 1.0], [1.0, 0.0], [3.0, -1.0]]))
    return of_second(with_identities(DisentangledAttention(CONFIG, chosen, positions)))


def test_three_maps_add_up():
    steps = disentangled()
    root = math.sqrt(3 * 2)
    assert steps.squared_divisor == 6
    np.testing.assert_allclose(steps.scaled, np.array([2, 5]) / root)  # (2, 1) · (1, 0) and (2, 1) · (2, 1)
    content_to_position = np.array([2 * 3 - 1, 2 * 1]) / root  # (2, 1) · (3, -1) and (2, 1) · (1, 0)
    position_to_content = np.array([3 * 1, 1 * 2]) / root  # (3, -1) · (1, 0) and (1, 0) · (2, 1)
    np.testing.assert_allclose(steps.terms["content_to_position"], content_to_position)
    np.testing.assert_allclose(steps.terms["position_to_content"], position_to_content)
    np.testing.assert_allclose(steps.scores, np.array([2 + 5 + 3, 5 + 2 + 2]) / root)


def test_two_maps_are_divided_by_their_own_number():
    steps = disentangled(position_to_content=False)
    assert list(steps.terms) == ["content_to_position"]
    np.testing.assert_allclose(steps.scores, np.array([2 + 5, 5 + 2]) / 2)


def test_heads_that_share_a_key_multiply_it_with_their_own_queries():
    attention = Attention(ModelConfig(**{**vars_of(CONFIG), "n_heads": 2, "d_k": 1, "d_v": 1}))
    attention.w_k = GroupedLinear(2, n_heads=2, n_groups=1, d_head=1)
    with torch.no_grad():
        for linear in (attention.w_q, attention.w_v, attention.w_o):
            linear.weight.copy_(torch.eye(2))
            linear.bias.zero_()
        attention.w_k.weight.copy_(torch.tensor([[1.0, 1.0]]))
        attention.w_k.bias.zero_()
    first, second = (attention_steps(X, attention, np.ones((2, 2), bool), head, 1) for head in (0, 1))
    np.testing.assert_array_equal(first.k, second.k)
    np.testing.assert_allclose(first.dots, [2 * 1, 2 * 3])
    np.testing.assert_allclose(second.dots, [1 * 1, 1 * 3])


def vars_of(config: ModelConfig) -> dict:
    names = ("d_model", "n_layers", "d_ff", "n_positions", "vocab_size")
    return {name: getattr(config, name) for name in names}


def test_it_is_what_torch_computes():
    encoder = tiny.loaded(tiny.TEXT)
    asks, answers = capture(encoder, "great film"), capture(encoder, "not a great plot")
    pattern = cross_pattern(asks, answers, LAYER, HEAD)
    assert pattern.shape == (len(asks), len(answers))
    q, k, v = (torch.tensor(array[LAYER, HEAD]) for array in (asks.q, answers.k, answers.v))
    expected = scaled_dot_product_attention(q[None], k[None], v[None])[0].numpy()
    np.testing.assert_allclose(
        pattern @ answers.v[LAYER, HEAD], expected, atol=rounding(64, np.abs(expected).max())
    )


def test_on_one_input_it_is_the_encoders_own_attention():
    record = capture(tiny.loaded(tiny.TEXT), "great film")
    pattern = cross_pattern(record, record, LAYER, HEAD)
    np.testing.assert_allclose(pattern, record.pattern[LAYER, HEAD], atol=rounding(64))


def test_keys_of_another_width_are_refused():
    one = capture(tiny.loaded(tiny.TEXT), "great film")
    other = capture(tiny.loaded(replace(tiny.TEXT, d_k=2 * tiny.TEXT.d_k)), "great film")
    with pytest.raises(ValueError, match="cannot be multiplied"):
        cross_pattern(one, other, LAYER, HEAD)
