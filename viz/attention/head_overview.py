"""All heads of an encoder at once, a small map each: layers down, heads across."""

import altair as alt
import numpy as np
import pandas as pd

from viz.head_axis import head_axis
from viz.palette import ACCENT, NEUTRAL, ColourScale, tile, top

AT_MOST = 64  # cells a side of a tile; with more positions, or fewer pixels, neighbours are pooled
_WIDTH = 600  # pixels for all heads together, while a tile stays between the smallest and the largest
_SMALLEST, _LARGEST, _GAP = 44, 76, 6


def head_overview(
    patterns: np.ndarray,
    *,
    selected: tuple[int, int] | None,
    hover: pd.DataFrame,
    scale: ColourScale = "fixed",
    clickable: bool = True,
) -> alt.LayerChart:
    """Tiles of patterns [layer, head, query, key]; the `selected` (layer, head), if any, is framed.

    `hover` has a row a head: `layer`, `head` and any measures, which the tooltip shows under their column
    names. With `scale` "own" each tile reaches to its own maximum. Where it is `clickable`, a click sets the
    point selection `head`, fields `layer` and `head`; in Streamlit let the widget's key change with `selected`,
    or a click on the tile that was clicked last, before the arrow keys moved on, is no news to the browser.
    The pictures are sharp at the chart's own width, so give it no other.
    """
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    measures = [name for name in hover.columns if name not in ("layer", "head")]
    heads = list(np.ndindex(n_layers, n_heads))
    tiles = pd.DataFrame(heads, columns=["layer", "head"], dtype=int).merge(
        hover, on=["layer", "head"], how="left", validate="one_to_one"
    )
    tiles["name"] = [f"L{layer} H{head}" for layer, head in heads]
    tiles["selected"] = [place == selected for place in heads]
    step = int(np.clip(_WIDTH // max(n_heads, 1), _SMALLEST, _LARGEST))
    side = step - _GAP
    at_most = min(AT_MOST, side)  # a browser that shrinks a picture would fade a lone strong weight
    tiles["url"] = [
        tile(patterns[place], maximum=top(patterns[place], scale), at_most=at_most) for place in heads
    ]
    pooled = -(-max(n_queries, n_keys) // at_most)
    band = alt.Scale(paddingInner=_GAP / step, paddingOuter=_GAP / step)
    base = alt.Chart(tiles).encode(
        x=alt.X("head:O", title=None, scale=band, axis=head_axis("H", orient="top")),
        y=alt.Y("layer:O", title=None, scale=band, axis=head_axis("L", orient="left")),
        description="name:N",  # left alone, Vega would read the picture's whole address aloud
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            *(alt.Tooltip(field=name, type="quantitative", format=".3~g") for name in measures),
        ],
    )
    pictures = base.mark_image(
        width=side, height=side, aspect=False, cursor="pointer" if clickable else "default"
    ).encode(url="url:N")
    click = alt.selection_point(name="head", fields=["layer", "head"], toggle=False, clear=False)
    frames = base.mark_rect(fill=None).encode(
        stroke=alt.when("datum.selected").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
        strokeWidth=alt.when("datum.selected").then(alt.value(4)).otherwise(alt.value(0.5)),
    )
    return alt.layer(pictures.add_params(click) if clickable else pictures, frames).properties(
        width=step * n_heads + _GAP,
        height=step * n_layers + _GAP,
        autosize="pad",  # Streamlit would squeeze the tiles to make room for the labels
        title=alt.Title(_reading(pooled, scale), anchor="start", fontSize=12, fontWeight="normal", limit=0),
        description=f"Attention of {n_layers} layers of {n_heads} heads"
        + (f"; L{selected[0]} H{selected[1]} is chosen." if selected else "; none is chosen."),
    )


def _reading(pooled: int, scale: ColourScale) -> list[str]:
    """How to read the tiles, in a line or two."""
    lines = ["colour from 0 to 1" if scale == "fixed" else "colour from 0 to each map's own maximum"]
    if pooled > 1:
        lines.append(f"a pixel is the largest of up to {pooled} × {pooled} weights")
    return lines
