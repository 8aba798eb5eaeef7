"""The two encoders of CLIP (Radford et al. 2021), of pictures and of texts, and those of SigLIP (Zhai et al. 2023), of the same build.

All have pre-LN blocks. CLIP's encoder of texts has a causal mask, and pools by taking the state of the end token; its encoder of
pictures takes that of the class token. SigLIP has no causal mask; its encoder of texts takes the state of the last token, and its
encoder of pictures pools by a learned query that attends to all patches.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..family_options import Parts, TokenChoice
from .family_table import FamilyTable, read_text
from .output_layers import read_classifier
from .tensor_map import FULLY_CONNECTED, Reading, ReadingBuilder, fused_rows
from .vit import Preprocessor, read_picture_encoder, read_picture_sizes
from .weights import Stored

PATCHES, TOKENS = "embeddings.patch_embedding.weight", "embeddings.token_embedding.weight"
# What `transformers` takes where config.json is silent, which it often is.
CLIP_DEFAULTS = {
    "num_hidden_layers": 12,
    "max_position_embeddings": 77,
    "vocab_size": 49408,
    "image_size": 224,
    "patch_size": 32,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
    "eos_token_id": 49407,
}
PICTURE_SIZES = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
SIGLIP_DEFAULTS = {
    **CLIP_DEFAULTS,
    **PICTURE_SIZES,
    "max_position_embeddings": 64,
    "vocab_size": 32000,
    "patch_size": 16,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
}
CLIP_PICTURES = FamilyTable(
    name="CLIP vision",
    known_tensor=PATCHES,
    defaults={**CLIP_DEFAULTS, **PICTURE_SIZES},
    positions="embeddings.position_embedding.weight",
    embedding_norm="pre_layrnorm",  # so it is spelled
    blocks="encoder.layers",
    block={
        **{f"attention.w_{letter}": f"self_attn.{letter}_proj" for letter in "qkv"},
        "attention.w_o": "self_attn.out_proj",
        **FULLY_CONNECTED,
        "norm_attention": "layer_norm1",
        "norm_feed_forward": "layer_norm2",
    },
    final_norm="post_layernorm",
    class_token="embeddings.class_embedding",
    patches="embeddings.patch_embedding",
    patch_bias=False,
    squares=("patch_size", "image_size"),
)
SIGLIP_PICTURES = replace(
    CLIP_PICTURES,
    name="SigLIP vision",
    defaults=SIGLIP_DEFAULTS,
    embedding_norm=None,
    class_token=None,
    patch_bias=True,
)
CLIP_TEXTS = replace(
    CLIP_PICTURES,
    name="CLIP text",
    known_tensor=TOKENS,
    padding_id=None,
    defaults={
        **CLIP_DEFAULTS,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
    },
    tokens=TOKENS,
    embedding_norm=None,
    final_norm="final_layer_norm",
)
SIGLIP_TEXTS = replace(CLIP_TEXTS, name="SigLIP text", defaults=SIGLIP_DEFAULTS)
# the settings of pictures that preprocessor_config.json leaves out
CLIP_PREPROCESSOR = {
    "resample": 3,
    "size": {"shortest_edge": 224},
    "do_center_crop": True,
    "crop_size": 224,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
SIGLIP_PREPROCESSOR = {"resample": 3, "size": {"height": 224, "width": 224}}
# a config.json from before 2023 has this number, whatever the end token is
FORMER_END = 2


def read_clip_pictures(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor) -> Reading:
    """Configuration and tensor map of the encoder of pictures; `preprocessor` is the content of preprocessor_config.json."""
    is_siglip = _is_siglip(values)
    table = SIGLIP_PICTURES if is_siglip else CLIP_PICTURES
    builder = table.builder(values, stored)
    if preprocessor is not None:
        preprocessor = {**(SIGLIP_PREPROCESSOR if is_siglip else CLIP_PREPROCESSOR), **preprocessor}
        if type(size := preprocessor["size"]) is int:  # that of the shorter side
            preprocessor["size"] = {"shortest_edge": size}
    picture = read_picture_sizes(builder, table, preprocessor)
    if builder.output_tensor_name("classifier.weight"):
        read_classifier(builder)
        if not is_siglip:  # it reads the patches' mean
            builder.family["pools_patches_alone"] = True
            table = replace(table, final_norm=None)
    elif is_siglip and builder.has_tensor("head.probe"):
        _map_attention_pooling(builder)
    elif not is_siglip:
        _read_projection(builder, "visual_projection", has_bias=False)
    reading = read_picture_encoder(builder, table, picture)
    if "attention_pooling" in builder.family:
        builder.notes.append(
            "The embedding is read by a learned query that attends to all patches (attention pooling). That attention belongs "
            "to no layer: Side by side shows it for a picture and texts, and the library returns it: activations(encoder, [picture], "
            '["attention_pooling.attention.pattern"]).'
        )
    elif not is_siglip and table.final_norm:
        builder.notes.append(
            "Its last norm belongs to the class token alone: in the original, the states of the patches are handed on without it."
        )
    return reading


def read_clip_texts(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of the encoder of texts, from the `values` in its config.json."""
    is_siglip = _is_siglip(values)
    table = SIGLIP_TEXTS if is_siglip else CLIP_TEXTS
    builder = table.builder(values, stored)
    end_token: TokenChoice = "last" if is_siglip else _end_token(builder)
    _read_projection(builder, "head" if is_siglip else "text_projection", has_bias=is_siglip)
    builder.fields["pooling"] = "mean"
    builder.family |= {
        "pools_token": end_token,
        "padded": is_siglip,
        "parts": Parts(causal=not is_siglip),
    }
    reading = read_text(builder, table)
    if is_siglip:
        builder.notes.append(
            f"Texts are padded to {reading.config.n_positions} tokens, all of which are read, as in its training; the last one stands for the text."
        )
    else:
        stands = "the end token stands for the text"
        if end_token == "highest id":
            stands = (
                f"the token with the highest id stands for the text, since its eos_token_id is {FORMER_END}"
            )
        builder.notes.append(f"Each token attends to itself and to earlier ones alone; {stands}.")
    return reading


def _is_siglip(values: Mapping[str, Any]) -> bool:
    return str(values.get("model_type")).startswith("siglip")


def _map_attention_pooling(builder: ReadingBuilder) -> None:
    """Maps the tensors of SigLIP's attention pooling: learned query, attention, norm and feed-forward."""
    d_model, pooling = builder.whole_number("hidden_size"), "attention_pooling"
    builder.family[pooling] = True
    builder.map_tensor(f"{pooling}.attention.probe", "head.probe")
    for ours, rows in fused_rows("head.attention.in_proj_", ("w_q", "w_k", "w_v")).items():
        builder.map_rows(f"{pooling}.attention.{ours}", rows, (d_model, d_model))
    builder.map_linear(f"{pooling}.attention.w_o", "head.attention.out_proj")
    builder.map_linear(f"{pooling}.norm", "head.layernorm")
    builder.map_linear(f"{pooling}.feed_forward.expand", "head.mlp.fc1")
    builder.map_linear(f"{pooling}.feed_forward.contract", "head.mlp.fc2")


def _read_projection(builder: ReadingBuilder, layer: str, *, has_bias: bool) -> None:
    """Maps the linear layer named `layer`, which makes the embedding from the pooled state, if it is stored."""
    if (name := builder.output_tensor_name(f"{layer}.weight")) is not None:
        builder.map_output_linear("pooler", layer, has_bias=has_bias)
        builder.family |= {"pooler": "none", "d_pooled": builder.n_output_rows(name)}


def _end_token(builder: ReadingBuilder) -> TokenChoice:
    """The id of the token that ends a text, or "highest id" where config.json holds the number of old versions, 2.

    Raises ValueError if `eos_token_id` in config.json is no id of the vocabulary.
    """
    end_id, vocab_size = builder.value("eos_token_id"), builder.whole_number("vocab_size")
    if type(end_id) is not int or not 0 <= end_id < vocab_size:
        raise ValueError(
            f"config.json has eos_token_id {shortened(end_id)}, which must be the number of one of the {vocab_size:,} tokens"
        )
    return "highest id" if end_id == FORMER_END else end_id
