"""The position vector of one patch, or of the class token, against those of all patches, where these lie."""

import altair as alt
import numpy as np

from viz.cells import cells
from viz.colours import SIGNED_ENDS, colour_legend
from viz.figure import VegaFigure, click_on, form, tip

_SIDE = 294  # pixels, of the longer side
_SMALLEST_WITH_NUMBER = 36


def position_similarity_map(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, of: str, selected: int | None
) -> VegaFigure:
    """Similarities [patch] of patches that fill `patch_grid` (rows, columns), with the numbers in large cells.

    `of` names the position that is compared; where it is one of the patches it is `selected`, and outlined.
    A click on a patch sets the point selection `patch`, field `patch`, counted from 0.
    Raises ValueError where the similarities do not fill the grid.
    """
    rows, columns = patch_grid
    if cosines.shape != (rows * columns,):
        raise ValueError(f"{rows} × {columns} patches need as many similarities, got shape {cosines.shape}")
    side = _SIDE / max(rows, columns, 1)
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
    return _form(side >= _SMALLEST_WITH_NUMBER).of(
        frame,
        values={"largest": 1},
        width=side * columns,
        height=side * rows,
        description=f"How alike the position vector of {of} and those of the {len(cosines)} patches are.",
    )


@form
def _form(numbered: bool) -> alt.LayerChart:
    place = {"scale": alt.Scale(padding=0), "axis": alt.Axis(labelAngle=0, ticks=False, domain=False)}
    return cells(
        alt.X("column:O", title="column of the patch grid", **place),
        alt.Y("row:O", title="row of the patch grid", **place),
        tooltip=[tip("name:N", title="patch"), tip("cosine:Q", ".4f")],
        signed=True,
        field="cosine",
        text=alt.Text("cosine:Q", format=".2f") if numbered else None,
        font_size=11,
        legend=colour_legend("cosine similarity, −1 to 1", SIGNED_ENDS, offset=8, padding=0),
        selectable=click_on("patch", "patch"),
        borders=(4, 0.5),
    ).properties(autosize="pad")
