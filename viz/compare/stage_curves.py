"""One number a stage of the residual stream, a curve for each side."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from viz.curves import by_kind, curves, long, stage_axis
from viz.figure import VegaFigure, form, tip, value
from viz.palette import FIRST, SECOND, SHAPES
from viz.theme import FIT


def stage_curves(
    sides: Mapping[str, np.ndarray],
    stages: Sequence[str],
    *,
    y_title: str,
    x_title: str = "stage of the stream",
    from_zero_to: float | None = None,
) -> VegaFigure:
    """Values [stage] of the two sides by name, over `stages` in order; the shallower side ends earlier.

    The axis reaches from 0 to `from_zero_to`, or to the largest value. Raises ValueError where there are more
    values than stages.
    """
    if (longest := max(map(len, sides.values()), default=0)) > len(stages):
        raise ValueError(f"{longest} values need as many stages, got {len(stages)}")
    series = {name: (stages[: len(values)], values.tolist()) for name, values in sides.items()}
    frame = long(series, "side", "stage", "value")
    top = from_zero_to or max(frame["value"], default=1.0) or 1.0
    return _form(tuple(sides), tuple(stages), x_title, y_title).of(
        frame,
        values={"top": top},
        description=f"{y_title}, over {len(stages)} stages, of {' and '.join(sides)}",
    )


@form
def _form(sides: tuple[str, ...], stages: tuple[str, ...], x_title: str, y_title: str) -> alt.LayerChart:
    layers = curves(
        stage_axis(stages, x_title),
        alt.Y("value:Q", title=y_title, scale=alt.Scale(domain=[0, value("top")])),
        by_kind("side:N", sides, color=(FIRST, SECOND), shape=SHAPES),
        tooltip=["side:N", "stage:N", tip("value:Q", ".4f", y_title)],
        line={"strokeWidth": 2.5},
        points={"size": 70},
    )
    return alt.layer(*layers).properties(height=240, autosize=FIT)
