"""What one query attends to in each layer. For tokens: a heatmap with a row for each layer and a column for each key.
For patches: a small picture for each layer, over the weights of its patches.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..builders.chart import Column, Rows
from ..builders.figure import VegaFigure
from ..builders.heatmap import attention_scale, heatmap, position_labels
from ..builders.heatmap_figure import Heatmap
from ..builders.layer_tiles import layer_tiles
from ..builders.number_format import format_number, format_weight
from ..builders.palette import ROUNDING, TO_ONE, WeightScale, map_pictures
from ..builders.picture_marks import image_at, picture_ink, weight_table
from ..builders.theme import ON_DARK, heading
from ..builders.token_label import width_in_letters
from ..builders.vega_colours import attention_colour, weight_legend
from .picture_patches import OPACITY
from .token_heatmaps import MOST_WRITTEN

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord


_ROW, _AROUND = 26, 150  # pixels: a layer; heading, colours and margins
_LETTER, _LINE = 8, 20  # pixels: a letter of the names of keys, and a note below them
_SIDE, _GAP, _NAME = 128, 10, 20  # pixels of a picture, between two, and of the name above it
_IN_ROW = 3  # pictures: so their names stay legible in the column beside the chosen one


def layer_heatmap(
    record: "AttentionRecord",
    weights: np.ndarray,
    *,
    query: int,
    layer: int | None = None,
    mask: np.ndarray | None = None,
    scale: WeightScale = TO_ONE,
    what: str = "",
    notes: Sequence[str] = (),
) -> Heatmap:
    """A heatmap of the weights [layer, key] with which the `query` of the record attends to each key in each layer.

    The row of `layer` is framed. Cells that `mask` [layer, key] forbids (False) are hatched. `what` says how the
    weights were made from those of the heads, such as "mean over the heads"; `notes` are lines of text below the map.
    """
    n_layers, n_keys = len(weights), len(record.attended)
    keys = position_labels(record.attended.tokens, None if record.keys is not None else record.numbers)
    name = position_labels(record.tokens, record.numbers)[query]
    title = f"What “{name}” attends to in each layer{f', {what}' * bool(what)}"
    strongest = ", ".join(
        f"L{index} {_strongest_key_name(row, keys)} {format_number(float(row.max()), '.2f')}"
        for index, row in enumerate(weights)
        if row.size
    )
    names = round(_LETTER * max(map(width_in_letters, keys), default=0))
    texts = None
    if n_keys <= MOST_WRITTEN:
        texts = np.array([[format_weight(weight) for weight in row] for row in weights], object)
        if mask is not None:
            texts[~mask] = ""
    return heatmap(
        weights,
        x=keys,
        y=[f"L{index}" for index in range(n_layers)],
        titles=("", "layer"),
        notes=notes,
        colours=attention_scale(scale, n_keys),
        cell="%{y} → key '%{x}'",
        title=title,
        description=f"{title}, layers down, keys across. Strongest: {strongest}",
        mask=mask,
        written=texts,
        framed=None if layer is None else (range(n_keys), range(layer, layer + 1)),
        height=_AROUND + _ROW * n_layers + names + _LINE * len(notes),
        tokens="x",
    )


def _strongest_key_name(row: np.ndarray, keys: Sequence[str]) -> str:
    """The name of the key with the largest weight in `row` [key] or, if several keys share the largest weight, their
    number.
    """
    indices = np.flatnonzero(row >= row.max() - ROUNDING)
    return keys[indices[0]] if len(indices) == 1 else f"{len(indices)} keys alike"


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
    """A small copy of the picture `image` for each layer, drawn over the attention weights of one query in that
    layer.

    `image` is uint8 [height, width] or [height, width, 3], and `weights` [layer, key] are those with which the
    `query` of the record attends to each key, the patches among them. The picture of `layer` is framed; a click on a
    picture sets the point selection `layer`, field `layer`. `what` says how the weights were made from those of the
    heads, such as "mean over the heads"; `notes` are lines of text above the pictures.
    """
    n_layers, first_patch = len(weights), record.first_patch
    assert record.patch_grid is not None  # of a picture
    of_patches = weights[:, record.patches]
    height = _SIDE * image.shape[0] / image.shape[1]
    is_strongest = of_patches >= of_patches.max(axis=1, keepdims=True) - ROUNDING
    maps = of_patches.reshape(n_layers, *record.patch_grid)
    ink = picture_ink(image, side=_SIDE, opacity=OPACITY)
    legend = weight_legend(scale, len(record))
    title = f"What {record.labels[query]} attends to in each layer{f', {what}' * bool(what)}"
    strongest = [
        record.tokens[first_patch + row.argmax()] if row.sum() == 1 else f"{row.sum()} alike"
        for row in is_strongest
    ]
    columns = [
        Column("layer", np.arange(n_layers), None),
        Column("name", [f"L{index}" for index in range(n_layers)], "layer"),
        Column("strongest patch", strongest),
        Column("weight", of_patches.max(axis=1), scale.what, ".4f"),
        Column("on all patches", of_patches.sum(axis=1), "", ".3f"),
    ]
    box, colours = ("datum.left", "datum.top", "side", "tall"), {"color": attention_colour(legend.title)}
    return layer_tiles(
        columns,
        image_at(Rows(), *box, channels=colours),
        image_at(Rows(), *box, f"{ON_DARK} ? ink_on_dark : ink_on_light"),
        size=(_SIDE, height),
        gap=_GAP,
        name_height=_NAME,
        in_row=_IN_ROW,
        chosen=layer,
        drawing=map_pictures(maps, tops=np.full(n_layers, scale.largest), side=2 * _SIDE),
        table=partial(weight_table, of_patches, {"layer": None}, record.tokens[record.patches]),
        values={
            **legend.values,
            **{f"ink_{theme}": url for theme, url in ink.items()},
            "side": _SIDE,
            "tall": height,
        },
        title=heading(title, *notes),
        description=f"{title}, a picture for each of {n_layers} layers",
    )
