"""Numbers from -1 to 1 written in a table with a row a position: the bits of t, or sines, as a counter shows them."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, DIFFERENCE, NEUTRAL
from viz.theme import INK

_COLUMN, _ROW = 52, 22  # pixels


def counter_table(
    values: np.ndarray,
    texts: np.ndarray,
    columns: Sequence[str],
    positions: Sequence[int],
    *,
    position: int,
    title: str,
    heading: str,
) -> alt.LayerChart:
    """Colours `values` and writes `texts`, both [position, column]; the row of the chosen `position` is framed.

    The columns have a common `heading`; the name of one may have lines, parted by "|". Raises ValueError where the shapes do not fit.
    """
    shape = (len(positions), len(columns))
    if values.shape != shape or texts.shape != shape:
        raise ValueError(f"expected values and texts of {shape}, got {values.shape} and {texts.shape}")
    row, column = np.indices(shape).reshape(2, -1)
    cells = pd.DataFrame(
        {
            "t": np.asarray(positions)[row],
            "column": np.asarray(columns, dtype=object)[column],
            "value": values.ravel().astype(float),
            "text": texts.ravel(),
        }
    )
    base = alt.Chart(cells).encode(
        x=alt.X(
            "column:N",
            sort=None,
            title=heading,
            axis=alt.Axis(
                orient="top",
                labelAngle=0,
                labelExpr="split(datum.label, '|')",
                ticks=False,
                domain=False,
                labelLimit=0,
                labelOverlap=False,
            ),
        ),
        y=alt.Y("t:O", title="position t", axis=alt.Axis(ticks=False, domain=False)),
    )
    colours = base.mark_rect(stroke=NEUTRAL, strokeWidth=0.5, opacity=0.75).encode(
        color=alt.Color(
            "value:Q", scale=alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=list(DIFFERENCE)), legend=None
        ),
        tooltip=[
            alt.Tooltip("t:O", title="position t"),
            alt.Tooltip("column:N"),
            alt.Tooltip("text:N", title="value"),
        ],
    )
    text = base.mark_text(color=INK, aria=False, tooltip=None).encode(text="text:N")
    frame = (
        alt.Chart(pd.DataFrame({"t": [position]}))
        .mark_rect(fill=None, stroke=ACCENT, strokeWidth=2.5, aria=False)
        .encode(y=alt.Y("t:O", title="position t"))
    )
    return alt.layer(colours, text, frame).properties(
        width=_COLUMN * len(columns),
        height=_ROW * len(positions),
        autosize="pad",
        title=alt.Title(title, anchor="start", fontSize=13, fontWeight="normal", limit=0),
        description=f"{title}; position {position} is framed",
    )
