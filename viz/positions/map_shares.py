"""How large the maps are that add up to the scores of each head."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.cells import head_axis
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, tip
from ..builders.palette import ACCENT, CATEGORIES


def map_shares(sizes: Mapping[str, np.ndarray], *, head: int) -> VegaFigure:
    """A bar for each head, split by the shares of its maps in the sum of their `sizes` [head], by the map's name.

    The bar of the chosen `head` is framed. A click on a bar sets the point selection `head`, field `head`.
    """
    names, total = list(sizes), np.sum(list(sizes.values()), axis=0)
    n_heads = len(next(iter(sizes.values())))
    by_head = np.stack(list(sizes.values()), axis=1)
    columns = [
        Column("head", np.repeat(np.arange(n_heads), len(names)), None),
        Column("map", names * n_heads),
        Column("size", by_head, "mean size", ".4f"),
        Column("share", by_head / total[:, None], format=".1%"),
    ]
    x = alt.X("head:O", title=None, axis=head_axis("H", orient="bottom"))
    axis = alt.Axis(format="%", tickCount=3)
    bars = {
        "x": x,
        "y": alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=axis),
        "color": alt.Color(
            "map:N",
            scale=alt.Scale(domain=names, range=list(CATEGORIES[: len(names)])),
            legend=alt.Legend(title=None, orient="top", labelLimit=0),
        ),
        "tooltip": [tip("head:O"), *columns],
    }
    frame: Kwargs = {"fill": None, "stroke": ACCENT, "strokeWidth": 2.5, "aria": False}
    return chart(
        columns,
        layer("bar", bars, cursor="pointer", click=("head", "head")),
        layer("bar", {"x": x, "y": "from:Q", "y2": "to:Q"}, "chosen", **frame),
        frames={"chosen": {"head": [head], "from": [0], "to": [1]}},
        height=150,
        description=f"Shares of {', '.join(names)} in the scores of {n_heads} heads; head {head} is chosen",
    )
