"""The position vector of one patch, or of the class token, against those of all patches, where these lie."""

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, NEUTRAL
from viz.positions.cosine_colour import cosine_colour
from viz.theme import INK

_SIDE = 294  # pixels, of the longer side
_SMALLEST_WITH_NUMBER = 36
_AXIS = alt.Axis(labelAngle=0, ticks=False, domain=False)


def position_similarity_map(
    cosines: np.ndarray, patch_grid: tuple[int, int], *, of: str, selected: int | None
) -> alt.LayerChart:
    """Similarities [patch] of patches that fill `patch_grid` (rows, columns), with the numbers in large cells.

    `of` names the position that is compared; where it is one of the patches it is `selected`, and outlined.
    A click on a patch sets the point selection `patch`, field `patch`, counted from 0.
    Raises ValueError where the similarities do not fill the grid.
    """
    rows, columns = patch_grid
    if cosines.shape != (rows * columns,):
        raise ValueError(f"{rows} × {columns} patches need as many similarities, got shape {cosines.shape}")
    side = _SIDE / max(rows, columns, 1)
    cells = pd.DataFrame(
        {
            "patch": patch,
            "name": f"r{row}c{column}",
            "row": row,
            "column": column,
            "cosine": float(cosines[patch]),
            "chosen": patch == selected,
        }
        for patch, (row, column) in enumerate(np.ndindex(rows, columns))
    )
    base = alt.Chart(cells.sort_values("chosen", kind="stable") if len(cells) else cells).encode(
        x=alt.X("column:O", title="column of the patch grid", scale=alt.Scale(padding=0), axis=_AXIS),
        y=alt.Y("row:O", title="row of the patch grid", scale=alt.Scale(padding=0), axis=_AXIS),
    )
    layers = [base.mark_rect(aria=False).encode(color=cosine_colour())]
    if side >= _SMALLEST_WITH_NUMBER:
        numbers = base.mark_text(aria=False, fontSize=11, color=INK)
        layers.append(numbers.encode(text=alt.Text("cosine:Q", format=".2f")))
    # On top and clear: a click on a number counts as one on its cell.
    layers.append(
        base.mark_rect(fill="transparent", cursor="pointer")
        .encode(
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.chosen").then(alt.value(4)).otherwise(alt.value(0.5)),
            description="name:N",
            tooltip=[alt.Tooltip("name:N", title="patch"), alt.Tooltip("cosine:Q", format=".4f")],
        )
        .add_params(alt.selection_point(name="patch", fields=["patch"], toggle=False, clear=False))
    )
    return alt.layer(*layers).properties(
        width=side * columns,
        height=side * rows,
        autosize="pad",
        description=f"How alike the position vector of {of} and those of the {len(cells)} patches are.",
    )
