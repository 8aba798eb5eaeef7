import json
import re
from dataclasses import FrozenInstanceError, replace

import pytest

from model.config import LARGEST, ModelConfig, preset, presets
from model.schema import convert_closed
from model.transformer import Transformer
from tests.model.tiny import DIGIT, TEXT


def n_parameters(config: ModelConfig) -> int:
    return sum(parameter.numel() for parameter in Transformer(config).parameters())


def by_formula(config: ModelConfig) -> int:
    """What the papers' layers add up to, for text without a classifier and with separate projections."""
    d_model, width_k, width_v = config.d_model, config.n_heads * config.d_k, config.n_heads * config.d_v
    attention = 2 * (d_model + 1) * width_k + (d_model + 1) * width_v + (width_v + 1) * d_model
    feed_forward = (d_model + 1) * config.d_ff + (config.d_ff + 1) * d_model
    norms = 2 * 2 * d_model
    return config.vocab_size * d_model + config.n_layers * (attention + feed_forward + norms)


def test_the_two_encoders_of_the_source_material_have_their_published_sizes():
    assert n_parameters(preset("looker")) == 626_570
    assert n_parameters(preset("imdb-article")) == 805_474


def test_digit_encoders_have_about_300_000_parameters_and_differ_by_the_final_norm_alone():
    pre, post = n_parameters(preset("mnist-pre-ln")), n_parameters(preset("mnist-post-ln"))
    assert post == 304_906
    assert pre - post == 2 * preset("mnist-pre-ln").d_model


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["base", "big"])
def test_vaswani_encoders_have_the_size_that_their_layers_add_up_to(name):
    config = replace(preset(name), n_layers=2, vocab_size=1000)  # all layers are alike
    assert n_parameters(config) == by_formula(config)


def test_vaswani_blocks_have_the_size_known_from_the_paper():
    # 3.15 million a layer of the base model and 12.6 million of the big one, the embedding left out
    base, big = preset("base"), preset("big")
    assert by_formula(base) - base.vocab_size * base.d_model == 6 * 3_152_384
    assert by_formula(big) - big.vocab_size * big.d_model == 6 * 12_596_224


@pytest.mark.parametrize("stem", ["mnist", "imdb"])
def test_a_pair_differs_in_norm_placement_alone(stem):
    pre, post = preset(f"{stem}-pre-ln"), preset(f"{stem}-post-ln")
    assert (pre.norm_placement, post.norm_placement) == ("pre", "post")
    assert replace(post, norm_placement="pre", final_norm=True) == pre


@pytest.mark.parametrize("name", ["imdb-pre-ln", "imdb-post-ln"])
def test_review_encoders_see_at_least_256_tokens_and_keep_a_masked_token_output(name):
    config = preset(name)
    assert config.n_positions >= 256
    assert config.masked_token_output
    assert config.embedding_scaled


def test_an_unknown_preset_names_the_known_ones():
    with pytest.raises(KeyError, match=r"no preset 'bert'.*looker.*imdb-article"):
        preset("bert")


@pytest.mark.parametrize("name", presets())
def test_every_preset_survives_json(name):
    config = preset(name)
    assert convert_closed(json.loads(json.dumps(config.to_json())), ModelConfig) == config
    assert convert_closed(config.to_json(), ModelConfig) == config


def test_a_config_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        TEXT.d_model = 16


def test_patches():
    assert DIGIT.patch_grid == (2, 2)
    assert DIGIT.n_patches == 4
    assert TEXT.patch_grid is None
    assert (DIGIT.n_classes, DIGIT.is_text, TEXT.is_text) == (10, False, True)


@pytest.mark.parametrize(
    ("config", "changes", "sentence"),
    [
        (TEXT, {"d_model": 0}, "d_model must be a whole number >= 1, got 0"),
        (TEXT, {"n_heads": -2}, "n_heads .* got -2"),
        (TEXT, {"d_ff": LARGEST + 1}, f"d_ff .* got {LARGEST + 1}"),
        (TEXT, {"n_layers": True}, "n_layers .* got True"),
        (TEXT, {"vocab_size": 0}, "vocab_size .* got 0"),
        (TEXT, {"dropout_pattern": 1.0}, "dropout_pattern must be a number < 1.0, got 1.0"),
        (TEXT, {"dropout_embedding": -0.1}, "dropout_embedding .* got -0.1"),
        (TEXT, {"dropout_sublayer": float("nan")}, "dropout_sublayer .* got nan"),
        (TEXT, {"image_size": 28}, "either vocab_size .* or image_size .* got 100 and 28"),
        (TEXT, {"vocab_size": None}, "either vocab_size .* or image_size .* got None and None"),
        (TEXT, {"patch_size": 4}, "patch_size belongs to images, got 4"),
        (TEXT, {"n_channels": 3}, "n_channels belongs to images, got 3"),
        (DIGIT, {"n_channels": 2}, "n_channels must be 1 or 3, got 2"),
        (DIGIT, {"n_channels": 0}, "n_channels must be a whole number >= 1, got 0"),
        (TEXT, {"layer_norm_eps": 0.0}, "layer_norm_eps must be a number > 0"),
        (DIGIT, {"pixel_std": 0.0}, "pixel_std must be a number > 0"),
        (TEXT, {"layer_norm_eps": -1e-5}, "layer_norm_eps .* got -1e-05"),
        (TEXT, {"padding_id": 100}, "padding_id 100 is none of the 100 tokens"),
        (TEXT, {"padding_id": True}, "padding_id must be a whole number or null, got True"),
        (TEXT, {"padding_id": -1}, "padding_id must be a whole number >= 0, got -1"),
        (TEXT, {"shared_qkv": True, "d_v": 5}, "d_k == d_v, got 4 and 5"),
        (TEXT, {"d_model": 7}, "even d_model, got 7"),
        (DIGIT, {"patch_size": None}, "patch_size .* got None"),
        (DIGIT, {"patch_size": 3}, "patch_size 3 must divide image_size 8"),
        (DIGIT, {"n_positions": 4}, "need n_positions 5, got 4"),
        (DIGIT, {"pooling": "max"}, "need n_positions 4, got 5"),
        (DIGIT, {"padding_id": 0}, "padding_id belongs to text, got 0"),
        (DIGIT, {"masked_token_output": True}, "masked_token_output belongs to text, got True"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_contradictions_are_refused_and_said(config, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(config, **changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"attention": "flash"}, "unknown field 'attention'; known are activation, "),
        ({"class_names": "negative"}, "class_names must be a list, got 'negative'"),
        ({"class_names": [0, 1]}, "class_names 0 must be text, got 0"),
        ({"d_model": "8"}, "d_model must be a whole number, got '8'"),
        ({"d_model": 8.0}, "d_model must be a whole number, got 8.0"),
        ({"d_model": 10**9}, f"d_model must be a whole number <= {LARGEST}, got 1000000000"),
        ({"n_layers": None}, "n_layers must be a whole number, got None"),
        ({"padding_id": "0"}, "padding_id must be a whole number or null, got '0'"),
        ({"padding_id": 0.0}, "padding_id must be a whole number or null, got 0.0"),
        (
            {"norm_placement": "between"},
            "norm_placement must be one of pre, post, deepnorm, b2t, got 'between'",
        ),
        ({"positions": "rotary"}, "positions must be one of sinusoidal, learned, none, got 'rotary'"),
        ({"pooling": ["class"]}, "pooling must be one of class, mean, max, got ['class']"),
        ({"activation": None}, "activation must be one of relu, gelu, gelu_tanh, silu, quick_gelu, got None"),
        ({"n_channels": True}, "n_channels must be a whole number, got True"),
        ({"layer_norm_eps": "1e-5"}, "layer_norm_eps must be a number, got '1e-5'"),
        ({"final_norm": "no"}, "final_norm must be true or false, got 'no'"),
        ({"dropout_pattern": "0.1"}, "dropout_pattern must be a number, got '0.1'"),
        ({"family": {"name": "BERT", "tied_output": 1}}, "family tied_output must be true or false, got 1"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_json_of_the_wrong_kind_is_refused_and_said(changes, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        convert_closed(TEXT.to_json() | changes, ModelConfig)


@pytest.mark.parametrize("field", ["n_channels", "layer_norm_eps", "activation", "residual"])
def test_json_may_leave_out_what_is_as_usual(field):
    values = TEXT.to_json()
    del values[field]
    assert convert_closed(values, ModelConfig) == TEXT


def test_json_without_a_field_is_refused_by_its_name():
    values = TEXT.to_json()
    del values["n_heads"]
    with pytest.raises(ValueError, match="n_heads is missing"):
        convert_closed(values, ModelConfig)


def test_other_sizes_of_a_picture_make_other_positions():
    assert DIGIT.resized(image_size=12, d_model=6).n_positions == (12 // DIGIT.patch_size) ** 2 + 1
    with pytest.raises(ValueError, match="patch_size 3 must divide image_size 8"):
        DIGIT.resized(patch_size=3)
    with pytest.raises(ValueError, match="patch_size must be a whole number >= 1, got 0"):
        DIGIT.resized(patch_size=0)


def test_the_positions_of_a_text_are_a_size_of_their_own():
    assert TEXT.resized(n_positions=3).n_positions == 3


def test_pictures_and_patches_may_be_higher_than_wide():
    config = replace(DIGIT, image_size=(12, 8), patch_size=(2, 4), n_positions=6 * 2 + 1)
    assert (config.patch_grid, config.n_patches, config.n_patch_values) == ((6, 2), 12, 8)
    assert config.image_shape == (12, 8)
    assert convert_closed(json.loads(json.dumps(config.to_json())), ModelConfig) == config
    assert config.resized(image_size=16).n_positions == 8 * 4 + 1
    with pytest.raises(ValueError, match=r"patch_size \(2, 3\) must divide image_size \(12, 8\)"):
        replace(config, patch_size=(2, 3))
    with pytest.raises(ValueError, match="image_size must be"):
        replace(config, image_size=(12, 8, 8))
