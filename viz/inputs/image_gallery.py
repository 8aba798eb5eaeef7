"""Small images to pick one from, and digits in which a head attends strongly from one patch to another: the query is framed, the key
filled.
"""

from collections.abc import Sequence

import numpy as np

from ..builders.cells import frame_channels
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import EMPHASIS
from ..builders.picture_marks import CHOOSE, PIXEL_BOX, picture_ink, pixel_x, pixel_y
from ..builders.theme import INK, SMALL

_SIDE = 56  # pixels: an MNIST digit, doubled
_CAPTION = 18
_GAP = 5
_EXAMPLE_SIDE = 112  # pixels: an MNIST digit, four times as large
_EXAMPLE_CAPTION, _EXAMPLE_GAP = 20, 14


def image_gallery(
    images: np.ndarray,
    ids: Sequence[int],
    captions: Sequence[str],
    *,
    selected: int | None,
    columns: int,
) -> VegaFigure:
    """Captioned images, `columns` in a row, from uint8 [image, height, width] or [image, height, width, 3].

    The image with the id `selected` is framed. A click on an image or its caption sets the point selection `image`, field
    `id`. The pixels are sharp only at the chart's own width, 61 for each column.
    """
    row, column = np.divmod(np.arange(len(images)), columns)
    left, top = column * (_SIDE + _GAP), row * (_SIDE + _CAPTION + _GAP)
    inks = [picture_ink(image, side=_SIDE) for image in images]
    image = {"x": pixel_x("left"), "y": pixel_y("top"), "url": "url:N"}
    caption = {"x": pixel_x("middle"), "y": pixel_y("caption_at"), "text": "caption:N"}
    cover = PIXEL_BOX | {"y2": "end:Q", "description": "caption:N", "tooltip": "caption:N"}
    url: Kwargs = {"calculate": {"url": CHOOSE}}
    size: Kwargs = {"width": _SIDE, "height": _SIDE, "align": "left", "baseline": "top", "tooltip": None}
    return chart(
        [Column("id", list(ids)), Column("caption", list(captions))],
        layer("image", image, aria=False, **url, **size),
        layer("text", caption, aria=False, fontSize=SMALL, color=INK, limit=_SIDE, **url),
        layer("rect", PIXEL_BOX | frame_channels((3, 0.5)), fill=None, cornerRadius=3, aria=False, **url),
        # On top and clear: a click on a stroke or on the caption counts as one on the image.
        layer("rect", cover, fill="transparent", cursor="pointer", click=("image", "id"), **url),
        drawing={
            "left": left,
            "middle": left + _SIDE / 2,
            "right": left + _SIDE,
            "top": top,
            "bottom": top + _SIDE,
            "caption_at": top + _SIDE + _CAPTION / 2 + 1,
            "end": top + _SIDE + _CAPTION,
            "selected": [image_id == selected for image_id in ids],
            **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
        },
        width=columns * (_SIDE + _GAP) - _GAP,
        height=-(-len(images) // columns) * (_SIDE + _CAPTION + _GAP),
        autosize="pad",  # Streamlit would squeeze what is not an image
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
    """Captioned uint8 images [example, height, width], `columns` in a row; queries and keys are patches, None for the
    class token.

    The caption has the weight. A click sets the point selection `example`, field `number`.
    """
    n_examples = len(images)
    row, column = np.divmod(np.arange(n_examples), columns)
    left, top = (
        column * (_EXAMPLE_SIDE + _EXAMPLE_GAP),
        row * (_EXAMPLE_SIDE + _EXAMPLE_CAPTION + _EXAMPLE_GAP),
    )
    inks = [picture_ink(image, side=_EXAMPLE_SIDE) for image in images]
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
    click = ("example", "number")
    dashes: Kwargs = {"strokeWidth": 3, "strokeDash": [4, 2]}
    image = {"x": pixel_x("left"), "y": pixel_y("top"), "url": "url:N"}
    caption = {"x": pixel_x("middle"), "y": pixel_y("caption_at"), "text": "caption:N"}
    url: Kwargs = {"calculate": {"url": CHOOSE}}
    size: Kwargs = {
        "width": _EXAMPLE_SIDE,
        "height": _EXAMPLE_SIDE,
        "align": "left",
        "baseline": "top",
        "tooltip": None,
    }
    return chart(
        columns_of_file,
        layer("rect", PIXEL_BOX, fill=INK, fillOpacity=0.06, aria=False, **url),
        layer("rect", PIXEL_BOX, "key", fill=EMPHASIS, fillOpacity=0.75, aria=False),
        layer("image", image, aria=False, **url, **size),
        layer("rect", PIXEL_BOX, "query", fill=None, stroke=EMPHASIS, aria=False, **dashes),
        layer("text", caption, aria=False, fontSize=SMALL, color=INK, limit=_EXAMPLE_SIDE, **url),
        layer(
            "rect",
            PIXEL_BOX | {"description": "caption:N", "tooltip": columns_of_file},
            fill="transparent",
            cursor="pointer",
            click=click,
            **url,
        ),
        drawing={
            "caption": [
                f"{weight:.2f}, digit {digit_number}"
                for weight, digit_number in zip(weights, numbers, strict=True)
            ],
            "left": left,
            "right": left + _EXAMPLE_SIDE,
            "top": top,
            "bottom": top + _EXAMPLE_SIDE,
            "middle": left + _EXAMPLE_SIDE / 2,
            "caption_at": top + _EXAMPLE_SIDE + _EXAMPLE_CAPTION / 2 + 2,
            **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
        },
        frames={
            name: _patch_boxes(patches, left, top, patch_grid)
            for name, patches in (("query", queries), ("key", keys))
        },
        width=columns * (_EXAMPLE_SIDE + _EXAMPLE_GAP) - _EXAMPLE_GAP,
        height=-(-n_examples // columns) * (_EXAMPLE_SIDE + _EXAMPLE_CAPTION + _EXAMPLE_GAP),
        autosize="pad",  # Streamlit would squeeze what is not an image
        description=f"{n_examples} digits; in each the framed patch looks at the filled one. "
        + "; ".join(
            f"digit {digit_number}: {query} looks at {key}, weight {weight:.2f}"
            for digit_number, (query, key), weight in zip(numbers, names, weights, strict=True)
        ),
    )


def _patch_name(patch: int | None, patch_grid: tuple[int, int]) -> str:
    return "the class token" if patch is None else "row {}, column {}".format(*divmod(patch, patch_grid[1]))


def _patch_boxes(
    patches: Sequence[int | None], left: np.ndarray, top: np.ndarray, patch_grid: tuple[int, int]
) -> dict[str, list[float]]:
    """The edges in pixels of each patch's box in its picture; None (the class token) has no box."""
    patch_height, patch_width = (_EXAMPLE_SIDE / n_patches for n_patches in patch_grid)
    cells = [
        (example, *divmod(patch, patch_grid[1])) for example, patch in enumerate(patches) if patch is not None
    ]
    return {
        "left": [float(left[example] + column * patch_width) for example, _, column in cells],
        "right": [float(left[example] + (column + 1) * patch_width) for example, _, column in cells],
        "top": [float(top[example] + row * patch_height) for example, row, _ in cells],
        "bottom": [float(top[example] + (row + 1) * patch_height) for example, row, _ in cells],
    }
