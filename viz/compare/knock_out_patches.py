"""What the answer loses or gains when a patch is knocked out, over the digit."""

import altair as alt
import numpy as np

from viz.colour_legend import colour_legend
from viz.digit_patches import digit_patches, patch_layers
from viz.figure import VegaFigure, form, value
from viz.palette import DIFFERENCE

_SIDE = 364  # pixels, of the longer side


def knock_out_patches(
    image: np.ndarray,
    change: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    limit: float,
    what: str,
) -> VegaFigure:
    """A uint8 image over changes [patch] of a probability, from -`limit` to `limit`; blue falls, orange rises.

    Patches, `query` and clicks are as in `digit_patches`. Raises ValueError where the changes do not fill the
    grid.
    """
    return digit_patches(
        _form(what),
        image,
        change,
        patch_grid,
        query=query,
        name="change",
        largest=limit,
        side=_SIDE,
        description=f"The digit over the change of {what} with each of {len(change)} patches masked out of the keys",
    )


@form
def _form(what: str) -> alt.LayerChart:
    title = f"change of {what}"
    ends = [alt.ExprRef("-largest"), value("largest")]
    ticks = colour_legend(
        title,
        alt.ExprRef("[-largest, 0, largest]"),
        labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'",
    )
    colours = alt.Scale(domain=ends, range=list(DIFFERENCE), clamp=True)
    return patch_layers(
        alt.Color("change:Q", scale=colours, legend=ticks),
        alt.Tooltip("change:Q", format="+.4f", title=title),
    )
