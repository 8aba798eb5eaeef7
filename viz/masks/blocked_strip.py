"""The text in the colours of one query, with the keys struck out that this query may not see."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.attention.token_strip import token_strip
from viz.masks.blocked_marks import cover, marked
from viz.palette import ColourScale
from viz.theme import INK


def blocked_strip(
    tokens: Sequence[str], weights: np.ndarray, *, allowed: np.ndarray, query: int, scale: ColourScale = "own"
) -> alt.LayerChart:
    """As `token_strip`; the tokens that are not `allowed` [position] (False) are struck out.

    A click on a token sets the point selection `key`, fields `position` and `blocked`.
    """
    strip = token_strip(tokens, weights, query=query, scale=scale)
    boxes = marked(strip, np.flatnonzero(~allowed), name="token")
    strike = boxes.transform_filter("datum.blocked").mark_rule(color=INK, strokeWidth=2.5, aria=False)
    return strip + strike + cover(boxes)
