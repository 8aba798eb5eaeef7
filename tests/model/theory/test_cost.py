"""The counts against sums written out by hand, the built encoders, and PyTorch's own counter of operations."""

import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from model.capture import capture
from model.config import ModelConfig, preset, presets
from model.theory.cost import (
    COLUMNS,
    balanced_length,
    component_costs,
    n_attention_weights,
    n_multiply_adds,
    n_parameters,
    pattern_megabytes,
    variations,
)
from model.transformer import Transformer
from tests.model import tiny

BASE = preset("base")


def counts(config: ModelConfig) -> dict[str, tuple[int, int]]:
    return {part.name: (part.parameters, part.multiply_adds) for part in component_costs(config)}


def test_a_text_encoder_by_hand():
    # d = 8, L = 2, h = 2, d_k = d_v = 4, d_ff = 16, n = 12, V = 100, c = 2, one norm at the end
    assert counts(tiny.TEXT) == {
        "embedding": (100 * 8, 0),
        "q, k, v": (2 * 3 * (8 * 8 + 8), 2 * 3 * 12 * 8 * 8),  # two layers, three maps from 8 to 2 × 4
        "scores, weighted sum": (0, 2 * 2 * (12 * 12 * 4 + 12 * 12 * 4)),
        "W_O": (2 * (8 * 8 + 8), 2 * 12 * 8 * 8),
        "feed-forward": (2 * (8 * 16 + 16 + 16 * 8 + 8), 2 * 12 * (8 * 16 + 16 * 8)),
        "norms": (5 * (8 + 8), 5 * 3 * 12 * 8),
        "classifier": (8 * 2 + 2, 8 * 2),
    }
    assert n_parameters(tiny.TEXT) == 800 + 432 + 144 + 560 + 80 + 18 == 2034
    assert n_multiply_adds(tiny.TEXT) == 4608 + 4608 + 1536 + 6144 + 1440 + 16 == 18352


def test_an_image_encoder_by_hand():
    # d = 8, L = 2, h = 2, d_k = 3, d_v = 5, d_ff = 16, four patches of 4 × 4 and the class token, c = 10
    assert counts(tiny.DIGIT) == {
        "embedding": (16 * 8 + 8 + 8 + 5 * 8, 4 * 16 * 8),  # map, its bias, class token, positions
        "q, k, v": (2 * (2 * (8 * 6 + 6) + 8 * 10 + 10), 2 * 5 * (8 * 6 + 8 * 6 + 8 * 10)),
        "scores, weighted sum": (0, 2 * 2 * (5 * 5 * 3 + 5 * 5 * 5)),
        "W_O": (2 * (10 * 8 + 8), 2 * 5 * 10 * 8),
        "feed-forward": (2 * (8 * 16 + 16 + 16 * 8 + 8), 2 * 5 * (8 * 16 + 16 * 8)),
        "norms": (5 * 16, 5 * 3 * 5 * 8),
        "classifier": (8 * 10 + 10, 8 * 10),
    }


def test_the_base_encoder_by_hand():
    assert n_parameters(preset("base")) == 37_000 * 512 + 6 * (
        4 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512
    )
    # a layer's maps: 4 × 512² + 2 × 512 × 2048 = 3 × 2^20 a position; scores and weighted sum: 2 × 512 a pair
    assert balanced_length(preset("base")) == 3 * 2**20 / 2**10 == 3072


@pytest.mark.parametrize("name", presets())
def test_every_preset_has_the_parameters_that_are_built(name):
    assert n_parameters(preset(name)) == built(preset(name))


def built(config: ModelConfig) -> int:
    """The parameters of the module itself; no memory is taken for them."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


@given(
    sizes=st.fixed_dictionaries(
        {name: st.integers(1, 9) for name in ("n_layers", "n_heads", "d_k", "d_ff", "n_positions")}
    ),
    half=st.integers(1, 9),
    d_v=st.integers(1, 9),
    variant=st.fixed_dictionaries(
        {
            "final_norm": st.booleans(),
            "embedding_norm": st.booleans(),
            "positions": st.sampled_from(("sinusoidal", "learned")),
            "masked_token_output": st.booleans(),
        }
    ),
    shared=st.booleans(),
    n_classes=st.integers(0, 3),
)
def test_any_text_encoder_is_counted_as_built(sizes, half, d_v, variant, shared, n_classes):
    config = ModelConfig(
        **sizes,
        **variant,
        d_model=2 * half,
        d_v=sizes["d_k"] if shared else d_v,
        shared_qkv=shared,
        vocab_size=20,
        class_names=tuple("abc"[:n_classes]),
    )
    assert n_parameters(config) == built(config)
    assert_formulas_hold(config)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", presets())
def test_matrix_products_are_those_that_pytorch_counts(name):
    config = tiny.small(name)
    model = tiny.build(config)
    if config.is_text:
        inputs = torch.randint(1, config.vocab_size, (1, config.n_positions))
    else:
        inputs = torch.rand(1, config.image_size, config.image_size)
    with FlopCounterMode(display=False) as counter:
        model(inputs)
    expected = n_multiply_adds(config) - counts(config)["norms"][1]
    assert counter.get_total_flops() == 2 * expected  # it counts product and addition as two


@pytest.mark.parametrize("pooling", ["class", "mean"])
def test_patches_of_colours_are_counted_as_built(pooling):
    config = replace(tiny.DIGIT, n_channels=3, pooling=pooling, n_positions=4 + (pooling == "class"))
    assert n_parameters(config) == built(config)
    assert counts(config)["embedding"][1] == 4 * 3 * 16 * 8
    assert_formulas_hold(config)


@pytest.mark.parametrize("name", presets())
def test_the_formulas_are_what_is_computed(name):
    assert_formulas_hold(preset(name))


def assert_formulas_hold(config: ModelConfig) -> None:
    for part in component_costs(config):
        assert evaluated(part.parameters_formula, config) == part.parameters, part
        assert evaluated(part.multiply_adds_formula, config) == part.multiply_adds, part


def evaluated(formula: str, config: ModelConfig) -> int:
    """The value of a LaTeX product or sum of products, in which what stands side by side is multiplied."""
    values = {
        "d_{ff}": config.d_ff,
        "d_k": config.d_k,
        "d_v": config.d_v,
        "d": config.d_model,
        "h": config.n_heads,
        "L": config.n_layers,
        "n": config.n_positions,
        "V": config.vocab_size,
        "p": config.patch_size,
        "c": config.n_classes,
    }
    tokens = re.findall(r"d_\{ff\}|d_[kv]|[dhLnVpc]|\d+|\^2|[-+()]", re.sub(r"\\,|\\cdot", " ", formula))
    code = " ".join({"^2": "** 2"}.get(token, str(values.get(token, token))) for token in tokens)
    return eval(re.sub(r"(?<=[\d)]) (?=[\d(])(?<!\*\* )", " * ", code))


def test_attention_weights_by_hand():
    assert n_attention_weights(preset("base")) == 6 * 8 * 512 * 512
    assert pattern_megabytes(preset("base")) == pytest.approx(50.331648)


def test_attention_weights_are_those_of_a_capture():
    encoder = tiny.loaded(tiny.TEXT)
    pattern = capture(encoder, " ".join("abcdefghijklmnopqrstuvwxyz")).pattern  # fills all positions
    assert pattern.shape[-1] == tiny.TEXT.n_positions
    assert n_attention_weights(tiny.TEXT) == pattern.size
    assert pattern_megabytes(tiny.TEXT) == pattern.nbytes / 1e6


def test_every_row_of_the_table_is_there():
    rows = variations()
    assert [row.group for row in rows] == (
        ["base"] + 4 * ["(A)"] + 2 * ["(B)"] + 7 * ["(C)"] + 4 * ["(D)"] + ["(E)", "big"]
    )
    assert len({row.name for row in rows}) == len(rows)
    assert all(tuple(row.printed) == COLUMNS and row.printed["BLEU"] for row in rows)


@pytest.mark.parametrize("name", ["base", "big"])
def test_base_and_big_are_the_presets_of_that_name(name):
    (row,) = (row for row in variations() if row.name == name)
    sizes = ("d_model", "n_layers", "n_heads", "d_k", "d_v", "d_ff")
    assert all(getattr(row.config, size) == getattr(preset(name), size) for size in sizes)


def test_rows_a_vary_the_heads_and_keep_the_parameters():
    """Their widths shrink as their number grows: "keeping the amount of computation constant"."""
    rows = [row for row in variations() if row.group == "(A)"]
    assert [row.config.n_heads for row in rows] == [1, 4, 16, 32]
    assert {row.config.n_heads * row.config.d_k for row in rows} == {512}
    assert {n_parameters(row.config) for row in rows} == {n_parameters(BASE)}


def test_what_the_paper_prints_in_millions_moves_with_the_encoder_half():
    """The decoder grows along, so the order must be the same wherever the paper prints a number."""
    printed = [
        (float(row.printed["params"]), n_parameters(row.config))
        for row in variations()
        if row.printed["params"]
    ]
    assert len(printed) == 11
    assert all(counted / 1e6 < whole for whole, counted in printed)
    assert sorted(printed) == sorted(printed, key=lambda pair: pair[1])


def test_fewer_layers_are_fewer_by_a_layer_each():
    layers = {
        row.config.n_layers: n_parameters(row.config)
        for row in variations()
        if row.printed["N"] and row.group != "big"
    }
    layer = 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512
    assert {n: layers[n] - layers[6] for n in (2, 4, 8)} == {2: -4 * layer, 4: -2 * layer, 8: 2 * layer}


def test_learned_positions_are_a_vector_each():
    (row,) = (row for row in variations() if row.group == "(E)")
    assert row.name == "(E) learned positions"
    assert n_parameters(row.config) - n_parameters(BASE) == BASE.n_positions * BASE.d_model


def test_names_say_what_a_row_changes():
    names = [row.name for row in variations()]
    assert "(B) d_k = 16" in names
    assert "(C) d_model = 256, d_k = 32, d_v = 32" in names
    assert "(D) ε_ls = 0.0" in names
