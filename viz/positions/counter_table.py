"""Numbers from -1 to 1 written in a table with a row a position: the bits of t, or sines, as a counter shows them."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.cells import cells
from viz.figure import VegaFigure, data, form, tip
from viz.palette import ACCENT, NEUTRAL
from viz.theme import INK
from viz.theme import heading as chart_title

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
) -> VegaFigure:
    """Colours `values` and writes `texts`, both [position, column]; the row of the chosen `position` is framed.

    The columns have a common `heading`; the name of one may have lines, parted by "|". Raises ValueError where the shapes do not fit.
    """
    shape = (len(positions), len(columns))
    if values.shape != shape or texts.shape != shape:
        raise ValueError(f"expected values and texts of {shape}, got {values.shape} and {texts.shape}")
    row, column = np.indices(shape).reshape(2, -1)
    t, named = np.asarray(positions)[row], np.asarray(columns, dtype=object)[column]
    frame = {
        "t": t,
        "column": named,
        "value": values.ravel().astype(float),
        "written": texts.ravel().astype(object),
        "name": [f"t = {one}, {other}" for one, other in zip(t, named, strict=True)],
    }
    return _form(heading).of(
        frame,
        frames={"framed": {"t": [position]}},
        values={"largest": 1},
        width=_COLUMN * len(columns),
        height=_ROW * len(positions),
        title=chart_title(title) | {"fontWeight": "normal"},
        description=f"{title}; position {position} is framed",
    )


@form
def _form(heading: str) -> alt.LayerChart:
    bare = {"ticks": False, "domain": False}
    across = alt.Axis(
        orient="top",
        labelAngle=0,
        labelExpr="split(datum.label, '|')",
        labelLimit=0,
        labelOverlap=False,
        **bare,
    )
    y = alt.Y("t:O", title="position t", axis=alt.Axis(**bare))
    table = cells(
        alt.X("column:N", sort=None, title=heading, axis=across),
        y,
        tooltip=[tip("t:O", title="position t"), tip("column:N"), tip("written:N", title="value")],
        signed=True,
        font_size=11,
        writing={"color": INK},
        stroke=NEUTRAL,
        strokeWidth=0.5,
        opacity=0.75,
    )
    frame = alt.Chart(data("framed")).mark_rect(
        fill=None, stroke=ACCENT, strokeWidth=2.5, aria=False, tooltip=None
    )
    return alt.layer(table, frame.encode(y=y)).properties(autosize="pad")
