"""Cells in rows and columns, coloured, with a number in each: the shared form of all grids."""

import altair as alt
import numpy as np
import pandas as pd

from viz.figure import data, value
from viz.palette import ACCENT, ATTENTION, DIFFERENCE, NEUTRAL
from viz.theme import INK, LIGHT_INK

STRONG = 0.8  # of the scale: from there on the colours are too dark for the dark ink of a light page


def head_cells(values: np.ndarray, selected: tuple[int, int] | None = None) -> pd.DataFrame:
    """A row a head of `values` [layer, head]: layer, head, name and value; `selected` marks one of them.

    The selected one comes last, so that no neighbour's border lies on its frame.
    """
    layer, head = np.indices(values.shape).reshape(2, -1)
    cells = pd.DataFrame({"layer": layer, "head": head, "value": values.ravel().astype(float)})
    cells["name"] = [f"L{row} H{column}" for row, column in zip(layer, head, strict=True)]
    cells["selected"] = [place == selected for place in np.ndindex(values.shape)]
    return cells.sort_values("selected", kind="stable")


def strong(values: np.ndarray, largest: float) -> np.ndarray:
    """Where a number in a cell needs light ink."""
    return np.abs(np.nan_to_num(np.asarray(values, float))) > STRONG * largest


def cells(
    x: alt.X,
    y: alt.Y,
    *,
    tooltip: list[alt.Tooltip],
    signed: bool,
    field: str = "value",
    text: str | None = "written",
    font_size: int = 12,
    legend: alt.Legend | None = None,
    selectable: alt.Parameter | None = None,
    **mark: object,
) -> alt.LayerChart:
    """For forms: cells of the frame at `x` and `y`, coloured by `field`, with what `text` holds written in them.

    The colours reach to the value `largest`, from its negative where they are `signed`, else from 0. The frame's
    field `strong` says where the ink is light. With `selectable`, a click selects a cell, and the one whose
    field `selected` is true is framed; the frame's `name` is read aloud. `mark` is the appearance of a cell.
    """
    base = alt.Chart(data()).encode(x=x, y=y)
    colours = alt.Scale(
        domain=[alt.ExprRef("-largest") if signed else 0, value("largest")],
        range=list(DIFFERENCE if signed else ATTENTION),
        clamp=True,
    )
    layers = [
        base.mark_rect(aria=False, **mark).encode(color=alt.Color(f"{field}:Q", scale=colours, legend=legend))
    ]
    if text:
        ink = alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")
        layers.append(base.mark_text(aria=False, fontSize=font_size, color=ink).encode(text=f"{text}:N"))
    # On top and clear: the pointer on a number is the pointer on its cell.
    cover = base.mark_rect(fill="transparent", cursor="pointer" if selectable else "default")
    cover = cover.encode(description="name:N", tooltip=tooltip)
    if selectable:
        cover = framed(cover).add_params(selectable)
    return alt.layer(*layers, cover)


def framed(marks: alt.Chart, borders: tuple[float, float] = (3, 0.4)) -> alt.Chart:
    """For forms: `marks` with a border, wide and green where the frame's field `selected` is true."""
    wide, thin = borders
    return marks.encode(
        stroke=alt.when("datum.selected").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
        strokeWidth=alt.when("datum.selected").then(alt.value(wide)).otherwise(alt.value(thin)),
    )
