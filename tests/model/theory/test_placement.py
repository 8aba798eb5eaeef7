"""Against torch's own encoder layers, and against what Xiong et al. 2020 prove."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from model.theory import placement
from model.theory.fresh import VARIANTS, Setting, fresh
from model.theory.placement import at_start, depths_to, lemma_2, slope
from tests.model.test_transformer_parity import torchs_encoder

SMALL = Setting(d_model=32, n_heads=2)
DEPTHS = (2, 4, 8, 16)


def torchs_gradients(
    encoder: nn.TransformerEncoder, inputs: torch.Tensor, words: torch.Tensor, targets: torch.Tensor
) -> np.ndarray:
    """[sequence, layer, d_model, d_ff]: a backward pass for each sequence alone."""
    matrices = [layer.linear2.weight for layer in encoder.layers]
    found = []
    for sequence, target in zip(inputs, targets, strict=True):
        loss = functional.cross_entropy(encoder(sequence[None])[0] @ words.T, target)
        found.append([gradient.numpy() for gradient in torch.autograd.grad(loss, matrices)])
    return np.array(found, np.float64)


@pytest.mark.parametrize(
    "setting", [SMALL, replace(SMALL, initialisation="Xavier", expansion=4)], ids=["theory", "Xavier"]
)
@pytest.mark.parametrize("variant", ["pre-LN", "post-LN"])
def test_gradients_agree_with_torchs_own_layers_and_a_backward_pass_a_sequence(monkeypatch, variant, setting):
    monkeypatch.setattr(placement, "N_SEQUENCES", 4)
    measured = at_start(setting, variant, 3, seed=1)
    ours = fresh(setting, variant, 3, 1, vocab_size=placement.VOCABULARY, n_positions=placement.N_POSITIONS)
    rng = torch.Generator().manual_seed(1)
    inputs = torch.randn(4, placement.N_POSITIONS, 32, generator=rng)
    targets = torch.randint(placement.VOCABULARY, inputs.shape[:2], generator=rng)
    words = ours.embedding.tokens.weight.detach()
    gradients = torchs_gradients(torchs_encoder(ours), inputs, words, targets)
    by_sequence = np.sqrt(np.square(gradients).sum(axis=(2, 3)))
    np.testing.assert_allclose(measured.gradient, by_sequence.mean(axis=0), rtol=1e-4)
    expected = np.sqrt(np.square(gradients.mean(axis=0)).sum(axis=(1, 2)))
    np.testing.assert_allclose(measured.mean_gradient, expected, rtol=1e-4)


def torchs_last_gradient(norm_first: bool, n_layers: int, seed: int) -> float:
    """The theorem's setting built from torch's layers, with weights and data of their own: one head, d_ff = d."""
    d_model = 32
    torch.manual_seed(1000 + seed)
    layer = nn.TransformerEncoderLayer(
        d_model, 1, d_model, dropout=0, norm_first=norm_first, batch_first=True
    )
    norm = nn.LayerNorm(d_model) if norm_first else None
    encoder = nn.TransformerEncoder(layer, n_layers, norm=norm, enable_nested_tensor=False)
    with torch.no_grad():
        for part in encoder.layers:
            part.self_attn.in_proj_weight.zero_()  # W_Q and W_K stay so
            part.self_attn.in_proj_weight[2 * d_model :].normal_(std=d_model**-0.5)
            part.self_attn.out_proj.weight.copy_(torch.eye(d_model))
            for linear in (part.linear1, part.linear2):
                linear.weight.normal_(std=d_model**-0.5)
                linear.bias.zero_()
    words = torch.randn(512, d_model) * d_model**-0.5
    gradients = torchs_gradients(encoder, torch.randn(6, 16, d_model), words, torch.randint(512, (6, 16)))
    return np.sqrt(np.square(gradients[:, -1]).sum(axis=(1, 2))).mean()


@pytest.mark.parametrize(("variant", "theorem"), [("post-LN", 0.0), ("pre-LN", -0.5)])
def test_the_last_gradient_is_flat_in_post_ln_and_falls_with_the_square_root_of_depth_in_pre_ln(
    variant, theorem
):
    ours = [[at_start(SMALL, variant, depth, seed).gradient[-1] for depth in DEPTHS] for seed in range(4)]
    theirs = [
        [torchs_last_gradient(variant == "pre-LN", depth, seed) for depth in DEPTHS] for seed in range(4)
    ]
    for gradients in (ours, theirs):
        assert slope(DEPTHS, np.mean(gradients, axis=0)) == pytest.approx(theorem, abs=0.1)


@pytest.mark.parametrize("n_heads", [1, 4])
def test_hidden_norms_obey_lemma_2(n_heads):
    setting = replace(SMALL, d_model=64, n_heads=n_heads)
    low, high, line = lemma_2(8, 64)
    pre, post = (
        np.mean([at_start(setting, variant, 8, seed).hidden for seed in range(4)], axis=0)
        for variant in ("pre-LN", "post-LN")
    )
    assert (low < pre).all()
    assert (pre < high).all()
    np.testing.assert_allclose(post, line, rtol=0.15)


def test_lemma_2_by_hand():
    np.testing.assert_allclose(lemma_2(3, 10), [[15, 20, 25], [25, 40, 55], [15, 15, 15]])


def test_with_uniform_attention_the_number_of_heads_changes_nothing():
    one, eight = (at_start(replace(SMALL, n_heads=heads), "post-LN", 3, 0) for heads in (1, 8))
    np.testing.assert_allclose(one.gradient, eight.gradient, rtol=1e-4)
    np.testing.assert_allclose(one.hidden, eight.hidden, rtol=1e-4)


def test_hidden_norms_of_deepnorm_and_b2t_are_those_before_the_second_norm():
    """E‖αh + F(h)‖² = α²d + β⁴d/2 with ‖h‖² = d; in B2T at most (‖x‖ + ‖h‖)² of the stream, and F's share."""
    deepnorm = at_start(SMALL, "DeepNorm", 4, 0).hidden / 32
    np.testing.assert_allclose(deepnorm, 8**0.5 + 32**-1 / 2, rtol=0.05)
    b2t = at_start(SMALL, "B2T", 4, 0).hidden / 32
    assert ((b2t > 2) & (b2t < 4 + 2)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_measured_in_every_layer_and_the_same_twice(variant):
    once, again = (at_start(SMALL, variant, 3, 2) for _ in range(2))
    for name in ("gradient", "mean_gradient", "hidden"):
        values = getattr(once, name)
        assert values.shape == (3,)
        assert (values > 0).all()
        np.testing.assert_array_equal(values, getattr(again, name))
    assert 0 <= once.excess <= 1
    assert (once.mean_gradient <= once.gradient).all()  # the triangle inequality


def test_excess_is_the_share_of_positions_that_are_far_over_the_mean(monkeypatch):
    monkeypatch.setattr(placement, "EPSILON", -1.0)  # everything is over 0
    assert at_start(SMALL, "pre-LN", 2, 0).excess == 1
    monkeypatch.setattr(placement, "EPSILON", 100.0)
    assert at_start(SMALL, "pre-LN", 2, 0).excess == 0


@pytest.mark.parametrize(
    ("deepest", "depths"), [(2, (2,)), (3, (2, 3)), (7, (2, 3, 4, 6, 7)), (24, (2, 3, 4, 6, 8, 12, 16, 24))]
)
def test_a_sweep_ends_at_the_deepest(deepest, depths):
    assert depths_to(deepest) == depths


def test_the_slope_of_a_power_is_its_exponent():
    depths = (2, 3, 8)
    assert slope(depths, 5 * np.array(depths) ** -0.5) == pytest.approx(-0.5)
