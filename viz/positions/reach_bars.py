"""How far each layer sees, and from how far a token can hold information after it, as bars about the token."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import VegaFigure, either, need_shape, value
from ..builders.palette import EMPHASIS, NEUTRAL

_ROW = 22  # pixels a layer
SEES, HOLDS = "the layer sees", "after it, the token can hold information from"


def reach_bars(sees: np.ndarray, holds: np.ndarray, *, half: int, names: Sequence[str]) -> VegaFigure:
    """A row for each layer: dark, how far it sees; faint, from how far content can have come by its end, both [layer, 2] as
    positions before and after the token.

    `half` is the end of the axis, and `names` those of the layers. Raises ValueError where the shapes do not fit each other.
    """
    need_shape((len(names), 2), sees=sees, holds=holds)
    columns = [
        Column("layer", [*names, *names]),
        Column("bar", [HOLDS] * len(names) + [SEES] * len(names), "what"),
        Column("before", np.concatenate((-holds[:, 0], -sees[:, 0])), format="d"),
        Column("after", np.concatenate((holds[:, 1], sees[:, 1])), format="+d"),
    ]
    axis = alt.Axis(format="d", tickMinStep=1, tickCount=10)  # few enough that 0 keeps its label
    scale = alt.Scale(domain=[alt.ExprRef("-half"), value("half")], nice=False)
    bars = {
        "x": alt.X("before:Q", title="positions before and after the token", scale=scale, axis=axis),
        "x2": "after:Q",
        "y": alt.Y("layer:N", sort=list(names), title="layer", axis=alt.Axis(ticks=False, domain=False)),
        "color": alt.Color(
            "bar:N",
            scale=alt.Scale(domain=[SEES, HOLDS], range=[EMPHASIS, NEUTRAL]),
            legend=alt.Legend(title=None, orient="top", labelLimit=0),
        ),
        "opacity": either(f"datum.bar == '{SEES}'", 1, 0.3),
        "size": either(f"datum.bar == '{SEES}'", 6, 15),
        "tooltip": columns,
    }
    return chart(
        columns,
        layer("bar", bars),
        values={"half": half},
        height=_ROW * len(names),
        description=f"How far each of {len(names)} layers sees, and from how far a token can hold information after it, in positions",
    )
