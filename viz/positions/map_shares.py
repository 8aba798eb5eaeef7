"""How large the maps are that add up to the scores of each head."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.cells import head_axis
from ..builders.figure import VegaFigure, click_on, data, form, tip
from ..builders.palette import ACCENT, CATEGORIES
from ..builders.theme import FIT


def map_shares(sizes: Mapping[str, np.ndarray], *, head: int) -> VegaFigure:
    """A bar for each head, split by the shares of its maps in the sum of their `sizes` [head], by the map's name.

    The bar of the chosen `head` is framed. A click on a bar sets the point selection `head`, field `head`.
    """
    names, total = list(sizes), np.sum(list(sizes.values()), axis=0)
    n_heads = len(next(iter(sizes.values())))
    rows = [
        (number, name, float(sizes[name][number]), float(sizes[name][number] / total[number]))
        for number in range(n_heads)
        for name in names
    ]
    columns = dict(zip(("head", "map", "size", "share"), zip(*rows, strict=True), strict=True))
    return _shares_form(tuple(names)).with_data(
        columns,
        frames={"chosen": {"head": [head], "from": [0], "to": [1]}},
        height=150,
        description=f"Shares of {', '.join(names)} in the scores of {n_heads} heads; head {head} is chosen",
    )


@form
def _shares_form(names: tuple[str, ...]) -> alt.TopLevelMixin:
    x = alt.X("head:O", title=None, axis=head_axis("H", orient="bottom"))
    y = alt.Y(
        "share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)
    )
    bars = alt.Chart(data()).mark_bar(cursor="pointer")
    bars = bars.encode(
        x=x,
        y=y,
        color=alt.Color(
            "map:N",
            scale=alt.Scale(domain=list(names), range=list(CATEGORIES[: len(names)])),
            legend=alt.Legend(title=None, orient="top", labelLimit=0),
        ),
        tooltip=[tip("head:O"), tip("map:N"), tip("size:Q", ".4f", "mean size"), tip("share:Q", ".1%")],
    ).add_params(click_on("head", "head"))
    frame = alt.Chart(data("chosen")).mark_bar(fill=None, stroke=ACCENT, strokeWidth=2.5, aria=False)
    return alt.layer(bars, frame.encode(x=x, y="from:Q", y2="to:Q")).properties(autosize=FIT)
