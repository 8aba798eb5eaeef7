"""ViT (Dosovitskiy et al. 2021), and encoders of pictures with the same blocks.

DeiT (Touvron et al. 2021) has a distillation token after the class token, I-JEPA (Assran et al. 2023) no class token; ViT-MAE is by
He et al. 2022. DINOv2 (Oquab et al. 2023) has LayerScale, and registers since Darcet et al. 2024; DINOv3 (Siméoni et al. 2025) has
rotary positions by row and column. BEiT (Bao et al. 2022) and data2vec for pictures (Baevski et al. 2022) add a learned bias to the
scores, by the number of rows and columns between two patches.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any, NamedTuple

from ..config import MOST_PATTERNS_OF_PICTURE, one_size
from ..family_options import NO_PARTS, LinearMap, Parts, Pixels
from ..inputs.picture_file import LARGEST_SIDE, picture_sides, read_pixel_settings
from .family_table import FamilyTable, reading_with_blocks, rotary
from .output_layers import read_classifier
from .tensor_map import (
    FULLY_CONNECTED,
    GATED,
    Grid,
    OffsetTable,
    PositionTable,
    Reading,
    ReadingBuilder,
    Rows,
    fused_rows,
)
from .weights import Stored

Preprocessor = Mapping[str, Any] | None  # the content of preprocessor_config.json, if there is one
VIT = FamilyTable(
    name="ViT",
    known_tensor="embeddings.cls_token",
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
IJEPA = replace(VIT, name="I-JEPA", known_tensor="embeddings.position_embeddings", class_token=None)
# The names that transformers has in memory, and writes with save_original_format=False.
IN_MEMORY = {f"attention.w_{letter}": f"attention.{letter}_proj" for letter in "qkvo"}
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
    **fused_rows("mlp.weights_in.", ("feed_forward.expand", "feed_forward.gate")),
    "feed_forward.contract": "mlp.weights_out",
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


class PictureSizes(NamedTuple):
    """Sizes of the pictures that an encoder reads, and of their patches; all sides are (height, width) in pixels."""

    sides: tuple[int, int]
    learned_sides: tuple[int, int]  # for which the tables of positions were learned
    patch_sides: tuple[int, int]
    n_channels: int
    pixels: Pixels

    @property
    def grid(self) -> Grid:
        """Rows and columns of patches in the pictures that are read."""
        return Grid.of(self.sides, self.patch_sides)

    @property
    def learned_grid(self) -> Grid:
        """Rows and columns of patches for which the positions were learned."""
        return Grid.of(self.learned_sides, self.patch_sides)


def read_picture_sizes(
    builder: ReadingBuilder, table: FamilyTable, preprocessor: Preprocessor, *, any_size: bool = True
) -> PictureSizes:
    """Sizes of the pictures that an encoder reads: those in `preprocessor` if it can read `any_size`, else those of its training.

    `preprocessor` is the content of preprocessor_config.json. Pixels at the edge that make no whole patch are not read, which a
    note says. Raises ValueError for invalid values.
    """
    patch, learned = (
        sides_from_config(builder, name, square=name in table.squares)
        for name in ("patch_size", "image_size")
    )
    channels = builder.whole_number("num_channels", 3)
    if channels not in (1, 3):
        raise ValueError(
            f"config.json has num_channels {channels}; supported are 1 (greyscale) and 3 (colour)"
        )
    pixels, note = read_pixel_settings(preprocessor, channels)
    builder.notes += [note] if note else []
    sides = picture_sides(preprocessor, learned) if any_size else learned
    for height, width in (sides, learned):
        if height < patch[0] or width < patch[1]:
            raise ValueError(
                f"pictures of {height} × {width} pixels have no patch of {patch[0]} × {patch[1]}"
            )
    remainder = sides[0] % patch[0], sides[1] % patch[1]
    if any(remainder):
        builder.notes.append(_unread_pixels_note(sides, patch))
    whole = sides[0] - remainder[0], sides[1] - remainder[1]
    return PictureSizes(whole, learned, patch, channels, replace(pixels, remainder=one_size(remainder)))


def read_picture_encoder(
    builder: ReadingBuilder, table: FamilyTable, picture: PictureSizes, *, antialias: bool = False
) -> Reading:
    """Configuration and tensor map of an encoder of pictures. Raises ValueError if config.json or tensors do not fit the table.

    With `antialias`, position vectors are smoothed when they are interpolated to fewer patches.
    """
    d_model, n_layers, n_heads, _ = table.sizes(builder)
    n_registers = builder.family.get("n_registers", 0)
    n_special = (table.class_token is not None) + builder.family.get("distillation_token", False)
    n_positions = picture.grid.n_patches + n_special + n_registers
    if (n_weights := n_layers * n_heads * n_positions**2) > MOST_PATTERNS_OF_PICTURE:
        raise ValueError(
            f"{n_positions:,} positions make {n_weights:,} attention weights; at most {MOST_PATTERNS_OF_PICTURE:,} can be shown"
        )
    builder.map_tensor(
        "embedding.patches.weight",
        f"{table.patches}.weight",
        (d_model, picture.n_channels, *picture.patch_sides),
    )
    if table.patch_bias:
        builder.map_tensor("embedding.patches.bias", f"{table.patches}.bias")
    else:
        builder.zeros.append("embedding.patches.bias")
    if table.class_token is not None:
        builder.map_tensor("embedding.class_token", table.class_token)
    if n_registers:
        builder.map_tensor("embedding.registers", "embeddings.register_tokens")
    if table.positions is not None:
        grids = PositionTable(n_special, picture.learned_grid, picture.grid, n_registers, antialias)
        shape = (n_special + grids.stored_grid.n_patches, d_model)
        builder.map_tensor("embedding.position_table", table.positions, shape, table=grids)
    builder.family["pixels"] = picture.pixels
    fields = {
        "n_positions": n_positions,
        "image_size": one_size(picture.sides),
        "patch_size": one_size(picture.patch_sides),
        "n_channels": picture.n_channels,
        "norm_placement": "pre",
        "positions": "none" if table.positions is None else "learned",
        "pooling": "mean" if table.class_token is None else "class",
    }
    reading, parts = reading_with_blocks(builder, table, fields), builder.family.get("parts", NO_PARTS)
    tables = ["position vectors"] * (table.positions is not None)
    tables += ["biases by offset"] * (parts.grid_bias_by_layer or parts.grid_bias_shared)
    if tables and picture.grid != picture.learned_grid:
        (height, width), (read_height, read_width) = picture.learned_sides, picture.sides
        builder.notes.append(
            f"Its {' and '.join(tables)} were learned for {height} × {width} pixels, and are interpolated to {read_height} × {read_width}."
        )
    return reading


def sides_from_config(builder: ReadingBuilder, name: str, *, square: bool) -> tuple[int, int]:
    """Height and width, in pixels, which config.json has under `name` as two numbers, or as one for both.

    Raises ValueError for other values, and if `square` for two sides that differ.
    """
    value = builder.value(name)
    sides = [value, value] if type(value) is int else value
    if (
        not isinstance(sides, list)
        or len(sides) != 2
        or not all(type(side) is int and 1 <= side <= LARGEST_SIDE for side in sides)
        or (square and sides[0] != sides[1])
    ):
        kind = "the side of a square" if square else "height and width, or the side of a square"
        raise ValueError(
            f"config.json has {name} {shortened(value)}, which must be {kind}, up to {LARGEST_SIDE:,} pixels"
        )
    return sides[0], sides[1]


def _unread_pixels_note(sides: tuple[int, int], patch: tuple[int, int]) -> str:
    """Sentence on the pixels of pictures of these `sides` that make no whole patch."""
    (height, width), (patch_height, patch_width) = sides, patch
    rows, columns = height % patch_height, width % patch_width
    if one_size(sides) == height and patch_height == patch_width:
        return f"Patches of {patch_height} pixels do not fill {height}: the last {rows} rows and columns of pixels are not read."
    return (
        f"Patches of {patch_height} × {patch_width} pixels do not fill {height} × {width}: the last {rows} rows and {columns} "
        "columns of pixels are not read."
    )


def read_vit(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor) -> Reading:
    """Configuration and tensor map of a ViT, DeiT, ViT-MAE or I-JEPA, from the `values` in its config.json."""
    model_type = str(values.get("model_type"))
    table = IJEPA if model_type == "ijepa" else VIT
    builder = table.builder(values, stored)
    is_distilled = builder.has_tensor("embeddings.distillation_token")
    if is_distilled:
        builder.family |= {"name": "DeiT", "distillation_token": True}
        builder.map_tensor("embedding.distillation_token", "embeddings.distillation_token")
    if builder.output_tensor_name("classifier.weight"):
        read_classifier(builder)
    elif builder.output_tensor_name("cls_classifier.weight"):
        read_classifier(builder, "cls_classifier")
        builder.map_output_linear("second_classifier", "distillation_classifier")
        builder.family["two_classifiers"] = True
    elif table.class_token is not None and builder.has_tensor("pooler.dense.weight"):
        builder.map_linear("pooler", "pooler.dense")
        builder.family["pooler"] = "tanh"
    builder.family["parts"] = Parts(without_bias=_qkv_without_bias(builder))
    picture = read_picture_sizes(builder, table, preprocessor, any_size=False)
    if model_type == "vit_mae":
        builder.family["name"] = "ViT-MAE"
        builder.notes.append(
            "In training most patches were hidden; here all are read, and the decoder is left out."
        )
    return read_picture_encoder(builder, table, picture)


def _qkv_without_bias(builder: ReadingBuilder) -> tuple[LinearMap, ...]:
    """Names of the maps to queries, keys and values if config.json says that they have no bias; else empty."""
    return () if builder.flag("qkv_bias", True) else ("w_q", "w_k", "w_v")


def read_dinov2(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor) -> Reading:
    """Configuration and tensor map of a DINOv2, with or without registers, from the `values` in its config.json."""
    has_registers = values.get("model_type") == "dinov2_with_registers"
    table = WITH_REGISTERS if has_registers else DINOV2
    builder = table.builder(values, stored)
    d_model, is_gated = table.sizes(builder).d_model, builder.flag("use_swiglu_ffn", False)
    ratio = builder.real_number("mlp_ratio", 4.0)
    if not 0 < ratio <= LARGEST_RATIO:
        raise ValueError(f"config.json has mlp_ratio {ratio}, which must be from 0 to {LARGEST_RATIO}")
    d_ff = int(d_model * ratio)
    builder.fields["d_ff"] = (int(d_ff * 2 / 3) + 7) // 8 * 8 if is_gated else d_ff
    block = dict(table.block)
    if builder.has_tensor("encoder.layer.0.attention.q_proj.weight"):
        block |= IN_MEMORY
    if is_gated:
        builder.fields["activation"] = "silu"
        is_split = builder.has_tensor("encoder.layer.0.mlp.gate_proj.weight")
        block.update(GATED if is_split else DINOV2_GATED)
    builder.family["parts"] = Parts(gated=is_gated, without_bias=_qkv_without_bias(builder))
    if has_registers:
        builder.family["n_registers"] = builder.whole_number("num_register_tokens")
    if builder.output_tensor_name("classifier.weight"):
        read_classifier(builder)
        builder.family |= {"pools_patches": True, "d_pooled": 2 * d_model}
    table = replace(table, block=block, activation=None if is_gated else table.activation)
    picture = read_picture_sizes(builder, table, preprocessor)
    return read_picture_encoder(builder, table, picture, antialias=has_registers)


def read_dinov3(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor) -> Reading:
    """Configuration and tensor map of a DINOv3, from the `values` in its config.json."""
    builder, table = DINOV3.builder(values, stored), DINOV3
    if builder.has_tensor("model.layer.0.norm1.weight"):
        table = replace(table, blocks="model.layer")
    sizes = table.sizes(builder)
    if sizes.d_head % 4:
        raise ValueError(
            f"rotary positions on a grid turn pairs of numbers by two coordinates, but each head is {sizes.d_head} wide"
        )
    is_gated = builder.flag("use_gated_mlp", False)
    if is_gated:
        table = replace(table, block={**table.block, **GATED})
    builder.family["n_registers"] = builder.whole_number("num_register_tokens", 0)
    builder.family["parts"] = Parts(
        gated=is_gated,
        rotary=rotary(builder, sizes, on_grid=True),
        without_bias=tuple(
            name
            for name, setting in DINOV3_BIASES.items()
            if not builder.flag(setting, name != "w_k") and (is_gated or name != "gate")
        ),
    )
    return read_picture_encoder(builder, table, read_picture_sizes(builder, table, preprocessor))


def read_beit(values: Mapping[str, Any], stored: Stored, preprocessor: Preprocessor) -> Reading:
    """Configuration and tensor map of a BEiT or data2vec-vision, from the `values` in its config.json."""
    builder, table = BEIT.builder(values, stored), BEIT
    is_in_memory = builder.has_tensor("layers.0.attention.q_proj.weight")
    if is_in_memory:
        table = replace(table, blocks="layers", block={**table.block, **IN_MEMORY, **FULLY_CONNECTED})
    if builder.flag("use_absolute_position_embeddings", False):
        table = replace(table, squares=("patch_size", "image_size"))
    else:
        table = replace(table, positions=None)
    if builder.real_number("layer_scale_init_value", 0.1) <= 0:
        table = replace(table, scales={})
    pools_patches = builder.flag("use_mean_pooling", True)
    if pools_patches:
        table = replace(table, final_norm=None)
    has_pooled_norm = pools_patches and builder.has_tensor("pooler.layernorm.weight")
    if has_pooled_norm:
        builder.map_linear("pooler_norm", "pooler.layernorm")
    if builder.output_tensor_name("classifier.weight"):
        read_classifier(builder)
    builder.family |= {
        "name": "BEiT" if values.get("model_type") == "beit" else table.name,
        "pools_patches_alone": pools_patches,
        "pooled_norm": has_pooled_norm,
        "parts": Parts(
            grid_bias_by_layer=builder.flag("use_relative_position_bias", False),
            grid_bias_shared=builder.flag("use_shared_relative_position_bias", False),
            without_bias=("w_k",),
        ),
    }
    picture = read_picture_sizes(builder, table, preprocessor)
    _map_bias_tables(builder, table, picture, is_in_memory)
    reading = read_picture_encoder(builder, table, picture)
    builder.notes += [
        note for start, note in LEFT_OUT.items() if any(name.startswith(start) for name in stored.shapes)
    ]
    return reading


def _map_bias_tables(
    builder: ReadingBuilder, table: FamilyTable, picture: PictureSizes, is_in_memory: bool
) -> None:
    """Maps BEiT's tables [offset, head] of biases on the scores: one for each layer, one for all layers, or both.

    `is_in_memory` says that the tensors have the names of the modules of `transformers`.
    """
    _, n_layers, n_heads, _ = table.sizes(builder)
    parts, offsets = builder.family["parts"], OffsetTable(picture.learned_grid, picture.grid)
    shape = (offsets.n_stored_offsets + offsets.n_special, n_heads)
    own = "relative_position_bias" if is_in_memory else "attention.attention.relative_position_bias"
    for layer, block in enumerate(table.block_names(n_layers) if parts.grid_bias_by_layer else ()):
        parameter = f"blocks.{layer}.attention.scores.own.table"
        builder.map_tensor(parameter, f"{block}.{own}.{BIAS_TABLE}", shape, table=offsets)
    if parts.grid_bias_shared:
        shared = "shared_position_bias" if is_in_memory else "encoder.relative_position_bias"
        builder.map_tensor("shared_grid_bias.table", f"{shared}.{BIAS_TABLE}", shape, table=offsets)
