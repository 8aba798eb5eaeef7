"""ViT (Dosovitskiy et al. 2021), and encoders of pictures of its build.

DeiT (Touvron et al. 2021) has a distillation token after the class token, I-JEPA (Assran et al. 2023) no class token; ViT-MAE is by
He et al. 2022. DINOv2 (Oquab et al. 2023) has LayerScale, and registers since Darcet et al. 2024; DINOv3 (Siméoni et al. 2025) rotates
queries and keys of patches by row and column. BEiT (Bao et al. 2022) and data2vec for pictures (Baevski et al. 2022) have a learned
bias on the scores by the rows and columns between two patches.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..family_options import LinearMap, Parts
from .family_table import FamilyTable, rotary
from .output_layers import read_classifier
from .picture_table import Picture, read_picture, read_pictures
from .tensor_map import Layout, OffsetTable, Reading, Rows, fused
from .weights import Stored

Preprocessor = Mapping[str, Any] | None  # the content of preprocessor_config.json, if there is one
QKV: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v")
VIT = FamilyTable(
    name="ViT",
    known="embeddings.cls_token",
    positions="embeddings.position_embeddings",
    embedding_norm=None,
    block={
        "attention.w_q": "attention.attention.query",
        "attention.w_k": "attention.attention.key",
        "attention.w_v": "attention.attention.value",
        "attention.w_o": "attention.output.dense",
        "norm_attention": "layernorm_before",
        "feed_forward.expand": "intermediate.dense",
        "feed_forward.contract": "output.dense",
        "norm_feed_forward": "layernorm_after",
    },
    final_norm="layernorm",
)
IJEPA = replace(VIT, name="I-JEPA", known="embeddings.position_embeddings", class_token=None)
# The names that transformers has in memory, and writes with save_original_format=False.
IN_MEMORY = {f"attention.w_{letter}": f"attention.{letter}_proj" for letter in "qkvo"}
FULLY_CONNECTED = {"feed_forward.expand": "mlp.fc1", "feed_forward.contract": "mlp.fc2"}
DINOV2 = replace(
    VIT,
    name="DINOv2",
    d_ff=None,
    defaults={"patch_size": 14, "image_size": 224, "layer_norm_eps": 1e-6},
    block={**VIT.block, **FULLY_CONNECTED, "norm_attention": "norm1", "norm_feed_forward": "norm2"},
    scales={
        "attention.w_o": "layer_scale1.lambda1",
        "feed_forward.contract": "layer_scale2.lambda1",
    },
    squares=("patch_size", "image_size"),
)
WITH_REGISTERS = replace(
    DINOV2,
    name="DINOv2 with registers",
    defaults={**DINOV2.defaults, "patch_size": 16, "num_register_tokens": 4},
)
DINOV2_GATED: Mapping[str, str | Rows] = {
    **fused("mlp.weights_in.", ("feed_forward.expand", "feed_forward.gate")),
    "feed_forward.contract": "mlp.weights_out",
}
GATED: Mapping[str, str | Rows] = {
    "feed_forward.expand": "mlp.gate_proj",
    "feed_forward.gate": "mlp.up_proj",
    "feed_forward.contract": "mlp.down_proj",
}
LARGEST_RATIO = 64  # of the feed-forward's width to d_model
DINOV3 = replace(
    DINOV2,
    name="DINOv3",
    d_ff="intermediate_size",
    defaults={
        "hidden_size": 384,
        "num_attention_heads": 6,
        "intermediate_size": 1536,
        "patch_size": 16,
        "image_size": 224,
        "layer_norm_eps": 1e-5,
        "rope_theta": 100.0,
    },
    positions=None,
    blocks="layer",
    block={
        **DINOV2.block,
        **IN_MEMORY,
        "feed_forward.expand": "mlp.up_proj",
        "feed_forward.contract": "mlp.down_proj",
    },
    final_norm="norm",
    squares=("patch_size",),
    patches="embeddings.patch_embeddings",
)
# the settings that say whether these maps have a bias
DINOV3_BIASES: dict[LinearMap, str] = {
    "w_q": "query_bias",
    "w_k": "key_bias",
    "w_v": "value_bias",
    "w_o": "proj_bias",
    "expand": "mlp_bias",
    "gate": "mlp_bias",
    "contract": "mlp_bias",
}
BEIT = replace(
    VIT,
    name="data2vec-vision",
    defaults={"patch_size": 16, "image_size": 224},
    scales={"attention.w_o": "lambda_1", "feed_forward.contract": "lambda_2"},
    squares=("patch_size",),
)
BIAS_TABLE = "relative_position_bias_table"
# outputs of BEiT that are left out: how their tensors' names begin, and what they make
LEFT_OUT = {
    "lm_head.": "Its output that predicts visual tokens of hidden patches is left out.",
    "decode_head.": "Its output that assigns a class to each pixel is left out.",
}


def read_vit(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor = None) -> Reading:
    model_type = str(values.get("model_type"))
    table = IJEPA if model_type == "ijepa" else VIT
    layout = table.layout(values, stored)
    is_distilled = layout.has_tensor("embeddings.distillation_token")
    if is_distilled:
        layout.family |= {"name": "DeiT", "distillation_token": True}
        layout.map_tensor("embedding.distillation_token", "embeddings.distillation_token")
    if layout.output_tensor_name("classifier.weight"):
        read_classifier(layout)
    elif layout.output_tensor_name("cls_classifier.weight"):
        read_classifier(layout, "cls_classifier")
        layout.map_output_linear("second_classifier", "distillation_classifier")
        layout.family["two_classifiers"] = True
    elif table.class_token is not None and layout.has_tensor("pooler.dense.weight"):
        layout.map_linear("pooler", "pooler.dense")
        layout.family["pooler"] = "tanh"
    _set_parts(layout)
    picture = read_picture(layout, table, preprocessor, any_size=False)
    if model_type == "vit_mae":
        layout.family["name"] = "ViT-MAE"
        layout.notes.append(
            "In training most patches were hidden; here all are read, and the decoder is left out."
        )
    return read_pictures(layout, table, picture)


def _set_parts(layout: Layout, **parts: Any) -> None:
    layout.family["parts"] = Parts(without_bias=() if layout.flag("qkv_bias", True) else QKV, **parts)


def read_dinov2(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor = None) -> Reading:
    has_registers = values.get("model_type") == "dinov2_with_registers"
    table = WITH_REGISTERS if has_registers else DINOV2
    layout = table.layout(values, stored)
    d_model, is_gated = table.sizes(layout).d_model, layout.flag("use_swiglu_ffn", False)
    ratio = layout.real_number("mlp_ratio", 4.0)
    if not 0 < ratio <= LARGEST_RATIO:
        raise ValueError(f"config.json has mlp_ratio {ratio}, which must be from 0 to {LARGEST_RATIO}")
    d_ff = int(d_model * ratio)
    layout.fields["d_ff"] = (int(d_ff * 2 / 3) + 7) // 8 * 8 if is_gated else d_ff
    block = dict(table.block)
    if layout.has_tensor("encoder.layer.0.attention.q_proj.weight"):
        block |= IN_MEMORY
    if is_gated:
        layout.fields["activation"] = "silu"
        is_split = layout.has_tensor("encoder.layer.0.mlp.gate_proj.weight")
        block.update(GATED if is_split else DINOV2_GATED)
    _set_parts(layout, gated=is_gated)
    if has_registers:
        layout.family["n_registers"] = layout.whole_number("num_register_tokens")
    if layout.output_tensor_name("classifier.weight"):
        read_classifier(layout)
        layout.family |= {"pools_patches": True, "d_pooled": 2 * d_model}
    table = replace(table, block=block, activation=None if is_gated else table.activation)
    picture = read_picture(layout, table, preprocessor)
    return read_pictures(layout, table, picture, antialias=has_registers)


def read_dinov3(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor = None) -> Reading:
    layout, table = DINOV3.layout(values, stored), DINOV3
    if layout.has_tensor("model.layer.0.norm1.weight"):
        table = replace(table, blocks="model.layer")
    sizes = table.sizes(layout)
    if sizes.d_head % 4:
        raise ValueError(
            f"rotary positions on a grid turn pairs of numbers by two coordinates, but each head is {sizes.d_head} wide"
        )
    is_gated = layout.flag("use_gated_mlp", False)
    if is_gated:
        table = replace(table, block={**table.block, **GATED})
    layout.family["n_registers"] = layout.whole_number("num_register_tokens", 0)
    layout.family["parts"] = Parts(
        gated=is_gated,
        rotary=rotary(layout, sizes, on_grid=True),
        without_bias=tuple(
            name
            for name, setting in DINOV3_BIASES.items()
            if not layout.flag(setting, name != "w_k") and (is_gated or name != "gate")
        ),
    )
    return read_pictures(layout, table, read_picture(layout, table, preprocessor))


def read_beit(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor = None) -> Reading:
    layout, table = BEIT.layout(values, stored), BEIT
    is_in_memory = layout.has_tensor("layers.0.attention.q_proj.weight")
    if is_in_memory:
        table = replace(table, blocks="layers", block={**table.block, **IN_MEMORY, **FULLY_CONNECTED})
    if layout.flag("use_absolute_position_embeddings", False):
        table = replace(table, squares=("patch_size", "image_size"))
    else:
        table = replace(table, positions=None)
    if layout.real_number("layer_scale_init_value", 0.1) <= 0:
        table = replace(table, scales={})
    pools_patches = layout.flag("use_mean_pooling", True)
    if pools_patches:
        table = replace(table, final_norm=None)
    has_pooled_norm = pools_patches and layout.has_tensor("pooler.layernorm.weight")
    if has_pooled_norm:
        layout.map_linear("pooler_norm", "pooler.layernorm")
    if layout.output_tensor_name("classifier.weight"):
        read_classifier(layout)
    layout.family |= {
        "name": "BEiT" if values.get("model_type") == "beit" else table.name,
        "pools_patches_alone": pools_patches,
        "pooled_norm": has_pooled_norm,
        "parts": Parts(
            grid_bias_by_layer=layout.flag("use_relative_position_bias", False),
            grid_bias_shared=layout.flag("use_shared_relative_position_bias", False),
            without_bias=("w_k",),
        ),
    }
    picture = read_picture(layout, table, preprocessor)
    _map_bias_tables(layout, table, picture, is_in_memory)
    reading = read_pictures(layout, table, picture)
    layout.notes += [
        note for start, note in LEFT_OUT.items() if any(name.startswith(start) for name in stored.shapes)
    ]
    return reading


def _map_bias_tables(layout: Layout, table: FamilyTable, picture: Picture, is_in_memory: bool) -> None:
    """Maps BEiT's tables of biases by offset, of each layer and of all layers."""
    _, n_layers, n_heads, _ = table.sizes(layout)
    parts, offsets = layout.family["parts"], OffsetTable(picture.learned_grid, picture.grid)
    shape = (offsets.n_stored_offsets + offsets.n_special, n_heads)
    own = "relative_position_bias" if is_in_memory else "attention.attention.relative_position_bias"
    for layer, block in enumerate(table.block_names(n_layers) if parts.grid_bias_by_layer else ()):
        layout.map_table(
            f"blocks.{layer}.attention.scores.own.table", f"{block}.{own}.{BIAS_TABLE}", shape, offsets
        )
    if parts.grid_bias_shared:
        shared = "shared_position_bias" if is_in_memory else "encoder.relative_position_bias"
        layout.map_table("shared_grid_bias.table", f"{shared}.{BIAS_TABLE}", shape, offsets)
