"""One number a head: layers down, heads across, the number written in its cell."""

import altair as alt
import numpy as np
import pandas as pd

from viz.head_axis import head_axis
from viz.numbers import written
from viz.palette import ACCENT, ATTENTION, DIFFERENCE, NEUTRAL
from viz.theme import INK, LIGHT_INK

_WIDTH, _SMALLEST, _LARGEST = 230, 40, 64
_HEIGHT = 34
_STRONG = 0.8  # of the scale: from there on the colours are too dark for the dark ink of a light page


def head_grid(
    values: np.ndarray,
    *,
    selected: tuple[int, int],
    title: list[str],
    signed: bool,
    notes: list[str] | None = None,
    digits: int = 2,
) -> alt.LayerChart:
    """Values [layer, head], NaN where there is none; the `selected` (layer, head) is framed.

    `signed` values are coloured symmetrically about 0, others from 0 to the largest. `notes`, one a head layer
    by layer, go into the tooltip. A click sets the point selection `head`, fields `layer` and `head`.
    """
    layer, head = np.indices(values.shape).reshape(2, -1)
    flat = values.ravel().astype(float)
    largest = float(np.nanmax(np.abs(flat), initial=0)) or 1.0
    sign = "+" if signed else ""
    cells = pd.DataFrame(
        {
            "layer": layer,
            "head": head,
            "name": [f"L{row} H{column}" for row, column in zip(layer, head, strict=True)],
            "value": flat,
            "written": [written(value, f"{sign}.{digits}f") for value in flat],
            "exact": [written(value, f"{sign}.4f", otherwise="no partner") for value in flat],
            "note": notes or [""] * len(flat),
            "strong": np.abs(np.nan_to_num(flat)) > _STRONG * largest,
            "selected": [place == selected for place in np.ndindex(values.shape)],
        }
    )
    # The chosen one comes last: no neighbour's border lies on its frame.
    base = alt.Chart(cells.sort_values("selected", kind="stable")).encode(
        x=alt.X("head:O", title=None, axis=head_axis("H", orient="top")),
        y=alt.Y("layer:O", title=None, axis=head_axis("L", orient="left")),
    )
    colours = base.mark_rect(aria=False).encode(
        color=alt.Color(
            "value:Q",
            scale=alt.Scale(
                domain=[-largest, largest] if signed else [0, largest],
                range=list(DIFFERENCE if signed else ATTENTION),
            ),
            legend=None,  # the numbers stand in the cells
        )
    )
    text = base.mark_text(
        aria=False, fontSize=12, color=alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")
    ).encode(text="written:N")
    tooltip = [alt.Tooltip("name:N", title="head"), alt.Tooltip("exact:N", title=title[0])]
    if notes:
        tooltip.append(alt.Tooltip("note:N", title="pair"))
    cover = (
        base.mark_rect(fill="transparent", cursor="pointer")
        .encode(
            stroke=alt.when("datum.selected").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.selected").then(alt.value(3)).otherwise(alt.value(0.4)),
            description="name:N",
            tooltip=tooltip,
        )
        .add_params(alt.selection_point(name="head", fields=["layer", "head"], toggle=False, clear=False))
    )
    step = int(np.clip(_WIDTH // max(values.shape[1], 1), _SMALLEST, _LARGEST))
    return alt.layer(colours, text, cover).properties(
        width=step * values.shape[1],
        height=_HEIGHT * values.shape[0],
        autosize="pad",
        title=alt.Title(
            title[0],
            subtitle=title[1:],
            anchor="start",
            fontSize=13,
            limit=0,
            subtitleFontSize=11,
            subtitleColor=INK,
        ),
        description=f"{title[0]} of {values.shape[0]} layers of {values.shape[1]} heads",
    )
