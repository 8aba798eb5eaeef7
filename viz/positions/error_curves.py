"""How far several maps miss what they should make of each position."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from viz.curves import by_kind, curves, long
from viz.figure import VegaFigure, form, tip
from viz.palette import ATTENTION, DIFFERENCE, EMPHASIS

_COLOURS = (EMPHASIS, DIFFERENCE[-1], ATTENTION[2])


def error_curves(errors: Mapping[str, np.ndarray]) -> VegaFigure:
    """A line a map, named by the keys, over position t; the errors are not negative.

    Raises ValueError for more than three maps.
    """
    if len(errors) > len(_COLOURS):
        raise ValueError(f"at most {len(_COLOURS)} curves can be told apart here, got {len(errors)}")
    series = {name: (range(len(of)), of) for name, of in errors.items()}
    return _form(tuple(errors)).of(
        long(series, "map", "t", "error"), description=f"Error over the position of {', '.join(errors)}"
    )


@form
def _form(maps: tuple[str, ...]) -> alt.Chart:
    (lines,) = curves(
        alt.X("t:Q", title="position t", scale=alt.Scale(nice=False)),
        alt.Y("error:Q", title="root mean square error"),
        by_kind("map:N", maps, color=_COLOURS, legend={"direction": "vertical"}),
        tooltip=[tip("map:N"), tip("t:Q", title="position t"), tip("error:Q", ".3~g")],
        line={"strokeWidth": 1.8},
    )
    return lines.properties(height=340)
