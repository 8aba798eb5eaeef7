"""Each family and each output layer against `transformers` (eager), with the same weights."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model.capture import capture
from model.checkpoint import load
from model.family_options import Rotary
from model.huggingface import describe
from model.huggingface.bert import AUTHORS_NAMES
from model.inputs import Text
from model.measures.word_view import view
from tests.model.huggingface.agreement import CLOSE, agree, picture, read_size
from tests.model.huggingface.folders import SECOND, SENTENCE, build, rewrite, slow_but_bert_and_vit

FAMILIES = (
    *("Bert", "DistilBert", "Roberta", "Electra", "MPNet", "Albert", "ModernBert", "Esm", "NomicBert"),
    *("EuroBert", "Gte", "JinaEmbeddingsV3", "DebertaV2"),
)
OUTPUTS = ("Model", "ForSequenceClassification", "ForMaskedLM", "ForTokenClassification")
TEXT = [
    *(family + output for family in FAMILIES for output in OUTPUTS),
    *("BertForPreTraining", "BertForNextSentencePrediction", "MegatronBertForSequenceClassification"),
    *("ElectraForPreTraining", "AlbertForPreTraining", "CamembertForSequenceClassification"),
    *("CamembertForMaskedLM", "XLMRobertaForSequenceClassification", "XLMRobertaForMaskedLM"),
    *("XLMRobertaForTokenClassification", "RobertaPreLayerNormForSequenceClassification"),
    *("RobertaPreLayerNormForMaskedLM", "T5EncoderModel", "T5ForTokenClassification", "MT5EncoderModel"),
    *("UMT5EncoderModel", "UMT5ForTokenClassification"),
]
PICTURES = [
    *("ViTModel", "ViTForImageClassification", "DeiTModel", "DeiTForImageClassification"),
    *("DeiTForImageClassificationWithTeacher", "Dinov2Model", "Dinov2ForImageClassification"),
    *("Dinov2WithRegistersModel", "Dinov2WithRegistersForImageClassification"),
    *("ViTMAEModel", "IJepaModel", "IJepaForImageClassification"),
]
VARIANTS = [
    ("BertForMaskedLM", {"hidden_act": "gelu_new", "layer_norm_eps": 1e-3}),
    ("BertForSequenceClassification", {"hidden_act": "relu", "type_vocab_size": 3, "num_labels": 5}),
    ("BertForMaskedLM", {"tie_word_embeddings": False}),
    ("RobertaForSequenceClassification", {"num_labels": 1}),
    ("ElectraForPreTraining", {"embedding_size": 24}),
    ("ElectraForMaskedLM", {"embedding_size": 40}),
    ("AlbertForMaskedLM", {"num_hidden_groups": 1}),
    ("AlbertForMaskedLM", {"num_hidden_groups": 3}),
    ("ViTForImageClassification", {"qkv_bias": False, "num_channels": 1}),
    ("Dinov2ForImageClassification", {"use_swiglu_ffn": True, "mlp_ratio": 3, "num_channels": 1}),
    ("Dinov2Model", {"qkv_bias": False, "hidden_act": "gelu_new", "num_channels": 1, "patch_size": 4}),
    (
        "Dinov2WithRegistersForImageClassification",
        {"num_register_tokens": 0, "num_labels": 5, "num_channels": 1},
    ),
    ("Dinov2WithRegistersModel", {"use_swiglu_ffn": True, "num_register_tokens": 1, "num_channels": 1}),
    ("EsmForMaskedLM", {"emb_layer_norm_before": True, "tie_word_embeddings": False, "rope_theta": 30.0}),
    ("EsmForMaskedLM", {"position_embedding_type": "absolute", "token_dropout": False}),
    ("EsmModel", {"position_embedding_type": "absolute", "num_attention_heads": 2}),
    ("NomicBertForMaskedLM", {"num_attention_heads": 2, "hidden_act": "gelu", "type_vocab_size": 1}),
    ("NomicBertModel", {"head_dim": 8, "rope_parameters": {"rope_theta": 30.0, "rope_type": "default"}}),
    ("EuroBertForMaskedLM", {"tie_word_embeddings": True, "num_key_value_heads": 1, "mlp_bias": True}),
    (
        "EuroBertModel",
        {"num_key_value_heads": 4, "attention_bias": True, "head_dim": 10, "rms_norm_eps": 1e-3},
    ),
    ("EuroBertForSequenceClassification", {"classifier_pooling": "bos", "num_labels": 5}),
    ("EuroBertForSequenceClassification", {"classifier_pooling": "mean"}),
    ("GteForMaskedLM", {"type_vocab_size": 0, "num_attention_heads": 6, "tie_word_embeddings": False}),
    ("GteModel", {"type_vocab_size": 2}),
    ("JinaEmbeddingsV3ForMaskedLM", {"hidden_act": "gelu_new", "num_attention_heads": 2}),
    *(("ModernBertModel", {"local_attention": window}) for window in (0, 6, 7, 8, 2**30)),
    ("ModernBertModel", {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}),
    (
        "ModernBertModel",
        {"global_attn_every_n_layers": 2, "global_rope_theta": 50.0, "local_rope_theta": 20.0},
    ),
    (
        "ModernBertModel",
        {"num_attention_heads": 2, "norm_bias": True, "attention_bias": True, "mlp_bias": True},
    ),
    (
        "ModernBertForSequenceClassification",
        {"classifier_pooling": "mean", "classifier_bias": True, "num_labels": 5},
    ),
    ("DebertaV2Model", {"share_att_key": False, "norm_rel_ebd": "none", "position_buckets": -1}),
    ("DebertaV2Model", {"pos_att_type": "c2p", "share_att_key": False, "max_relative_positions": 4}),
    ("DebertaV2Model", {"pos_att_type": ["p2c"], "position_buckets": 6, "max_relative_positions": 5}),
    ("DebertaV2Model", {"position_biased_input": True, "type_vocab_size": 2, "position_buckets": 5}),
    ("DebertaV2Model", {"relative_attention": False, "pos_att_type": None, "position_biased_input": True}),
    ("DebertaV2ForMaskedLM", {"embedding_size": 16, "type_vocab_size": 2, "position_biased_input": True}),
    ("DebertaV2ForMaskedLM", {"embedding_size": 16, "num_attention_heads": 2}),
    ("DebertaV2ForMaskedLM", {"legacy": False}),
    ("DebertaV2ForMaskedLM", {"tie_word_embeddings": False}),
    ("DebertaV2ForSequenceClassification", {"pooler_hidden_act": "tanh", "num_labels": 5}),
    ("T5EncoderModel", {"feed_forward_proj": "gated-gelu", "num_heads": 3, "layer_norm_epsilon": 1e-3}),
    ("T5EncoderModel", {"feed_forward_proj": "gated-silu", "relative_attention_num_buckets": 5}),
    ("T5EncoderModel", {"feed_forward_proj": "gelu", "relative_attention_max_distance": 3}),
    ("UMT5EncoderModel", {"feed_forward_proj": "relu", "d_kv": 8}),
    (
        "ModernBertForMaskedLM",
        {"tie_word_embeddings": False, "decoder_bias": False, "classifier_activation": "silu"},
    ),
]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", slow_but_bert_and_vit(TEXT))
def test_text_encoders_agree(architecture, tmp_path):
    model = build(tmp_path, architecture)
    loaded = load(tmp_path)
    assert loaded.n_parameters == model.num_parameters()
    agree(model, loaded)
    agree(model, loaded, Text(SENTENCE, SECOND))


@pytest.mark.parametrize("architecture", slow_but_bert_and_vit(PICTURES))
def test_picture_encoders_agree(architecture, tmp_path):
    model = build(tmp_path, architecture)
    loaded = load(tmp_path)
    assert loaded.n_parameters == model.num_parameters()
    # patches are ordered by this noise before some are hidden
    options = {"noise": torch.arange(16)[None].float()} if architecture.startswith("ViTMAE") else {}
    n_besides = 4 if "Registers" in architecture else architecture.startswith("DeiT")
    n_besides -= architecture.startswith("IJepa")  # without a class token
    assert len(agree(model, loaded, **options)) == 17 + n_besides


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("architecture", "changed"), VARIANTS)
def test_variants_agree(architecture, changed, tmp_path):
    model = build(tmp_path, architecture, **changed)
    loaded = load(tmp_path)
    assert loaded.n_parameters == model.num_parameters()
    agree(model, loaded)


def test_a_decoder_behind_the_encoder_is_not_counted(tmp_path):
    build(tmp_path / "whole", "T5ForConditionalGeneration")
    encoder = build(tmp_path / "encoder", "T5EncoderModel")
    assert load(tmp_path / "whole").n_parameters == encoder.num_parameters()
    assert dict(describe(tmp_path / "whole").summary)["parameters"] == f"{encoder.num_parameters():,}"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("side", [24, 32, 48])
@pytest.mark.parametrize("kind", ["Dinov2", "Dinov2WithRegisters"])
def test_tables_of_positions_are_interpolated_to_the_size_of_the_preprocessor(kind, side, tmp_path):
    model = build(tmp_path, f"{kind}ForImageClassification")
    read_size(tmp_path, side, cropped=True)
    agree(model, load(tmp_path), picture(side))
    notes = " ".join(describe(tmp_path).notes)
    assert ("interpolated to" in notes) == (side != 32)
    assert "LayerScale" in notes


def test_the_decoder_of_mae_is_left_out(tmp_path):
    build(tmp_path, "ViTMAEForPreTraining")
    description = describe(tmp_path)
    assert description.family == "ViT-MAE"
    assert all(name.startswith("decoder.") for name in description.left_out)
    assert description.left_out
    assert any("the decoder is left out" in note for note in description.notes)
    assert len(capture(load(tmp_path), np.zeros((32, 32, 3), np.uint8))) == 17


def test_registers_are_positions_named_as_such_without_position_vectors(tmp_path):
    build(tmp_path, "Dinov2WithRegistersModel", num_register_tokens=2)
    loaded = load(tmp_path)
    record = capture(loaded, np.zeros((32, 32, 3), np.uint8))
    assert record.tokens[:4] == ("[CLS]", "[register 1]", "[register 2]", "r0c0")
    assert record.roles[:4] == ("class", "register", "register", "patch")
    assert record.first_patch == loaded.config.n_before_patches == 3
    table = loaded.model.embedding.position_table
    assert not table[1:3].any()
    assert table[0].any()
    assert table[3].any()
    shown = view(record, hidden=True)
    assert len(shown) == 16
    assert set(shown.roles) == {"patch"}


def test_older_names_of_modernberts_settings_are_read(tmp_path):
    model = build(
        tmp_path,
        "ModernBertModel",
        layer_types=["full_attention", "sliding_attention", "full_attention"],
        global_rope_theta=50.0,
        local_rope_theta=20.0,
    )
    assert load(tmp_path).config.family.parts.rotary == Rotary(bases=(50.0, 20.0, 50.0))
    older = {"global_attn_every_n_layers": 2, "global_rope_theta": 50.0, "local_rope_theta": 20.0}
    rewrite(tmp_path, layer_types=None, rope_parameters=None, **older)
    agree(model, load(tmp_path))


def test_names_of_nomics_authors_are_read(tmp_path):
    model = build(tmp_path, "NomicBertModel", rope_parameters={"rope_theta": 30.0, "rope_type": "default"})
    values = json.loads((tmp_path / "config.json").read_text())
    older = {authors_name: values[name] for name, authors_name in AUTHORS_NAMES.items() if name in values}
    older |= {
        "n_positions": 80,
        "activation_function": "swiglu",
        "rotary_emb_fraction": 1.0,
        "rotary_emb_base": 30,
    }
    names = ("hidden_act", "head_dim", "rope_parameters", *AUTHORS_NAMES)
    rewrite(tmp_path, **dict.fromkeys(names), **older)
    agree(model, load(tmp_path))
    for changed in ({"prenorm": True}, {"rotary_emb_fraction": 0.5}, {"moe_every_n_layers": 2}):
        rewrite(tmp_path, **changed)
        (name,) = changed
        assert f"config.json has {name} {changed[name]}, but only" in str(describe(tmp_path).problem)
        rewrite(tmp_path, **{name: None})


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "changed"),
    [
        ("NomicBertForMaskedLM", {}),
        ("GteForMaskedLM", {}),
        ("JinaEmbeddingsV3ForMaskedLM", {}),
        ("Dinov2Model", {"use_swiglu_ffn": True}),
        ("DINOv3ViTModel", {}),
        ("BeitForImageClassification", {"use_shared_relative_position_bias": True}),
    ],
)
def test_names_that_transformers_has_in_memory_are_read(architecture, changed, tmp_path):
    model = build(tmp_path, architecture, **changed)
    model.save_pretrained(tmp_path, save_original_format=False)
    assert any("q_proj.weight" in name for name in load_file(tmp_path / "model.safetensors"))
    agree(model, load(tmp_path))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("architecture", "changed"),
    [
        ("CLIPTextModelWithProjection", {}),
        ("SiglipVisionModel", {}),
        ("DINOv3ViTModel", {"use_gated_mlp": True}),
        ("BeitForImageClassification", {"use_shared_relative_position_bias": True}),
    ],
)
def test_half_precision_is_widened(architecture, changed, dtype, tmp_path):
    model = build(tmp_path, architecture, **changed)
    model.to(dtype).save_pretrained(tmp_path)
    # read anew, since the buffers of the first model were rounded as well
    options = {"dtype": torch.float32, "attn_implementation": "eager"}
    agree(type(model).from_pretrained(tmp_path, **options).eval(), load(tmp_path))


def test_weights_beside_the_adapters_of_jina_are_refused(tmp_path):
    build(tmp_path, "JinaEmbeddingsV3Model")
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    name = "embeddings.word_embeddings.weight"
    tensors["embeddings.word_embeddings.parametrizations.weight.original"] = tensors.pop(name)
    save_file(tensors, path)
    rewrite(tmp_path, model_type="xlm-roberta", position_embedding_type="rotary")
    assert "open jinaai/jina-embeddings-v3-hf" in str(describe(tmp_path).problem)


def test_far_apart_tokens_share_a_bucket_of_the_relative_bias(tmp_path):
    model = build(tmp_path, "MPNetModel", max_position_embeddings=300)
    loaded = load(tmp_path)
    assert len(agree(model, loaded, Text("the film is not bad at all " * 40))) > 256


def test_masked_residues_are_zeros_and_the_others_are_scaled(tmp_path):
    model = build(tmp_path, "EsmForMaskedLM")
    loaded = load(tmp_path)
    for text in ("the film is [MASK] bad [MASK] all .", "[MASK]", "[MASK] [MASK] [MASK] [MASK]"):
        agree(model, loaded, Text(text))


def test_frequencies_that_were_rounded_are_read_from_the_weights(tmp_path):
    folder = tmp_path / "it"
    model = build(folder, "EsmModel", num_attention_heads=2)
    path = folder / "model.safetensors"
    (name,) = (name for name in load_file(path) if name.endswith("inv_freq"))
    rounded = load_file(path)[name].half().float() * 1.01
    before = capture(load(folder), SENTENCE).pattern
    save_file(load_file(path) | {name: rounded}, path)
    model.rotary_embeddings.inv_freq.copy_(rounded)
    loaded = load(folder)
    record = agree(model, loaded)
    assert not np.allclose(record.pattern, before, **CLOSE)
    # as older versions of transformers stored them
    tensors = load_file(path)
    del tensors[name]
    older = {
        f"encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq": rounded.clone()
        for layer in range(3)
    }
    save_file(tensors | older, path)
    np.testing.assert_array_equal(capture(load(folder), SENTENCE).pattern, record.pattern)
    assert not any("inv_freq" in name for name in describe(folder).left_out)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["T5ForConditionalGeneration", "UMT5ForConditionalGeneration"])
def test_the_encoder_of_a_whole_t5_is_read(architecture, tmp_path):
    model = build(tmp_path, architecture)
    loaded = load(tmp_path)
    agree(model.get_encoder(), loaded)
    assert "decoder" in describe(tmp_path).notes[0]
