"""What the answer loses or gains when a patch is knocked out, over the digit."""

import altair as alt
import numpy as np
import pandas as pd

from viz.digit_ink import CHOOSE, digit_ink
from viz.palette import ACCENT, DIFFERENCE, NEUTRAL

_SIDE = 364  # pixels, of the longer side
_INK_OPACITY = 0.55


def knock_out_patches(
    image: np.ndarray,
    change: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    limit: float,
    what: str,
) -> alt.LayerChart:
    """A uint8 image over changes [patch] of a probability, from -`limit` to `limit`; blue falls, orange rises.

    The patch `query` is outlined, None is the class token. A click sets the point selection `patch`, field
    `position`, counted from 0. Raises ValueError where the changes do not fill the grid.
    """
    rows, columns = patch_grid
    if change.shape != (rows * columns,):
        raise ValueError(f"{rows} × {columns} patches need as many changes, got shape {change.shape}")
    side = _SIDE / max(rows, columns)
    size = {"width": side * columns, "height": side * rows}
    row, column = np.indices(patch_grid).reshape(2, -1)
    patches = pd.DataFrame(
        {
            "position": np.arange(rows * columns),
            "patch": [f"r{r}c{c}" for r, c in zip(row, column, strict=True)],
            "row": row,
            "column": column,
            "change": np.asarray(change, dtype=float),
        }
    )
    patches["chosen"] = patches["position"] == query
    base = alt.Chart(patches.sort_values("chosen", kind="stable")).encode(
        x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
    )
    colours = base.mark_rect(aria=False).encode(
        color=alt.Color(
            "change:Q",
            scale=alt.Scale(domain=[-limit, limit], range=list(DIFFERENCE), clamp=True),
            legend=alt.Legend(
                title=f"change of {what}",
                titleLimit=0,
                orient="bottom",
                direction="horizontal",
                gradientLength=180,
                gradientThickness=8,
                values=[-limit, 0, limit],
                format="+.3~g",
            ),
        )
    )
    digit = (
        alt.Chart(pd.DataFrame([digit_ink(image, side=_SIDE, opacity=_INK_OPACITY)]))
        .transform_calculate(url=CHOOSE)
        .mark_image(x=0, y=0, align="left", baseline="top", tooltip=None, aria=False, **size)
        .encode(url="url:N")
    )
    cover = (
        base.mark_rect(fill="transparent", cursor="pointer")
        .encode(
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.chosen").then(alt.value(4)).otherwise(alt.value(0.5)),
            description="patch:N",
            tooltip=["patch:N", alt.Tooltip("change:Q", format="+.4f", title=f"change of {what}")],
        )
        .add_params(alt.selection_point(name="patch", fields=["position"], toggle=False, clear=False))
    )
    return alt.layer(colours, digit, cover).properties(
        **size,
        autosize="pad",
        description=f"The digit over the change of {what} with each of {len(patches)} patches masked out of the keys",
    )
