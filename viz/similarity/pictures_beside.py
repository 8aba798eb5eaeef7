"""One picture, or two side by side, with their patches: where patches lie in the chart, and the marks that several
figures of patches share.

A figure is as wide as the page allows, so positions are Vega expressions of `side`, the length in pixels of a
picture's longer side.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..builders.chart import Channels, Layer, Rows
from ..builders.figure import Kwargs
from ..builders.picture_marks import box_between, image_at, picture_ink, text_at

NAMES = ("first picture", "second picture")
# pixels: the longer side where the page gives no height, between pictures, a line of text above them, the colour bar above that
_SIDE, _GAP, _LINE, _LEGEND = 420, 16, 22, 30
# Options of a colour bar that stands above all, where it is in sight in a low window too.
LEGEND_ABOVE: Kwargs = {
    "orient": "none",
    "legendX": 0,
    "legendY": 4,
    "titleOrient": "left",
    "titlePadding": 8,
    "padding": 0,
}
_STROKES, _PHOTO = 0.55, 0.4  # opacity over the colours, which must still show
_LUMINANCE = np.array([0.299, 0.587, 0.114])
_LEFT = f"datum.picture * (side + {_GAP})"
Grids = Sequence[tuple[int, int]]


class PlacedPictures(NamedTuple):
    """One or two pictures in a chart: columns of the data frame `pictures`, columns of their patches, and the chart's
    `height` and `params`; `top` is the y in pixels at which the pictures start, below `lines_top`, that of the lines of text.
    """

    lines_top: int
    top: int
    pictures: Mapping[str, Any]
    patches: Mapping[str, Any]
    height: float
    params: Sequence[Mapping[str, Any]]

    def boxes(self, rows: Rows, channels: Channels | None = None, then: str = "", **mark: Any) -> Layer:
        """A layer with a rectangle over the patch of each of the rows.

        If `then` (a Vega expression) is given, it becomes their column `shown`, computed last: when it changes, the
        positions are not computed again.
        """
        unit = dict(box_between(rows, *self._corners("datum"), channels, **mark))
        if then:
            unit["transform"] = [*unit["transform"], {"calculate": then, "as": "shown"}]
        return unit

    def box_of(self, patch: str, channels: Channels | None = None, **mark: Any) -> Layer:
        """A layer with a rectangle over one patch; `patch` is the Vega expression of its data row."""
        one = Rows("pictures").where("datum.picture == 0")
        return box_between(one, *self._corners(patch), channels, **mark)

    def _corners(self, patch: str) -> tuple[str, str, str, str]:
        """Left, top, right and bottom of a patch as Vega expressions in pixels; `patch` is the expression of its data
        row.
        """
        # On whole pixels: between two patches the page would show through.
        x, y = f"{patch}.picture * (side + {_GAP})", f"{self.top}"
        edges = ((x, "left"), (y, "upper"), (x, "right"), (y, "lower"))
        left, top, right, bottom = (f"round({begin} + side * {patch}.{edge})" for begin, edge in edges)
        return left, top, right, bottom

    def images(self) -> Layer:
        """A layer with the pictures."""
        size = "side * datum.share_x", "side * datum.share_y"
        return image_at(Rows("pictures"), _LEFT, f"{self.top}", *size, smooth=True)

    def line(self, text: str = "datum.line", number: int = 0) -> Layer:
        """A layer with a line of text above each picture, the `number`-th from the top; `text` is a Vega expression,
        by default the column `line` of the frame `pictures`.
        """
        return text_at(Rows("pictures"), _LEFT, f"{self.lines_top + _LINE * number + 8}", text)


def place_pictures(
    pictures: Sequence[np.ndarray],
    patch_grids: Grids,
    *,
    lines: int,
    has_legend: bool = False,
    **columns: Sequence,
) -> PlacedPictures:
    """Places one or two `pictures`, uint8 [height, width] or [height, width, 3], side by side, with `patch_grids`
    (rows, columns); they are as large as the chart's size allows.

    Pictures are drawn in grey over the colours of their patches, so that they add no colour. `lines` is the number of
    lines of text above them, with room for a colour bar (`LEGEND_ABOVE`) above these if `has_legend`; `columns` are further columns of the frame `pictures`. Raises ValueError unless
    there are one or two pictures, each with a grid.
    """
    if not 1 <= len(pictures) == len(patch_grids) <= 2:
        raise ValueError(
            f"one picture or two are drawn, each with a grid: got {len(pictures)} and {len(patch_grids)} grids"
        )
    shares = [(side.shape[1] / max(side.shape[:2]), side.shape[0] / max(side.shape[:2])) for side in pictures]
    n = len(pictures)
    parts = [_patch_edges(*placed) for placed in zip(range(n), patch_grids, shares, strict=True)]
    inks = [_grey_ink(side) for side in pictures]
    options: Kwargs = {
        "picture": np.arange(n),
        "share_x": [share_x for share_x, _ in shares],
        "share_y": [share_y for _, share_y in shares],
        **{theme: [ink[theme] for ink in inks] for theme in inks[0]},
        **columns,
    }
    lines_top, tallest = _LEGEND * has_legend, max(share_y for _, share_y in shares)
    top = lines_top + lines * _LINE
    fits = f"min((height - {top}) / {tallest}, (width - {_GAP * (n - 1)}) / {n})"
    patches = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    side = {"name": "side", "expr": f"max(1, {fits})"}
    return PlacedPictures(lines_top, top, options, patches, top + _SIDE * tallest, [side])


def patch_names(patch_grids: Grids) -> list[str]:
    """The names of the patches of all pictures: r3c4 is the patch in row 3 and column 4, counted from 0."""
    return [f"r{row}c{column}" for grid in patch_grids for row, column in np.ndindex(grid)]


def names_of_pictures(patch_grids: Grids) -> list[str]:
    """For each patch the name of its picture."""
    sizes = [rows * columns for rows, columns in patch_grids]
    return np.repeat(NAMES[: len(sizes)], sizes).tolist()


def _grey_ink(picture: np.ndarray) -> dict[str, str]:
    """The picture in grey, half transparent, as data URIs for a light and a dark page."""
    if picture.ndim == 2:
        return picture_ink(picture, side=_SIDE, opacity=_STROKES)
    grey = (picture @ _LUMINANCE).round().astype(np.uint8)
    return picture_ink(np.dstack([grey] * 3), side=_SIDE, opacity=_PHOTO)


def _patch_edges(picture: int, grid: tuple[int, int], shares: tuple[float, float]) -> dict[str, np.ndarray]:
    """Columns of the patches of one picture, a `grid` (rows, columns): the index `picture`, and the edges as shares of
    `side`. `shares` are the picture's width and height as shares of its longer side.
    """
    (rows, columns), (share_x, share_y) = grid, shares
    row, column = np.divmod(np.arange(rows * columns), columns)
    edges = {
        "left": column / columns * share_x,
        "right": (column + 1) / columns * share_x,
        "upper": row / rows * share_y,
        "lower": (row + 1) / rows * share_y,
    }
    return {"picture": np.full(len(row), picture), **edges}
