"""The two encoders of CLIP (Radford et al. 2021), of pictures and of texts, and those of SigLIP (Zhai et al. 2023), of the same build.

Both have pre-LN blocks. CLIP's encoder of texts has a causal mask, and the state of its end token stands for the text; in its
encoder of pictures the class token does so. SigLIP's encoders see everything; there the text's last token stands for it, and
the picture is pooled by a learned query that attends to all patches.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig, one_size
from ..family_options import Family, Parts, TokenChoice
from .output_layers import answer_kind
from .tensor_map import Grid, Layout, PictureTable, Reading, Source, interpolated_note
from .vit import read_picture_input, two_sides
from .weights import Stored

PATCHES, TOKENS = "embeddings.patch_embedding.weight", "embeddings.token_embedding.weight"
BLOCK = {
    "attention.w_q": "self_attn.q_proj",
    "attention.w_k": "self_attn.k_proj",
    "attention.w_v": "self_attn.v_proj",
    "attention.w_o": "self_attn.out_proj",
    "norm_attention": "layer_norm1",
    "feed_forward.expand": "mlp.fc1",
    "feed_forward.contract": "mlp.fc2",
    "norm_feed_forward": "layer_norm2",
}
# What `transformers` takes where config.json is silent, which it often is.
CLIP_SIZES = {
    "num_hidden_layers": 12,
    "max_position_embeddings": 77,
    "vocab_size": 49408,
    "image_size": 224,
    "patch_size": 32,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
    "eos_token_id": 49407,
}
CLIP_PICTURES = CLIP_SIZES | {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
CLIP_TEXTS = CLIP_SIZES | {"hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8}
SIGLIP = CLIP_PICTURES | {
    "max_position_embeddings": 64,
    "vocab_size": 32000,
    "patch_size": 16,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
}
# the settings of pictures that preprocessor_config.json leaves out
PREPROCESSOR = {"resample": 3, "size": {"shortest_edge": 224}}
CLIP_PREPROCESSOR = PREPROCESSOR | {
    "do_center_crop": True,
    "crop_size": 224,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
SIGLIP_PREPROCESSOR = PREPROCESSOR | {"size": {"height": 224, "width": 224}}
# a config.json from before 2023 has this number, whatever the end token is
FORMER_END = 2


def read_pictures(
    values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None
) -> Reading:
    """Configuration and tensor map of an encoder of pictures; `preprocessor` is the content of preprocessor_config.json, if
    there is one.
    """
    is_siglip = str(values.get("model_type")).startswith("siglip")
    layout = Layout.find(_with_defaults(values, SIGLIP if is_siglip else CLIP_PICTURES), stored, PATCHES)
    has_class_token = not is_siglip
    layers, sizes = _layer_names(layout), _sizes(layout)
    patch, learned = (two_sides(layout.values, name, square=True) for name in ("patch_size", "image_size"))
    if preprocessor is not None:
        preprocessor = _whole_preprocessor(preprocessor, is_siglip)
    sides, channels, pixels = read_picture_input(layout, preprocessor, learned, patch)
    table = PictureTable(
        n_special=has_class_token, stored=Grid.of(learned, patch), read=Grid.of(sides, patch)
    )
    if not table.stored.n_patches:
        raise ValueError(
            f"pictures of {learned[0]} × {learned[1]} pixels have no patch of {patch[0]} × {patch[1]}"
        )
    n_positions = table.read.n_patches + has_class_token
    layout.check_patterns(n_positions, len(layers), sizes["n_heads"])
    class_names, family = _read_picture_output(layout, is_siglip)
    has_final_norm = is_siglip or not class_names
    config = ModelConfig(
        **sizes,
        n_layers=len(layers),
        n_positions=n_positions,
        image_size=one_size(sides),
        patch_size=one_size(patch),
        n_channels=channels,
        norm_placement="pre",
        final_norm=has_final_norm,
        embedding_norm=not is_siglip,
        positions="learned",
        pooling="class" if has_class_token else "mean",
        activation=layout.activation(),
        class_names=class_names,
        family=replace(
            family,
            name="SigLIP vision" if is_siglip else "CLIP vision",
            pixels=pixels,
        ),
    )
    _map_picture_embedding(layout, config, table)
    layout.map_blocks(layers, BLOCK)
    if has_final_norm:
        layout.map_linear("final_norm", "post_layernorm")
    if table.read != table.stored:
        layout.notes.append(interpolated_note("position vectors", learned, sides))
    layout.notes += _notes_about_pooling(config)
    return layout.reading(config)


def read_texts(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of an encoder of texts."""
    is_siglip = str(values.get("model_type")).startswith("siglip")
    layout = Layout.find(_with_defaults(values, SIGLIP if is_siglip else CLIP_TEXTS), stored, TOKENS)
    layers, sizes = _layer_names(layout), _sizes(layout)
    n_stored, vocab_size = (layout.whole_number(name) for name in ("max_position_embeddings", "vocab_size"))
    config = ModelConfig(
        **sizes,
        n_layers=len(layers),
        n_positions=layout.n_positions(n_stored, len(layers), sizes["n_heads"]),
        vocab_size=vocab_size,
        norm_placement="pre",
        final_norm=True,
        positions="learned",
        pooling="mean",
        activation=layout.activation(),
        family=Family(
            name="SigLIP text" if is_siglip else "CLIP text",
            pools_token="last" if is_siglip else _end_token(layout, vocab_size),
            padded=is_siglip,
            parts=Parts(causal=not is_siglip),
            **_read_projection(layout, "head" if is_siglip else "text_projection", bias=is_siglip),
        ),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    position_shape = (n_stored, config.d_model)
    layout.map_tensor("embedding.position_table", "embeddings.position_embedding.weight", position_shape)
    layout.map_blocks(layers, BLOCK)
    layout.map_linear("final_norm", "final_layer_norm")
    if is_siglip:
        layout.notes.append(
            f"Texts are padded to {config.n_positions} tokens, all of which are read, as in its training; the last one stands for the text."
        )
    else:
        stands = "the end token stands for the text"
        if config.family.pools_token == "highest id":
            stands = (
                f"the token with the highest id stands for the text, since its eos_token_id is {FORMER_END}"
            )
        layout.notes.append(f"Each token attends to itself and to earlier ones alone; {stands}.")
    return layout.reading(config)


def _with_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {**defaults, **{name: value for name, value in values.items() if value is not None}}


def _layer_names(layout: Layout) -> list[str]:
    return [f"encoder.layers.{layer}" for layer in range(layout.n_layers("num_hidden_layers"))]


def _sizes(layout: Layout) -> dict[str, Any]:
    """The fields of `ModelConfig` that config.json says in the same way for pictures and texts."""
    widths = layout.widths(layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads"))
    return {
        "d_model": widths.d_model,
        "n_heads": widths.n_heads,
        "d_k": widths.d_head,
        "d_v": widths.d_head,
        "d_ff": layout.whole_number("intermediate_size"),
        "layer_norm_eps": layout.real_number("layer_norm_eps", 1e-5),
    }


def _whole_preprocessor(values: Mapping[str, Any], is_siglip: bool) -> dict[str, Any]:
    """The content of preprocessor_config.json with what `transformers` takes for the settings that it leaves out.

    A size that is one number is that of the shorter side.
    """
    settings = {**(SIGLIP_PREPROCESSOR if is_siglip else CLIP_PREPROCESSOR), **values}
    if type(size := settings["size"]) is int:
        settings["size"] = {"shortest_edge": size}
    return settings


def _map_picture_embedding(layout: Layout, config: ModelConfig, table: PictureTable) -> None:
    d_model = config.d_model
    layout.map_tensor("embedding.patches.weight", PATCHES, (d_model, config.n_channels, *config.patch_sides))
    if table.n_special:
        layout.map_tensor("embedding.class_token", "embeddings.class_embedding", (d_model,))
        layout.map_linear("embedding.norm", "pre_layrnorm")  # so it is spelled
        layout.zeros.append("embedding.patches.bias")
    else:
        layout.map_tensor("embedding.patches.bias", "embeddings.patch_embedding.bias")
    layout.sources["embedding.position_table"] = Source(
        f"{layout.prefix}embeddings.position_embedding.weight",
        (table.n_special + table.stored.n_patches, d_model),
        table=table,
    )


def _read_picture_output(layout: Layout, is_siglip: bool) -> tuple[tuple[str, ...], Family]:
    """Names of the classes, and what comes behind the blocks: a classifier of the patches' mean, or an embedding."""
    if (name := layout.output_tensor_name("classifier.weight")) is not None:
        n_classes = layout.n_output_rows(name)
        layout.map_output_linear("classifier", "classifier")
        family = Family(answers=answer_kind(layout, n_classes), pools_patches_alone=not is_siglip)
        return layout.class_labels(n_classes), family
    if not is_siglip:
        return (), Family(**_read_projection(layout, "visual_projection"))
    if not layout.has_tensor("head.probe"):
        return (), Family()
    _map_attention_pooling(layout)
    return (), Family(attention_pooling=True)


def _map_attention_pooling(layout: Layout) -> None:
    d_model = layout.whole_number("hidden_size")
    layout.map_tensor("attention_pooling.attention.probe", "head.probe", (1, 1, d_model))
    for part, name in enumerate("qkv"):
        for parameter, columns in (("weight", (d_model,)), ("bias", ())):
            layout.map_tensor(
                f"attention_pooling.attention.w_{name}.{parameter}",
                f"head.attention.in_proj_{parameter}",
                (3 * d_model, *columns),
                part * d_model,
            )
    for ours, theirs in (
        ("attention.w_o", "attention.out_proj"),
        ("norm", "layernorm"),
        ("feed_forward.expand", "mlp.fc1"),
        ("feed_forward.contract", "mlp.fc2"),
    ):
        layout.map_linear(f"attention_pooling.{ours}", f"head.{theirs}")


def _read_projection(layout: Layout, layer: str, *, bias: bool = False) -> dict[str, Any]:
    """Fields of `Family` for the linear layer behind pooling, which makes the embedding; none if it is not stored."""
    if (name := layout.output_tensor_name(f"{layer}.weight")) is None:
        return {}
    layout.map_output_linear("pooler", layer, bias=bias)
    return {"pooler": "none", "d_pooled": layout.n_output_rows(name)}


def _end_token(layout: Layout, vocab_size: int) -> TokenChoice:
    """Which token of a text is its end. Raises ValueError unless config.json says a token of the vocabulary."""
    end_id = layout.values["eos_token_id"]
    if type(end_id) is not int or not 0 <= end_id < vocab_size:
        raise ValueError(
            f"config.json has eos_token_id {shortened(end_id)}, which must be the number of one of the {vocab_size:,} tokens"
        )
    return "highest id" if end_id == FORMER_END else end_id


def _notes_about_pooling(config: ModelConfig) -> list[str]:
    if config.family.attention_pooling:
        return [
            "The embedding is read by a learned query that attends to all patches (attention pooling). That attention belongs "
            "to no layer and is not shown; the library returns it: activations(encoder, [picture], "
            '["attention_pooling.attention.pattern"]).'
        ]
    if config.embedding_norm and config.final_norm:
        return [
            "Its last norm belongs to the class token alone: in the original, the states of the patches are handed on without it."
        ]
    return []
