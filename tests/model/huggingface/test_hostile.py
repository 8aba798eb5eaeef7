"""Folders that somebody has broken, or has made to do harm: `benchmarks.broken_folders` makes more of them."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models

from model.checkpoint import load
from model.files.errors import LONGEST, single_line
from model.huggingface import describe
from model.inputs import Text, prepare
from model.inputs.text import encode
from tests.model.huggingface.folders import (
    VOCABULARY,
    build,
    change_tensors,
    refusal,
    rewrite,
    tokenizer,
)
from tests.model.huggingface.sentence_folders import modules

NAME = "bert.encoder.layer.0.output.dense.bias"
CONFIG, PREPROCESSOR, TOKENIZER = "config.json", "preprocessor_config.json", "tokenizer.json"
BERT, DINOV2, DINOV3 = "BertForSequenceClassification", "Dinov2WithRegistersModel", "DINOv3ViTModel"
FULL = "full_attention"
A, B = ({"Sequence": {"id": part, "type_id": 0}} for part in "AB")
CLS = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
DOUBLED = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}


def template(*single: dict, **special: int) -> dict:
    tokens = {name: {"id": name, "ids": [token_id], "tokens": [name]} for name, token_id in special.items()}
    return {"type": "TemplateProcessing", "single": single, "pair": [A, B], "special_tokens": tokens}


# What is changed in a JSON file of a folder, by architecture and file, and a part of the sentence that refuses it.
DAMAGES: dict[tuple[str, str], list[tuple[dict[str, Any], str]]] = {
    (BERT, CONFIG): [
        ({"is_decoder": True}, "this is a decoder, but only encoders are supported"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        ({"hidden_act": "mish"}, "hidden_act 'mish'; supported are gelu"),
        ({"hidden_size": None}, "hidden_size None, which must be a whole number"),
        ({"hidden_size": "24"}, "hidden_size '24', which must be a whole number"),
        ({"num_attention_heads": 5}, "a width of 24 cannot be divided among 5 heads"),
        ({"num_attention_heads": 0}, "a width of 24 cannot be divided among 0 heads"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers 1000000000, which does not fit the weights"),
        ({"num_hidden_layers": 4}, "bert.encoder.layer.3.attention.self.query.weight is missing from the"),
        ({"intermediate_size": 41}, "has shape (40, 24), but config.json asks for (41, 24)"),
        ({"max_position_embeddings": 50}, "has shape (40, 24), but config.json asks for (50, 24)"),
        ({"vocab_size": 31}, "has shape (30, 24), but config.json asks for (31, 24)"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps 'small', which must be a number"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps must be a number > 0.0, got nan"),
        ({"pad_token_id": 30}, "padding_id 30 is none of the 30 tokens"),
        ({"layer_norm_eps": 10**400}, "layer_norm_eps 1000"),
        ({"hidden_size": [0] * 3000}, "hidden_size [0, 0, 0, 0, 0, 0, ...], which"),
        ({"hidden_act": "y" * 5000}, "hidden_act 'yyyy"),
        ({"position_embedding_type": "y" * 5000}, "position_embedding_type is 'yyyy"),
        ({"type_vocab_size": 10**30}, "type_vocab_size 1000"),
        ({"pad_token_id": ["\u202e" * 5000]}, "which must be the number of a token"),
    ],
    ("CLIPTextModel", CONFIG): [
        ({"eos_token_id": [1]}, "eos_token_id [1], which must be the number of one of the"),
        ({"eos_token_id": 10**9}, "eos_token_id 1000000000, which must be the number"),
    ],
    ("CLIPVisionModel", CONFIG): [
        ({"image_size": 0}, "image_size 0, which must be the side of a square"),
        ({"patch_size": 64}, "pictures of 32 × 32 pixels have no patch of 64 × 64"),
    ],
    (BERT, TOKENIZER): [
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}}, "tokenizer cannot be used: "),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "tokenizer cannot be used: "),
        ({"post_processor": template(B)}, "tokenizer cannot be used: "),
        ({"post_processor": template(CLS, A)}, "tokenizer cannot be used: "),
        (
            {"post_processor": template(CLS, A, **{"[CLS]": 10**6})},
            "its token ids go up to 1000000, but the encoder's vocabulary has 30",
        ),
        (
            {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 99], "cls": ["[CLS]", 2]}},
            "up to 99, but the encoder",
        ),
        (
            {"post_processor": template({"Sequence": {"id": "A", "type_id": 7}})},
            "its token types go up to 7, but the encoder has 2",
        ),
        ({"post_processor": template(A, A)}, "holds a text twice"),
        (
            {"normalizer": {"type": "Sequence", "normalizers": [DOUBLED] * 17}},
            "more than 16 normalizers",
        ),
    ],
    ("MPNetModel", CONFIG): [
        (
            {"relative_attention_num_buckets": n},
            f"{n} relative_attention_num_buckets: from 4 to 511 are supported",
        )
        for n in (0, 3, 512)
    ],
    ("ModernBertModel", CONFIG): [
        ({"rope_parameters": {FULL: {"rope_type": "yarn"}}}, "rope_type 'yarn', but only 'default' is"),
        ({"rope_scaling": {"type": ["x"] * 99}}, "rope_type ['x', 'x', 'x', 'x', 'x', 'x', ...], but"),
        ({"rope_parameters": {FULL: {"rope_theta": 10**400}}}, "must be a number from 1 to 10^12"),
        ({"rope_parameters": {FULL: {"rope_theta": 0}}}, "global_rope_theta 0, which must be a number"),
        ({"rope_parameters": {FULL: [1]}}, "full_attention [1], which must be an object"),
        ({"rope_parameters": "x"}, "rope_parameters 'x', which must be an object"),
        ({"layer_types": [FULL] * 2}, "which must name 3 layers"),
        ({"layer_types": [FULL, "y" * 900, "z"]}, "layer_types 'yyy"),
        ({"layer_types": [[], {}, 1]}, "layer_types []; supported are full_attention, sliding_attention"),
        ({"layer_types": None, "global_attn_every_n_layers": 0}, "global_attn_every_n_layers 0, which must"),
        ({"local_attention": -1}, "local_attention -1, which must be a whole number"),
        ({"num_attention_heads": 8}, "each head is 3 wide"),
        ({"head_dim": 8}, "head_dim 8, but only hidden_size / num_attention_heads"),
    ],
    ("EsmModel", CONFIG): [
        (
            {"position_embedding_type": "relative_key"},
            "'relative_key'; supported are 'absolute' and 'rotary'",
        ),
        ({"position_embedding_type": ["y"] * 900}, "position_embedding_type is ['y'"),
        ({"mask_token_id": None}, "token_dropout, but mask_token_id None"),
        ({"is_folding_model": True}, "this is ESMFold"),
        ({"is_decoder": True}, "this is a decoder"),
    ],
    ("ViTModel", CONFIG): [
        ({"image_size": 2**18, "patch_size": 2**16}, "patch_size 65536, which must be"),
        ({"num_channels": 10**9}, "num_channels 1000000000; supported are 1"),
    ],
    ("ViTModel", PREPROCESSOR): [
        ({"resample": [2]}, "preprocessor_config.json has resample [2]"),
        ({"rescale_factor": 1e-320}, "preprocessor_config.json has rescale_factor"),
        ({"image_std": [0.5, 0.5, 1e-300]}, "pixels cannot be divided by an image_std"),
        ({"size": "y" * 5000}, "preprocessor_config.json has size"),
    ],
    (DINOV2, CONFIG): [
        ({"mlp_ratio": 10**9}, "mlp_ratio 1000000000.0, which must be from 0 to 64"),
        ({"mlp_ratio": float("nan")}, "mlp_ratio nan, which must be from 0 to 64"),
        ({"num_register_tokens": -1}, "num_register_tokens -1, which must be a whole number"),
        ({"num_register_tokens": 2**30}, "attention weights; at most"),
        ({"num_register_tokens": 3}, "register_tokens has shape (1, 4, 24), but config.json asks"),
        ({"image_size": 40}, "position_embeddings has shape (1, 17, 24), but config.json asks"),
    ],
    (DINOV2, PREPROCESSOR): [
        ({"do_center_crop": True, "crop_size": "x" * 5000}, "has crop_size"),
        ({"do_center_crop": True, "crop_size": 7}, "pictures of 7 × 7 pixels have no patch of 8 × 8"),
        ({"size": 1025}, "preprocessor_config.json has size 1025"),
    ],
    (DINOV3, CONFIG): [
        ({"rope_theta": 0.5}, "rope_theta 0.5, which must be a number from 1 to 10^12"),
        ({"rope_theta": "y" * 900}, "rope_theta 'yyyy"),
        ({"rope_parameters": {"rope_type": "x"}}, "rope_type 'x', but only 'default'"),
        ({"num_attention_heads": 4}, "turn pairs of numbers by two coordinates, but each head"),
        ({"use_gated_mlp": True}, "gate_proj.weight is missing from the weights"),
        ({"key_bias": True}, "k_proj.bias is missing from the weights"),
        ({"mlp_bias": [[]] * 99}, "mlp_bias [[], [], [], [], [], [], ...], which must be true"),
        ({"intermediate_size": 2**40}, "intermediate_size 1099511627776, which must be a whole"),
        ({"patch_size": [8, 4]}, "patch_size [8, 4], which must be the side of a square"),
    ],
    ("BeitModel", CONFIG): [
        ({"use_relative_position_bias": 1}, "use_relative_position_bias 1, which must be true"),
        ({"use_shared_relative_position_bias": True}, "bias_table is missing from the weights"),
        ({"use_absolute_position_embeddings": True}, "position_embeddings is missing from the"),
        ({"use_mean_pooling": False}, "layernorm.weight is missing from the weights"),
        ({"layer_scale_init_value": "y" * 900}, "layer_scale_init_value 'yyyy"),
        ({"image_size": 40}, "bias_table has shape (52, 4), but config.json asks for (84, 4)"),
        ({"num_attention_heads": 3}, "bias_table has shape (52, 4), but config.json asks"),
    ],
    ("BeitModel", PREPROCESSOR): [
        ({"size": {"height": 32, "width": 4}}, "pictures of 32 × 4 pixels have no patch of 8 × 8"),
    ],
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "file", "changed", "sentence"),
    [
        pytest.param(architecture, file, changed, sentence, id=f"{architecture}-{sentence[:40]}")
        for (architecture, file), damages in DAMAGES.items()
        for changed, sentence in damages
    ],
)
def test_a_damaged_setting_is_refused_in_one_sentence(
    whole_folders, tmp_path, architecture, file, changed, sentence
):
    folder = Path(shutil.copytree(whole_folders(architecture), tmp_path / "it"))
    path = folder / file
    values = (json.loads(path.read_text()) if path.exists() else {}) | changed
    path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))
    if file == TOKENIZER:  # to be read as it stands
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert sentence in refusal(folder)


def test_what_is_said_is_one_line_without_hidden_characters():
    assert single_line("two\nlines\x00 \u202eand\u2066\tmore") == "two lines and more"
    assert single_line("می\u200cخواهم") == "می\u200cخواهم"
    for length in (LONGEST, LONGEST + 1, 5 * LONGEST, 10**6):
        line = single_line("a" * (length - 1) + "z")
        assert len(line) == LONGEST
        assert line[0] + line[-1] == "az"


@pytest.mark.parametrize(
    ("model_type", "shown"),
    [
        ("gpt2", "'gpt2'; supported are BERT, ERNIE, "),
        (["bert"], "['bert']"),
        ("a\nb", "'a"),
        ("y" * 5000, "'y"),
    ],
)
def test_a_family_that_is_not_known_is_shortened(bert, model_type, shown):
    rewrite(bert, model_type=model_type)
    # longer than others: it lists the families that open, and what works instead
    assert f"the model_type in config.json is {shown}" in refusal(bert, longest=3 * LONGEST)


def test_a_value_that_is_nested_deep_is_shortened(bert):
    values = json.loads((bert / "config.json").read_text()) | {"hidden_size": "HERE"}
    text = json.dumps(values).replace('"HERE"', "[" * 900 + "]" * 900)
    (bert / "config.json").write_text(text)
    assert "hidden_size [[[[[[[...]]]]]]], which" in refusal(bert)


@pytest.mark.parametrize("before", ["w" * 10**4, "two\nlines", "\x1b[31m"])
def test_names_of_tensors_are_shortened(bert, before):
    tensors = load_file(bert / "model.safetensors")
    renamed = {f"{before}.{name}": tensor for name, tensor in tensors.items() if name != NAME}
    change_tensors(bert, dict.fromkeys(tensors) | renamed)
    assert "bias is missing from the weights" in refusal(bert)


def test_surplus_names_are_shortened(bert):
    change_tensors(bert, {"z" * 10**6: torch.ones(1), "a\nb": torch.ones(1)})
    left_out = describe(bert).left_out
    assert left_out[0] == "a b"
    assert len(left_out[1]) == LONGEST


@pytest.mark.parametrize("rows", [0, 10**9])
def test_classes_are_not_named_before_they_are_counted(bert, rows):
    """A matrix without columns takes no room, however many rows it has."""
    change_tensors(bert, {"classifier.weight": torch.empty(rows, 0)})
    assert f"has shape ({rows}, 0); from 1 to 131,072 classes can be shown" in refusal(bert)


def test_labels_are_lines_that_can_be_told_apart(bert):
    rewrite(bert, id2label={"0": "two\nlines\x00", "1": "", "2": "n" * 10**4})
    names = load(bert).config.class_names
    assert names[:2] == ("two lines", "class 1")
    assert len(names[2]) == 200
    rewrite(bert, id2label={"0": "same", "1": "same", "2": {"a": 1}})
    assert load(bert).config.class_names == ("same 0", "same 1", "{'a': 1}")


@pytest.mark.parametrize("content", [b"\x80\x02}q\x00.", b"\x80\x04}\x94.", b"PK\x03\x04" * 9])
def test_a_renamed_pickle_is_told_from_a_damaged_file(bert, content):
    (bert / "model.safetensors").write_bytes(content)
    assert "a pickle under another name" in refusal(bert)


def test_a_shard_with_an_impossible_name_is_refused_without_a_path(bert):
    (bert / "model.safetensors").rename(bert / "a.safetensors")
    for name in ("b" * 300, "c\0"):
        index = {"weight_map": {"x": f"{name}.safetensors"}}
        (bert / "model.safetensors.index.json").write_text(json.dumps(index))
        refusal(bert)


def test_a_folder_without_a_file_is_refused_without_its_path(bert):
    for name, message in (
        ("model.safetensors", "model.safetensors is missing"),
        ("config.json", "no such file"),
    ):
        (bert / name).unlink()
        assert message in str(describe(bert).problem)
        with pytest.raises(ValueError, match=message) as error:
            load(bert)
        assert str(bert) not in str(error.value)


def test_a_file_beyond_the_memory_is_refused_without_its_path(bert, monkeypatch):
    def full(path: Path, *_: str, **_options: str) -> None:
        raise RuntimeError(
            f"{path}: DefaultCPUAllocator: can't allocate memory: you tried to allocate 3221294888"
        )

    monkeypatch.setattr("model.huggingface.weights.safe_open", full)
    assert refusal(bert) == "model.safetensors does not fit into the memory that is left"


# Tokenizers


def test_a_text_at_which_a_tokenizer_breaks_off_is_refused():
    made = tokenizer()
    values = json.loads(made.to_str())
    pattern = {"Regex": "^(a|a)*$"}
    values["pre_tokenizer"] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    made = Tokenizer.from_str(json.dumps(values))
    assert encode(made, "film").tokens == ("[CLS]", "film", "[SEP]")
    with pytest.raises(ValueError, match="the tokenizer cannot read this text: Onig"):
        encode(made, "a" * 30 + "b")


def test_a_vocabulary_alone_is_bounded_as_well(bert):
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("\n".join([*VOCABULARY, "z" * 10**6]))
    assert "one of its pieces has more than 1,000 characters" in refusal(bert)


@pytest.mark.parametrize("length", [0, 2, 3])
def test_a_length_that_leaves_no_room_does_not_hold(bert, length):
    (bert / "tokenizer_config.json").write_text(json.dumps({"model_max_length": length}))
    assert len(prepare(load(bert), Text("film " * 100, "the " * 100))[1]) == 40


def test_merges_are_not_left_out_by_chance(tmp_path):
    folder = tmp_path / "it"
    build(folder, "BertModel")
    made = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.5))
    made.save(str(folder / "tokenizer.json"))
    read = load(folder).tokenizer
    assert {encode(read, "abababab").tokens for _ in range(20)} == {("ab",) * 4}


def test_lines_of_a_vocabulary_end_at_line_feeds_alone(bert):
    (bert / "tokenizer.json").unlink()
    words = [*VOCABULARY[:6], "a\u2028b", "c\x85d", "e\x1cf", *VOCABULARY[9:]]
    for end in ("\n", "\r\n"):
        (bert / "vocab.txt").write_bytes(end.join(words).encode())
        assert load(bert).tokenizer.token_to_id(VOCABULARY[9]) == 9


# Large files, and sentences


def test_a_configuration_is_bounded(bert):
    os.truncate(bert / "config.json", 2**26)  # no longer known to be Hugging Face's
    with pytest.raises(ValueError, match=r"config\.json cannot be read: it is larger than 40 MB"):
        load(bert)


def test_a_list_of_modules_is_bounded(bert):
    modules(bert, ("Transformer", ""))
    os.truncate(bert / "modules.json", 2**26)
    assert refusal(bert) == "modules.json cannot be read: it is larger than 40 MB"


@pytest.mark.parametrize("shape", [(), (7,), (0, 24), (10**6, 0)])
def test_a_map_behind_pooling_has_two_axes(tmp_path, shape):
    folder = tmp_path / "it"
    build(folder, "BertModel")
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    for name in ("1_Pooling", "2_Dense"):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(
            '{"out_features": 7, "activation_function": "torch.nn.Tanh"}'
        )
    save_file({"linear.weight": torch.ones(shape)}, folder / "2_Dense" / "model.safetensors")
    assert f"2_Dense.linear.weight has shape {shape}, but config.json asks for (7, 24)" in refusal(folder)
