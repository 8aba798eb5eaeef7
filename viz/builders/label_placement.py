"""Where the names of points stand in a scatter plot, so that they do not lie on each other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

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
