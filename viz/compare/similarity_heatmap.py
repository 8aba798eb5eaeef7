"""How alike two sets of stages are, pair by pair, the number written in its cell."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.colour_legend import colour_legend
from viz.numbers import written
from viz.palette import ATTENTION, DIFFERENCE, NEUTRAL
from viz.theme import INK, LIGHT_INK

_SMALLEST, _LARGEST = 12, 46
_WRITTEN = 24  # pixels a cell needs for its number
_STRONG = 0.8


def similarity_heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    names: tuple[str, str],
    what: str,
    signed: bool,
    side: int,
    undefined: str = "not defined",
    title: str = "",
) -> alt.LayerChart:
    """Values [row, column] from 0, or -1 where `signed`, to 1; `names` are of rows and columns.

    The longer side is about `side` pixels. NaN is drawn as a dash, and `undefined` says why on hover.
    Raises ValueError where the shapes do not fit.
    """
    if values.shape != (len(rows), len(columns)):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns, got values of {values.shape}")
    row, column = np.indices(values.shape).reshape(2, -1)
    flat = values.ravel().astype(float)
    cells = pd.DataFrame(
        {
            "row": np.asarray(rows, dtype=object)[row],
            "column": np.asarray(columns, dtype=object)[column],
            "value": flat,
            "written": [written(value, ".2f") for value in flat],
            "exact": [f"{value:.4f}" if np.isfinite(value) else undefined for value in flat],
            "strong": np.abs(np.nan_to_num(flat)) > _STRONG,
        }
    )
    step = int(np.clip(side // max(*values.shape, 1), _SMALLEST, _LARGEST))
    axis = {"ticks": False, "domain": False, "grid": False, "labelOverlap": "greedy", "labelFlush": False}
    base = alt.Chart(cells).encode(
        x=alt.X(
            "column:N",
            sort=list(columns),
            title=names[1],
            axis=alt.Axis(orient="top", labelAngle=-90, **axis),
        ),
        y=alt.Y("row:N", sort=list(rows), title=names[0], axis=alt.Axis(**axis)),
    )
    low = -1 if signed else 0
    colours = base.mark_rect(stroke=NEUTRAL, strokeWidth=0.3, invalid=None).encode(
        color=alt.Color(
            "value:Q",
            scale=alt.Scale(domain=[low, 1], range=list(DIFFERENCE if signed else ATTENTION), clamp=True),
            legend=colour_legend(
                f"{what}, {'−1' if signed else '0'} to 1", [low, 0, 1] if signed else [0, 1], format="~g"
            ),
        ),
        tooltip=[
            alt.Tooltip("row:N", title=names[0]),
            # two columns of one name would be one line of the tooltip
            alt.Tooltip("column:N", title=names[1] if names[1] != names[0] else f"{names[1]}, other stage"),
            alt.Tooltip("exact:N", title=what),
        ],
    )
    layers = [colours]
    if step >= _WRITTEN:
        ink = alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")
        layers.append(
            base.mark_text(aria=False, fontSize=10 if step < 30 else 12, color=ink, tooltip=None).encode(
                text="written:N"
            )
        )
    return alt.layer(*layers).properties(
        width=step * len(columns),
        height=step * len(rows),
        autosize="pad",
        title=alt.Title(title, anchor="start", fontSize=13, limit=0),
        description=f"{what} of {len(rows)} stages of {names[0]} and {len(columns)} of {names[1]}",
    )
