"""Pictures drawn over the coloured patches of an encoder's input, one value for each patch.

The values [patch] belong to the patches row by row, `patch_grid` is (rows, columns), and the figure has the picture's
proportions. The patch `query` is outlined; None stands for the class token, which is not in the picture. A click on a
patch sets the point selection `patch`, field `position`, counted from 0. The pixels are sharp only at the chart's own
width.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from ..builders.cells import casing_layer, frame_channels
from ..builders.chart import Column, as_vega_lite, chart, layer
from ..builders.figure import VegaFigure
from ..builders.palette import TO_ONE, WeightScale, hatching
from ..builders.picture_marks import CHOOSE, picture_ink, whole_picture
from ..builders.theme import lines_above
from ..builders.vega_colours import SIGNED_ENDS, attention_colour, colour, colour_legend, weight_legend

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

_SIDE, SMALL_SIDE = 420, 364  # pixels, of the longer side
OPACITY = 0.55  # the picture lies over the colours, and they must still show


def picture_overlay(
    image: np.ndarray,
    weights: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    n_keys: int,
    scale: WeightScale = TO_ONE,
    allowed: np.ndarray | None = None,
    notes: Sequence[str] = (),
    without_query: str = "the class token",
) -> VegaFigure:
    """A picture `image`, uint8 [height, width] or [height, width, 3], over the attention weights [patch] of the
    `query`.

    `n_keys` is the number of keys that the query may attend to, including the class token. `notes` are lines of text
    above. `without_query` names what attends if `query` is None. With `allowed` [patch], forbidden patches (False)
    are hatched, and a click sets the point selection `key` instead, fields `position` and `blocked`, so that a second
    click on the same patch is reported, too.
    """
    query_name = without_query if query is None else "row {}, column {}".format(*divmod(query, patch_grid[1]))
    description = f"The picture over the attention of {query_name} to its {len(weights)} patches"
    legend = weight_legend(scale, n_keys)
    return _patches_figure(
        image,
        Column("weight", weights, scale.what, ".4f"),
        attention_colour(legend.title),
        query,
        patch_grid,
        _SIDE,
        allowed,
        values=legend.values,
        **lines_above(notes),
        description=description,
    )


def query_on_picture(
    record: "AttentionRecord",
    image: np.ndarray,
    weights: np.ndarray,
    *,
    query: int,
    scale: WeightScale = TO_ONE,
    allowed: np.ndarray | None = None,
    notes: Sequence[str] = (),
) -> VegaFigure:
    """`picture_overlay` for the attention weights [key] of the `query` (a position) of a record whose positions are
    patches.

    `allowed` [key] and `weights` [key] include the keys before the first patch, such as the class token; the picture
    leaves these out.
    """
    assert record.patch_grid is not None  # of a picture
    return picture_overlay(
        image,
        weights[record.patches],
        record.patch_grid,
        query=record.patch_at(query),
        scale=scale,
        n_keys=len(record) if allowed is None else int(allowed.sum()),
        allowed=None if allowed is None else allowed[record.patches],
        notes=notes,
    )


def knock_out_patches(
    image: np.ndarray,
    falls: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    limit: float,
    what: str,
    how: str = "from every query",
) -> VegaFigure:
    """A picture over the `falls` [patch] of an answer without each patch: gold where it falls, purple where it rises.

    `what` names a fall, such as "fall of the log-odds of 7, nats"; the colours end at ±`limit`. `how` says from which
    queries a patch is hidden.
    """
    description = f"The picture over the {what}, with each of {len(falls)} patches hidden ({how})"
    return signed_patches(
        image, falls, patch_grid, query=query, limit=limit, what=what, name="fall", description=description
    )


def signed_patches(
    image: np.ndarray,
    values: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None = None,
    limit: float,
    what: str,
    name: str = "value",
    side: int = SMALL_SIDE,
    has_legend: bool = True,
    **properties: Any,
) -> VegaFigure:
    """A picture over signed `values` [patch], gold above 0 and purple below; the colours end at ±`limit`.

    `what` says what a value is, and `name` is the values' column in the data. The picture's longer side has `side`
    pixels; `properties` are those of `chart`, such as its `description`.
    """
    legend = colour_legend(what, SIGNED_ENDS, labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'")
    return _patches_figure(
        image,
        Column(name, values, what, "+.4f"),
        colour(name, signed=True, legend=legend if has_legend else None),
        query,
        patch_grid,
        side,
        values={"largest": limit},
        **properties,
    )


def _patches_figure(
    image: np.ndarray,
    numbers: Column,
    colour: alt.Color,
    query: int | None,
    patch_grid: tuple[int, int],
    side: int,
    allowed: np.ndarray | None = None,
    *,
    values: Mapping[str, Any],
    **properties: Any,
) -> VegaFigure:
    """A figure of patches filled with the channel `colour` of their `numbers` [patch], the picture over them, and a
    transparent layer that takes clicks; `values` and `properties` are those of `chart`.
    """
    rows, columns = patch_grid
    position = np.arange(rows * columns)
    if query is not None:  # the chosen patch comes last: no neighbour's border lies on its outline
        position = np.append(np.delete(position, query), query)
    row, column = np.divmod(position, columns)
    blocked = np.zeros(len(position), bool) if allowed is None else ~allowed[position]
    names = [f"r{row_index}c{column_index}" for row_index, column_index in zip(row, column, strict=True)]
    ink = picture_ink(image, side=side, opacity=OPACITY)
    frames = {"picture": {theme: [url] for theme, url in ink.items()}}
    if allowed is not None:
        frames["hatched"] = {"url": [hatching(allowed.reshape(patch_grid))]}
    descriptions = [name + ", masked" * masked for name, masked in zip(names, blocked.tolist(), strict=True)]
    is_choice = allowed is not None
    marks = [
        Column("position", position, "" if is_choice else None),
        Column("patch", names, None if is_choice else ""),
        Column("row", row, None),
        Column("column", column, None),
        numbers._replace(values=np.asarray(numbers.values, float)[position]),
        Column("blocked", blocked, None),
    ]
    description_column = Column("description", descriptions, "key" if is_choice else None, in_file=None)
    scale = alt.Scale(padding=0)
    cell = {
        "x": as_vega_lite(alt.X("column:O", axis=None, scale=scale)),
        "y": as_vega_lite(alt.Y("row:O", axis=None, scale=scale)),
    }
    cover = (
        cell
        | frame_channels((4, 0.5))
        | {"description": "description:N", "tooltip": [description_column, *marks]}
    )
    click = ("key", "position", "blocked") if is_choice else ("patch", "position")
    return chart(
        [*marks, description_column],
        layer("rect", cell | {"color": colour}, aria=False),
        whole_picture("picture", calculate={"url": CHOOSE}),
        whole_picture("hatched", aspect=False) if is_choice else None,
        casing_layer(cell, 4),
        # On top and clear: a click on a stroke counts as one on its patch.
        layer("rect", cover, fill="transparent", cursor="pointer", click=click),
        drawing={"selected": position == query},
        frames=frames,
        values=values,
        width=side * image.shape[1] / max(image.shape[:2]),
        height=side * image.shape[0] / max(image.shape[:2]),
        autosize="pad",  # Streamlit would squeeze the patches, but not the picture
        **properties,
    )
