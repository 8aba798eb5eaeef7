"""The digit in the colours of one query, with the patches hatched that this query may not see."""

import altair as alt
import numpy as np

from viz.attention.attention_heatmap import hatching
from viz.attention.digit_overlay import digit_overlay
from viz.masks.blocked_marks import cover, marked
from viz.palette import ColourScale


def blocked_patches(
    image: np.ndarray,
    weights: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    allowed: np.ndarray,
    query: int | None,
    scale: ColourScale,
) -> alt.LayerChart:
    """As `digit_overlay`; the patches that are not `allowed` [patch] (False) are hatched.

    A click on a patch sets the point selection `key`, fields `position` and `blocked`.
    """
    overlay = digit_overlay(image, weights, patch_grid, query=query, scale=scale)
    patches = marked(overlay, np.flatnonzero(~allowed), name="patch")
    mask = allowed.reshape(patch_grid)
    size = {"width": overlay.width, "height": overlay.height}
    hatched = (
        alt.Chart(alt.Data(values=[{"url": hatching(mask)}]))
        .mark_image(x=0, y=0, align="left", baseline="top", aspect=False, tooltip=None, aria=False, **size)
        .encode(url="url:N")
    )
    return overlay + hatched + cover(patches)
