"""Against torch's own encoder layers, and against what Xiong et al. 2020 prove."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import linregress
from torch import nn
from torch.nn import functional

from model.theory import gradients_at_start
from model.theory.gradients_at_start import (
    VARIANTS,
    InitialNorms,
    UntrainedConfig,
    combine_seeds,
    first_and_last,
    furthest_from_line,
    initial_norms,
    layer_range,
    lemma_2,
    make_untrained,
    n_inside_band,
    norms_by_depth,
    slopes,
    sweep_depths,
)
from model.transformer import Transformer
from tests.model.test_transformer_parity import torchs_encoder

SMALL = UntrainedConfig(d_model=32, n_heads=2)
DEPTHS = (2, 4, 8, 16)
SETTING = UntrainedConfig(d_model=16, n_heads=2)
TEXT = {"vocab_size": 50, "n_positions": 8}


def torchs_gradients(
    encoder: nn.TransformerEncoder, inputs: torch.Tensor, words: torch.Tensor, targets: torch.Tensor
) -> np.ndarray:
    """[sequence, layer, d_model, d_ff]: a backward pass for each sequence alone."""
    matrices = [layer.linear2.weight for layer in encoder.layers]
    result = []
    for sequence, target in zip(inputs, targets, strict=True):
        loss = functional.cross_entropy(encoder(sequence[None])[0] @ words.T, target)
        result.append([gradient.numpy() for gradient in torch.autograd.grad(loss, matrices)])
    return np.array(result, np.float64)


@pytest.mark.parametrize(
    "setting", [SMALL, replace(SMALL, initialisation="Xavier", expansion=4)], ids=["theory", "Xavier"]
)
@pytest.mark.parametrize("variant", ["pre-LN", "post-LN"])
def test_gradients_agree_with_torchs_own_layers_and_a_backward_pass_a_sequence(monkeypatch, variant, setting):
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)
    measured = initial_norms(setting, variant, 3, seed=1)
    ours = make_untrained(
        setting,
        variant,
        3,
        1,
        vocab_size=gradients_at_start.VOCABULARY,
        n_positions=gradients_at_start.N_POSITIONS,
    )
    rng = torch.Generator().manual_seed(1)
    inputs = torch.randn(4, gradients_at_start.N_POSITIONS, 32, generator=rng)
    targets = torch.randint(gradients_at_start.VOCABULARY, inputs.shape[:2], generator=rng)
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


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("variant", "theorem"), [("post-LN", 0.0), ("pre-LN", -0.5)])
def test_the_last_gradient_is_flat_in_post_ln_and_falls_with_the_square_root_of_depth_in_pre_ln(
    variant, theorem
):
    ours = [
        [initial_norms(SMALL, variant, depth, seed).gradient[-1] for depth in DEPTHS] for seed in range(4)
    ]
    theirs = [
        [torchs_last_gradient(variant == "pre-LN", depth, seed) for depth in DEPTHS] for seed in range(4)
    ]
    for gradients in (ours, theirs):
        of_mean = slopes(DEPTHS, np.mean(gradients, axis=0, keepdims=True))[0]
        assert of_mean == pytest.approx(theorem, abs=0.1)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("n_heads", [1, 4])
def test_hidden_norms_obey_lemma_2(n_heads):
    setting = replace(SMALL, d_model=64, n_heads=n_heads)
    low, high, line = lemma_2(8, 64)
    pre, post = (
        np.mean([initial_norms(setting, variant, 8, seed).hidden for seed in range(4)], axis=0)
        for variant in ("pre-LN", "post-LN")
    )
    assert (low < pre).all()
    assert (pre < high).all()
    np.testing.assert_allclose(post, line, rtol=0.15)


def test_lemma_2_by_hand():
    np.testing.assert_allclose(lemma_2(3, 10), [[15, 20, 25], [25, 40, 55], [15, 15, 15]])


def test_hidden_norms_of_deepnorm_and_b2t_are_those_before_the_second_norm():
    """E‖αh + F(h)‖² = α²d + β⁴d/2 with ‖h‖² = d; in B2T at most (‖x‖ + ‖h‖)² of the stream, and F's share."""
    deepnorm = initial_norms(SMALL, "DeepNorm", 4, 0).hidden / 32
    np.testing.assert_allclose(deepnorm, 8**0.5 + 32**-1 / 2, rtol=0.05)
    b2t = initial_norms(SMALL, "B2T", 4, 0).hidden / 32
    assert ((b2t > 2) & (b2t < 4 + 2)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_measured_in_every_layer_and_the_same_twice(variant):
    once, again = (initial_norms(SMALL, variant, 3, 2) for _ in range(2))
    for name in ("gradient", "mean_gradient", "hidden"):
        values = getattr(once, name)
        assert values.shape == (3,)
        assert (values > 0).all()
        np.testing.assert_array_equal(values, getattr(again, name))
    assert 0 <= once.excess <= 1
    assert (once.mean_gradient <= once.gradient).all()  # the triangle inequality


def test_excess_is_the_share_of_positions_that_are_far_over_the_mean(monkeypatch):
    monkeypatch.setattr(gradients_at_start, "EPSILON", -1.0)  # everything is over 0
    assert initial_norms(SMALL, "pre-LN", 2, 0).excess == 1
    monkeypatch.setattr(gradients_at_start, "EPSILON", 100.0)
    assert initial_norms(SMALL, "pre-LN", 2, 0).excess == 0


@pytest.mark.parametrize(
    ("deepest", "depths"), [(2, (2,)), (3, (2, 3)), (7, (2, 3, 4, 6, 7)), (24, (2, 3, 4, 6, 8, 12, 16, 24))]
)
def test_a_sweep_ends_at_the_deepest(deepest, depths):
    assert sweep_depths(deepest) == depths


def test_the_slope_of_a_power_is_its_exponent():
    depths, powers = (2, 3, 8), (-0.5, 0.0, 1.25)
    result = slopes(depths, np.array([[5 * depth**power for depth in depths] for power in powers]))
    assert result == pytest.approx((0.25, -0.5, 1.25), abs=1e-12)


def test_slopes_agree_with_scipys_regression():
    depths, norms = (2, 3, 4, 6), np.random.default_rng(0).uniform(0.5, 2, (5, 4))
    expected = [linregress(np.log(depths), np.log(norm)).slope for norm in norms]
    assert slopes(depths, norms) == pytest.approx((np.mean(expected), min(expected), max(expected)))


# Two seeds, three layers; the means over the seeds are 2, 3 and 7
NORMS = np.array([[1.0, 3.0, 6.0], [3.0, 3.0, 8.0]])


def test_what_is_said_of_norms_by_hand():
    assert first_and_last(NORMS) == (2, 7, 3.5)
    assert layer_range(NORMS) == (2, 7)
    assert layer_range(NORMS[:, ::-1]) == (2, 7)


@pytest.mark.parametrize(
    ("low", "high", "n"),
    [
        ((0, 0, 0), (9, 9, 9), 3),
        ((2, 3, 7), (2, 3, 7), 3),  # on the bounds is inside
        ((2.5, 0, 0), (9, 9, 9), 2),  # below the band in the first layer
        ((0, 0, 0), (9, 2.5, 6), 1),  # above it in the last two
        ((8, 8, 8), (9, 9, 9), 0),
        ((0, 0, 0), (1, 1, 1), 0),
    ],
)
def test_layers_inside_the_band_are_counted(low, high, n):
    lemma = np.array([low, high, (0, 0, 0)], float)
    assert n_inside_band(NORMS, lemma) == n
    between = [one <= mean <= other for one, mean, other in zip(low, (2, 3, 7), high, strict=True)]
    assert n == sum(between)


def test_the_deviation_from_the_line_is_a_share_of_the_line():
    lemma = np.array([(0, 0, 0), (0, 0, 0), (4, 3, 5)], float)
    assert furthest_from_line(NORMS, lemma) == 0.5  # 2 instead of 4, against 7 instead of 5
    assert furthest_from_line(NORMS, lemma[:, [2, 1, 2]]) == pytest.approx(0.6)  # 2 instead of 5


def test_seeds_are_put_together(monkeypatch):
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)
    result = [norms_by_depth(SMALL, "pre-LN", 3, seed) for seed in range(2)]
    assert [len(depths) for depths in result] == [2, 2]  # 2 and 3 layers
    sweep = combine_seeds(result)
    assert sweep.last_gradient.tolist() == [[depth.gradient[-1] for depth in depths] for depths in result]
    deepest: list[InitialNorms] = [depths[-1] for depths in result]
    for name in ("gradient", "mean_gradient", "hidden"):
        assert getattr(sweep, name).tolist() == [
            getattr(sweep_of_one, name).tolist() for sweep_of_one in deepest
        ]
    assert sweep.excess == (deepest[0].excess + deepest[1].excess) / 2
    expected = initial_norms(SMALL, "pre-LN", 3, 1)
    np.testing.assert_array_equal(sweep.hidden[1], expected.hidden)


def weights(model: Transformer) -> torch.Tensor:
    return torch.cat([value.flatten() for value in model.state_dict().values()])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_theory_starts_with_uniform_attention_and_without_an_output_projection(variant):
    for block in make_untrained(SETTING, variant, 2, 0, **TEXT).blocks:
        assert not block.attention.w_q.weight.any()
        assert not block.attention.w_k.weight.any()
        beta = 16**-0.25 if variant == "DeepNorm" else 1.0
        torch.testing.assert_close(block.attention.w_o.weight, beta * torch.eye(16))


def test_the_theory_starts_with_gaussian_matrices_of_variance_1_over_d():
    block = make_untrained(replace(SETTING, d_model=128), "post-LN", 1, 0, **TEXT).blocks[0]
    for part in (block.attention.w_v, block.feed_forward.expand, block.feed_forward.contract):
        assert part.weight.var().item() == pytest.approx(1 / 128, rel=0.05)
        assert part.weight.abs().max() > 3 * 128**-0.5  # uniform numbers end at sqrt(3) standard deviations
        assert not part.bias.any()


def test_xavier_is_the_start_of_every_encoder():
    model = make_untrained(replace(SETTING, initialisation="Xavier"), "pre-LN", 2, 7, **TEXT)
    torch.manual_seed(7)
    assert torch.equal(weights(model), weights(Transformer(model.config)))


@pytest.mark.parametrize("initialisation", ["theory", "Xavier"])
def test_the_gain_is_on_every_matrix_of_the_layers_and_on_nothing_else(initialisation):
    setting = replace(SETTING, initialisation=initialisation)
    once, twice = (
        make_untrained(replace(setting, gain=gain), "post-LN", 2, 0, **TEXT) for gain in (1.0, 2.0)
    )
    for (name, one), two in zip(once.named_parameters(), twice.parameters(), strict=True):
        is_matrix = name.startswith("blocks") and one.ndim == 2
        assert torch.equal(two, one * 2 if is_matrix else one), name


def test_nobody_elses_random_numbers_change():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    make_untrained(SETTING, "pre-LN", 1, 5, **TEXT)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_heads_and_expansion_are_those_of_the_setting(variant):
    config = make_untrained(replace(SETTING, n_heads=4, expansion=4), variant, 3, 0, **TEXT).config
    assert (config.d_model, config.n_heads, config.d_k, config.d_ff, config.n_layers) == (16, 4, 4, 64, 3)
    assert config.residual == ("without" not in variant)
    assert config.final_norm == variant.startswith("pre")
