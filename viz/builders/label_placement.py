"""Where names stand, so that they do not lie on each other: those of points in a scatter plot, and along an axis."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from .theme import MIDDLE, UPRIGHT
from .token_label import FONT

# Options of a text mark whose rows have the columns of `placement_columns`.
PLACED: dict[str, Any] = {
    "baseline": "middle",
    **{name: alt.expr(f"datum.{name}") for name in ("align", "dx", "dy")},
}
_DOT = 4  # pixels from the middle of a point to its edge


class LabelPlacement(NamedTuple):
    """A place of a name beside its point, in pixels: its alignment, and its way to the right and down from the point."""

    align: str
    dx: float
    dy: float

    def box(self, point: np.ndarray, width: float, height: float) -> np.ndarray:
        """Left, top, right and bottom of a name in this place, whose middle line stands at the height `dy`."""
        left = point[0] + self.dx - width * {"left": 0, "center": 0.5, "right": 1}[self.align]
        top = point[1] + self.dy - height / 2
        return np.array([left, top, left + width, top + height])


def named_positions(shown: range, first: Sequence[int], room: float, length: float) -> list[int]:
    """The positions among `shown` whose names stand on an axis of `length` pixels, if a name takes `room` pixels of it.

    They are those that come `first`, such as the query, then others at equal distances, as many as have room.
    """
    step = max(1, int(np.ceil(room * len(shown) / max(length, 1) - 1e-9)))
    start = first[0] if first else shown.start
    named: list[int] = []
    for position in (*first, *shown[(start - shown.start) % step :: step]):
        if all(abs(position - other) >= step for other in named):
            named.append(position)
    return sorted(named)


def has_room(position: str, first: str, step: str) -> str:
    """`named_positions` in the browser: whether the name of the `position` stands if there is room for every `step`th one.

    `first` is the position whose name is always there, or -1. All of them are Vega expressions.
    """
    distance = f"abs({position} - {first})"
    others = f"{position} % ({step}) == 0 && ({first} < 0 || {distance} >= {step})"
    return f"({distance} == 0 || ({others}))"


def name_axis(**options: Any) -> alt.Axis:
    """An axis of the scale x, with upright tokens for labels, of which those stand that have room; that of the position `first`,
    a parameter of the chart, is one of them.
    """
    position = "indexof(domain('x'), datum.value)"
    step = f"ceil({MIDDLE + 1} * length(domain('x')) / abs(range('x')[1] - range('x')[0]))"
    label = f"{has_room(position, 'first', step)} ? datum.label : ''"
    token: dict[str, Any] = {"labelFont": FONT, "labelLimit": 0, "labelOverlap": False}
    return alt.Axis(labelExpr=label, labelAngle=UPRIGHT, ticks=False, **token, **options)


def place_labels(
    points: np.ndarray, widths: Sequence[float], height: float, placements: Sequence[LabelPlacement]
) -> list[LabelPlacement]:
    """A place among `placements` for the name of each of the `points` [point, 2], in pixels to the right and down.

    Names `widths` pixels wide and `height` high are set one after the other: each takes the first place where it lies on
    no point and on no name before it, or else the one where it covers least of them. A name of width 0 is not drawn, and takes no room.
    """
    taken = [np.array([x - _DOT, y - _DOT, x + _DOT, y + _DOT]) for x, y in points]
    chosen = []
    for point, width in zip(points, widths, strict=True):
        if not width:
            chosen.append(placements[0])
            continue
        boxes = [placement.box(point, width, height) for placement in placements]
        best = int(np.argmin([_covered_area(box, taken) for box in boxes]))
        chosen.append(placements[best])
        taken.append(boxes[best])
    return chosen


def placement_columns(
    points: np.ndarray, widths: Sequence[float], height: float, placements: Sequence[LabelPlacement]
) -> dict[str, list]:
    """The places of `place_labels` as the columns of a data frame that a text mark with the options `PLACED` reads."""
    chosen = place_labels(points, widths, height, placements)
    return {name: [getattr(placement, name) for placement in chosen] for name in LabelPlacement._fields}


def _covered_area(box: np.ndarray, taken: Sequence[np.ndarray]) -> float:
    """Square pixels that `box` has in common with the boxes `taken`, each counted by itself."""
    others = np.array(taken)
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.clip(sides, 0, None).prod(axis=1).sum())
