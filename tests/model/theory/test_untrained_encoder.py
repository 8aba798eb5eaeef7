from dataclasses import replace
from threading import Thread

import pytest
import torch

from model.theory.untrained_encoder import VARIANTS, UntrainedConfig, make_untrained
from model.transformer import Transformer

SETTING = UntrainedConfig(d_model=16, n_heads=2)
TEXT = {"vocab_size": 50, "n_positions": 8}


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


def test_the_same_seed_is_the_same_encoder_whoever_draws_at_the_same_time():
    expected = weights(make_untrained(SETTING, "post-LN", 2, 3, **TEXT))
    result = []
    threads = [
        Thread(
            target=lambda seed=seed: result.append(
                (seed, weights(make_untrained(SETTING, "post-LN", 2, seed, **TEXT)))
            )
        )
        for seed in (3, 4) * 8
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(result) == 16
    assert all(torch.equal(drawn, expected) == (seed == 3) for seed, drawn in result)


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
