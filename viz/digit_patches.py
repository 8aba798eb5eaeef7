"""A digit drawn over one value for each of its patches, in colours."""

import altair as alt
import numpy as np
import pandas as pd

from viz.digit_ink import CHOOSE, digit_ink
from viz.palette import ACCENT, NEUTRAL

_INK_OPACITY = 0.55  # the digit lies over the colours, and they must still show


def digit_patches(
    image: np.ndarray,
    values: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    name: str,
    colour: alt.Color,
    tooltip: alt.Tooltip,
    side: int,
    description: str,
) -> alt.LayerChart:
    """A uint8 image [height, width] over values [patch], which fill `patch_grid` (rows, columns) row by row.

    `name` is the field of the values for `colour` and `tooltip`; the longer side is `side` pixels. The patch
    `query` is outlined; None is the class token, which has no place. A click on a patch sets the point
    selection `patch`, field `position`, counted from 0. The pixels are sharp at the chart's own width, so give
    it no other. Raises ValueError where the values do not fill the grid.
    """
    rows, columns = patch_grid
    if values.shape != (rows * columns,):
        raise ValueError(f"{rows} × {columns} patches need as many {name}s, got shape {values.shape}")
    patch = side / max(rows, columns)
    size = {"width": patch * columns, "height": patch * rows}
    patches = pd.DataFrame(
        {
            "position": position,
            "patch": f"r{row}c{column}",
            "row": row,
            "column": column,
            name: values[position],
            "chosen": position == query,
        }
        for position, (row, column) in enumerate(np.ndindex(rows, columns))
    )
    # The chosen patch comes last: no neighbour's border lies on its outline.
    base = alt.Chart(patches.sort_values("chosen", kind="stable")).encode(
        x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
    )
    colours = base.mark_rect(aria=False).encode(color=colour)
    digit = (
        alt.Chart(pd.DataFrame([digit_ink(image, side=side, opacity=_INK_OPACITY)]))
        .transform_calculate(url=CHOOSE)
        .mark_image(x=0, y=0, align="left", baseline="top", tooltip=None, aria=False, **size)
        .encode(url="url:N")
    )
    # On top and clear: a click on a stroke counts as one on its patch.
    cover = (
        base.mark_rect(fill="transparent", cursor="pointer")
        .encode(
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.chosen").then(alt.value(4)).otherwise(alt.value(0.5)),
            description="patch:N",
            tooltip=[alt.Tooltip("patch:N"), tooltip],
        )
        .add_params(alt.selection_point(name="patch", fields=["position"], toggle=False, clear=False))
    )
    return alt.layer(colours, digit, cover).properties(
        **size,
        autosize="pad",  # Streamlit would squeeze the patches, but not the image, to make room for the legend
        description=description,
    )
