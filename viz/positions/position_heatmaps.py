"""Heatmaps of position vectors: their values, their similarities, and the matrix that maps each to a later one.

Similarities of patches are laid out as the patches are in the picture. A click on a cell sets the point selection
`patch`, field `patch`, counted from 0. `patch_grid` is (rows, columns), filled row by row.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ..builders.cells import frame_channels, grid
from ..builders.chart import Channels, Column, Layer, chart, layer
from ..builders.figure import Kwargs, VegaFigure, tip
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.palette import largest_absolute
from ..builders.picture_marks import PIXEL_BOX
from ..builders.theme import SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour, colour_legend

_GRID_SIDE, _MAP_GAP = 500, 5  # pixels of all the small maps, about, and between two of them
_MAP_SIDE = 294  # pixels, of the longer side of one map
_SMALLEST_WITH_NUMBER = 36
_MOST_CELLS = 70_000  # of all the small maps together: a browser draws them within seconds


def similarity_of_positions(cosines: np.ndarray, names: Sequence[str]) -> Heatmap:
    """A heatmap of cosine similarities [position, position], coloured from -1 to 1; all `names` must differ."""
    n_positions = len(names)
    return heatmap(
        cosines,
        x=names,
        y=names,
        titles=("position", "position"),
        colours=colour_scale("cosine similarity", "−1 to 1", 1),
        cell="positions %{y} and %{x}",
        height=640,
        square=True,
        description=f"Cosine similarities of the position vectors of {n_positions} positions, all pairs",
    )


def learned_positions(table: np.ndarray) -> Heatmap:
    """A heatmap of the position vectors [position, d_model] of a checkpoint, position 0 on top, coloured
    symmetrically about 0.
    """
    n_positions, d_model = table.shape
    return heatmap(
        table,
        titles=("dimension of d_model", "position"),
        colours=colour_scale("value", "symmetric about 0", largest_absolute(table)),
        cell="position %{y}, dimension %{x}",
        height=560,
        description=f"The position vectors of {n_positions} positions, {d_model} numbers each",
    )


def sinusoid_table(rows: np.ndarray, *, position: int, dimensions: Sequence[int] = ()) -> Heatmap:
    """A heatmap of sinusoidal position vectors `rows` [position, d_model] from -1 to 1; the row `position` is framed,
    and the `dimensions` have a mark above.
    """
    n_positions, d_model = rows.shape
    return heatmap(
        rows,
        titles=("column: number of the vector", "position t"),
        colours=colour_scale("sine (even columns) or cosine (odd)", "−1 to 1", 1),
        cell="position t = %{y}<br>column %{x}",
        number="<br>value %{z:.4f}",
        height=440,
        framed=(range(d_model), range(position, position + 1)),
        shown=(range(d_model), range(n_positions)),  # the marks stand at the edge
        marked=dimensions,
        description=f"Heatmap of {n_positions} positions by {d_model} dimensions: narrow stripes on the left, "
        "wide ones on the right",
    )


def shift_of_positions(matrix: np.ndarray, *, pair: int) -> Heatmap:
    """A heatmap of the matrix [d_model, d_model] that maps the sinusoids of each position to those of a later one, by
    rotating each pair of dimensions; the 2 × 2 block of `pair` is framed.
    """
    d_model = len(matrix)
    block = range(2 * pair, 2 * pair + 2)
    return heatmap(
        matrix,
        titles=("dimension of p at t", "dimension of p at t + φ"),
        colours=colour_scale("entry of M", "−1 to 1", 1),
        cell="row %{y}, column %{x}",
        number="<br>value %{z:.4f}",
        height=420,
        square=True,
        framed=(block, block),
        description=f"Heatmap of the {d_model}×{d_model} shift matrix: blocks of two by two along the diagonal",
    )


def pairs_of_positions(matrix: np.ndarray, *, what: str) -> Heatmap:
    """A heatmap of a quantity between two positions, `matrix` [position s, position t]; `what` names it, such as a
    dot product.

    Colours go from 0 to the largest value, or are symmetric about 0 if some values are negative.
    """
    signed = bool((matrix < 0).any())
    range_text = "symmetric about 0" if signed else "0 to the maximum"
    return heatmap(
        matrix,
        titles=("position t", "position s"),
        colours=colour_scale(what, range_text, largest_absolute(matrix), signed=signed),
        cell="s = %{y}, t = %{x}",
        number="<br>value %{z:.4f}",
        height=420,
        square=True,
        description=f"Symmetric map of the {what} of {len(matrix)} positions with each other: "
        "constant along diagonals",
    )


def position_similarity_map(
    cosines: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    name: str,
    selected: int | None,
) -> VegaFigure:
    """A map of the cosine similarities [patch] of one position vector with those of all patches, with the numbers in
    large cells.

    `name` is the position that is compared; if it is a patch, `selected` is its index, and it is outlined.
    """
    rows, columns = patch_grid
    side = _MAP_SIDE / max(rows, columns, 1)
    row, column = np.divmod(np.arange(len(cosines)), max(columns, 1))
    options: Kwargs = {
        "scale": alt.Scale(padding=0),
        "axis": alt.Axis(labelAngle=0, ticks=False, domain=False),
    }
    return grid(
        [
            Column("patch", np.arange(len(cosines)), None),
            Column("name", [f"r{row}c{column}" for row, column in np.ndindex(patch_grid)], "patch"),
            Column("row", row, None),
            Column("column", column, None),
            Column("cosine", cosines, format=".4f"),
        ],
        alt.X("column:O", title="column of the patch grid", **options),
        alt.Y("row:O", title="row of the patch grid", **options),
        largest=1,
        signed=True,
        colour_of="cosine",
        written=alt.Text("cosine:Q", format=".2f") if side >= _SMALLEST_WITH_NUMBER else None,
        font_size=SMALL,
        legend=_cosine_legend(),
        click=("patch", "patch"),
        selected=[patch == selected for patch in range(len(cosines))],
        borders=(4, 0.5),
        width=side * columns,
        height=side * rows,
        description=f"How alike the position vector of {name} and those of the {len(cosines)} patches are.",
    )


def position_similarity_grid(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, selected: int | None
) -> VegaFigure:
    """For each patch a small map of the cosine similarities of its position vector with those of all patches,
    `cosines` [patch, patch]; the maps are laid out as the patches are.

    This is figure 7 of Dosovitskiy et al. 2021. The map of the patch `selected` is framed. In a large grid only the
    maps in every `map_step`-th row and column are drawn.
    """
    rows, columns = patch_grid
    n_patches = rows * columns
    step = map_step(patch_grid)
    down, across = -(-rows // step), -(-columns // step)
    side, longer = _GRID_SIDE // max(down, across, 1) - _MAP_GAP, max(rows, columns, 1)
    cell = max(side // longer, min(2, side / longer), 1)
    drawn = np.arange(n_patches).reshape(rows, columns)[::step, ::step].ravel()
    patch, other_patch = np.repeat(drawn, n_patches), np.tile(np.arange(n_patches), len(drawn))
    maps = sorted(drawn.tolist(), key=lambda patch: patch == selected)  # no border lies on the frame
    which = "each patch" if step == 1 else f"a patch in every {step} rows and columns"
    tooltip = [
        tip("name:N", title="position of"),
        tip("other_name:N", title="against"),
        tip("cosine:Q", ".4f"),
    ]
    tiles = {"color": colour("cosine", signed=True, legend=_cosine_legend()), "tooltip": tooltip}
    outlines = frame_channels((4, 0.5)) | {"description": "name:N"}
    return chart(
        [Column("patch", patch), Column("other", other_patch), Column("cosine", cosines[drawn].round(4))],
        _map_boxes(tiles, "cell", "cell", cursor="pointer", aria=False, click=("patch", "patch")),
        _map_boxes(outlines, "columns * cell", "rows * cell", frame="maps", fill=None),
        frames={
            "maps": {
                "patch": maps,
                "other": [0] * len(maps),
                "selected": [patch == selected for patch in maps],
            }
        },
        values={"largest": 1, "cell": cell, "rows": rows, "columns": columns, "step": step},
        width=across * (columns * cell + _MAP_GAP) - _MAP_GAP,
        height=down * (rows * cell + _MAP_GAP) - _MAP_GAP,
        autosize="pad",  # Streamlit would squeeze what lies at pixels
        description=f"How alike the position vectors of {n_patches} patches are: a small map for {which}.",
    )


def map_step(patch_grid: tuple[int, int]) -> int:
    """The step in rows and columns between patches whose small map `position_similarity_grid` draws: 1 for up to 16 ×
    16 patches.
    """
    rows, columns = patch_grid
    step = 1
    while -(-rows // step) * -(-columns // step) * rows * columns > _MOST_CELLS:
        step += 1
    return step


def _map_boxes(channels: Channels, width: str, height: str, **mark: Any) -> Layer:
    """Boxes of this `width` and `height` (Vega expressions, pixels) at the cell of the patch `other` in the small map
    of the patch `patch`.
    """
    row, column = "floor(datum.patch / columns)", "(datum.patch % columns)"
    other_row, other_column = "floor(datum.other / columns)", "(datum.other % columns)"
    edges = {
        "left": f"{column} / step * (columns * cell + {_MAP_GAP}) + {other_column} * cell",
        "top": f"{row} / step * (rows * cell + {_MAP_GAP}) + {other_row} * cell",
        "name": f"'r' + {row} + 'c' + {column}",
        "other_name": f"'r' + {other_row} + 'c' + {other_column}",
        "right": f"datum.left + {width}",
        "bottom": f"datum.top + {height}",
    }
    return layer("rect", {**PIXEL_BOX, **channels}, calculate=edges, **mark)


def _cosine_legend() -> alt.Legend:
    """The colour bar of cosine similarities, from -1 to 1."""
    return colour_legend("cosine similarity, −1 to 1", SIGNED_ENDS, offset=8, padding=0)
