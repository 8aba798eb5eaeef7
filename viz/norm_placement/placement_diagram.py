"""One block under either placement of the norm: the residual stream as a line, and the boxes on it or beside it."""

from typing import Literal

import altair as alt

from ..builders.figure import VegaFigure, data, form
from ..builders.palette import NEUTRAL, PLACEMENTS
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, LARGE, MIDDLE

# In pixels: the stream, the middle of the boxes beside it, half of a box, and the whole.
_STREAM, _BESIDE = 60, 178
_HALF_WIDTH, _HALF_HEIGHT = 50, 11
WIDTH, HEIGHT = 236, 218
_SUBLAYERS = ("attention", "feed-forward")
_SIGN = 8  # radius of a plus

# Heights of the steps of each half: where the branch leaves, its boxes, where it returns; and the norm behind that.
_STARTS = (22, 122)
_PRE = {"norm": 16, "sublayer": 42, "plus": 72}
_POST = {"sublayer": 16, "plus": 42, "norm": 72}


def placement_diagram(placement: Literal["pre", "post"]) -> VegaFigure:
    """A block with its norms before the sublayers ("pre") or behind the additions ("post").

    The chart sets its own width; do not override it.
    """
    steps = _PRE if placement == "pre" else _POST
    is_pre = placement == "pre"
    boxes, lines, tips, signs = [], [], [], []
    for start, sublayer in zip(_STARTS, _SUBLAYERS, strict=True):
        norm_middle = _BESIDE if is_pre else _STREAM
        boxes.append((norm_middle, start + steps["norm"], "norm", "norm"))
        boxes.append((_BESIDE, start + steps["sublayer"], sublayer, "sublayer"))
        plus = start + steps["plus"]
        first_middle, last_middle = start + min(steps["norm"], steps["sublayer"]), start + steps["sublayer"]
        top_middle = first_middle if is_pre else last_middle
        lines.append([(_STREAM, start - 8), (_BESIDE, start - 8), (_BESIDE, plus), (_STREAM + _SIGN, plus)])
        tips.append((_BESIDE, top_middle - _HALF_HEIGHT - 2, 180))
        tips.append((_STREAM + _SIGN + 4, plus, 270))
        signs.append((_STREAM, plus, "+"))
    tips.append((_STREAM, HEIGHT - 4, 180))
    colour = PLACEMENTS[placement]
    return _diagram_form(colour).with_data(
        {
            "left": [x - _HALF_WIDTH for x, *_ in boxes],
            "right": [x + _HALF_WIDTH for x, *_ in boxes],
            "upper": [y - _HALF_HEIGHT for _, y, *_ in boxes],
            "lower": [y + _HALF_HEIGHT for _, y, *_ in boxes],
            "x": [x for x, *_ in boxes],
            "y": [y for _, y, *_ in boxes],
            "label": [label for *_, label, _ in boxes],
            "tint": [colour if kind == "norm" else NEUTRAL for *_, kind in boxes],
        },
        in_file=dict.fromkeys(("x", "y")),
        frames={
            "lines": {
                "line": [line for line, points in enumerate(lines) for _ in points],
                "order": [order for points in lines for order in range(len(points))],
                "x": [x for points in lines for x, _ in points],
                "y": [y for points in lines for _, y in points],
            },
            "tips": {
                "x": [x for x, *_ in tips],
                "y": [y for _, y, _ in tips],
                "angle": [angle for *_, angle in tips],
            },
            "signs": {
                "x": [x for x, *_ in signs],
                "y": [y for _, y, _ in signs],
                "text": [text for *_, text in signs],
            },
            "stream": {"x": [_STREAM], "y": [2], "y2": [HEIGHT - 4]},
        },
        height=HEIGHT,
        description=(
            f"One {placement}-LN block: the norm stands "
            + (
                "before attention and feed-forward, beside the stream"
                if is_pre
                else "on the stream, after each addition"
            )
        ),
    )


@form
def _diagram_form(colour: str) -> alt.TopLevelMixin:
    point = {"x": pixel_x("x"), "y": pixel_y("y")}
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("upper"), "y2": "lower:Q"}
    stream = alt.Chart(data("stream")).mark_rule(color=colour, strokeWidth=4, aria=False)
    lines = alt.Chart(data("lines")).mark_line(color=NEUTRAL, strokeWidth=1.5, aria=False)
    tips = alt.Chart(data("tips")).mark_point(
        shape="triangle", filled=True, size=55, color=NEUTRAL, opacity=1, aria=False
    )
    # The page's own colour below the tint, so that no line shows through a box.
    page = alt.expr("background || 'white'")
    ground = alt.Chart(data()).mark_rect(cornerRadius=5, fill=page, aria=False).encode(**box)
    tinted = alt.Chart(data()).mark_rect(cornerRadius=5, fillOpacity=0.3, strokeWidth=1.5, aria=False)
    tinted = tinted.encode(
        **box, fill=alt.Fill("tint:N", scale=None), stroke=alt.Stroke("tint:N", scale=None)
    )
    labels = alt.Chart(data()).mark_text(fontSize=MIDDLE, color=INK, baseline="middle", aria=False)
    signs = alt.Chart(data("signs"))
    circles = signs.mark_point(shape="circle", size=250, fill=page, stroke=colour, opacity=1, aria=False)
    pluses = signs.mark_text(fontSize=LARGE, color=INK, baseline="middle", aria=False)
    return alt.layer(
        stream.encode(x=pixel_x("x"), y=pixel_y("y"), y2="y2:Q"),
        lines.encode(**point, detail="line:N", order="order:Q"),
        tips.encode(**point, angle=alt.Angle("angle:Q", scale=None)),
        ground,
        tinted,
        labels.encode(**point, text="label:N"),
        circles.encode(**point),
        pluses.encode(**point, text="text:N"),
    ).properties(width=WIDTH, autosize="pad", padding={"left": 0, "right": 2, "top": 2, "bottom": 2})
