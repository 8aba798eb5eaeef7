"""ViT (Dosovitskiy et al. 2021), and encoders of its build: DeiT (Touvron et al. 2021), which has a distillation token after
the class token, ViT-MAE (He et al. 2022), and I-JEPA (Assran et al. 2023), which has no class token.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any, NamedTuple

from ..config import ModelConfig, one_size
from ..family_options import NO_PARTS, Family, Parts, Pixels
from ..inputs.resize import LARGEST_SIDE, picture_sides, read_pixel_settings
from .output_layers import Outputs, answer_kind
from .tensor_map import Grid, Layout, Reading
from .weights import Stored

CLASS_TOKEN = "embeddings.cls_token"
POSITIONS = "embeddings.position_embeddings"
NAMES = {"vit_mae": "ViT-MAE", "ijepa": "I-JEPA"}  # by model_type
ATTENTION = {
    "attention.w_q": "attention.attention.query",
    "attention.w_k": "attention.attention.key",
    "attention.w_v": "attention.attention.value",
}
BLOCK = {
    "attention.w_o": "attention.output.dense",
    "norm_attention": "layernorm_before",
    "feed_forward.expand": "intermediate.dense",
    "feed_forward.contract": "output.dense",
    "norm_feed_forward": "layernorm_after",
}


def read(values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None = None) -> Reading:
    """Configuration and tensor map of one of these encoders; `preprocessor` is the content of preprocessor_config.json, if
    there is one.
    """
    model_type = str(values.get("model_type"))
    has_class_token = model_type != "ijepa"
    layout = Layout.find(values, stored, CLASS_TOKEN if has_class_token else POSITIONS)
    layers = [f"encoder.layer.{layer}" for layer in range(layout.n_layers("num_hidden_layers"))]
    sizes = layout.widths(layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads"))
    d_model, image, patch = sizes.d_model, two_sides(values, "image_size"), two_sides(values, "patch_size")
    channels = read_channels(layout)
    is_distilled = layout.has_tensor("embeddings.distillation_token")
    outputs = _read_outputs(layout, has_pooler=has_class_token)
    pixel_norm, note = read_pixel_settings(preprocessor, channels)
    layout.notes += [note] if note else []
    n_positions = Grid.of(image, patch).n_patches + has_class_token + is_distilled
    layout.check_patterns(n_positions, len(layers), sizes.n_heads)
    biases = layout.flag("qkv_bias", True)
    config = ModelConfig(
        d_model=d_model,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=len(layers),
        d_ff=layout.whole_number("intermediate_size"),
        n_positions=n_positions,
        image_size=one_size(image),
        patch_size=one_size(patch),
        n_channels=channels,
        norm_placement="pre",
        final_norm=True,
        positions="learned",
        pooling="class" if has_class_token else "mean",
        activation=layout.activation(),
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-12),
        class_names=outputs.class_names,
        family=replace(
            outputs.family,
            name=NAMES.get(model_type, "DeiT" if is_distilled else "ViT"),
            distillation_token=is_distilled,
            parts=NO_PARTS if biases else Parts(without_bias=("w_q", "w_k", "w_v")),
            pixels=pixel_norm,
        ),
    )
    map_patches(layout, config, "embeddings.patch_embeddings.projection")
    if is_distilled:
        layout.map_tensor("embedding.distillation_token", "embeddings.distillation_token", (1, 1, d_model))
    layout.map_tensor("embedding.position_table", POSITIONS, (1, n_positions, d_model))
    layout.map_blocks(layers, ATTENTION, bias=biases)
    layout.map_blocks(layers, BLOCK)
    layout.map_linear("final_norm", "layernorm")
    if model_type == "vit_mae":
        layout.notes.append(
            "In training most patches were hidden; here all are read, and the decoder is left out."
        )
    return layout.reading(config)


def _read_outputs(layout: Layout, *, has_pooler: bool) -> Outputs:
    for classifier_name, distillation_name in (
        ("classifier", None),
        ("cls_classifier", "distillation_classifier"),
    ):
        if name := layout.output_tensor_name(f"{classifier_name}.weight"):
            n = layout.n_output_rows(name)
            layout.map_output_linear("classifier", classifier_name)
            if distillation_name:
                layout.map_output_linear("second_classifier", distillation_name)
            family = Family(answers=answer_kind(layout, n), two_classifiers=distillation_name is not None)
            return Outputs(class_names=layout.class_labels(n), family=family)
    if has_pooler and layout.has_tensor("pooler.dense.weight"):
        layout.map_linear("pooler", "pooler.dense")
        return Outputs(family=Family(pooler="tanh"))
    return Outputs()


def map_patches(layout: Layout, config: ModelConfig, projection: str) -> None:
    """Maps the linear map of patches, stored as a convolution called `projection`, and the class token if there is one."""
    d_model = config.d_model
    if config.pooling == "class":
        layout.map_tensor("embedding.class_token", CLASS_TOKEN, (1, 1, d_model))
    layout.map_tensor(
        "embedding.patches.weight", f"{projection}.weight", (d_model, config.n_channels, *config.patch_sides)
    )
    layout.map_tensor("embedding.patches.bias", f"{projection}.bias")


def read_channels(layout: Layout) -> int:
    """The number of colours of a picture. Raises ValueError unless it is 1 or 3."""
    channels = layout.whole_number("num_channels", 3)
    if channels not in (1, 3):
        raise ValueError(
            f"config.json has num_channels {channels}; supported are 1 (greyscale) and 3 (colour)"
        )
    return channels


class PictureInput(NamedTuple):
    """The pictures that an encoder reads, cut into whole patches."""

    sides: tuple[int, int]  # height and width, in pixels
    n_channels: int
    pixels: Pixels


def read_picture_input(
    layout: Layout,
    preprocessor: Mapping[str, Any] | None,
    stored_sides: tuple[int, int],
    patch: tuple[int, int],
) -> PictureInput:
    """The pictures that an encoder reads: of the size that `preprocessor` asks for, else of `stored_sides`; for encoders that read
    pictures of any size. Raises ValueError for invalid values.

    Where the patches do not fill the picture, the pixels that are left over are not read, and a note says so.
    """
    channels = read_channels(layout)
    pixels, note = read_pixel_settings(preprocessor, channels)
    layout.notes += [note] if note else []
    (height, width), (patch_height, patch_width) = sides, _ = picture_sides(preprocessor, stored_sides), patch
    if not Grid.of(sides, patch).n_patches:
        raise ValueError(
            f"pictures of {height} × {width} pixels have no patch of {patch_height} × {patch_width}"
        )
    remainder = height % patch_height, width % patch_width
    if any(remainder):
        layout.notes.append(unread_pixels_note(sides, patch))
    whole = height - remainder[0], width - remainder[1]
    return PictureInput(whole, channels, replace(pixels, remainder=one_size(remainder)))


def unread_pixels_note(sides: tuple[int, int], patch: tuple[int, int]) -> str:
    """Sentence on the pixels of pictures of these `sides` that make no whole patch."""
    (height, width), (patch_height, patch_width) = sides, patch
    rows, columns = height % patch_height, width % patch_width
    if one_size(sides) == height and patch_height == patch_width:
        return f"Patches of {patch_height} pixels do not fill {height}: the last {rows} rows and columns of pixels are not read."
    return (
        f"Patches of {patch_height} × {patch_width} pixels do not fill {height} × {width}: the last {rows} rows and {columns} "
        "columns of pixels are not read."
    )


def two_sides(
    values: Mapping[str, Any], name: str, default: int | None = None, *, square: bool = False
) -> tuple[int, int]:
    """Height and width, in pixels; config.json may give them as two numbers, or as one for a square.

    Raises ValueError for other values, and with `square`, where the family's own library knows squares alone, for two sides that
    differ.
    """
    value = values.get(name, default)
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
