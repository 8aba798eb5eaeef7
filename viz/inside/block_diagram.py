"""One block of the encoder as a path from top to bottom: its steps in their order, and the residual connections."""

from collections.abc import Collection, Mapping
from itertools import pairwise

import altair as alt
import pandas as pd

from viz.palette import ACCENT, DIFFERENCE, NEUTRAL
from viz.theme import INK

_TOP, _BOX, _STEP = (
    10,
    27,
    39,
)  # pixels, as all lengths here: above the first box, a box, from one to the next
_LEFT, _RIGHT = 30, 204  # of every box
_SKIP, _WIDTH = 224, 246  # where the residual connections run, and the whole
_BLUE, _ORANGE = DIFFERENCE[0], DIFFERENCE[-1]
_TINTS = {"norm": NEUTRAL, "attention": _BLUE, "feed-forward": _ORANGE, "stream": "transparent"}
_BY_ITSELF = ("products", "values")  # the first and the last step that every head takes by itself


def block_diagram(
    labels: Mapping[str, str], *, opened: Collection[str], head: str, placement: str
) -> alt.LayerChart:
    """A box a step, in the order of `labels`, which are by the names of `model.head_steps.ORDER`.

    The boxes `opened` are framed; what `head` does by itself is within a dashed line. A click on a box sets the
    point selection `step`, field `step`. The chart has its own width, so give it no other.
    """
    upper = {name: _TOP + row * _STEP for row, name in enumerate(labels)}
    boxes = pd.DataFrame(
        {
            "step": name,
            "label": f"{row}  {label}",
            "tint": _TINTS[_part(name)],
            "left": _LEFT,
            "right": _RIGHT,
            "upper": upper[name],
            "lower": upper[name] + _BOX,
            "stroke": ACCENT if name in opened else NEUTRAL,
            "line": 3 if name in opened else 0.75,
        }
        for row, (name, label) in enumerate(labels.items(), 1)
    )
    tints = _placed(boxes).mark_rect(cornerRadius=5, opacity=0.24, aria=False)
    # On top and clear: a click on a letter counts as one on its box.
    cover = (
        _placed(boxes)
        .mark_rect(cornerRadius=5, fill="transparent", cursor="pointer", tooltip=None)
        .encode(
            stroke=alt.Stroke("stroke:N", scale=None),
            strokeWidth=alt.StrokeWidth("line:Q", scale=None),
            description=alt.Description("label:N"),
        )
        .add_params(alt.selection_point(name="step", fields=["step"], toggle=False, clear=False))
    )
    layers = [
        *_ways(upper),
        _around_the_head(upper),
        tints.encode(fill=alt.Fill("tint:N", scale=None)),
        _text(upper, labels, head),
        cover,
    ]
    return alt.layer(*layers).properties(
        width=_WIDTH,
        height=_TOP + _STEP * len(labels),
        autosize="pad",
        description=f"The {len(labels)} steps of a {placement} block: {', '.join(labels.values())}",
    )


def _part(name: str) -> str:
    if name == "input" or name.startswith("add_"):
        return "stream"
    if name.startswith("norm_"):
        return "norm"
    return "feed-forward" if name in ("expand", "contract") else "attention"


def _placed(table: pd.DataFrame) -> alt.Chart:
    """Rectangles from the upper left corner of the chart."""
    return alt.Chart(table).encode(
        x=alt.X("left:Q", scale=None, axis=None),
        x2=alt.X2("right:Q"),
        y=alt.Y("upper:Q", scale=None, axis=None),
        y2=alt.Y2("lower:Q"),
    )


def _point(table: pd.DataFrame) -> alt.Chart:
    return alt.Chart(table).encode(
        x=alt.X("x:Q", scale=None, axis=None), y=alt.Y("y:Q", scale=None, axis=None)
    )


def _skips(upper: Mapping[str, int]) -> list[tuple[float, float]]:
    """From where to where, downwards, the two residual connections run."""
    # The second one leaves the stream behind attention, and behind its norm where that follows.
    names = list(upper)
    behind = max("add_attention", "norm_attention", key=names.index)
    ends = (("input", "add_attention"), (behind, "add_feed_forward"))
    return [(upper[source] + (_BOX + _STEP) / 2, upper[target] + _BOX / 2) for source, target in ends]


def _ways(upper: Mapping[str, int]) -> list[alt.Chart]:
    """The way through all boxes, and the two that lead around a sublayer; an arrow where each ends."""
    middle = (_LEFT + _RIGHT) / 2
    ways = [[(middle, above + _BOX), (middle, below)] for above, below in pairwise(upper.values())]
    for leaves, arrives in _skips(upper):
        ways.append([(middle, leaves), (_SKIP, leaves), (_SKIP, arrives), (_RIGHT, arrives)])
    corners = pd.DataFrame(
        {"way": way, "order": order, "x": x, "y": y}
        for way, points in enumerate(ways)
        for order, (x, y) in enumerate(points)
    )
    tips = pd.DataFrame(
        {"x": x, "y": y, "angle": 180 if x == middle else 270} for x, y in (points[-1] for points in ways)
    )
    return [
        _point(corners)
        .mark_line(color=NEUTRAL, strokeWidth=1.5, aria=False)
        .encode(detail=alt.Detail("way:N"), order=alt.Order("order:Q")),
        _point(tips)
        .mark_point(shape="triangle", filled=True, size=50, color=NEUTRAL, opacity=1, aria=False)
        .encode(angle=alt.Angle("angle:Q", scale=None)),
    ]


def _around_the_head(upper: Mapping[str, int]) -> alt.Chart:
    """A dashed line around what a head does by itself."""
    first, last = (upper[name] for name in _BY_ITSELF)
    apart = (_STEP - _BOX) / 2 - 1
    box = {"left": _LEFT - 5, "right": _RIGHT + 5, "upper": first - apart, "lower": last + _BOX + apart}
    dashes = {"stroke": NEUTRAL, "strokeDash": [4, 3], "cornerRadius": 6}
    return _placed(pd.DataFrame([box])).mark_rect(fill=None, aria=False, tooltip=None, **dashes)


def _text(upper: Mapping[str, int], labels: Mapping[str, str], head: str) -> alt.Chart:
    """The labels in their boxes, and along the edges the head and the residual connections."""
    texts = [
        {"x": _LEFT + 10, "y": upper[name] + _BOX / 2, "text": f"{row}  {label}", "angle": 0, "align": "left"}
        for row, (name, label) in enumerate(labels.items(), 1)
    ]
    first, last = (upper[name] for name in _BY_ITSELF)
    edges = [(_LEFT - 15, (first + last + _BOX) / 2, head, 270)]
    edges += [(_SKIP + 12, sum(ends) / 2, "residual", 90) for ends in _skips(upper)]
    texts += [
        {"x": x, "y": y, "text": text, "angle": angle, "align": "center"} for x, y, text, angle in edges
    ]
    return (
        _point(pd.DataFrame(texts))
        .mark_text(fontSize=14, color=INK, align=alt.expr("datum.align"), aria=False)
        .encode(text=alt.Text("text:N"), angle=alt.Angle("angle:Q", scale=None))
    )
