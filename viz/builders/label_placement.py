"""Where names stand so that they do not overlap: those of points in a scatter plot, and those along an axis."""

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
    """Where a name stands beside its point: its text alignment, and its distance to the right and down from the point
    in pixels.
    """

    align: str
    dx: float
    dy: float

    def box(self, point: np.ndarray, width: float, height: float) -> np.ndarray:
        """The box (left, top, right, bottom) in pixels of a name of this `width` and `height` beside the `point` (x,
        y); its vertical middle is `dy` below the point.
        """
        left = point[0] + self.dx - width * {"left": 0, "center": 0.5, "right": 1}[self.align]
        top = point[1] + self.dy - height / 2
        return np.array([left, top, left + width, top + height])


def named_positions(shown: range, always_named: Sequence[int], room: float, length: float) -> list[int]:
    """The positions in `shown` that get a name on an axis `length` pixels long, if each name takes `room` pixels of
    it.

    The positions in `always_named`, such as the query, get one first; the others follow at equal distances, as many
    as have room.
    """
    step = max(1, int(np.ceil(room * len(shown) / max(length, 1) - 1e-9)))
    start = always_named[0] if always_named else shown.start
    named: list[int] = []
    for position in (*always_named, *shown[(start - shown.start) % step :: step]):
        if all(abs(position - other) >= step for other in named):
            named.append(position)
    return sorted(named)


def has_room(position: str, always_named: str, step: str) -> str:
    """The Vega expression that is true if the `position` gets a name when every `step`-th name has room; the same
    choice as `named_positions`.

    `always_named` is the one position whose name is always shown, or -1. All three arguments are Vega expressions.
    """
    distance = f"abs({position} - {always_named})"
    others = f"{position} % ({step}) == 0 && ({always_named} < 0 || {distance} >= {step})"
    return f"({distance} == 0 || ({others}))"


def name_axis(**options: Any) -> alt.Axis:
    """The axis of an x scale with upright tokens for labels, as many as have room. The position in the chart's
    parameter `first` always has its label.
    """
    position = "indexof(domain('x'), datum.value)"
    step = f"ceil({MIDDLE + 1} * length(domain('x')) / abs(range('x')[1] - range('x')[0]))"
    label = f"{has_room(position, 'first', step)} ? datum.label : ''"
    token: dict[str, Any] = {"labelFont": FONT, "labelLimit": 0, "labelOverlap": False}
    return alt.Axis(labelExpr=label, labelAngle=UPRIGHT, ticks=False, **token, **options)


def place_labels(
    points: np.ndarray, widths: Sequence[float], height: float, placements: Sequence[LabelPlacement]
) -> list[LabelPlacement]:
    """For each of the `points` [point, 2], in pixels to the right and down, one of the `placements` for its name.

    Names are `widths` [point] pixels wide and `height` pixels high. They are placed one after the other: each takes
    the first placement in which it overlaps no point and no earlier name, or else the one with the smallest overlap.
    A name of width 0 is not drawn and takes no room.
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
    """The placements of `place_labels` as columns of a data frame, for a text mark with the options `PLACED`."""
    chosen = place_labels(points, widths, height, placements)
    return {name: [getattr(placement, name) for placement in chosen] for name in LabelPlacement._fields}


def _covered_area(box: np.ndarray, taken: Sequence[np.ndarray]) -> float:
    """The overlap of `box` with the boxes `taken` in square pixels, summed over the boxes."""
    others = np.array(taken)
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.clip(sides, 0, None).prod(axis=1).sum())
