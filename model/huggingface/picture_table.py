"""Reads encoders of pictures by a `FamilyTable`: the picture that is read, its patches, and the tokens and vectors that join them."""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any, NamedTuple

from ..config import MOST_PATTERNS_OF_PICTURE, one_size
from ..family_options import NO_PARTS, Pixels
from ..inputs.picture_file import LARGEST_SIDE, picture_sides, read_pixel_settings
from .family_table import FamilyTable, finish
from .tensor_map import Grid, Layout, PictureTable, Reading


class Picture(NamedTuple):
    """The pictures that an encoder reads, cut into whole patches; all sides are height and width, in pixels."""

    sides: tuple[int, int]
    learned_sides: tuple[int, int]  # for which the tables of positions were learned
    patch_sides: tuple[int, int]
    n_channels: int
    pixels: Pixels

    @property
    def grid(self) -> Grid:
        return Grid.of(self.sides, self.patch_sides)

    @property
    def learned_grid(self) -> Grid:
        return Grid.of(self.learned_sides, self.patch_sides)


def read_picture(
    layout: Layout, table: FamilyTable, preprocessor: Mapping[str, Any] | None, *, any_size: bool = True
) -> Picture:
    """The pictures that an encoder reads: if it can read `any_size`, of that which `preprocessor` asks for, else of the learned one.

    Where the patches do not fill the picture, the pixels that are left over are not read, and a note says so. Raises ValueError
    for invalid values.
    """
    patch, learned = (
        two_sides(layout, name, square=name in table.squares) for name in ("patch_size", "image_size")
    )
    channels = layout.whole_number("num_channels", 3)
    if channels not in (1, 3):
        raise ValueError(
            f"config.json has num_channels {channels}; supported are 1 (greyscale) and 3 (colour)"
        )
    pixels, note = read_pixel_settings(preprocessor, channels)
    layout.notes += [note] if note else []
    sides = picture_sides(preprocessor, learned) if any_size else learned
    for height, width in (sides, learned):
        if height < patch[0] or width < patch[1]:
            raise ValueError(
                f"pictures of {height} × {width} pixels have no patch of {patch[0]} × {patch[1]}"
            )
    remainder = sides[0] % patch[0], sides[1] % patch[1]
    if any(remainder):
        layout.notes.append(_unread_pixels_note(sides, patch))
    whole = sides[0] - remainder[0], sides[1] - remainder[1]
    return Picture(whole, learned, patch, channels, replace(pixels, remainder=one_size(remainder)))


def read_pictures(
    layout: Layout, table: FamilyTable, picture: Picture, *, antialias: bool = False
) -> Reading:
    """Configuration and tensor map of an encoder of pictures. Raises ValueError if they are not such as the table says.

    With `antialias` the table of positions is smoothed where it is interpolated to fewer patches.
    """
    d_model, n_layers, n_heads, _ = table.sizes(layout)
    n_registers = layout.family.get("n_registers", 0)
    n_special = (table.class_token is not None) + layout.family.get("distillation_token", False)
    n_positions = picture.grid.n_patches + n_special + n_registers
    if (n_weights := n_layers * n_heads * n_positions**2) > MOST_PATTERNS_OF_PICTURE:
        raise ValueError(
            f"{n_positions:,} positions make {n_weights:,} attention weights; at most {MOST_PATTERNS_OF_PICTURE:,} can be shown"
        )
    layout.map_tensor(
        "embedding.patches.weight",
        f"{table.patches}.weight",
        (d_model, picture.n_channels, *picture.patch_sides),
    )
    if table.patch_bias:
        layout.map_tensor("embedding.patches.bias", f"{table.patches}.bias")
    else:
        layout.zeros.append("embedding.patches.bias")
    if table.class_token is not None:
        layout.map_tensor("embedding.class_token", table.class_token)
    if n_registers:
        layout.map_tensor("embedding.registers", "embeddings.register_tokens")
    if table.positions is not None:
        grids = PictureTable(n_special, picture.learned_grid, picture.grid, n_registers, antialias)
        shape = (n_special + grids.stored.n_patches, d_model)
        layout.map_table("embedding.position_table", table.positions, shape, grids)
    layout.family["pixels"] = picture.pixels
    fields = {
        "n_positions": n_positions,
        "image_size": one_size(picture.sides),
        "patch_size": one_size(picture.patch_sides),
        "n_channels": picture.n_channels,
        "norm_placement": "pre",
        "positions": "none" if table.positions is None else "learned",
        "pooling": "mean" if table.class_token is None else "class",
    }
    reading, parts = finish(layout, table, fields), layout.family.get("parts", NO_PARTS)
    tables = ["position vectors"] * (table.positions is not None)
    tables += ["biases by offset"] * (parts.grid_bias_by_layer or parts.grid_bias_shared)
    if tables and picture.grid != picture.learned_grid:
        (height, width), (read_height, read_width) = picture.learned_sides, picture.sides
        layout.notes.append(
            f"Its {' and '.join(tables)} were learned for {height} × {width} pixels, and are interpolated to {read_height} × {read_width}."
        )
    return reading


def two_sides(layout: Layout, name: str, *, square: bool) -> tuple[int, int]:
    """Height and width, in pixels; config.json may give them as two numbers, or as one for a square.

    Raises ValueError for other values, and with `square` for two sides that differ.
    """
    value = layout.value(name)
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
