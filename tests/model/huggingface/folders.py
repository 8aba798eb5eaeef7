"""Small encoders of other families, made by `transformers` with random weights, in folders as it saves them."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from _pytest.mark import ParameterSet
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from model.checkpoint import load
from model.files.errors import LONGEST
from model.huggingface import describe
from model.loaded import Loaded

TEXT = (
    "the film is not bad at all a long slow story that made me cry , . it end ##ing ##s un ##be ##lie ##vable"
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY = (*SPECIAL, *TEXT.split())
# the vocabulary of ESM-2, in its order
RESIDUES = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
SENTENCE, SECOND = "the film is not bad at all .", "a long slow story"

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 40,
}
T5_SIZES = {
    "d_model": 24,
    "d_kv": 5,
    "d_ff": 40,
    "num_layers": 3,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 7,
}
# as CLIP and SigLIP have them; the end token is [SEP]
OF_PICTURES = {**SIZES, "image_size": 32, "patch_size": 8}
OF_TEXTS = {**SIZES, "vocab_size": len(VOCABULARY), "eos_token_id": 3}
OF_BOTH = {
    "vision_config": OF_PICTURES | {"hidden_size": 16, "num_hidden_layers": 2},
    "text_config": OF_TEXTS,
}
# positions begin behind the padding's number, here 0
OF_ROBERTA = {**SIZES, "type_vocab_size": 1}
# which have mlp_ratio in the place of the width
OF_DINOV2 = {key: value for key, value in OF_PICTURES.items() if key != "intermediate_size"}
OF_BEIT = {**OF_PICTURES, "use_relative_position_bias": True}
FAMILIES: dict[str, dict[str, Any]] = {
    "Bert": SIZES,
    "DistilBert": {
        "dim": 24,
        "n_layers": 3,
        "n_heads": 4,
        "hidden_dim": 40,
        "max_position_embeddings": 40,
    },
    **dict.fromkeys(("Roberta", "XLMRoberta", "Camembert", "RobertaPreLayerNorm"), OF_ROBERTA),
    "MegatronBert": SIZES,
    "Electra": {**SIZES, "embedding_size": 16},
    "MPNet": SIZES,
    "Albert": {**SIZES, "embedding_size": 16, "num_hidden_groups": 2},
    # the numbers of the special tokens, which transformers checks against the vocabulary
    "ModernBert": {
        **SIZES,
        **{f"{name}_token_id": 2 for name in ("cls", "bos")},
        **{f"{name}_token_id": 3 for name in ("sep", "eos")},
        "local_attention": 4,
    },
    **dict.fromkeys(("NomicBert", "Gte", "JinaEmbeddingsV3"), SIZES),
    "EuroBert": {
        **SIZES,
        "num_key_value_heads": 2,
        **dict.fromkeys(("bos_token_id", "eos_token_id", "mask_token_id"), 2),
    },
    "Esm": {**SIZES, "position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 4},
    "DebertaV2": {
        **SIZES,
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "position_buckets": 4,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "type_vocab_size": 0,
    },
    "CLIP": {**OF_BOTH, "projection_dim": 10},
    "CLIPVision": {**OF_PICTURES, "projection_dim": 10},
    "CLIPText": {**OF_TEXTS, "projection_dim": 10},
    "Siglip": OF_BOTH,
    "SiglipVision": OF_PICTURES,
    "SiglipText": {**OF_TEXTS, "projection_size": 10},
    **dict.fromkeys(("T5", "MT5", "UMT5"), T5_SIZES),
    **dict.fromkeys(("ViT", "DeiT", "IJepa"), OF_PICTURES),
    # without hidden patches: the encoder alone
    "ViTMAE": {**OF_PICTURES, "mask_ratio": 0.0, "decoder_num_hidden_layers": 1},
    **dict.fromkeys(("Dinov2", "Dinov2WithRegisters"), OF_DINOV2),
    "DINOv3ViT": {**OF_PICTURES, "num_attention_heads": 2, "num_register_tokens": 4},
    **dict.fromkeys(("Beit", "Data2VecVision"), OF_BEIT),
}
PICTURES = (
    *("ViT", "DeiT", "ViTMAE", "IJepa", "Dinov2", "Dinov2WithRegisters"),
    *("DINOv3ViT", "Beit", "Data2VecVision"),
    *("CLIPVision", "SiglipVision"),
)


def build(folder: Path, architecture: str, seed: int = 0, **changed: Any) -> torch.nn.Module:
    """Saves an encoder of that class, such as "BertForMaskedLM", with its tokenizer, and returns it."""
    family = next(name for name in sorted(FAMILIES, key=len, reverse=True) if architecture.startswith(name))
    kind = getattr(transformers, architecture)
    values = FAMILIES[family] | changed
    if family in PICTURES:
        values.pop("max_position_embeddings", None)
    else:
        values = {"vocab_size": len(VOCABULARY), "pad_token_id": 0} | values
    model = kind(kind.config_class(**values, attn_implementation="eager"))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            part = name.split(".")[-2:]
            is_gain = part[-1] == "weight" and ("norm" in part[0].lower() or part[0] == "ln")
            start = 1.0 if is_gain else 0.0
            parameter.copy_(start + 0.1 * torch.randn(parameter.shape, generator=generator))
    model.eval().save_pretrained(folder)
    if family not in PICTURES:
        tokenizer().save(str(folder / "tokenizer.json"))
    if family in ("Siglip", "SiglipText"):
        (folder / "tokenizer_config.json").write_text('{"pad_token": "[PAD]"}')
    return model


def encoder(folder: Path, architecture: str, **changed: Any) -> Loaded:
    """That encoder, saved by `build` and loaded from its folder."""
    build(folder, architecture, **changed)
    return load(folder)


def slow_but_bert_and_vit(architectures: Sequence[str]) -> list[ParameterSet]:
    """Values for `parametrize`: those of other families, which share the code of these two, are marked as slow."""
    return [
        pytest.param(name, marks=() if name.startswith(("Bert", "ViT")) else pytest.mark.slow)
        for name in architectures
    ]


def tokenizer() -> Tokenizer:
    made = Tokenizer(
        models.WordPiece({word: index for index, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(SPECIAL))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(word, VOCABULARY.index(word)) for word in ("[CLS]", "[SEP]")],
    )
    return made


def rewrite(folder: Path, **changed: Any) -> None:
    """Values of config.json; None takes one out."""
    path = folder / "config.json"
    values = json.loads(path.read_text()) | changed
    path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))


def change_tensors(folder: Path, changed: Mapping[str, torch.Tensor | None]) -> None:
    """Stores the tensors of a folder with these ones changed, added or, where they are None, left out."""
    path = folder / "model.safetensors"
    tensors = {**load_file(path), **changed}
    save_file({name: tensor.contiguous() for name, tensor in tensors.items() if tensor is not None}, path)


def refusal(folder: Path, longest: int = LONGEST) -> str:
    """The sentence in which both `describe` and `load` refuse a folder: one line of at most `longest` characters."""
    problem = describe(folder).problem
    assert problem
    assert len(problem) <= longest
    assert problem.isprintable()
    with pytest.raises(ValueError, match=re.escape(problem)) as error:
        load(folder)
    assert str(folder) not in str(error.value)
    return problem
