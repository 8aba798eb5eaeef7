"""The position of each patch against all others: a small map a patch, laid out as the patches are."""

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, NEUTRAL
from viz.pixels import pixel_x, pixel_y
from viz.positions.cosine_colour import cosine_colour

_SIDE = 500  # pixels of the whole, about
_GAP = 5


def position_similarity_grid(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, selected: int | None
) -> alt.LayerChart:
    """Similarities [patch, patch] of patches that fill `patch_grid` (rows, columns) row by row.

    The small map in row r and column c is of the patch there (figure 7 of Dosovitskiy et al. 2021); that of
    `selected` is framed. A click on any cell of a map sets the point selection `patch`, field `patch`, counted
    from 0. Raises ValueError where the similarities do not fill the grid.
    """
    rows, columns = patch_grid
    n = rows * columns
    if cosines.shape != (n, n):
        raise ValueError(f"{rows} × {columns} patches need {n}×{n} similarities, got shape {cosines.shape}")
    cell = max(2, (_SIDE // max(rows, columns, 1) - _GAP) // max(rows, columns, 1))
    across, down = columns * cell + _GAP, rows * cell + _GAP  # from one map to the next
    patch, other = np.indices((n, n)).reshape(2, -1)
    cells = pd.DataFrame({"patch": patch, "other": other, "cosine": cosines.ravel().round(4)})
    row, column = f"floor(datum.patch / {columns})", f"(datum.patch % {columns})"
    other_row, other_column = f"floor(datum.other / {columns})", f"(datum.other % {columns})"
    tiles = (
        alt.Chart(cells)
        .transform_calculate(
            left=f"{column} * {across} + {other_column} * {cell}",
            top=f"{row} * {down} + {other_row} * {cell}",
            name=f"'r' + {row} + 'c' + {column}",
            other_name=f"'r' + {other_row} + 'c' + {other_column}",
        )
        .transform_calculate(right=f"datum.left + {cell}", bottom=f"datum.top + {cell}")
        .mark_rect(cursor="pointer", aria=False)
        .encode(
            x=pixel_x("left"),
            x2="right:Q",
            y=pixel_y("top"),
            y2="bottom:Q",
            color=cosine_colour(),
            tooltip=[
                alt.Tooltip("name:N", title="position of"),
                alt.Tooltip("other_name:N", title="against"),
                alt.Tooltip("cosine:Q", format=".4f"),
            ],
        )
        .add_params(alt.selection_point(name="patch", fields=["patch"], toggle=False, clear=False))
    )
    place = np.arange(n)
    frames = pd.DataFrame(
        {
            "left": place % max(columns, 1) * across,
            "top": place // max(columns, 1) * down,
            "name": [f"r{r}c{c}" for r, c in np.ndindex(rows, columns)],
            "chosen": place == selected,
        }
    )
    outlines = (
        alt.Chart(frames.sort_values("chosen", kind="stable"))
        .transform_calculate(right=f"datum.left + {columns * cell}", bottom=f"datum.top + {rows * cell}")
        .mark_rect(fill=None)
        .encode(
            x=pixel_x("left"),
            x2="right:Q",
            y=pixel_y("top"),
            y2="bottom:Q",
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.chosen").then(alt.value(4)).otherwise(alt.value(0.5)),
            description="name:N",
        )
    )
    return alt.layer(tiles, outlines).properties(
        width=columns * across - _GAP,
        height=rows * down - _GAP,
        autosize="pad",  # Streamlit would squeeze the maps, whose places are pixels
        description=f"How alike the position vectors of {n} patches are: a small map for each patch.",
    )
