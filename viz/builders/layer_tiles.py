"""A row of small pictures for each layer, of which one is chosen by a click."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cells import casing_layer, frame_channels
from .chart import Column, Layer, Rows, chart, layer
from .figure import Columns, VegaFigure
from .picture_marks import PIXEL_BOX, box_edges, text_at


def layer_tiles(
    columns: Sequence[Column],
    *images: Layer,
    size: tuple[float, float],
    gap: int,
    name_height: int,
    in_row: int,
    chosen: int | None,
    drawing: Columns,
    **options: Any,
) -> VegaFigure:
    """A tile of `size` (width, height) for each layer, `in_row` of them in a row, with `gap` pixels between them and the text in
    the column `name` above each.

    `columns` have one value for each layer, the first of them its index, `layer`; the layers of marks `images` are drawn at the
    columns `left` and `top` of the tiles. The tile of the layer `chosen` is framed; a click on one sets the point selection
    `layer`, field `layer`. `drawing` and `options` are those of `chart`.
    """
    width, height = size
    layers = np.asarray(columns[0].values)
    row, column = np.divmod(np.arange(len(layers)), in_row)
    left, top = column * (width + gap), row * (height + name_height + gap) + name_height
    cover = PIXEL_BOX | frame_channels((3, 0.5)) | {"description": "name:N", "tooltip": columns}
    return chart(
        columns,
        *images,
        text_at(Rows(), "datum.left", f"datum.top - {name_height / 2}", "datum.name"),
        casing_layer(PIXEL_BOX, 3),
        # On top and clear: the pointer on a picture is the pointer on its layer.
        layer("rect", cover, fill="transparent", cursor="pointer", click=("layer", "layer")),
        drawing=box_edges(left, top, width, height) | {"selected": layers == chosen, **drawing},
        width=min(len(layers), in_row) * (width + gap) - gap + 4,
        height=float(top.max(initial=0)) + height + 4,
        autosize="pad",
        **options,
    )
