"""ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021), which has a distillation token after the class token."""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import Family
from ..inputs.resize import LARGEST_SIDE, read_pixels
from .output_layers import answers
from .tensor_map import Layout, Reading
from .weights import Stored

CLASS_TOKEN = "embeddings.cls_token"


def read(values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None) -> Reading:
    """`preprocessor` is what preprocessor_config.json holds, None where there is no such file."""
    layout = Layout.find(values, stored, CLASS_TOKEN)
    n_layers = layout.layers("num_hidden_layers")
    sizes = layout.widths(layout.number("hidden_size"), layout.number("num_attention_heads"))
    d, image, patch = sizes["d_model"], _side(values, "image_size"), _side(values, "patch_size")
    channels = layout.number("num_channels", 3)
    if channels not in (1, 3):
        raise ValueError(
            f"config.json has num_channels {channels}; supported are 1 (greyscale) and 3 (colour)"
        )
    distilled = layout.has("embeddings.distillation_token")
    outputs, family = _outputs(layout)
    pixels, note = read_pixels(preprocessor, channels)
    layout.notes += [note] if note else []
    n_positions = (image // max(patch, 1)) ** 2 + 1 + distilled
    layout.need_room(n_positions, n_layers, sizes["n_heads"])
    config = ModelConfig(
        **sizes,
        n_layers=n_layers,
        d_ff=layout.number("intermediate_size"),
        n_positions=n_positions,
        image_size=image,
        patch_size=patch,
        n_channels=channels,
        norm_placement="pre",
        final_norm=True,
        positions="learned",
        activation=layout.act(),
        layer_norm_eps=layout.real("layer_norm_eps", 1e-12),
        family=Family(
            name="DeiT" if distilled else "ViT",
            distillation_token=distilled,
            biases=layout.flag("qkv_bias", True),
            pixels=pixels,
            **family,
        ),
        **outputs,
    )
    layout.take("embedding.class_token", CLASS_TOKEN, (1, 1, d))
    if distilled:
        layout.take("embedding.distillation_token", "embeddings.distillation_token", (1, 1, d))
    layout.take("embedding.position_table", "embeddings.position_embeddings", (1, n_positions, d))
    projection = "embeddings.patch_embeddings.projection"
    layout.take("embedding.patches.weight", f"{projection}.weight", (d, channels, patch, patch))
    layout.take("embedding.patches.bias", f"{projection}.bias")
    for layer in range(n_layers):
        ours, theirs = f"blocks.{layer}", f"encoder.layer.{layer}"
        for part, name in (("w_q", "query"), ("w_k", "key"), ("w_v", "value")):
            at = f"{theirs}.attention.attention.{name}"
            layout.linear(f"{ours}.attention.{part}", at, bias=config.family.biases)
        layout.linear(f"{ours}.attention.w_o", f"{theirs}.attention.output.dense")
        layout.linear(f"{ours}.norm_attention", f"{theirs}.layernorm_before")
        layout.linear(f"{ours}.feed_forward.expand", f"{theirs}.intermediate.dense")
        layout.linear(f"{ours}.feed_forward.contract", f"{theirs}.output.dense")
        layout.linear(f"{ours}.norm_feed_forward", f"{theirs}.layernorm_after")
    layout.linear("final_norm", "layernorm")
    return Reading(config, layout.sources, layout.zeros, layout.notes)


def _outputs(layout: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
    for first in ("classifier", "cls_classifier"):
        if name := layout.beside(f"{first}.weight"):
            n = layout.rows(name)
            layout.linear_beside("classifier", first)
            two = first == "cls_classifier"
            if two:
                layout.linear_beside("second_classifier", "distillation_classifier")
            return {"class_names": layout.labels(n)}, {
                "answers": answers(layout, n),
                "two_classifiers": two,
            }
    if layout.has("pooler.dense.weight"):
        layout.linear("pooler", "pooler.dense")
        return {}, {"pooler": "tanh"}
    return {}, {}


def _side(values: Mapping[str, Any], name: str) -> int:
    """Of a square, which config.json may give once or twice."""
    value = values.get(name)
    if isinstance(value, list) and len(value) == 2 and value[0] == value[1]:
        value = value[0]
    if type(value) is not int or not 1 <= value <= LARGEST_SIDE:
        raise ValueError(
            f"config.json has {name} {shortened(value)}, which must be the side of a square, up to {LARGEST_SIDE:,} pixels"
        )
    return value
