"""Similarities of the position vectors of patches, laid out as the patches are.

A click on a cell sets the point selection `patch`, field `patch`, counted from 0. The patches fill `patch_grid`
(rows, columns) row by row; all functions raise ValueError where the similarities do not.
"""

import altair as alt
import numpy as np

from ..builders.cells import cells, framed
from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, need_shape, tip
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour, colour_legend

_SIDE, _GAP = 500, 5  # pixels of all the small maps, about, and between two of them
_MAP = 294  # pixels, of the longer side of one map
_SMALLEST_WITH_NUMBER = 36
_MOST_CELLS = 70_000  # of all the small maps together: a browser draws them within seconds


def position_similarity_map(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, name: str, selected: int | None
) -> VegaFigure:
    """A map of cosine similarities [patch] of one position with all patches, with the numbers in large cells.

    `name` is the position that is compared; if it is one of the patches, it is `selected` and outlined.
    """
    rows, columns = patch_grid
    need_shape((rows * columns,), similarities=cosines)
    side = _MAP / max(rows, columns, 1)
    # The selected one comes last: no neighbour's border lies on its outline.
    patches = sorted(range(len(cosines)), key=lambda patch: patch == selected)
    frame = {
        "patch": patches,
        "name": [f"r{patch // columns}c{patch % columns}" for patch in patches],
        "row": [patch // columns for patch in patches],
        "column": [patch % columns for patch in patches],
        "cosine": cosines[patches].astype(float),
        "selected": [patch == selected for patch in patches],
    }
    return _map_form(side >= _SMALLEST_WITH_NUMBER).with_data(
        frame,
        values={"largest": 1},
        width=side * columns,
        height=side * rows,
        description=f"How alike the position vector of {name} and those of the {len(cosines)} patches are.",
    )


@form
def _map_form(numbered: bool) -> alt.TopLevelMixin:
    options: Kwargs = {
        "scale": alt.Scale(padding=0),
        "axis": alt.Axis(labelAngle=0, ticks=False, domain=False),
    }
    return cells(
        alt.X("column:O", title="column of the patch grid", **options),
        alt.Y("row:O", title="row of the patch grid", **options),
        tooltip=[tip("name:N", title="patch"), tip("cosine:Q", ".4f")],
        signed=True,
        field="cosine",
        text=alt.Text("cosine:Q", format=".2f") if numbered else None,
        font_size=SMALL,
        legend=_cosine_legend(),
        selectable=click_on("patch", "patch"),
        borders=(4, 0.5),
    ).properties(autosize="pad")


def position_similarity_grid(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, selected: int | None
) -> VegaFigure:
    """A small map for each patch, laid out as the patches are, of cosine similarities [patch, patch].

    The map in row r and column c is that of the patch there (figure 7 of Dosovitskiy et al. 2021); the map of
    `selected` is framed. Of a large grid only the maps in every `map_step` row and column are drawn.
    """
    rows, columns = patch_grid
    n_patches = rows * columns
    need_shape((n_patches, n_patches), similarities=cosines)
    step = map_step(patch_grid)
    down, across = -(-rows // step), -(-columns // step)
    side, longer = _SIDE // max(down, across, 1) - _GAP, max(rows, columns, 1)
    cell = max(side // longer, min(2, side / longer), 1)
    drawn = np.arange(n_patches).reshape(rows, columns)[::step, ::step].ravel()
    patch, other_patch = np.repeat(drawn, n_patches), np.tile(np.arange(n_patches), len(drawn))
    maps = sorted(drawn.tolist(), key=lambda patch: patch == selected)  # no border lies on the frame
    outlines = {"patch": maps, "other": [0] * len(maps), "selected": [patch == selected for patch in maps]}
    which = "each patch" if step == 1 else f"a patch in every {step} rows and columns"
    return _grid_form().with_data(
        {"patch": patch, "other": other_patch, "cosine": cosines[drawn].ravel().round(4)},
        frames={"maps": outlines},
        values={"largest": 1, "cell": cell, "rows": rows, "columns": columns, "step": step},
        width=across * (columns * cell + _GAP) - _GAP,
        height=down * (rows * cell + _GAP) - _GAP,
        description=f"How alike the position vectors of {n_patches} patches are: a small map for {which}.",
    )


def map_step(patch_grid: tuple[int, int]) -> int:
    """How many rows and columns further `position_similarity_grid` draws the next small map: 1 up to 16 × 16 patches."""
    rows, columns = patch_grid
    step = 1
    while -(-rows // step) * -(-columns // step) * rows * columns > _MOST_CELLS:
        step += 1
    return step


@form
def _grid_form() -> alt.TopLevelMixin:
    tooltip = [
        tip("name:N", title="position of"),
        tip("other_name:N", title="against"),
        tip("cosine:Q", ".4f"),
    ]
    tiles = _map_boxes("frame", "cell", "cell").mark_rect(cursor="pointer", aria=False)
    tiles = tiles.encode(color=colour("cosine", signed=True, legend=_cosine_legend()), tooltip=tooltip)
    outlines = framed(_map_boxes("maps", "columns * cell", "rows * cell").mark_rect(fill=None), (4, 0.5))
    layers = [tiles.add_params(click_on("patch", "patch")), outlines.encode(description="name:N")]
    return alt.layer(*layers).properties(autosize="pad")  # Streamlit would squeeze what lies at pixels


def _map_boxes(frame: str, width: str, height: str) -> alt.Chart:
    """Boxes of this `width` and `height` in pixels, at the cell `other` in the small map of `patch`."""
    row, column = "floor(datum.patch / columns)", "(datum.patch % columns)"
    other_row, other_column = "floor(datum.other / columns)", "(datum.other % columns)"
    boxes = alt.Chart(data(frame)).transform_calculate(
        left=f"{column} / step * (columns * cell + {_GAP}) + {other_column} * cell",
        top=f"{row} / step * (rows * cell + {_GAP}) + {other_row} * cell",
        name=f"'r' + {row} + 'c' + {column}",
        other_name=f"'r' + {other_row} + 'c' + {other_column}",
    )
    boxes = boxes.transform_calculate(right=f"datum.left + {width}", bottom=f"datum.top + {height}")
    return boxes.encode(x=pixel_x("left"), x2="right:Q", y=pixel_y("top"), y2="bottom:Q")


def _cosine_legend() -> alt.Legend:
    return colour_legend("cosine similarity, −1 to 1", SIGNED_ENDS, offset=8, padding=0)
