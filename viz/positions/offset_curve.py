"""What was measured at each offset between two positions, with what a formula says plotted over it."""

import altair as alt
import numpy as np

from viz.curves import by_kind
from viz.figure import VegaFigure, data, form, tip
from viz.palette import DIFFERENCE, NEUTRAL

_FEW = 130  # offsets; of more the dots are smaller
_SEEN = "measured, mean over all pairs"


def offset_curve(
    offsets: np.ndarray, measured: np.ndarray, formula: np.ndarray, *, what: str, law: str
) -> VegaFigure:
    """Dots for `measured` and a line for `formula`, both [offset]; `what` is the axis, `law` names the formula.

    Raises ValueError where the lengths differ.
    """
    if not len(offsets) == len(measured) == len(formula):
        raise ValueError(
            f"{len(offsets)} offsets, but {len(measured)} measured and {len(formula)} by formula"
        )
    columns = {"offset": offsets, "measured": measured, "formula": formula, "deviation": measured - formula}
    return _form(what, law, len(offsets) <= _FEW).of(
        columns, description=f"{what} over the offset of two positions: measured as dots, {law} as a line"
    )


@form
def _form(what: str, law: str, few: bool) -> alt.LayerChart:
    channels = by_kind(
        "kind:N",
        (_SEEN, law),
        color=(NEUTRAL, DIFFERENCE[-1]),
        legend={"direction": "vertical", "symbolOpacity": 1},
    )
    x = alt.X(
        "offset:Q",
        title="offset φ = t − s (positions)",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(format="d", tickMinStep=1),
    )
    base = alt.Chart(data()).encode(x=x, **channels)
    tooltip = [
        tip("offset:Q", title="offset φ"),
        *(tip(f"{field}:Q", ".6f") for field in ("measured", "formula")),
        tip("deviation:Q", ".1e"),
    ]
    dots = base.transform_calculate(kind=f"'{_SEEN}'").mark_circle(opacity=0.6, size=60 if few else 22)
    line = base.transform_calculate(kind=f"'{law}'").mark_line(strokeWidth=1.8, aria=False, tooltip=None)
    return alt.layer(
        dots.encode(y=alt.Y("measured:Q", title=what), tooltip=tooltip), line.encode(y="formula:Q")
    ).properties(height=340)
