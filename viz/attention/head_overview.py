"""All heads of an encoder at once, as small maps: a row for each layer, a column for each head."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from ..builders.cells import casing_layer, frame_channels, head_axis
from ..builders.chart import Column, as_vega_lite, chart, layer
from ..builders.figure import Kwargs, VegaFigure, check_shapes
from ..builders.heatmap import position_labels
from ..builders.number_format import head_name
from ..builders.palette import TILE_SIDE, TO_ONE, WEIGHT, ColourScale, WeightScale, map_pictures
from ..builders.picture_marks import CHOOSE, picture_ink, weight_table
from ..builders.theme import ON_DARK, lines_above
from ..builders.vega_colours import attention_colour, weight_legend
from .picture_patches import OPACITY

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

AT_MOST = 64  # cells along a side of a tile; with more positions, or fewer pixels, neighbours are pooled
_WIDTH = 600  # pixels for all heads together, while a tile stays between the smallest and the largest
_HEIGHT = 480  # of all layers, where each has one map
_SMALLEST, _LARGEST, _GAP = 44, 76, 6


def head_overview(
    record: "AttentionRecord",
    *,
    selected: tuple[int, int] | None = None,
    measures: Mapping[str, np.ndarray] | None = None,
    colours: ColourScale = "fixed",
    clickable: bool = True,
    notes: Sequence[str] = (),
    scale: WeightScale = TO_ONE,
    by_layer: bool = False,
    picture: np.ndarray | None = None,
    query: int = 0,
) -> VegaFigure:
    """A chart with a small map for each head of the record; the map of the `selected` (layer, head), if any, is
    framed.

    The tooltip of a map shows the head's entry in each of the `measures` [layer, head], by their names. The `colours`
    go from 0 to 1 ("fixed") or, in each map, from 0 to its largest weight ("own"). `notes` are lines of text above
    the maps. Of `scale` only the name of the weights and whether rows sum to 1 are used. With `by_layer`, the record
    has one map for each layer instead of one for each head. `picture`, uint8 [height, width] or [height, width, 3],
    is the picture whose patches are the record's positions: each small map is then this picture over the weights with
    which the patch `query` attends to all patches.

    If it is `clickable`, a click on a map sets the point selection `head`, fields `layer` and `head`. In Streamlit,
    let the widget's key change with `selected`: after the arrow keys have changed the selection, the browser would
    not report another click on the same map. Show the chart at its own width, at which the pictures are sharp. Raises
    ValueError if a measure has another shape than [layer, head], or if there is a `picture` but the record has no
    patches.

    >>> from loupe import from_arrays, head_overview
    >>> figure = head_overview(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]))
    """
    n_layers, n_heads, _, n_keys = record.pattern.shape
    measures = measures or {}
    check_shapes((n_layers, n_heads), **measures)
    if by_layer:
        step, largest = _HEIGHT // max(n_layers, 1), _HEIGHT // 4
    else:
        step, largest = _WIDTH // max(n_heads, 1), _LARGEST
    step = int(np.clip(step, _SMALLEST, largest))
    side = step - _GAP
    at_most = min(AT_MOST, side)  # a browser that shrinks a picture would fade a lone strong weight
    maps, labels = record.pattern, position_labels(record.tokens, record.numbers)
    rows: dict[str, Sequence | None] = {"layer": None, "head": None, "query": labels}
    keys = labels if record.keys is None else position_labels(record.keys.tokens, record.keys.numbers)
    if picture is not None:
        if record.patch_grid is None:
            raise ValueError("a record without a grid of patches has no picture")
        del rows["query"]
        keys = keys[record.patches]
        maps = maps[:, :, query, record.patches].reshape(n_layers, n_heads, *record.patch_grid)
    most_cells = max(maps.shape[-2:])
    one_to_one = most_cells >= at_most == side  # a pixel of the picture is one of the screen
    maxima = maps.max(axis=(-2, -1)) if colours == "own" else None
    tiles = map_pictures(maps, tops=maxima, max_size=at_most, side=side if one_to_one else TILE_SIDE)
    indices = list(np.ndindex(n_layers, n_heads))
    heads = {"layer": [layer for layer, _ in indices], "head": [head for _, head in indices]}
    names = [f"L{layer}" if by_layer else head_name(layer, head) for layer, head in indices]
    pictures = {**heads, **tiles, "weight": np.zeros(len(indices))}
    lines = [*notes]
    if picture is not None:
        ink = picture_ink(picture, side=2 * side, opacity=OPACITY)
        pictures |= {f"ink_{theme}": [url] * len(indices) for theme, url in ink.items()}
        lines.insert(0, f"what {labels[query]} attends to")
    if maxima is not None:
        lines.append("colour from 0 to each map's own maximum")
    if (pool_size := -(-most_cells // at_most)) > 1:
        lines.append(f"a pixel is the largest of up to {pool_size} × {pool_size} weights")
    legend = weight_legend(WeightScale(what=scale.what, shares=scale.shares), n_keys)
    title = legend.title if maxima is None else ()
    quantity = "Attention" if scale.what == WEIGHT else scale.what.capitalize()
    map_count = f"{n_layers} layers" if by_layer else f"{n_layers} layers of {n_heads} heads"
    selection_text = (
        f"{names[indices.index(selected)]} is chosen" if selected in indices else "none is chosen"
    )
    if by_layer:
        maps = maps[:, 0]
        del rows["head"]
    columns = [
        Column("layer", heads["layer"], None),
        Column("head", heads["head"], None),
        Column("name", names, "layer" if by_layer else "head"),
        *(Column(name, values, "", ".3~g") for name, values in measures.items()),
    ]
    band = alt.Scale(paddingInner=_GAP / step, paddingOuter=_GAP / step)
    x_axis = None if by_layer else head_axis("H", orient="top")
    position = {
        "x": as_vega_lite(alt.X("head:O", title=None, scale=band, axis=x_axis)),
        "y": as_vega_lite(alt.Y("layer:O", title=None, scale=band, axis=head_axis("L", orient="left"))),
    }
    # In full screen Streamlit stretches the chart: maps and frames grow with it, and stay square.
    size = alt.expr("round(min(bandwidth('x'), bandwidth('y')))")
    square: Kwargs = {"width": size, "height": size}
    # Read aloud or under the pointer, a picture would be its whole address.
    image = square | {"aspect": False, "smooth": not one_to_one, "aria": False, "tooltip": None}
    on_position = position | {"url": "url:N"}
    # The pictures bring their colours with them, for which the legend alone needs a channel.
    legend_of = {"color": attention_colour(title)} if title else {}
    ink_url = f"{ON_DARK} ? datum.ink_on_dark : datum.ink_on_light"
    cover = position | frame_channels((4, 0.5)) | {"description": "name:N", "tooltip": columns}
    click = ("head", "layer", "head") if clickable else ()
    cursor = "pointer" if clickable else "default"
    return chart(
        columns,
        layer("image", on_position | legend_of, "pictures", calculate={"url": CHOOSE}, **image),
        None
        if picture is None
        else layer("image", on_position, "pictures", calculate={"url": ink_url}, **image),
        casing_layer(position, 4, **square),
        # On top and clear: the pointer on a picture is the pointer on its head.
        layer("rect", cover, click=click, fill="transparent", cursor=cursor, **square),
        drawing={"selected": [index == selected for index in indices]},
        frames={"pictures": pictures},
        table=partial(
            weight_table, maps if picture is None else maps.reshape(*maps.shape[:-2], -1), rows, keys
        ),
        values=legend.values,
        width=step * n_heads + _GAP,
        height=step * n_layers + _GAP,
        autosize="pad",  # Streamlit would squeeze the tiles to make room for the labels
        **lines_above(lines),
        description=f"{quantity} of {map_count}; {selection_text}.",
    )


def head_maxima(record: "AttentionRecord") -> np.ndarray:
    """The largest attention weight of each head, [layer, head]."""
    return record.pattern.max(axis=(-2, -1))
