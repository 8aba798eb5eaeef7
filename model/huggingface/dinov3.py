"""DINOv3 (Siméoni et al. 2025): queries and keys of patches are rotated by row and column, LayerScale, registers, and in larger
ones a gated feed-forward.
"""

from collections.abc import Mapping
from typing import Any

from ..config import ModelConfig, one_size
from ..family_options import Family, LinearMap, Parts, Rotary
from .rotary_settings import rotary_base
from .tensor_map import LAYER_SCALE, Grid, Layout, Reading
from .vit import CLASS_TOKEN, map_patches, read_picture_input, two_sides
from .weights import Stored

NORMS = {"norm_attention": "norm1", "norm_feed_forward": "norm2"}
# name of each linear map in the file, and of the setting that says whether it has a bias
ATTENTION: dict[LinearMap, tuple[str, str]] = {
    "w_q": ("q_proj", "query_bias"),
    "w_k": ("k_proj", "key_bias"),
    "w_v": ("v_proj", "value_bias"),
    "w_o": ("o_proj", "proj_bias"),
}
PLAIN: dict[LinearMap, str] = {"expand": "up_proj", "contract": "down_proj"}
GATED: dict[LinearMap, str] = {"expand": "gate_proj", "gate": "up_proj", "contract": "down_proj"}


def read(values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None) -> Reading:
    """Configuration and tensor map of a DINOv3; `preprocessor` is the content of preprocessor_config.json, if there is one."""
    layout = Layout.find(values, stored, CLASS_TOKEN)
    n_layers = layout.n_layers("num_hidden_layers")
    # as transformers names them in memory, and writes them with save_original_format=False
    before = "model." if layout.has_tensor("model.layer.0.norm1.weight") else ""
    blocks = [f"{before}layer.{layer}" for layer in range(n_layers)]
    d_model = layout.whole_number("hidden_size", 384)
    sizes = layout.widths(d_model, layout.whole_number("num_attention_heads", 6))
    if sizes.d_head % 4:
        raise ValueError(
            f"rotary positions on a grid turn pairs of numbers by two coordinates, but each head is {sizes.d_head} wide"
        )
    patch = two_sides(values, "patch_size", 16, square=True)
    sides, channels, pixels = read_picture_input(
        layout, preprocessor, two_sides(values, "image_size", 224), patch
    )
    n_registers = layout.whole_number("num_register_tokens", 0)
    n_positions = Grid.of(sides, patch).n_patches + 1 + n_registers
    layout.check_patterns(n_positions, n_layers, sizes.n_heads)
    is_gated = layout.flag("use_gated_mlp", False)
    feed_forward = GATED if is_gated else PLAIN
    has_bias = {name: layout.flag(setting, name != "w_k") for name, (_, setting) in ATTENTION.items()}
    has_bias |= dict.fromkeys(feed_forward, layout.flag("mlp_bias", True))
    base = rotary_base(layout, 100.0)
    config = ModelConfig(
        d_model=d_model,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=n_layers,
        d_ff=layout.whole_number("intermediate_size", 1536),
        n_positions=n_positions,
        image_size=one_size(sides),
        patch_size=one_size(patch),
        n_channels=channels,
        norm_placement="pre",
        final_norm=True,
        positions="none",
        activation=layout.activation(),
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-5),
        family=Family(
            name="DINOv3",
            n_registers=n_registers,
            parts=Parts(
                gated=is_gated,
                rotary=Rotary(bases=(base,) * n_layers, on_grid=True),
                without_bias=tuple(name for name, has_one in has_bias.items() if not has_one),
            ),
            pixels=pixels,
        ),
    )
    map_patches(layout, config, "embeddings.patch_embeddings")
    if n_registers:
        layout.map_tensor("embedding.registers", "embeddings.register_tokens", (1, n_registers, d_model))
    layout.map_blocks(blocks, NORMS)
    for layer, block in enumerate(blocks):
        ours = f"blocks.{layer}"
        for name, (theirs, _) in ATTENTION.items():
            layout.map_linear(f"{ours}.attention.{name}", f"{block}.attention.{theirs}", bias=has_bias[name])
        for name, theirs in feed_forward.items():
            layout.map_linear(f"{ours}.feed_forward.{name}", f"{block}.mlp.{theirs}", bias=has_bias[name])
        for part, name, scale in (("attention", "w_o", 1), ("feed_forward", "contract", 2)):
            theirs = f"{block}.layer_scale{scale}.lambda1"
            layout.map_scale(f"{ours}.{part}.{name}", theirs, d_model, bias=has_bias[name])
    layout.map_linear("final_norm", "norm")
    layout.notes.append(LAYER_SCALE)
    return layout.reading(config)
