"""One picture, or two beside each other, and their patches on them: where they lie, and the marks that figures of patches share.

A figure is as wide as the page lets it be, so places are Vega expressions: of `side`, the pixels of a picture's longer side.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..builders.chart import Channels, Layer, Rows
from ..builders.figure import Kwargs
from ..builders.picture_marks import box_between, image_at, picture_ink, text_at

NAMES = ("first picture", "second picture")
_SIDE, _GAP, _LINE = (
    420,
    16,
    22,
)  # pixels: the longer side at most, between pictures, a line of text above them
_STROKES, _PHOTO = 0.55, 0.4  # opacity over the colours, which must still show
_LUMINANCE = np.array([0.299, 0.587, 0.114])
_LEFT = f"datum.picture * (side + {_GAP})"
Grids = Sequence[tuple[int, int]]


class Beside(NamedTuple):
    """The frame `pictures`, the columns of their patches in `patches`, and what a chart of them needs; `lines` stand above."""

    lines: int
    pictures: Mapping[str, Any]
    patches: Mapping[str, Any]
    height: float
    params: Sequence[Mapping[str, Any]]

    @property
    def top(self) -> int:
        return self.lines * _LINE

    def boxes(self, rows: Rows, channels: Channels | None = None, then: str = "", **mark: Any) -> Layer:
        """A rectangle at the patch of each of the rows; their column `shown`, the Vega expression `then`, is computed last, so that where it
        changes the places are not computed again.
        """
        unit = dict(box_between(rows, *self._corners("datum"), channels, **mark))
        if then:
            unit["transform"] = [*unit["transform"], {"calculate": then, "as": "shown"}]
        return unit

    def box_of(self, patch: str, channels: Channels | None = None, **mark: Any) -> Layer:
        """A rectangle at one patch, whose row is that Vega expression."""
        one = Rows("pictures").where("datum.picture == 0")
        return box_between(one, *self._corners(patch), channels, **mark)

    def _corners(self, patch: str) -> tuple[str, str, str, str]:
        # On whole pixels: between two patches the page would show through.
        x, y = f"{patch}.picture * (side + {_GAP})", f"{self.top}"
        edges = ((x, "left"), (y, "upper"), (x, "right"), (y, "lower"))
        left, top, right, bottom = (f"round({begin} + side * {patch}.{edge})" for begin, edge in edges)
        return left, top, right, bottom

    def images(self) -> Layer:
        """The pictures."""
        size = "side * datum.share_x", "side * datum.share_y"
        return image_at(Rows("pictures"), _LEFT, f"{self.top}", *size, smooth=True)

    def line(self, text: str = "datum.line", number: int = 0) -> Layer:
        """A line of text above each picture, a Vega expression, by default the column `line` of the frame `pictures`."""
        return text_at(Rows("pictures"), _LEFT, f"{_LINE * number + 8}", text)


def beside(pictures: Sequence[np.ndarray], patch_grids: Grids, *, lines: int, **columns: Sequence) -> Beside:
    """Places uint8 pictures [height, width] or [height, width, 3] with these grids (rows, columns) of patches beside each other.

    They lie over the colours of their patches, and are grey, so that no other colour is seen. `columns` are further ones of the frame
    `pictures`. Raises ValueError unless there are one
    or two pictures, each with a grid.
    """
    if not 1 <= len(pictures) == len(patch_grids) <= 2:
        raise ValueError(
            f"one picture or two are drawn, each with a grid: got {len(pictures)} and {len(patch_grids)} grids"
        )
    shares = [(side.shape[1] / max(side.shape[:2]), side.shape[0] / max(side.shape[:2])) for side in pictures]
    parts = [
        _patches(*pair)
        for pair in zip(range(len(pictures)), zip(patch_grids, shares, strict=True), strict=True)
    ]
    inks = [_ink(side) for side in pictures]
    n = len(pictures)
    options: Kwargs = {
        "picture": np.arange(n),
        "share_x": [share_x for share_x, _ in shares],
        "share_y": [share_y for _, share_y in shares],
        **{theme: [ink[theme] for ink in inks] for theme in inks[0]},
        **columns,
    }
    side = {"name": "side", "expr": f"min({_SIDE}, (width - {_GAP * (n - 1)}) / {n})"}
    patches = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    height = lines * _LINE + _SIDE * max(share_y for _, share_y in shares)
    return Beside(lines, options, patches, height, [side])


def patch_names(patch_grids: Grids) -> list[str]:
    """Names of the patches of all pictures: r3c4 is the one in row 3 and column 4, from 0."""
    return [f"r{row}c{column}" for grid in patch_grids for row, column in np.ndindex(grid)]


def _ink(picture: np.ndarray) -> dict[str, str]:
    if picture.ndim == 2:
        return picture_ink(picture, side=_SIDE, opacity=_STROKES)
    grey = (picture @ _LUMINANCE).round().astype(np.uint8)
    return picture_ink(np.dstack([grey] * 3), side=_SIDE, opacity=_PHOTO)


def _patches(picture: int, placed: tuple[tuple[int, int], tuple[float, float]]) -> dict[str, np.ndarray]:
    (rows, columns), (share_x, share_y) = placed
    row, column = np.divmod(np.arange(rows * columns), columns)
    edges = {
        "left": column / columns * share_x,
        "right": (column + 1) / columns * share_x,
        "upper": row / rows * share_y,
        "lower": (row + 1) / rows * share_y,
    }
    return {"picture": np.full(len(row), picture), **edges}
