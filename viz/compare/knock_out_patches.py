"""What the answer loses or gains when a patch is knocked out, over the digit."""

import altair as alt
import numpy as np

from viz.colour_legend import colour_legend
from viz.digit_patches import digit_patches
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
) -> alt.LayerChart:
    """A uint8 image over changes [patch] of a probability, from -`limit` to `limit`; blue falls, orange rises.

    Patches, `query` and clicks are as in `digit_patches`. Raises ValueError where the changes do not fill the
    grid.
    """
    title = f"change of {what}"
    return digit_patches(
        image,
        change,
        patch_grid,
        query=query,
        name="change",
        colour=alt.Color(
            "change:Q",
            scale=alt.Scale(domain=[-limit, limit], range=list(DIFFERENCE), clamp=True),
            legend=colour_legend(
                title, [-limit, 0, limit], labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'"
            ),
        ),
        tooltip=alt.Tooltip("change:Q", format="+.4f", title=title),
        side=_SIDE,
        description=f"The digit over the {title} with each of {len(change)} patches masked out of the keys",
    )
