"""A digit drawn over one value for each of its patches, in colours."""

import altair as alt
import numpy as np
import pandas as pd

from viz.cells import framed
from viz.digit_ink import CHOOSE, digit_ink
from viz.figure import Form, VegaFigure, click_on, data
from viz.palette import hatching
from viz.pixels import whole_picture

_INK_OPACITY = 0.55  # the digit lies over the colours, and they must still show


def digit_patches(
    form: Form,
    image: np.ndarray,
    values: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    name: str,
    largest: float,
    side: int,
    description: str,
    allowed: np.ndarray | None = None,
) -> VegaFigure:
    """A uint8 image [height, width] over values [patch], which fill `patch_grid` (rows, columns) row by row.

    `form` is made with `patch_layers`; `name` is the field of the values, `largest` the end of their colours, `side`
    the longer side in pixels. The patch `query` is outlined; None is the class token, which has no place. Patches
    that are not `allowed` [patch] (False) are hatched. The pixels are sharp at the chart's own width, so give it no
    other. Raises ValueError where the values do not fill the grid.
    """
    rows, columns = patch_grid
    if values.shape != (rows * columns,):
        raise ValueError(f"{rows} × {columns} patches need as many {name}s, got shape {values.shape}")
    size = side / max(rows, columns)
    position = np.arange(rows * columns)
    if query is not None:  # the chosen patch comes last: no neighbour's border lies on its outline
        position = np.append(np.delete(position, query), query)
    row, column = np.divmod(position, columns)
    blocked = np.zeros(len(position), bool) if allowed is None else ~allowed[position]
    patch = [f"r{one}c{other}" for one, other in zip(row, column, strict=True)]
    patches = {
        "position": position,
        "patch": patch,
        "row": row,
        "column": column,
        name: values[position].astype(float),
        "selected": position == query,
        "blocked": blocked,
        "said": [each + ", masked" * masked for each, masked in zip(patch, blocked.tolist(), strict=True)],
    }
    frames = {"digit": pd.DataFrame([digit_ink(image, side=side, opacity=_INK_OPACITY)])}
    if allowed is not None:
        frames["hatched"] = pd.DataFrame({"url": [hatching(allowed.reshape(patch_grid))]})
    return form.of(
        pd.DataFrame(patches),
        frames=frames,
        values={"largest": largest},
        width=size * columns,
        height=size * rows,
        description=description,
    )


def patch_layers(colour: alt.Color, tooltip: alt.Tooltip, *, blockable: bool = False) -> alt.LayerChart:
    """For forms: the values in their `colour`, the digit, and a cover that shows the `tooltip`.

    A click on a patch sets the point selection `patch`, field `position`, counted from 0; where patches are
    `blockable`, `key` with the fields `position` and `blocked`, so that a second click differs from the first.
    """
    base = alt.Chart(data()).encode(
        x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
    )
    digit = whole_picture("digit").transform_calculate(url=CHOOSE)
    # On top and clear: a click on a stroke counts as one on its patch.
    name = [alt.Tooltip("said:N", title="key"), alt.Tooltip("position:Q")] if blockable else ["patch:N"]
    cover = framed(base.mark_rect(fill="transparent", cursor="pointer"), (4, 0.5))
    cover = cover.encode(description="said:N", tooltip=[*name, tooltip])
    click = click_on("key", "position", "blocked") if blockable else click_on("patch", "position")
    return alt.layer(
        base.mark_rect(aria=False).encode(color=colour),
        digit,
        *([whole_picture("hatched", aspect=False)] if blockable else []),
        cover.add_params(click),
    ).properties(
        autosize="pad"
    )  # Streamlit would squeeze the patches, but not the image, for the legend's sake
