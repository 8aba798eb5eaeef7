"""The nearest neighbours of a vector, as horizontal bars."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape, tip, value
from ..builders.palette import EMPHASIS
from ..builders.theme import INK, MIDDLE
from ..builders.token_label import FONT, label, visible

_BAR = 24  # pixels a bar
_NAME_WIDTH = 124  # pixels for the names, on the left


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, word: str, positions: Sequence[int | None] = ()
) -> VegaFigure:
    """Horizontal bars of the cosine similarities of a `word` and its neighbours `names`, in the given order.

    `positions` are the neighbours' positions in the input, None for a word that is not in it. Raises ValueError if
    names, similarities and positions differ in number.
    """
    positions = positions or [None] * len(names)
    need_shape((len(names),), cosines=cosines, positions=positions)
    suffixes = ["" if position is None else f" {position}" for position in positions]
    columns = [
        Column("rank", np.arange(1, len(names) + 1)),
        Column("name", [visible(name) for name in names], "neighbour"),
        Column("cosine", [float(cosine) for cosine in cosines], format=".4f"),
    ]
    # Two neighbours may have one name, so a bar is told by its rank.
    base = {"y": alt.Y("rank:O", axis=None), "tooltip": [tip("rank:O"), *columns[1:]]}
    x: Kwargs = {
        "title": "cosine similarity",
        # a little beyond 1, for the number behind a full bar
        "scale": alt.Scale(domain=[value("lowest"), 1.25], nice=False, rangeMin=_NAME_WIDTH),
        "axis": alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
    }
    text: Kwargs = {"align": "left", "fontSize": MIDDLE, "color": INK}
    number = {"x": alt.X("end:Q", **x), "text": alt.Text("cosine:Q", format=".3f")}
    return chart(
        columns,
        layer("bar", base | {"x": alt.X("cosine:Q", **x)}, color=EMPHASIS),
        layer(
            "text", base | {"x": alt.value(0), "text": "label:N"}, font=FONT, limit=_NAME_WIDTH - 8, **text
        ),
        layer("text", base | number, calculate={"end": "max(datum.cosine, 0)"}, dx=5, **text),
        drawing={"label": [label(name, 14) + suffix for name, suffix in zip(names, suffixes, strict=True)]},
        values={"lowest": float(min(0.0, *cosines)) if len(cosines) else 0.0},
        height=_BAR * max(len(names), 1),
        description=f"The {len(names)} nearest neighbours of {visible(word)} by cosine similarity.",
    )
