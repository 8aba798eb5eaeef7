"""What one query attends to in each layer, on the picture: a small picture for each layer, over the weights of its patches."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from ..builders.cells import casing, framed
from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, need_shape, tip
from ..builders.palette import ROUNDING, TO_ONE, WeightScale, tiles
from ..builders.picture_marks import image_at, picture_ink, pixel_x, pixel_y, text_at
from ..builders.theme import ON_DARK, heading
from ..builders.vega_colours import attention_colour, weight_legend
from ..builders.weight_table import weight_table
from .picture_patches import OPACITY

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

_SIDE, _GAP, _NAME = 128, 10, 20  # pixels of a picture, between two, and of the name above it
_IN_ROW = 3  # pictures: so their names stay legible in the column beside the chosen one


def layer_pictures(
    record: "AttentionRecord",
    image: np.ndarray,
    weights: np.ndarray,
    *,
    query: int,
    layer: int | None = None,
    scale: WeightScale = TO_ONE,
    what: str = "",
    notes: Sequence[str] = (),
) -> VegaFigure:
    """A uint8 image [height, width] or [height, width, 3] for each layer, over the weights [layer, key] with which the
    `query` of the record attends to the patches in that layer.

    The picture of `layer` is framed; a click sets the point selection `layer`, field `layer`. `what` says whose weights
    these are, such as "mean over the heads"; `notes` are lines above the pictures. Raises ValueError where the weights
    do not fit the record, or if it has no grid of patches.
    """
    n_layers, first_patch = len(weights), record.first_patch
    need_shape((n_layers, len(record)), weights=weights)
    if record.patch_grid is None:
        raise ValueError("a record without a grid of patches has no picture")
    rows, columns = record.patch_grid
    of_patches = weights[:, record.patches]
    height = _SIDE * image.shape[0] / image.shape[1]
    tops = np.full(n_layers, scale.largest)
    row, column = np.divmod(np.arange(n_layers), _IN_ROW)
    left, top = column * (_SIDE + _GAP), row * (height + _NAME + _GAP) + _NAME
    is_strongest = of_patches >= of_patches.max(axis=1, keepdims=True) - ROUNDING
    tile_images = tiles(of_patches.reshape(n_layers, rows, columns), tops=tops, side=2 * _SIDE)
    ink = picture_ink(image, side=_SIDE, opacity=OPACITY)
    legend = weight_legend(scale, len(record))
    title = f"What {record.labels[query]} attends to in each layer{f', {what}' * bool(what)}"
    return _chart_form(legend.title, scale.what).with_data(
        {
            "layer": np.arange(n_layers),
            "name": [f"L{index}" for index in range(n_layers)],
            "strongest patch": [
                record.tokens[first_patch + row.argmax()] if row.sum() == 1 else f"{row.sum()} alike"
                for row in is_strongest
            ],
            "weight": of_patches.max(axis=1).astype(float),
            "on all patches": of_patches.sum(axis=1).astype(float),
            "left": left,
            "top": top,
            "right": left + _SIDE,
            "bottom": top + height,
            "on_light": [tile.on_light for tile in tile_images],
            "on_dark": [tile.on_dark for tile in tile_images],
            "selected": np.arange(n_layers) == layer,
        },
        table=partial(weight_table, of_patches, {"layer": None}, record.tokens[record.patches]),
        values={
            **legend.values,
            "ink_on_light": ink["on_light"],
            "ink_on_dark": ink["on_dark"],
            "side": _SIDE,
            "tall": height,
        },
        width=min(n_layers, _IN_ROW) * (_SIDE + _GAP),
        height=float(top.max(initial=0)) + height + 4,
        title=heading(title, *notes),
        description=f"{title}, a picture for each of {n_layers} layers",
    )


@form
def _chart_form(legend: tuple[str, ...], what: str) -> alt.TopLevelMixin:
    base = alt.Chart(data())
    place: Kwargs = {
        "x": pixel_x("left"),
        "x2": "right:Q",
        "y": pixel_y("top"),
        "y2": "bottom:Q",
    }
    weights = image_at(base, "datum.left", "datum.top", "side", "tall").encode(color=attention_colour(legend))
    ink = f"{ON_DARK} ? ink_on_dark : ink_on_light"
    picture = image_at(base, "datum.left", "datum.top", "side", "tall", ink)
    names = text_at(base, "datum.left", "datum.top - 10", "datum.name")
    # On top and clear: the pointer on a picture is the pointer on its layer.
    cover = framed(base.mark_rect(fill="transparent", cursor="pointer"), (3, 0.5)).encode(
        **place,
        description="name:N",
        tooltip=[
            tip("name:N", title="layer"),
            tip("strongest patch:N"),
            tip("weight:Q", ".4f", what),
            tip("on all patches:Q", ".3f"),
        ],
    )
    frame = casing(base, 3).encode(**place)
    return alt.layer(weights, picture, names, frame, cover.add_params(click_on("layer", "layer"))).properties(
        autosize="pad"
    )
