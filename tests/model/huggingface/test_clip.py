"""CLIP's and SigLIP's encoders of pictures and of texts against `transformers` (eager), alone and two in a folder."""

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from transformers import CLIPTokenizer

from model.capture import activations, capture
from model.capture.intervention import at_temperature, permuted_attention, repositioned, without_keys
from model.checkpoint import fingerprint, load, weights_hash
from model.experiments.knock_out import knock_out_kinds
from model.huggingface import describe
from model.inputs import Text, prepare, reads_pairs
from model.inputs.text import encode
from model.lenses import through
from model.measures.head_measures import n_allowed_keys
from model.theory.permutation_equivariance import shuffled_order
from tests.model.huggingface.agreement import (
    CLOSE,
    agree,
    compare_output,
    compare_states,
    forwards,
    picture,
    read_size,
)
from tests.model.huggingface.folders import SENTENCE, VOCABULARY, build, encoder, refusal, rewrite

VISION = [
    ("CLIPVisionModel", {}),
    ("CLIPVisionModel", {"hidden_act": "gelu", "num_attention_heads": 2, "patch_size": 4, "num_channels": 1}),
    ("CLIPVisionModelWithProjection", {}),
    ("CLIPVisionModelWithProjection", {"projection_dim": 30, "layer_norm_eps": 1e-3}),
    ("CLIPForImageClassification", {"num_labels": 3}),
    ("CLIPForImageClassification", {"num_labels": 1}),
    ("CLIPForImageClassification", {"num_labels": 0}),
    ("SiglipVisionModel", {}),
    ("SiglipVisionModel", {"vision_use_head": False, "hidden_act": "gelu"}),
    ("SiglipVisionModel", {"num_attention_heads": 6, "image_size": 30, "patch_size": 8}),
    ("SiglipForImageClassification", {"num_labels": 3}),
]
TEXTS = [
    ("CLIPTextModel", {}),
    ("CLIPTextModel", {"eos_token_id": 2, "hidden_act": "gelu", "num_attention_heads": 6}),
    ("CLIPTextModel", {"eos_token_id": 7}),
    ("CLIPTextModel", {"eos_token_id": 20, "pad_token_id": 5}),
    ("CLIPTextModelWithProjection", {}),
    ("CLIPTextModelWithProjection", {"projection_dim": 50, "eos_token_id": 2}),
    ("SiglipTextModel", {}),
    ("SiglipTextModel", {"max_position_embeddings": 13, "hidden_act": "quick_gelu"}),
]
FAST = {"CLIPVisionModel", "CLIPTextModel", "SiglipVisionModel"}


def one_fast_of(cases: list[tuple[str, dict]]) -> list[Any]:
    """All cases, those marked as slow that share the code of the first one of a family."""
    return [
        pytest.param(*case, marks=() if case[0] in FAST and not case[1] else pytest.mark.slow)
        for case in cases
    ]


@pytest.mark.parametrize(("architecture", "changed"), one_fast_of(VISION))
def test_encoders_of_pictures_agree(architecture, changed, tmp_path):
    model = build(tmp_path, architecture, **changed)
    loaded = load(tmp_path)
    has_no_classes = "ForImage" in architecture and not changed["num_labels"]
    assert agree(model.vision_model if has_no_classes else model, loaded).mask.all()


@pytest.mark.parametrize(("architecture", "changed"), one_fast_of(TEXTS))
def test_encoders_of_texts_agree(architecture, changed, tmp_path):
    model = build(tmp_path, architecture, **changed)
    loaded = load(tmp_path)
    for model_input in (Text(SENTENCE), Text("a film"), Text("the [SEP] film [PAD] [SEP]")):
        record = agree(model, loaded, model_input)
        n = len(record)
        is_allowed = np.tri(n, dtype=bool) if architecture.startswith("CLIP") else np.ones((n, n), bool)
        assert (record.mask == is_allowed).all()
        assert not record.pattern[~record.mask].any()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("side", [16, 48])
@pytest.mark.parametrize("architecture", ["CLIPVisionModel", "SiglipVisionModel"])
def test_tables_of_positions_are_interpolated_to_the_size_of_the_preprocessor(architecture, side, tmp_path):
    model = build(tmp_path, architecture)
    read_size(tmp_path, side, cropped=True)
    agree(model, load(tmp_path), picture(side), interpolate_pos_encoding=True)
    assert f"interpolated to {side} × {side}" in " ".join(describe(tmp_path).notes)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_a_folder_with_both_offers_two_encoders(kind, tmp_path):
    folder = tmp_path / "both"
    model = build(folder, f"{kind}Model")
    with pytest.raises(
        ValueError, match=r"^both cannot be read: it holds two encoders, so write /vision_model .*/text_model"
    ):
        load(folder)
    assert "it holds two encoders" in str(describe(folder).problem)
    vision, text = load(folder / "vision_model"), load(folder / "text_model")
    assert (vision.name, text.name) == ("both/vision_model", "both/text_model")
    for loaded in (vision, text):
        name = loaded.folder.name
        record, expected = forwards(getattr(model, name), loaded)
        if kind == "CLIP":
            projection = model.visual_projection if loaded is vision else model.text_projection
            with torch.inference_mode():
                expected.pooler_output = projection(expected.pooler_output)
        compare_states(record, loaded, expected, has_final_norm=kind != "CLIP" or loaded is text)
        compare_output(record, loaded, expected)
        description = describe(folder / name)
        assert description.problem is None
        assert {name.rpartition(".")[2] for name in description.left_out} <= {"logit_scale", "logit_bias"}
        assert not list((folder / name).glob("*"))  # no folder on disk
    assert fingerprint(vision.folder) != fingerprint(text.folder)
    assert weights_hash(vision.folder) != weights_hash(text.folder)


def test_a_folder_with_one_of_the_two_opens_by_its_own_name(tmp_path):
    build(tmp_path / "classes", "CLIPForImageClassification")
    assert load(tmp_path / "classes").name == "classes"
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "classes" / "vision_model")


def test_sizes_that_config_json_does_not_say_are_those_of_transformers(tmp_path):
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 9, "num_hidden_layers": 1}
    model = build(
        tmp_path,
        "SiglipModel",
        vision_config={**sizes, "image_size": 16, "patch_size": 8},
        text_config={**sizes, "vocab_size": 30},
    )
    values = json.loads((tmp_path / "config.json").read_text())
    text_config = {name: values["text_config"][name] for name in (*sizes, "vocab_size")}
    rewrite(tmp_path, text_config=text_config)
    loaded = load(tmp_path / "text_model")
    assert loaded.config.n_positions == 64
    agree(model.text_model, loaded)


def test_older_files_have_the_configuration_twice(tmp_path):
    build(tmp_path, "CLIPModel")
    settings = json.loads((tmp_path / "config.json").read_text())["text_config"]
    rewrite(tmp_path, text_config_dict=settings, text_config={"hidden_size": 512})
    assert load(tmp_path / "text_model").config.d_model == 24


def test_settings_of_pictures_are_read_where_newer_versions_put_them(tmp_path):
    build(tmp_path, "CLIPVisionModel")
    settings = {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": settings}))
    pixels = load(tmp_path).config.family.pixels
    assert (pixels.resized, pixels.cropped, pixels.resample) == (40, True, "bicubic")
    assert pixels.means == pytest.approx((0.48145466, 0.4578275, 0.40821073))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": 50, "crop_size": 32}))
    assert load(tmp_path).config.family.pixels.resized == 50  # of the shorter side


def test_the_rest_of_a_picture_that_makes_no_whole_patch_is_not_read(tmp_path):
    model = build(tmp_path, "SiglipVisionModel", image_size=30, patch_size=8)
    loaded = load(tmp_path)
    model_input = picture(30)
    agree(model, loaded, model_input)
    changed = model_input.copy()
    changed[24:], changed[:, 24:] = 0, 255
    assert np.array_equal(capture(loaded, changed).residual, capture(loaded, model_input).residual)
    assert "the last 6 rows and columns of pixels are not read" in " ".join(describe(tmp_path).notes)


def test_the_learned_query_attends_to_all_patches(tmp_path):
    model = build(tmp_path, "SiglipVisionModel")
    loaded = load(tmp_path)
    model_input = picture(32)
    name = "attention_pooling.attention.pattern"
    pattern = activations(loaded, [model_input], [name])[name]
    head = model.head
    with torch.inference_mode():
        states = forwards(model, loaded, model_input)[1].last_hidden_state
        _, expected = head.attention(head.probe, states, states, average_attn_weights=False)
    np.testing.assert_allclose(pattern, expected, **CLOSE)
    assert any("attention pooling" in note for note in describe(tmp_path).notes)


def test_texts_of_siglip_are_padded_and_the_padding_is_read(tmp_path):
    build(tmp_path, "SiglipTextModel")
    record = capture(load(tmp_path), "a film")
    assert record.tokens[:5] == ("[CLS]", "a", "film", "[SEP]", "[PAD]")
    assert len(record) == 40
    assert set(record.roles[4:]) == {"special"}  # "padding" is what no query sees
    assert record.mask.all()
    assert record.pattern[..., 5:].max() > 0
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "[NONE]"}')
    assert "its pad_token '[NONE]' is not in its vocabulary" in str(describe(tmp_path).problem)


def test_special_tokens_of_clip(tmp_path):
    """Its end token is also the one for padding and for what it does not know."""
    pieces = ["a", "b", "a</w>", "b</w>", '"</w>', "ab</w>", "<|startoftext|>", "<|endoftext|>"]
    start, end = 6, 7
    build(tmp_path, "CLIPTextModel", vocab_size=8, eos_token_id=end, bos_token_id=start, pad_token_id=4)
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    CLIPTokenizer(vocab=vocabulary, merges=[("a", "b</w>")]).save_pretrained(tmp_path)
    loaded = load(tmp_path)
    record = capture(loaded, 'ab "  BA')
    assert record.tokens == ("<|startoftext|>", "ab", '"', "b", "a", "<|endoftext|>")
    assert record.roles == ("special", "word", "word", "word", "continuation", "separator")
    assert not record.has_class_token
    assert not reads_pairs(loaded)
    assert prepare(loaded, "ab")[1].n_unknown == 0
    assert "unknown" not in knock_out_kinds(loaded)


def test_measures_and_experiments_keep_to_the_causal_mask(tmp_path):
    loaded = encoder(tmp_path, "CLIPTextModel")
    record = capture(loaded, SENTENCE)
    n, n_layers = len(record), loaded.config.n_layers
    assert n_allowed_keys(record.mask)[0, 0].tolist() == list(range(1, n + 1))
    later = ~np.tri(n, dtype=bool)
    interventions = (
        at_temperature(math.inf),
        permuted_attention(0, n_layers),
        without_keys(2),
        repositioned(order=shuffled_order(record.roles, 1)),
    )
    for intervention in interventions:
        changed = capture(loaded, SENTENCE, intervention)
        assert not changed.pattern[..., later].any()
        assert not changed.mask[..., later].any()
    uniform = capture(loaded, SENTENCE, at_temperature(math.inf))
    np.testing.assert_allclose(uniform.pattern[1, 2], np.tri(n) / np.arange(1, n + 1)[:, None], atol=1e-6)
    permuted = capture(loaded, SENTENCE, permuted_attention(0, n_layers))
    np.testing.assert_array_equal(np.sort(permuted.pattern[0]), np.sort(record.pattern[0]))
    assert not np.array_equal(permuted.pattern[0], record.pattern[0])
    assert not through("rollout", loaded, SENTENCE).pattern[..., later].any()
    order = shuffled_order(record.roles, 1)
    assert order[0] == 0
    assert order[-1] == n - 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("x", "vision_config 'x', which must be an object"),
        ({"hidden_size": []}, "hidden_size [], which must be a whole number"),
    ],
)
def test_nonsense_about_one_of_two_encoders_is_refused(settings, message, tmp_path):
    build(tmp_path, "CLIPModel")
    rewrite(tmp_path, vision_config=settings)
    assert message in refusal(tmp_path / "vision_model")


@pytest.mark.parametrize(
    ("end_id", "note", "summary"),
    [
        (3, "the end token stands for the text.", "the end token's state"),
        (2, "the token with the highest id stands for the text, since its eos_token_id is 2.", "the state of the token with the highest id"),
    ],
)  # fmt: skip
def test_the_note_names_the_token_that_stands_for_the_text(end_id, note, summary, tmp_path):
    """An added token has a higher id than the end token, and is pooled instead where eos_token_id is 2."""
    model = build(tmp_path, "CLIPTextModel", vocab_size=31, eos_token_id=end_id)
    (tmp_path / "added_tokens.json").write_text('{"<new>": 30}')
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    description = describe(tmp_path)
    assert description.notes == (f"Each token attends to itself and to earlier ones alone; {note}",)
    assert summary in dict(description.summary)["output"]
    loaded = load(tmp_path)
    ids = encode(loaded.tokenizer, "a <new> film").ids
    assert ids == (2, VOCABULARY.index("a"), 30, VOCABULARY.index("film"), 3)
    with torch.no_grad():
        pooled = model(input_ids=torch.tensor([ids])).pooler_output[0]
    np.testing.assert_allclose(capture(loaded, "a <new> film").pooled, pooled, atol=1e-5)
