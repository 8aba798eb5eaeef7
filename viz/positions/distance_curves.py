"""Curves over the distance of two positions: what a rotation, a bias or a bucket makes of it."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.curves import curves, encodings_by_kind, long_table
from ..builders.figure import VegaFigure, form, need_shape, tip
from ..builders.palette import CATEGORIES


def distance_curves(
    offsets: np.ndarray, by_name: Mapping[str, np.ndarray], *, what: str, unit: str = "positions"
) -> VegaFigure:
    """A curve over `offsets` (key minus query, in `unit`) for each name, of values [offset]; `what` is the title of the y axis.

    Raises ValueError where a curve does not have one value for each offset, or for more curves than colours.
    """
    need_shape((len(offsets),), **by_name)
    if len(by_name) > len(CATEGORIES):
        raise ValueError(f"at most {len(CATEGORIES)} curves can be told apart here, got {len(by_name)}")
    series = {name: (offsets, values) for name, values in by_name.items()}
    return _distances_form(tuple(by_name), what, unit).with_data(
        long_table(series, "curve", "offset", "amount"),
        description=f"{what} over the offset of two positions, of {', '.join(by_name)}",
    )


@form
def _distances_form(names: tuple[str, ...], what: str, unit: str) -> alt.Chart:
    axis = alt.Axis(format="d", tickMinStep=1)
    (lines,) = curves(
        alt.X("offset:Q", title=f"offset: key − query ({unit})", scale=alt.Scale(nice=False), axis=axis),
        alt.Y("amount:Q", title=what),
        encodings_by_kind("curve:N", names, color=CATEGORIES[: len(names)], legend={"columns": 4}),
        tooltip=[tip("curve:N"), tip("offset:Q"), tip("amount:Q", ".4~g", what)],
        line={"strokeWidth": 1.8},
    )
    return lines.properties(height=320)
