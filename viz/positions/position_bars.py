"""Bars of the positions page: nearest neighbours, how far layers see, and shares of the maps in the scores."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.cells import head_axis
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, need_shape, tip, value
from ..builders.palette import ACCENT, CATEGORIES, EMPHASIS, NEUTRAL
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
