import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from tests.model.huggingface.folders import SENTENCE, build
from tests.model.huggingface.sentence_folders import TYPES, build_sentence_encoder, modules, pooling


def layer(folder: Path, name: str, tensors: dict[str, torch.Tensor], **settings: object) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "config.json").write_text(json.dumps(settings))
    save_file(tensors, folder / name / "model.safetensors")


def dense(
    folder: Path, name: str, d_in: int, d_out: int, activation: str, *, bias: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Saves a linear layer with random numbers, and returns its weight and its bias."""
    weight, shift = torch.randn(d_out, d_in) / 5, torch.randn(d_out) * bias
    tensors = {"linear.weight": weight} | ({"linear.bias": shift} if bias else {})
    settings = {"in_features": d_in, "out_features": d_out, "bias": bias, "activation_function": activation}
    layer(folder, name, tensors, **settings)
    return weight, shift


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    build_sentence_encoder(tmp_path / "it")
    return tmp_path / "it"


MEAN, CLASS, MAX = (
    lambda states: states.mean(axis=0),
    lambda states: states[0],
    lambda states: states.max(axis=0),
)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("modes", "pooled"),
    [
        ({"pooling_mode_mean_tokens": True}, [MEAN]),
        ({"pooling_mode_cls_token": True}, [CLASS]),
        ({"pooling_mode_max_tokens": True}, [MAX]),
        ({"pooling_mode": "mean"}, [MEAN]),
        ({"pooling_mode": "cls"}, [CLASS]),
        ({}, [MEAN]),
        ({"pooling_mode_mean_tokens": False}, [MEAN]),
        ({"pooling_mode_lasttoken": True}, [lambda states: states[-1]]),
        (
            {"pooling_mode_mean_sqrt_len_tokens": True},
            [lambda states: states.sum(axis=0) / len(states) ** 0.5],
        ),
        (
            {"pooling_mode": "weightedmean"},
            [lambda states: np.average(states, axis=0, weights=range(1, len(states) + 1))],
        ),
        # the older settings are in the library's order, wherever they stand; a list is in its own
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, [CLASS, MEAN]),
        ({"pooling_mode": ["mean", "cls", "max"]}, [MEAN, CLASS, MAX]),
    ],
)
def test_states_are_pooled_as_the_folder_says(folder, modes, pooled):
    pooling(folder, **modes)
    record = capture(load(folder), SENTENCE)
    assert not record.has_classes
    states = record.residual[-1]
    np.testing.assert_allclose(record.pooled, np.concatenate([pool(states) for pool in pooled]), atol=1e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "architecture", ["ModernBertForSequenceClassification", "NomicBertModel", "EuroBertModel"]
)
def test_encoders_with_rotary_positions_are_pooled_too(architecture, tmp_path):
    build(tmp_path, architecture)
    modules(tmp_path, ("Transformer", ""), ("Pooling", "1_Pooling"))
    pooling(tmp_path, pooling_mode="mean")
    loaded = load(tmp_path)
    record = capture(loaded, SENTENCE)
    assert not record.has_classes
    states = loaded.model.final_norm(torch.tensor(record.residual[-1])).numpy()
    np.testing.assert_allclose(record.pooled, states.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_map_behind_pooling_is_applied(folder, bias):
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    weight, shift = dense(folder, "2_Dense", 24, 7, "torch.nn.modules.activation.Tanh", bias=bias)
    record = capture(load(folder), SENTENCE)
    mean = torch.tensor(record.residual[-1].mean(axis=0))
    torch.testing.assert_close(torch.tensor(record.pooled), (weight @ mean + shift).tanh())


def test_the_layers_behind_pooling_are_applied_in_their_order(folder):
    kinds = ("Normalize", "Dense", "Dropout", "Dense", "LayerNorm", "Normalize")
    modules(
        folder,
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        *((kind, f"{index}_{kind}") for index, kind in enumerate(kinds, 2)),
    )
    pooling(folder, pooling_mode=["mean", "max"])
    first, first_shift = dense(folder, "3_Dense", 48, 9, "torch.nn.modules.activation.GELU")
    second, _ = dense(folder, "5_Dense", 9, 7, "torch.nn.modules.linear.Identity", bias=False)
    gain, shift = torch.rand(7) + 0.5, torch.randn(7)
    layer(folder, "6_LayerNorm", {"norm.weight": gain, "norm.bias": shift}, dimension=7)
    record = capture(load(folder), SENTENCE)
    states = torch.tensor(record.residual[-1])
    pooled = torch.cat((states.mean(dim=0), states.amax(dim=0)))
    pooled = torch.nn.functional.gelu(first @ (pooled / pooled.norm()) + first_shift)
    pooled = torch.nn.functional.layer_norm(second @ pooled, (7,), gain, shift)
    torch.testing.assert_close(torch.tensor(record.pooled), pooled / pooled.norm())
    assert describe(folder).problem is None
    assert not any("Dense" in name or "Norm" in name for name in describe(folder).left_out)


def test_a_vector_is_shortened_behind_all_layers(folder):
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    whole = capture(load(folder), SENTENCE).pooled
    np.testing.assert_allclose(np.linalg.norm(whole), 1, atol=1e-6)
    (folder / "config_sentence_transformers.json").write_text('{"truncate_dim": 5}')
    np.testing.assert_array_equal(capture(load(folder), SENTENCE).pooled, whole[:5])


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("longest", "of_tokenizer", "n_tokens"),
    [(6, None, 6), (6, 4, 6), (6, 20, 6), (None, 8, 8), (None, None, 40), (40, 10, 40)],
)
def test_texts_are_cut_at_the_length_of_the_library(folder, longest, of_tokenizer, n_tokens):
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest}))
    if of_tokenizer is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": of_tokenizer}))
    record = capture(load(folder), SENTENCE * 20)
    assert len(record.tokens) == n_tokens
    assert record.tokens[-1] == "[SEP]"
    if longest is not None:
        assert f"up to {longest} tokens" in dict(describe(folder).summary)["input"]


def test_older_names_of_the_settings_count(folder):
    (folder / "sentence_roberta_config.json").write_text('{"max_seq_length": 5}')
    assert len(capture(load(folder), SENTENCE).tokens) == 5


def test_an_encoder_that_is_shorter_than_its_settings_is_told(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 512}')
    assert "asks for 512 tokens, but the encoder reads 40" in " ".join(describe(folder).notes)
    assert len(capture(load(folder), SENTENCE * 20).tokens) == 40


def test_texts_are_read_in_lower_case_where_the_settings_say_so(folder):
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    text = "The FILM is not Bad"
    assert "[UNK]" in capture(load(folder), text).tokens
    (folder / "sentence_bert_config.json").write_text('{"do_lower_case": true}')
    record = capture(load(folder), text)
    assert record.tokens == ("[CLS]", "the", "film", "is", "not", "bad", "[SEP]")
    np.testing.assert_array_equal(record.pooled, capture(load(folder), text.lower()).pooled)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        (
            {"prompts": {"query": "query: "}, "default_prompt_name": "query"},
            "puts “query: ” before each text",
        ),
        ({"similarity_fn_name": "euclidean"}, "compares texts by 'euclidean'"),
        ({"prompts": {"query": ""}, "default_prompt_name": "query", "similarity_fn_name": "cosine"}, ""),
        ({"prompts": {"query": "query: "}, "default_prompt_name": None}, ""),
    ],
)
def test_where_the_answer_is_another_one_than_the_library_s_is_said(folder, settings, difference):
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    differences = load(folder).notes
    assert bool(differences) == bool(difference)
    assert difference in " ".join(differences)
    assert set(differences) <= set(describe(folder).notes)


def test_words_that_may_stand_before_a_text_are_named(folder):
    settings = {"prompts": {"query": "query: ", "document": "", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    (note,) = describe(folder).notes
    assert "“query: ” (query), “passage: ” (passage)." in note


def test_what_is_left_out_of_the_pooling_is_said(folder):
    pooling(folder, pooling_mode="mean", include_prompt=False)
    assert not load(folder).notes
    settings = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    assert "leaves these tokens out of the pooling" in load(folder).notes[0]


def test_where_vectors_have_unit_length_products_are_cosines(folder):
    (folder / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "dot"}')
    assert load(folder).notes
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    assert not load(folder).notes


def test_settings_that_are_not_followed_are_named(folder):
    settings = {"processing_kwargs": {"text": {"padding": True}}, "unpad_inputs": True, "model_args": {}}
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    assert load(folder).notes == (
        "Of sentence_bert_config.json, this is not followed here: processing_kwargs.",
    )


def test_the_encoder_may_lie_in_a_folder_of_its_own(folder):
    before = capture(load(folder), SENTENCE).pooled
    inner = folder / "0_Transformer"
    inner.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).rename(inner / name)
    modules(folder, ("Transformer", "0_Transformer"), ("Pooling", "1_Pooling"))
    np.testing.assert_array_equal(capture(load(folder), SENTENCE).pooled, before)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([("Transformer", "../other")], "modules.json names the folder '../other'"),
        ([("Transformer", "/tmp")], "modules.json names the folder '/tmp'"),
        ([("Transformer", ""), ("Pooling", "9_Pooling")], "config.json cannot be read"),
    ],
)
def test_modules_outside_the_folder_are_refused(folder, listed, message):
    modules(folder, *listed)
    assert message in describe(folder).problem


def test_poolings_that_are_not_read_are_named(folder):
    pooling(folder, pooling_mode_mean_tokens=True, pooling_mode_median=True)
    assert "the pooling 'median' is not supported" in describe(folder).problem
    pooling(folder, pooling_mode=["mean", 3])
    assert "the pooling '3' is not supported" in describe(folder).problem
    (folder / "modules.json").write_text("{}")
    assert describe(folder).problem == "modules.json must hold a list of modules"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        (
            [("Pooling", "1_Pooling"), ("WordWeights", "3_WordWeights")],
            "3_WordWeights (WordWeights), which is not",
        ),
        (
            [("CNN", "1_CNN"), ("Pooling", "1_Pooling")],
            "1_CNN (CNN), which is not supported; without modules.json",
        ),
        (
            [("Dense", "2_Dense"), ("Pooling", "1_Pooling")],
            "(Dense), which is not supported as number 2 of the list",
        ),
        (
            [("Pooling", "1_Pooling"), ("Pooling", "1_Pooling")],
            "(Pooling), which is not supported as number 3",
        ),
    ],
)
def test_modules_that_are_not_followed_are_refused(folder, listed, problem):
    modules(folder, ("Transformer", ""), *listed)
    assert problem in describe(folder).problem
    (folder / "modules.json").unlink()
    assert describe(folder).problem is None


@pytest.mark.parametrize("kind", ["BoW", "WordEmbeddings", "StaticEmbedding", "Router", "Asym", "CLIPModel"])
def test_what_stands_in_the_place_of_an_encoder_is_refused(folder, kind):
    modules(folder, (kind, f"0_{kind}"), ("Pooling", "1_Pooling"))
    assert f"modules.json lists 0_{kind} ({kind})" in describe(folder).problem


def test_code_of_the_folder_s_own_is_not_taken_for_the_library_s(folder):
    listed = [{"type": "custom_st.Transformer", "path": ""}, {"type": TYPES + "Pooling", "path": "1_Pooling"}]
    (folder / "modules.json").write_text(json.dumps(listed))
    assert (
        "custom_st.Transformer, which is code of the model's own, which is not run"
        in describe(folder).problem
    )


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, "has transformer_task 'fill-mask'"),
        ("sentence_bert_config.json", {"module_output_name": "sentence_embedding"}, "has module_output_name"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "has max_seq_length 'long'"),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": "passage"},
            "'passage', which is none of its",
        ),
        ("config_sentence_transformers.json", {"truncate_dim": 0}, "has truncate_dim 0"),
        ("2_Dense/config.json", {"activation_function": "torch.nn.Sigmoid"}, "activation_function 'Sigmoid'"),
        ("2_Dense/config.json", {"use_residual": True}, "use_residual true"),
        (
            "2_Dense/config.json",
            {"module_input_name": "token_embeddings"},
            "module_input_name 'token_embeddings'",
        ),
        ("2_Dense/config.json", {"bias": True}, "2_Dense.linear.bias is missing from the weights"),
        ("2_Dense/config.json", {"out_features": 8}, "2_Dense.linear.weight has shape (7, 24)"),
    ],
)
def test_settings_that_change_the_answer_are_refused(folder, name, settings, problem):
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    dense(folder, "2_Dense", 24, 7, "torch.nn.Tanh", bias=False)
    assert describe(folder).problem is None
    path = folder / name
    path.write_text(json.dumps((json.loads(path.read_text()) if path.is_file() else {}) | settings))
    assert problem in describe(folder).problem
