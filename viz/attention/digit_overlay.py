"""A digit drawn over the attention of one query, patch by patch."""

import altair as alt
import numpy as np

from viz.attention.attention_colour import attention_colour, reach
from viz.digit_patches import digit_patches, patch_layers
from viz.figure import VegaFigure, form
from viz.palette import ColourScale, top

_SIDE = 420  # pixels, of the longer side


def digit_overlay(
    image: np.ndarray,
    weights: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    query: int | None,
    scale: ColourScale,
    allowed: np.ndarray | None = None,
) -> VegaFigure:
    """A uint8 image [height, width] over weights [patch], as `digit_patches` lays it over values.

    The patch `query` is outlined; None is the class token, which has no place. A click on a patch sets the
    point selection `patch`, field `position`, counted from 0. With `allowed` [patch], patches that are not (False)
    are hatched, and a click sets `key`, fields `position` and `blocked`.
    Raises ValueError where the weights do not fill the grid.
    """
    where = "the class token" if query is None else "row {}, column {}".format(*divmod(query, patch_grid[1]))
    return digit_patches(
        _form(reach(weights, scale, own="the largest weight on a patch"), allowed is not None),
        image,
        weights,
        patch_grid,
        query=query,
        name="weight",
        largest=top(weights, scale),
        side=_SIDE,
        description=f"The digit over the attention of {where} to its {len(weights)} patches",
        allowed=allowed,
    )


@form
def _form(reach: str, blockable: bool) -> alt.LayerChart:
    weight = alt.Tooltip("weight:Q", format=".4f", title="attention weight")
    return patch_layers(attention_colour(reach), weight, blockable=blockable)
