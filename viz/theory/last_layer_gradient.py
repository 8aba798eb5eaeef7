"""The gradient of the last layer over the depth of the encoder, on two log axes."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import NEUTRAL
from viz.theme import INK
from viz.theory.seed_spread import position_axis, seed_spread, value_axis

_X, _Y = "layers L", "‖∂ℒ/∂W²‖ of the last layer"
_GUIDED = "pre-LN"  # the guide begins where this one does


def last_layer_gradient(norms: Mapping[str, np.ndarray], depths: Sequence[int]) -> alt.LayerChart:
    """Norms [seed, depth] by variant, and a line that falls as 1/√L from the first of pre-LN (or of any).

    Raises ValueError where depths and norms differ in number.
    """
    return seed_spread(
        norms,
        depths,
        x=_X,
        y=_Y,
        x_scale="log",
        y_scale="log",
        guides=_guide(norms.get(_GUIDED, next(iter(norms.values()))), depths) if norms else (),
        description="Norm of the last layer's gradient over the number of layers, a line a placement of the norm.",
    )


def _guide(norms: np.ndarray, depths: Sequence[int]) -> tuple[alt.Chart, alt.Chart]:
    falling = norms[:, 0].mean() * np.sqrt(depths[0] / np.array(depths))
    rows = pd.DataFrame({"position": list(depths), "guide": falling})
    y = value_axis("guide", title=_Y, scale="log")
    base = alt.Chart(rows).encode(x=position_axis(depths, title=_X, scale="log"), y=y)
    line = base.mark_line(color=NEUTRAL, strokeDash=[2, 4], strokeWidth=2)
    name = base.transform_filter(f"datum.position == {depths[-1]}").mark_text(
        text="∝ 1/√L", align="right", baseline="top", dy=14, fontSize=13, color=INK
    )
    return line, name
