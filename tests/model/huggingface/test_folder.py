"""What folders out there look like, and what is wrong with some of them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model.capture import capture
from model.checkpoint import CHECKPOINTS, fingerprint, load, read_config, weights_hash
from model.files.errors import LONGEST
from model.huggingface import describe, family_names, is_foreign
from model.inputs import Text
from tests.model.huggingface.folders import (
    SECOND,
    SENTENCE,
    VOCABULARY,
    build,
    change_tensors,
    refusal,
    rewrite,
)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def same(folder: Path, before: np.ndarray) -> bool:
    return bool((capture(load(folder), SENTENCE).pattern == before).all())


@pytest.fixture
def pattern(bert: Path) -> np.ndarray:
    return capture(load(bert), SENTENCE).pattern


def test_old_names_of_the_norms_are_known(bert, pattern):
    tensors = weights(bert)
    for new, old in (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")):
        tensors = {name.replace(new, old): tensor for name, tensor in tensors.items()}
    save_file(tensors, bert / "model.safetensors")
    assert same(bert, pattern)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("prefix", ["", "model.bert.", "encoder."])
def test_any_prefix_is_found(bert, pattern, prefix):
    renamed = {name.replace("bert.", prefix): tensor for name, tensor in weights(bert).items()}
    save_file(renamed, bert / "model.safetensors")
    assert same(bert, pattern)
    assert len(load(bert).config.class_names) == 3


def test_shards_are_read_with_their_index(bert, pattern):
    tensors = weights(bert)
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, held in parts.items():
        save_file({name: tensors[name] for name in held}, bert / file)
    index = {name: file for file, held in parts.items() for name in held}
    (bert / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (bert / "model.safetensors").unlink()
    assert same(bert, pattern)
    before = weights_hash(bert), fingerprint(bert)
    save_file({name: tensors[name] + 1 for name in names[::2]}, bert / next(iter(parts)))
    assert weights_hash(bert) != before[0]
    assert fingerprint(bert) != before[1]


def test_half_precision_is_read_as_single(bert):
    change_tensors(bert, {name: tensor.to(torch.float16) for name, tensor in weights(bert).items()})
    half = capture(load(bert), SENTENCE)
    assert half.pattern.dtype == np.float32
    np.testing.assert_allclose(half.pattern.sum(axis=-1), 1, atol=1e-6)


def test_the_weights_say_how_many_classes_there_are(bert):
    rewrite(bert, id2label={"0": "no", "1": "yes"})
    assert load(bert).config.class_names == ("class 0", "class 1", "class 2")
    assert describe(bert).notes == (
        "config.json names 2 classes, but the weights have 3: the classes are numbered instead.",
    )
    rewrite(bert, id2label={"0": "no", "1": "yes", "2": "perhaps"})
    assert load(bert).config.class_names == ("no", "yes", "perhaps")


def test_an_architecture_that_nobody_knows_is_read_by_its_model_type(bert, pattern):
    rewrite(bert, architectures=["BertWithAHeadOfMyOwn"])
    unused = {"my_head.weight": torch.ones(2, 24), "bert.embeddings.position_ids": torch.arange(40)}
    change_tensors(bert, unused)
    assert same(bert, pattern)
    assert describe(bert).left_out == ("my_head.weight",)  # and not the buffer, which is computed


def test_a_pooler_that_a_classifier_of_tokens_never_used_is_left_out(tmp_path):
    build(tmp_path, "BertForTokenClassification", num_labels=3)
    before = capture(load(tmp_path), SENTENCE).token_logits
    unused = {
        f"bert.pooler.dense.{name}": torch.ones(shape)
        for name, shape in (("weight", (24, 24)), ("bias", (24,)))
    }
    change_tensors(tmp_path, unused)
    np.testing.assert_array_equal(capture(load(tmp_path), SENTENCE).token_logits, before)
    assert describe(tmp_path).left_out == tuple(sorted(unused))


def test_a_number_that_is_null_counts_as_not_given(tmp_path):
    build(tmp_path, "RobertaModel", pad_token_id=1)
    rewrite(tmp_path, type_vocab_size=1)
    path = tmp_path / "config.json"
    path.write_text(path.read_text().replace('"pad_token_id": 1', '"pad_token_id": null'))
    assert load(tmp_path).config.n_positions == 38


def test_the_second_part_has_a_token_type_of_its_own(bert):
    loaded = load(bert)
    first, both = capture(loaded, SENTENCE), capture(loaded, Text(SENTENCE, SECOND))
    assert both.tokens[: len(first)] == first.tokens
    assert both.roles.count("separator") == 2
    embedding = loaded.model.embedding
    content = embedding.look_up(torch.tensor([[7, 7 + loaded.config.vocab_size]]))[0]
    torch.testing.assert_close(content[1] - content[0], embedding.types.weight[1] - embedding.types.weight[0])


def test_answers_are_read_as_the_configuration_says(tmp_path):
    for name, changed in (
        ("each", {"problem_type": "multi_label_classification"}),
        ("one", {"num_labels": 1}),
    ):
        build(tmp_path / name, "BertForSequenceClassification", **changed)
    record = capture(load(tmp_path / "each"), SENTENCE)
    np.testing.assert_allclose(record.probabilities, 1 / (1 + np.exp(-record.logits)), rtol=1e-6)
    one = capture(load(tmp_path / "one"), SENTENCE)
    assert one.probabilities == one.logits


@pytest.mark.slow
def test_long_input_is_cut_where_memory_would_not_do(tmp_path):
    folder = tmp_path / "it"
    build(folder, "BertModel", num_hidden_layers=32, num_attention_heads=12, max_position_embeddings=700)
    assert load(folder).config.n_positions == 424  # 32 * 12 * 424² is just below 22 * 12 * 512²
    assert "the first 424 are read" in describe(folder).notes[0]


# What is wrong


def test_all_reasons_are_said_at_once_and_what_works_instead(tmp_path):
    rewritten = {"model_type": "qwen3"}
    (tmp_path / "config.json").write_text(json.dumps(rewritten))
    types = ("sentence_transformers.models.Transformer", "sentence_transformers.models.Pooling")
    modules = [{"type": kind, "path": path} for kind, path in zip(types, ("", "1_Pooling"), strict=True)]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "median"}))
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK")
    message = refusal(tmp_path, longest=5 * LONGEST)
    reasons = (
        "(1) the model_type",
        "'qwen3'",
        "(2) the pooling 'median' is not supported",
        "(3) pytorch_model.bin",
        "(4)",
    )
    assert all(reason in message for reason in reasons)
    assert family_names() in message
    assert "loupe.from_transformers(model, tokenizer, input) takes any model of transformers" in message
    assert "loupe.save_record" in message


def test_an_adapter_alone_is_told_to_be_merged(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    assert "merge_and_unload().save_pretrained(" in refusal(tmp_path)


def test_what_is_wrong_with_the_weights_is_said(bert):
    name = "bert.encoder.layer.1.output.dense.bias"
    change_tensors(bert, {name: None})
    assert refusal(bert) == f"{name} is missing from the weights; it should have shape (24,)"
    change_tensors(bert, {name: torch.zeros(25)})
    assert refusal(bert) == f"{name} has shape (25,), but config.json asks for (24,)"
    change_tensors(bert, {name: torch.zeros(24, dtype=torch.int8)})
    assert f"{name} is stored as I8, but only floats are read" in refusal(bert)
    change_tensors(bert, {name: torch.full((24,), torch.nan)})
    with pytest.raises(ValueError, match=f"{name} holds numbers that are not finite"):
        load(bert)


@pytest.mark.parametrize("length", [0, 4, 8, 100, 5000])
def test_a_truncated_file_is_refused(bert, length):
    path = bert / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    assert "model.safetensors cannot be read" in refusal(bert)


def test_a_header_of_any_size_is_refused_before_it_is_read(bert):
    (bert / "model.safetensors").write_bytes((2**40).to_bytes(8, "little") + b"{}")
    assert "its header claims 1,099,511,627,776 bytes" in refusal(bert)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_pickles_are_refused_with_the_way_to_convert_them(bert, name):
    (bert / "model.safetensors").rename(bert / name)
    message = refusal(bert)
    assert f"{name} is not opened" in message
    assert "`attention-loupe convert FOLDER`" in message
    (bert / name).unlink()
    assert "model.safetensors is missing" in refusal(bert)


@pytest.mark.parametrize(
    "index",
    [
        [],
        {},
        {"weight_map": 3},
        {"weight_map": {"a": "../model.safetensors"}},
        {"weight_map": {"a": "/x.safetensors"}},
    ],
)
def test_an_index_names_only_files_of_its_folder(bert, index):
    (bert / "model.safetensors").unlink()
    (bert / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "index.json" in refusal(bert)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"model_type": "bert", "a": "\\ud800"}']
)
def test_a_damaged_configuration_is_refused(bert, content):
    (bert / "config.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"config\.json"):
        load(bert)
    assert "config.json" in describe(bert).problem


def test_folders_of_this_project_are_not_foreign():
    assert not is_foreign(CHECKPOINTS / "mnist-pre-ln")
    assert not read_config("mnist-pre-ln").is_imported


def test_what_is_written_over_the_weights_does_not_reach_an_open_encoder(bert):
    """A mapped file would change it, and end the process once the file is shorter."""
    encoder = load(bert)
    before = capture(encoder, SENTENCE).logits
    path = bert / "model.safetensors"
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert (capture(encoder, SENTENCE).logits == before).all()


def notes(folder: Path) -> str:
    return " ".join(describe(folder).notes)


@pytest.mark.parametrize("n_more", [0, 1, 4])
def test_rows_of_the_embedding_without_a_token_are_told(tmp_path, n_more):
    n_tokens = len(VOCABULARY)
    build(tmp_path, "BertModel", vocab_size=n_tokens + n_more)
    sentence = f"The embedding has {n_tokens + n_more} rows, the tokenizer {n_tokens} tokens"
    assert (sentence in notes(tmp_path)) == bool(n_more)


def pad_with(folder: Path, name: str, file: str) -> None:
    (folder / file).write_text(json.dumps({"pad_token": name, "tokenizer_class": "PreTrainedTokenizerFast"}))


def theirs(model: torch.nn.Module, folder: Path, text: str) -> np.ndarray:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        model_input = tokenizer(text, return_tensors="pt")
        return torch.stack(model(**model_input, output_attentions=True).attentions)[:, 0].numpy()


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_padding_is_the_tokenizer_s(tmp_path, file):
    """config.json's pad_token_id is that of a word, which its library reads like any other, by the tokenizer's mask."""
    model = build(tmp_path, "BertModel", pad_token_id=VOCABULARY.index("not"))
    pad_with(tmp_path, "[PAD]", file)
    record = capture(load(tmp_path), SENTENCE)
    assert "padding" not in record.roles
    np.testing.assert_allclose(record.pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6)
    assert f"pad_token_id {VOCABULARY.index('not')}, but the tokenizer pads with token 0" in notes(tmp_path)


def test_a_word_is_no_padding_where_the_tokenizer_has_none(tmp_path):
    model = build(tmp_path, "BertModel", pad_token_id=VOCABULARY.index("film"))
    loaded = load(tmp_path)
    assert loaded.config.padding_id is None
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    np.testing.assert_allclose(
        capture(loaded, SENTENCE).pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6
    )
    assert "the tokenizer has no token for padding" in notes(tmp_path)


def test_padding_that_agrees_needs_no_words(tmp_path):
    build(tmp_path, "BertModel")
    assert load(tmp_path).config.padding_id == 0
    assert notes(tmp_path) == ""
    pad_with(tmp_path, "[PAD]", "tokenizer_config.json")
    assert load(tmp_path).config.padding_id == 0
    assert notes(tmp_path) == ""


def test_a_negative_number_of_padding_is_that_of_no_token(tmp_path):
    model = build(tmp_path, "BertModel", pad_token_id=-1)
    pad_with(tmp_path, "[PAD]", "tokenizer_config.json")
    record = capture(load(tmp_path), SENTENCE)
    np.testing.assert_allclose(record.pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6)
