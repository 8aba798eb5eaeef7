"""The position of each patch against all others: a small map a patch, laid out as the patches are."""

import altair as alt
import numpy as np
import pandas as pd

from viz.cells import framed
from viz.colours import SIGNED_ENDS, colour, colour_legend
from viz.figure import VegaFigure, click_on, data, form, tip
from viz.pictures import pixel_x, pixel_y

_SIDE = 500  # pixels of the whole, about
_GAP = 5


def position_similarity_grid(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, selected: int | None
) -> VegaFigure:
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
    patch, other = np.indices((n, n)).reshape(2, -1)
    frame = pd.DataFrame({"patch": patch, "other": other, "cosine": cosines.ravel().round(4)})
    maps = sorted(range(n), key=lambda patch: patch == selected)  # no neighbour's border lies on the frame
    outlined = pd.DataFrame({"patch": maps, "other": 0, "selected": [patch == selected for patch in maps]})
    return _form().of(
        frame,
        frames={"maps": outlined},
        values={"largest": 1, "cell": cell, "rows": rows, "columns": columns},
        width=columns * (columns * cell + _GAP) - _GAP,
        height=rows * (rows * cell + _GAP) - _GAP,
        description=f"How alike the position vectors of {n} patches are: a small map for each patch.",
    )


@form
def _form() -> alt.LayerChart:
    tiles = _placed("frame", "cell", "cell").mark_rect(cursor="pointer", aria=False)
    tiles = tiles.encode(
        color=colour(
            "cosine",
            signed=True,
            legend=colour_legend("cosine similarity, −1 to 1", SIGNED_ENDS, offset=8, padding=0),
        ),
        tooltip=[
            tip("name:N", title="position of"),
            tip("other_name:N", title="against"),
            tip("cosine:Q", ".4f"),
        ],
    ).add_params(click_on("patch", "patch"))
    outlines = _placed("maps", "columns * cell", "rows * cell").mark_rect(fill=None)
    return alt.layer(tiles, framed(outlines, (4, 0.5)).encode(description="name:N")).properties(
        autosize="pad"  # Streamlit would squeeze the maps, whose places are pixels
    )


def _placed(frame: str, width: str, height: str) -> alt.Chart:
    """Boxes of that size in pixels, each where the map of `patch` has its cell of `other`."""
    row, column = "floor(datum.patch / columns)", "(datum.patch % columns)"
    other_row, other_column = "floor(datum.other / columns)", "(datum.other % columns)"
    return (
        alt.Chart(data(frame))
        .transform_calculate(
            left=f"{column} * (columns * cell + {_GAP}) + {other_column} * cell",
            top=f"{row} * (rows * cell + {_GAP}) + {other_row} * cell",
            name=f"'r' + {row} + 'c' + {column}",
            other_name=f"'r' + {other_row} + 'c' + {other_column}",
        )
        .transform_calculate(right=f"datum.left + {width}", bottom=f"datum.top + {height}")
        .encode(x=pixel_x("left"), x2=alt.X2("right:Q"), y=pixel_y("top"), y2=alt.Y2("bottom:Q"))
    )
