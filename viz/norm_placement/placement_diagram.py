"""One block in pre-LN or post-LN: the residual stream as a line, the norms on it or beside it, and the sublayers
beside it.
"""

from typing import Literal

import altair as alt

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import NEUTRAL, PLACEMENTS
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, LARGE, MIDDLE

# In pixels: the stream, the middle of the boxes beside it, half of a box, and the whole.
_STREAM_X, _BESIDE_X = 60, 178
_HALF_WIDTH, _HALF_HEIGHT = 50, 11
WIDTH, HEIGHT = 236, 218
_SUBLAYERS = ("attention", "feed-forward")
_PLUS_RADIUS = 8  # radius of a plus

# Heights of the steps of each half: where the branch leaves, its boxes, where it returns; and the norm behind that.
_SUBLAYER_TOPS = (22, 122)
_PRE_OFFSETS = {"norm": 16, "sublayer": 42, "plus": 72}
_POST_OFFSETS = {"sublayer": 16, "plus": 42, "norm": 72}


def placement_diagram(placement: Literal["pre", "post"]) -> VegaFigure:
    """A diagram of one block, with its norms before the sublayers ("pre") or after the additions to the stream
    ("post").

    The chart sets its own width; do not override it.
    """
    steps = _PRE_OFFSETS if placement == "pre" else _POST_OFFSETS
    is_pre = placement == "pre"
    boxes, lines, tips, signs = [], [], [], []
    for start, sublayer in zip(_SUBLAYER_TOPS, _SUBLAYERS, strict=True):
        norm_middle = _BESIDE_X if is_pre else _STREAM_X
        boxes.append((norm_middle, start + steps["norm"], "norm", "norm"))
        boxes.append((_BESIDE_X, start + steps["sublayer"], sublayer, "sublayer"))
        plus = start + steps["plus"]
        first_middle, last_middle = start + min(steps["norm"], steps["sublayer"]), start + steps["sublayer"]
        top_middle = first_middle if is_pre else last_middle
        lines.append(
            [
                (_STREAM_X, start - 8),
                (_BESIDE_X, start - 8),
                (_BESIDE_X, plus),
                (_STREAM_X + _PLUS_RADIUS, plus),
            ]
        )
        tips.append((_BESIDE_X, top_middle - _HALF_HEIGHT - 2, 180))
        tips.append((_STREAM_X + _PLUS_RADIUS + 4, plus, 270))
        signs.append((_STREAM_X, plus, "+"))
    tips.append((_STREAM_X, HEIGHT - 4, 180))
    colour = PLACEMENTS[placement]
    point = {"x": pixel_x("x"), "y": pixel_y("y")}
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("upper"), "y2": "lower:Q"}
    tint = {"fill": alt.Fill("tint:N", scale=None), "stroke": alt.Stroke("tint:N", scale=None)}
    # The page's own colour below the tint, so that no line shows through a box.
    page = alt.expr("background || 'white'")
    text: Kwargs = {"color": INK, "baseline": "middle", "aria": False}
    tip: Kwargs = {"shape": "triangle", "filled": True, "size": 55, "color": NEUTRAL, "opacity": 1}
    circle: Kwargs = {"shape": "circle", "size": 250, "fill": page, "stroke": colour, "opacity": 1}
    stands = (
        "before attention and feed-forward, beside the stream"
        if is_pre
        else "on the stream, after each addition"
    )
    return chart(
        [Column("label", [label for *_, label, _ in boxes], None)],
        layer("rule", point | {"y2": "y2:Q"}, "stream", color=colour, strokeWidth=4, aria=False),
        layer(
            "line",
            point | {"detail": "line:N", "order": "order:Q"},
            "lines",
            color=NEUTRAL,
            strokeWidth=1.5,
            aria=False,
        ),
        layer("point", point | {"angle": alt.Angle("angle:Q", scale=None)}, "tips", aria=False, **tip),
        layer("rect", box, cornerRadius=5, fill=page, aria=False),
        layer("rect", box | tint, cornerRadius=5, fillOpacity=0.3, strokeWidth=1.5, aria=False),
        layer("text", point | {"text": "label:N"}, fontSize=MIDDLE, **text),
        layer("point", point, "signs", aria=False, **circle),
        layer("text", point | {"text": "text:N"}, "signs", fontSize=LARGE, **text),
        drawing={
            "left": [x - _HALF_WIDTH for x, *_ in boxes],
            "right": [x + _HALF_WIDTH for x, *_ in boxes],
            "upper": [y - _HALF_HEIGHT for _, y, *_ in boxes],
            "lower": [y + _HALF_HEIGHT for _, y, *_ in boxes],
            "x": [x for x, *_ in boxes],
            "y": [y for _, y, *_ in boxes],
            "tint": [colour if kind == "norm" else NEUTRAL for *_, kind in boxes],
        },
        frames={
            "lines": [
                {"line": line, "order": order, "x": x, "y": y}
                for line, points in enumerate(lines)
                for order, (x, y) in enumerate(points)
            ],
            "tips": [{"x": x, "y": y, "angle": angle} for x, y, angle in tips],
            "signs": [{"x": x, "y": y, "text": sign} for x, y, sign in signs],
            "stream": {"x": [_STREAM_X], "y": [2], "y2": [HEIGHT - 4]},
        },
        width=WIDTH,
        height=HEIGHT,
        autosize="pad",
        padding={"left": 0, "right": 2, "top": 2, "bottom": 2},
        description=f"One {placement}-LN block: the norm stands {stands}",
    )
