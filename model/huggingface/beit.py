"""BEiT (Bao et al. 2022) and data2vec for pictures (Baevski et al. 2022), which has its build: a learned bias on the scores by
the rows and columns between two patches, and LayerScale.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..config import ModelConfig, one_size
from ..family_options import Family, Parts
from .output_layers import Outputs, answer_kind
from .tensor_map import LAYER_SCALE, Grid, Layout, OffsetTable, PictureTable, Reading, interpolated_note
from .vit import ATTENTION, BLOCK, CLASS_TOKEN, map_patches, read_picture_input, two_sides
from .weights import Stored

NORMS = {"norm_attention": "layernorm_before", "norm_feed_forward": "layernorm_after"}
BIASED = {name: theirs for name, theirs in ATTENTION.items() if name != "attention.w_k"} | BLOCK
# as transformers names them in memory, and writes them with save_original_format=False
NEWER_BIASED = {
    "attention.w_q": "attention.q_proj",
    "attention.w_v": "attention.v_proj",
    "attention.w_o": "attention.o_proj",
    "feed_forward.expand": "mlp.fc1",
    "feed_forward.contract": "mlp.fc2",
    **NORMS,
}
TABLE = "relative_position_bias_table"
# outputs that are left out: how their tensors' names begin, and what they make
LEFT_OUT = {
    "lm_head.": "Its output that predicts visual tokens of hidden patches is left out.",
    "decode_head.": "Its output that assigns a class to each pixel is left out.",
}


def read(values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None) -> Reading:
    """Configuration and tensor map of one of these encoders; `preprocessor` is the content of preprocessor_config.json, if
    there is one.
    """
    layout = Layout.find(values, stored, CLASS_TOKEN)
    n_layers = layout.n_layers("num_hidden_layers")
    is_newer = layout.has_tensor("layers.0.attention.q_proj.weight")
    blocks = [f"{'layers' if is_newer else 'encoder.layer'}.{layer}" for layer in range(n_layers)]
    sizes = layout.widths(layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads"))
    d_model, patch = sizes.d_model, two_sides(values, "patch_size", 16, square=True)
    has_table = layout.flag("use_absolute_position_embeddings", False)
    learned = two_sides(values, "image_size", 224, square=has_table)
    sides, channels, pixels = read_picture_input(layout, preprocessor, learned, patch)
    grid, learned_grid = Grid.of(sides, patch), Grid.of(learned, patch)
    layout.check_patterns(grid.n_patches + 1, n_layers, sizes.n_heads)
    by_layer = layout.flag("use_relative_position_bias", False)
    is_shared = layout.flag("use_shared_relative_position_bias", False)
    pools_patches = layout.flag("use_mean_pooling", True)
    outputs = _read_outputs(layout)
    has_pooled_norm = pools_patches and layout.has_tensor("pooler.layernorm.weight")
    config = ModelConfig(
        d_model=d_model,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=n_layers,
        d_ff=layout.whole_number("intermediate_size"),
        n_positions=grid.n_patches + 1,
        image_size=one_size(sides),
        patch_size=one_size(patch),
        n_channels=channels,
        norm_placement="pre",
        final_norm=not pools_patches,
        positions="learned" if has_table else "none",
        activation=layout.activation(),
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-12),
        class_names=outputs.class_names,
        family=replace(
            outputs.family,
            name="BEiT" if values.get("model_type") == "beit" else "data2vec-vision",
            pools_patches_alone=pools_patches,
            pooled_norm=has_pooled_norm,
            parts=Parts(grid_bias_by_layer=by_layer, grid_bias_shared=is_shared, without_bias=("w_k",)),
            pixels=pixels,
        ),
    )
    map_patches(layout, config, "embeddings.patch_embeddings.projection")
    if has_table:
        layout.map_table(
            "embedding.position_table",
            "embeddings.position_embeddings",
            (1, 1 + learned_grid.n_patches, d_model),
            PictureTable(n_special=1, stored=learned_grid, read=grid),
        )
    _map_bias_tables(layout, config, blocks, OffsetTable(learned_grid, grid))
    layout.map_blocks(blocks, NEWER_BIASED if is_newer else BIASED)
    key = "attention.k_proj" if is_newer else ATTENTION["attention.w_k"]
    layout.map_blocks(blocks, {"attention.w_k": key}, bias=False)
    if layout.real_number("layer_scale_init_value", 0.1) > 0:
        for layer, block in enumerate(blocks):
            layout.map_scale(f"blocks.{layer}.attention.w_o", f"{block}.lambda_1", d_model)
            layout.map_scale(f"blocks.{layer}.feed_forward.contract", f"{block}.lambda_2", d_model)
        layout.notes.append(LAYER_SCALE)
    if config.final_norm:
        layout.map_linear("final_norm", "layernorm")
    if has_pooled_norm:
        layout.map_linear("pooler_norm", "pooler.layernorm")
    if grid != learned_grid and (has_table or by_layer or is_shared):
        tables = " and ".join(
            name
            for name, is_there in (
                ("position vectors", has_table),
                ("biases by offset", by_layer or is_shared),
            )
            if is_there
        )
        layout.notes.append(interpolated_note(tables, learned, sides))
    layout.notes += [
        note for start, note in LEFT_OUT.items() if any(name.startswith(start) for name in stored.shapes)
    ]
    return layout.reading(config)


def _map_bias_tables(layout: Layout, config: ModelConfig, blocks: list[str], table: OffsetTable) -> None:
    """Maps the tables of biases by offset, of each layer and of all layers."""
    parts, is_newer = config.family.parts, blocks[0].startswith("layers")
    shape = (table.n_stored_offsets + table.n_special, config.n_heads)
    for layer, block in enumerate(blocks if parts.grid_bias_by_layer else []):
        theirs = (
            f"{block}.relative_position_bias"
            if is_newer
            else f"{block}.attention.attention.relative_position_bias"
        )
        layout.map_table(f"blocks.{layer}.attention.scores.own.table", f"{theirs}.{TABLE}", shape, table)
    if parts.grid_bias_shared:
        theirs = "shared_position_bias" if is_newer else "encoder.relative_position_bias"
        layout.map_table("shared_grid_bias.table", f"{theirs}.{TABLE}", shape, table)


def _read_outputs(layout: Layout) -> Outputs:
    name = layout.output_tensor_name("classifier.weight")
    if name is None:
        return Outputs()
    n_classes = layout.n_output_rows(name)
    layout.map_output_linear("classifier", "classifier")
    return Outputs(
        class_names=layout.class_labels(n_classes), family=Family(answers=answer_kind(layout, n_classes))
    )
