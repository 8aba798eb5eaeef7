"""One block of the encoder as a diagram from top to bottom: its steps in order, and the residual connections beside
them.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import pandas as pd

from ..builders.cells import frame_channels
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import CATEGORIES, NEUTRAL
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE

# In pixels, as all lengths here: above the first box, a box, from one to the next.
_TOP, _BOX, _STEP = 8, 24, 33
_LEFT, _RIGHT = 30, 204  # of every box
_SKIP, _WIDTH = 224, 246  # where the residual connections run, and the whole
_TINTS = {"norm": NEUTRAL, "attention": CATEGORIES[0], "feed-forward": CATEGORIES[2], "stream": "transparent"}
_BY_ITSELF = ("rotate", "products", "values")  # the steps between which every head is by itself


def block_diagram(
    labels: Mapping[str, str], *, opened: Collection[str], head: str, placement: str
) -> VegaFigure:
    """A diagram with a box for each step of a block, from top to bottom; `labels` maps step names of
    `model.experiments.head_steps.ORDER` to the texts of the boxes.

    The boxes of the steps in `opened` are framed. A dashed line, labelled `head`, surrounds the steps that each head
    does separately. `placement` is the name of the norm placement, for screen readers. A click on a box sets the
    point selection `step`, field `step`. The chart sets its own width; do not override it.
    """
    upper_edges = {name: _TOP + row * _STEP for row, name in enumerate(labels)}
    frame: dict[str, Any] = {
        "step": list(labels),
        "label": [f"{row}  {label}" for row, label in enumerate(labels.values(), 1)],
        "tint": [_TINTS[_step_kind(name)] for name in labels],
        "left": _LEFT,
        "right": _RIGHT,
        "upper": list(upper_edges.values()),
        "lower": [upper_edge + _BOX for upper_edge in upper_edges.values()],
        "selected": [name in opened for name in labels],
    }
    corners, arrow_tips = _connections(upper_edges)
    texts = _text_marks(upper_edges, frame["label"], head)
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("upper"), "y2": "lower:Q"}
    point = {"x": pixel_x("x"), "y": pixel_y("y")}
    angle = {"angle": alt.Angle("angle:Q", scale=None)}
    dashes: Kwargs = {"strokeDash": [4, 3], "cornerRadius": 6, "tooltip": None}
    line: Kwargs = {"color": NEUTRAL, "strokeWidth": 1.5, "aria": False}
    tip: Kwargs = {"shape": "triangle", "filled": True, "size": 50, "color": NEUTRAL, "opacity": 1}
    text: Kwargs = {"fontSize": MIDDLE, "color": INK, "align": alt.expr("datum.align"), "aria": False}
    columns = [Column(name, frame.pop(name), None) for name in ("step", "label")]
    return chart(
        columns,
        layer("line", point | {"detail": "way:N", "order": "order:Q"}, "corners", **line),
        layer("point", point | angle, "tips", aria=False, **tip),
        layer("rect", box, "alone", fill=None, stroke=NEUTRAL, aria=False, **dashes),
        layer(
            "rect", box | {"fill": alt.Fill("tint:N", scale=None)}, cornerRadius=5, opacity=0.24, aria=False
        ),
        layer("text", point | {"text": "text:N"} | angle, "texts", **text),
        # On top and clear: a click on a letter counts as one on its box.
        layer(
            "rect",
            box | frame_channels((3, 0.75)) | {"description": "label:N"},
            cornerRadius=5,
            fill="transparent",
            cursor="pointer",
            tooltip=None,
            click=("step", "step"),
        ),
        drawing=frame,
        frames={"alone": _head_box(upper_edges), "corners": corners, "tips": arrow_tips, "texts": texts},
        width=_WIDTH,
        height=_TOP + _STEP * len(labels),
        autosize="pad",
        description=f"The {len(labels)} steps of a {placement} block: {', '.join(labels.values())}",
    )


def _step_kind(name: str) -> str:
    """The kind of a step, by which its box is coloured."""
    if name == "input" or name.startswith("add_"):
        return "stream"
    if name.startswith("norm_"):
        return "norm"
    return "feed-forward" if name in ("expand", "contract") else "attention"


def _residual_connections(upper_edges: Mapping[str, int]) -> list[tuple[float, float]]:
    """Top and bottom, in pixels, of the two residual connections; `upper_edges` maps step names to the upper edges of
    their boxes.
    """
    # The second one leaves the stream behind attention, and behind its norm where that follows.
    after_attention = max({"add_attention", "norm_attention"} & set(upper_edges), key=list(upper_edges).index)
    step_pairs = (("input", "add_attention"), (after_attention, "add_feed_forward"))
    return [
        (upper_edges[source] + (_BOX + _STEP) / 2, upper_edges[target] + _BOX / 2)
        for source, target in step_pairs
    ]


def _connections(upper_edges: Mapping[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The corners of all connecting lines, and the positions and angles of their arrow heads, in pixels."""
    middle = (_LEFT + _RIGHT) / 2
    connections: list[list[tuple[float, float]]] = [
        [(middle, upper_edge + _BOX), (middle, lower_edge)]
        for upper_edge, lower_edge in pairwise(upper_edges.values())
    ]
    for start_y, end_y in _residual_connections(upper_edges):
        connections.append([(middle, start_y), (_SKIP, start_y), (_SKIP, end_y), (_RIGHT, end_y)])
    corners = [
        (connection, order, *point)
        for connection, points in enumerate(connections)
        for order, point in enumerate(points)
    ]
    arrow_tips = [(x, y, 180 if x == middle else 270) for x, y in (points[-1] for points in connections)]
    return (
        pd.DataFrame(corners, columns=["way", "order", "x", "y"]),
        pd.DataFrame(arrow_tips, columns=["x", "y", "angle"]),
    )


def _head_edges(upper_edges: Mapping[str, int]) -> tuple[int, int]:
    """The upper edges, in pixels, of the first and the last step that each head does separately."""
    first_top, *_, last_top = (upper_edges[name] for name in _BY_ITSELF if name in upper_edges)
    return first_top, last_top


def _head_box(upper_edges: Mapping[str, int]) -> dict[str, list[float]]:
    """The edges, in pixels, of the box around the steps that each head does separately."""
    first_top, last_top = _head_edges(upper_edges)
    margin = (_STEP - _BOX) / 2 - 1
    return {
        "left": [_LEFT - 5],
        "right": [_RIGHT + 5],
        "upper": [first_top - margin],
        "lower": [last_top + _BOX + margin],
    }


def _text_marks(upper_edges: Mapping[str, int], labels: Sequence[str], head: str) -> pd.DataFrame:
    """The labels of the boxes, and along the edges the names of the head and of the residual connections, with
    positions in pixels.
    """
    texts = [
        (_LEFT + 10, upper_edge + _BOX / 2, label, 0, "left")
        for upper_edge, label in zip(upper_edges.values(), labels, strict=True)
    ]
    first_top, last_top = _head_edges(upper_edges)
    texts.append((_LEFT - 15, (first_top + last_top + _BOX) / 2, head, 270, "center"))
    texts += [
        (_SKIP + 12, sum(connection_ends) / 2, "residual", 90, "center")
        for connection_ends in _residual_connections(upper_edges)
    ]
    return pd.DataFrame(texts, columns=["x", "y", "text", "angle", "align"])
