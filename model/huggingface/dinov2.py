"""DINOv2 (Oquab et al. 2023), without and with registers (Darcet et al. 2024): LayerScale, and a table of positions that is
interpolated for pictures of another size.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..config import ModelConfig, one_size
from ..family_options import NO_PARTS, Family, Parts
from ..inputs.resize import picture_sides, read_pixel_settings
from .output_layers import Outputs, answer_kind
from .tensor_map import LAYER_SCALE, Grid, Layout, PictureTable, Reading, interpolated_note
from .vit import ATTENTION, CLASS_TOKEN, map_patches, read_channels, two_sides
from .weights import Stored

NORMS = {"norm_attention": "norm1", "norm_feed_forward": "norm2"}
ATTENTION_OUTPUT = {"attention.w_o": "attention.output.dense"}
# as transformers names them in memory, and writes them with save_original_format=False
NEWER_ATTENTION = {f"attention.w_{part}": f"attention.{part}_proj" for part in "qkv"}
NEWER_OUTPUT = {"attention.w_o": "attention.o_proj"}
PLAIN = {"feed_forward.expand": "mlp.fc1", "feed_forward.contract": "mlp.fc2"}
LARGEST_RATIO = 64  # of the feed-forward's width to d_model


def read(values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None) -> Reading:
    """Configuration and tensor map of a DINOv2; `preprocessor` is the content of preprocessor_config.json, if there is one."""
    layout = Layout.find(values, stored, CLASS_TOKEN)
    has_registers = values.get("model_type") == "dinov2_with_registers"
    blocks = [f"encoder.layer.{layer}" for layer in range(layout.n_layers("num_hidden_layers"))]
    sizes = layout.widths(layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads"))
    d_model = sizes.d_model
    patch = two_sides(values, "patch_size", 16 if has_registers else 14, square=True)
    learned = two_sides(values, "image_size", 224, square=True)
    image = picture_sides(preprocessor, learned)
    channels = read_channels(layout)
    n_registers = layout.whole_number("num_register_tokens", 4) if has_registers else 0
    pixel_norm, note = read_pixel_settings(preprocessor, channels)
    layout.notes += [note] if note else []
    table = PictureTable(
        n_special=1,
        stored=Grid.of(learned, patch),
        read=Grid.of(image, patch),
        n_registers=n_registers,
        antialias=has_registers,
    )
    n_positions = table.read.n_patches + 1 + n_registers
    layout.check_patterns(n_positions, len(blocks), sizes.n_heads)
    is_gated, biases = layout.flag("use_swiglu_ffn", False), layout.flag("qkv_bias", True)
    outputs = _read_outputs(layout, d_model)
    parts = NO_PARTS if biases else Parts(without_bias=("w_q", "w_k", "w_v"))
    config = ModelConfig(
        d_model=d_model,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=len(blocks),
        d_ff=_feed_forward_width(layout, d_model, is_gated),
        n_positions=n_positions,
        image_size=one_size(image),
        patch_size=one_size(patch),
        n_channels=channels,
        norm_placement="pre",
        final_norm=True,
        positions="learned",
        activation="silu" if is_gated else layout.activation(),
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-6),
        class_names=outputs.class_names,
        family=replace(
            outputs.family,
            name="DINOv2 with registers" if has_registers else "DINOv2",
            n_registers=n_registers,
            parts=replace(parts, gated=is_gated),
            pixels=pixel_norm,
        ),
    )
    _map_embedding(layout, config, table)
    is_newer = layout.has_tensor(f"{blocks[0]}.attention.q_proj.weight")
    layout.map_blocks(blocks, NEWER_ATTENTION if is_newer else ATTENTION, bias=biases)
    layout.map_blocks(blocks, NORMS | (NEWER_OUTPUT if is_newer else ATTENTION_OUTPUT))
    for layer, block in enumerate(blocks):
        layout.map_scale(f"blocks.{layer}.attention.w_o", f"{block}.layer_scale1.lambda1", d_model)
        layout.map_scale(f"blocks.{layer}.feed_forward.contract", f"{block}.layer_scale2.lambda1", d_model)
        if is_gated:
            _map_gated(layout, f"blocks.{layer}.feed_forward", f"{block}.mlp", config)
    if not is_gated:
        layout.map_blocks(blocks, PLAIN)
    layout.map_linear("final_norm", "layernorm")
    layout.notes.append(LAYER_SCALE)
    if table.read != table.stored:
        layout.notes.append(interpolated_note("position vectors", learned, image))
    return layout.reading(config)


def _map_embedding(layout: Layout, config: ModelConfig, table: PictureTable) -> None:
    d_model = config.d_model
    map_patches(layout, config, "embeddings.patch_embeddings.projection")
    if table.n_registers:
        shape = (1, table.n_registers, d_model)
        layout.map_tensor("embedding.registers", "embeddings.register_tokens", shape)
    table_shape = (1, table.n_special + table.stored.n_patches, d_model)
    layout.map_table("embedding.position_table", "embeddings.position_embeddings", table_shape, table)


def _feed_forward_width(layout: Layout, d_model: int, is_gated: bool) -> int:
    ratio = layout.real_number("mlp_ratio", 4.0)
    if not 0 < ratio <= LARGEST_RATIO:
        raise ValueError(f"config.json has mlp_ratio {ratio}, which must be from 0 to {LARGEST_RATIO}")
    width = int(d_model * ratio)
    return (int(width * 2 / 3) + 7) // 8 * 8 if is_gated else width


def _map_gated(layout: Layout, ours: str, theirs: str, config: ModelConfig) -> None:
    """Maps a gated feed-forward, whose two maps are stored as one, or by newer names as two."""
    if layout.has_tensor(f"{theirs}.gate_proj.weight"):
        for part, name in (("expand", "gate_proj"), ("gate", "up_proj"), ("contract", "down_proj")):
            layout.map_linear(f"{ours}.{part}", f"{theirs}.{name}")
        return
    for index, part in enumerate(("expand", "gate")):
        layout.map_rows(f"{ours}.{part}", f"{theirs}.weights_in", index, 2, (config.d_ff, config.d_model))
    layout.map_linear(f"{ours}.contract", f"{theirs}.weights_out")


def _read_outputs(layout: Layout, d_model: int) -> Outputs:
    name = layout.output_tensor_name("classifier.weight")
    if name is None:
        return Outputs()
    n_classes = layout.n_output_rows(name)
    layout.map_output_linear("classifier", "classifier")
    family = Family(answers=answer_kind(layout, n_classes), pools_patches=True, d_pooled=2 * d_model)
    return Outputs(class_names=layout.class_labels(n_classes), family=family)
