"""Small images to pick one from, and digits in which a head attends strongly from one patch to another: the patch of
the query is framed, that of the key filled.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..builders.cells import frame_channels
from ..builders.chart import Column, Layer, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import EMPHASIS
from ..builders.picture_marks import CHOOSE, PIXEL_BOX, box_edges, picture_ink, pixel_x, pixel_y
from ..builders.theme import INK, SMALL


class _ImageGrid(NamedTuple):
    """The sizes of a grid of captioned images, in pixels."""

    side: int
    caption: int  # height of the line below an image
    gap: int
    lower: int  # how far the caption is from the middle of its line


_SMALL = _ImageGrid(side=56, caption=18, gap=5, lower=1)  # an MNIST digit, doubled
_LARGE = _ImageGrid(side=112, caption=20, gap=14, lower=2)  # four times as large
_URL: Kwargs = {"calculate": {"url": CHOOSE}}


def image_gallery(
    images: np.ndarray,
    ids: Sequence[int],
    captions: Sequence[str],
    *,
    selected: int | None,
    columns: int,
) -> VegaFigure:
    """Small `images`, uint8 [image, height, width] or [image, height, width, 3], above their `captions`, `columns` in a
    row.

    The image with the id `selected` is framed. A click on an image or its caption sets the point selection `image`,
    field `id`. The pixels are sharp only at the chart's own width, 61 pixels for each column.
    """
    drawing = _image_columns(images, columns, _SMALL)
    cover = PIXEL_BOX | {"y2": "end:Q", "description": "caption:N", "tooltip": "caption:N"}
    return chart(
        [Column("id", list(ids)), Column("caption", list(captions))],
        *_images_and_captions(_SMALL),
        layer("rect", PIXEL_BOX | frame_channels((3, 0.5)), fill=None, cornerRadius=3, aria=False, **_URL),
        # On top and clear: a click on a stroke or on the caption counts as one on the image.
        layer("rect", cover, fill="transparent", cursor="pointer", click=("image", "id"), **_URL),
        drawing=drawing
        | {
            "end": drawing["bottom"] + _SMALL.caption,
            "selected": [image_id == selected for image_id in ids],
        },
        **_chart_size(len(images), columns, _SMALL),
        description=f"{len(images)} image{'s' * (len(images) != 1)} to choose from",
    )


def digit_examples(
    images: np.ndarray,
    queries: Sequence[int | None],
    keys: Sequence[int | None],
    weights: Sequence[float],
    *,
    numbers: Sequence[int],
    patch_grid: tuple[int, int],
    columns: int,
) -> VegaFigure:
    """Captioned `images`, uint8 [example, height, width], `columns` in a row, with a patch of the `queries` and one of
    the `keys` [example] marked in each; None stands for the class token.

    The caption has the entry in the attention `weights` [example]. `numbers` identify the examples: a click sets the
    point selection `example`, field `number`.
    """
    drawing = _image_columns(images, columns, _LARGE)
    names = [
        (_patch_name(query, patch_grid), _patch_name(key, patch_grid))
        for query, key in zip(queries, keys, strict=True)
    ]
    columns_of_file = [
        Column("number", list(numbers), "digit", in_file="digit number"),
        Column("query", [query for query, _ in names]),
        Column("key", [key for _, key in names]),
        Column("weight", np.array(weights, float), format=".4f"),
    ]
    dashes: Kwargs = {"strokeWidth": 3, "strokeDash": [4, 2]}
    image, caption = _images_and_captions(_LARGE)
    cover = PIXEL_BOX | {"description": "caption:N", "tooltip": columns_of_file}
    click = ("example", "number")
    return chart(
        columns_of_file,
        layer("rect", PIXEL_BOX, fill=INK, fillOpacity=0.06, aria=False, **_URL),
        layer("rect", PIXEL_BOX, "key", fill=EMPHASIS, fillOpacity=0.75, aria=False),
        image,
        layer("rect", PIXEL_BOX, "query", fill=None, stroke=EMPHASIS, aria=False, **dashes),
        caption,
        layer("rect", cover, fill="transparent", cursor="pointer", click=click, **_URL),
        drawing=drawing
        | {
            "caption": [
                f"{weight:.2f}, digit {digit_number}"
                for weight, digit_number in zip(weights, numbers, strict=True)
            ],
        },
        frames={
            name: _patch_boxes(patches, drawing["left"], drawing["top"], patch_grid)
            for name, patches in (("query", queries), ("key", keys))
        },
        **_chart_size(len(images), columns, _LARGE),
        description=f"{len(images)} digits; in each the framed patch looks at the filled one. "
        + "; ".join(
            f"digit {digit_number}: {query} looks at {key}, weight {weight:.2f}"
            for digit_number, (query, key), weight in zip(numbers, names, weights, strict=True)
        ),
    )


def _image_columns(images: np.ndarray, columns: int, grid: _ImageGrid) -> dict[str, Any]:
    """Columns with the edges of each image in pixels, the y of its caption, and its picture for a light and a dark
    page.
    """
    row, column = np.divmod(np.arange(len(images)), columns)
    left, top = column * (grid.side + grid.gap), row * (grid.side + grid.caption + grid.gap)
    inks = [picture_ink(image, side=grid.side) for image in images]
    return {
        **box_edges(left, top, grid.side, grid.side),
        "middle": left + grid.side / 2,
        "caption_at": top + grid.side + grid.caption / 2 + grid.lower,
        **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
    }


def _images_and_captions(grid: _ImageGrid) -> tuple[Layer, Layer]:
    """The layer of the images and the layer of their captions."""
    image = {"x": pixel_x("left"), "y": pixel_y("top"), "url": "url:N"}
    caption = {"x": pixel_x("middle"), "y": pixel_y("caption_at"), "text": "caption:N"}
    size: Kwargs = {"width": grid.side, "height": grid.side, "align": "left", "baseline": "top"}
    return (
        layer("image", image, aria=False, tooltip=None, **_URL, **size),
        layer("text", caption, aria=False, fontSize=SMALL, color=INK, limit=grid.side, **_URL),
    )


def _chart_size(n_images: int, columns: int, grid: _ImageGrid) -> dict[str, Any]:
    """Width, height and sizing mode of a chart with `n_images` images, as properties of `chart`."""
    return {
        "width": columns * (grid.side + grid.gap) - grid.gap,
        "height": -(-n_images // columns) * (grid.side + grid.caption + grid.gap),
        "autosize": "pad",  # Streamlit would squeeze what is not an image
    }


def _patch_name(patch: int | None, patch_grid: tuple[int, int]) -> str:
    """The patch in words, by row and column, or "the class token"."""
    return "the class token" if patch is None else "row {}, column {}".format(*divmod(patch, patch_grid[1]))


def _patch_boxes(
    patches: Sequence[int | None], left: np.ndarray, top: np.ndarray, patch_grid: tuple[int, int]
) -> Kwargs:
    """The edges in pixels of the box of each patch in `patches`, in images whose corners are at `left` and `top`
    [image]; None (the class token) has no box.
    """
    height, width = (_LARGE.side / n_patches for n_patches in patch_grid)
    has_box = np.array([patch is not None for patch in patches], bool)
    row, column = np.divmod([patch for patch in patches if patch is not None], patch_grid[1])
    return box_edges(left[has_box] + column * width, top[has_box] + row * height, width, height)
