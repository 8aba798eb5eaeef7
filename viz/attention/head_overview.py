"""All heads of an encoder at once, a small map each: layers down, heads across."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.cells import framed, head_axis
from ..builders.figure import VegaFigure, click_on, data, form, need_shape, tip
from ..builders.palette import TO_ONE, WEIGHT, WeightScale, tiles
from ..builders.pictures import CHOOSE
from ..builders.theme import lines_above
from ..builders.vega_colours import attention_colour, evenly

AT_MOST = 64  # cells a side of a tile; with more positions, or fewer pixels, neighbours are pooled
_WIDTH = 600  # pixels for all heads together, while a tile stays between the smallest and the largest
_HEIGHT = 480  # of all layers, where each has one map
_SMALLEST, _LARGEST, _GAP = 44, 76, 6


def head_overview(
    patterns: np.ndarray,
    *,
    selected: tuple[int, int] | None,
    hover: Mapping[str, np.ndarray] | None = None,
    tops: np.ndarray | None = None,
    whose: str = "each map's own maximum",
    clickable: bool = True,
    small: bool = False,
    notes: Sequence[str] = (),
    scale: WeightScale = TO_ONE,
    by_layer: bool = False,
) -> VegaFigure:
    """Tiles of patterns [layer, head, query, key]; the `selected` (layer, head), if any, is framed.

    The tooltip shows the measures of `hover` [layer, head] under their names. The colours reach to 1, or in each tile to its
    own of `tops` [layer, head], and `whose` says what that is. Where it is `clickable`, a click sets the
    point selection `head`, fields `layer` and `head`; in Streamlit let the widget's key change with `selected`,
    or a click on the tile that was clicked last, before the arrow keys moved on, is no news to the browser.
    A `small` one has the smallest tiles, and leaves out how to read them. `notes` are lines above the tiles: what was done
    to the patterns.
    Of `scale` it is taken what the weights are. Where the maps are `by_layer`, a map is one of a layer and not of a head.
    The pictures are sharp at the chart's own width, so give it no other.
    Raises ValueError where `hover` is not of these heads.
    """
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    hover = hover or {}
    need_shape((n_layers, n_heads), **hover)
    fits, largest = (
        (_HEIGHT // max(n_layers, 1), _HEIGHT // 4) if by_layer else (_WIDTH // max(n_heads, 1), _LARGEST)
    )
    step = _SMALLEST if small else int(np.clip(fits, _SMALLEST, largest))
    side = step - _GAP
    at_most = min(AT_MOST, side)  # a browser that shrinks a picture would fade a lone strong weight
    layer, head = np.indices((n_layers, n_heads)).reshape(2, -1)
    heads = {"layer": layer, "head": head}
    names = [f"L{one}" if by_layer else f"L{one} H{other}" for one, other in zip(layer, head, strict=True)]
    chosen = [place == selected for place in np.ndindex(n_layers, n_heads)]
    measures = {name: values.ravel() for name, values in hover.items()}
    one_to_one = max(n_queries, n_keys) >= at_most == side  # a pixel of the picture is one of the screen
    drawn = tiles(patterns, tops=tops, at_most=at_most, **({"side": side} if one_to_one else {}))
    pictures = {**heads, "on_light": [light for light, _ in drawn], "on_dark": [dark for _, dark in drawn]}
    pictures["weight"] = np.zeros(len(drawn))
    pooled = -(-max(n_queries, n_keys) // at_most)
    said = [*notes, *_reading(pooled, None if tops is None else whose)]
    even = evenly(n_keys, shares=scale.shares) if tops is None else None
    return _form(step, tuple(measures), clickable, even, not one_to_one, scale.what, by_layer).of(
        {**heads, "name": names, **measures, "selected": chosen},
        frames={"pictures": pictures},
        values={"largest": 1, "even": 1 / max(n_keys, 1)},
        width=step * n_heads + _GAP,
        height=step * n_layers + _GAP,
        **lines_above(() if small else said),
        description=("Attention" if scale.what == WEIGHT else scale.what.capitalize())
        + f" of {n_layers} layers"
        + ("" if by_layer else f" of {n_heads} heads")
        + (f"; {names[chosen.index(True)]} is chosen." if any(chosen) else "; none is chosen."),
    )


@form
def _form(
    step: int,
    measures: tuple[str, ...],
    clickable: bool,
    even: str | None,
    smooth: bool,
    what: str,
    by_layer: bool,
) -> alt.LayerChart:
    band = alt.Scale(paddingInner=_GAP / step, paddingOuter=_GAP / step)
    places = {
        "x": alt.X("head:O", title=None, scale=band, axis=None if by_layer else head_axis("H", orient="top")),
        "y": alt.Y("layer:O", title=None, scale=band, axis=head_axis("L", orient="left")),
    }
    # In full screen Streamlit stretches the chart: maps and frames grow with it, and stay square.
    side = {each: alt.expr("round(min(bandwidth('x'), bandwidth('y')))") for each in ("width", "height")}
    # Read aloud or under the pointer, a picture would be its whole address.
    pictures = alt.Chart(data("pictures")).mark_image(
        **side, aspect=False, smooth=smooth, aria=False, tooltip=None
    )
    pictures = pictures.transform_calculate(url=CHOOSE).encode(**places, url="url:N")
    if even is not None:  # the pictures bring their colours with them: this is their legend
        pictures = pictures.encode(color=attention_colour("0 to 1", even, what=what))
    # On top and clear: the pointer on a picture is the pointer on its head.
    cover = alt.Chart(data()).mark_rect(
        **side, fill="transparent", cursor="pointer" if clickable else "default"
    )
    said = [alt.Tooltip(field=name, type="quantitative", format=".3~g") for name in measures]
    tooltip = [tip("name:N", title="layer" if by_layer else "head"), *said]
    cover = framed(cover, (4, 0.5)).encode(**places, description="name:N", tooltip=tooltip)
    cover = cover.add_params(click_on("head", "layer", "head")) if clickable else cover
    # Streamlit would squeeze the tiles to make room for the labels.
    return alt.layer(pictures, cover).properties(autosize="pad")


def _reading(pooled: int, whose: str | None) -> list[str]:
    """How to read the tiles, in a line or two, or none."""
    lines = [] if whose is None else [f"colour from 0 to {whose}"]
    if pooled > 1:
        lines.append(f"a pixel is the largest of up to {pooled} × {pooled} weights")
    return lines
