"""The nearest neighbours of one vector, by cosine similarity."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.attention.token_label import label, visible
from viz.palette import EMPHASIS
from viz.theme import INK

_STEP = 24  # pixels a neighbour
_NAMES = 124  # pixels for the names, on the left


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, of: str, places: Sequence[int | None] = ()
) -> alt.LayerChart:
    """Cosine similarities as horizontal bars in the order given; `of` is whose neighbours they are.

    `places` are positions of tokens in the input, None for what is not in it. Raises ValueError where names,
    similarities and places, if there are any, differ in number.
    """
    places = places or [None] * len(names)
    if not len(names) == len(cosines) == len(places):
        raise ValueError(f"got {len(names)} names, {len(cosines)} similarities and {len(places)} places")
    bars = pd.DataFrame(
        {
            "rank": np.arange(1, len(names) + 1),
            "name": [visible(name) for name in names],
            "label": [
                label(name, 14) + ("" if place is None else f" {place}")
                for name, place in zip(names, places, strict=True)
            ],
            "cosine": [float(cosine) for cosine in cosines],
        }
    )
    lowest = min(0.0, *cosines) if len(cosines) else 0.0
    base = alt.Chart(bars).encode(
        # Two neighbours may have one name, so a bar is told by its rank.
        y=alt.Y("rank:O", axis=None),
        tooltip=[
            alt.Tooltip("rank:O"),
            alt.Tooltip("name:N", title="neighbour"),
            alt.Tooltip("cosine:Q", format=".4f"),
        ],
    )

    def x(field: str) -> alt.X:
        return alt.X(
            field,
            title="cosine similarity",
            # a little beyond 1, for the number behind a full bar
            scale=alt.Scale(domain=[lowest, 1.25], nice=False, rangeMin=_NAMES),
            axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
        )

    numbers = base.transform_calculate(end="max(datum.cosine, 0)").mark_text(align="left", dx=5, color=INK)
    return (
        base.mark_bar(color=EMPHASIS).encode(x=x("cosine:Q"))
        + base.mark_text(align="left", color=INK, limit=_NAMES - 8).encode(x=alt.value(0), text="label:N")
        + numbers.encode(x=x("end:Q"), text=alt.Text("cosine:Q", format=".3f"))
    ).properties(
        height=_STEP * max(len(bars), 1),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"The {len(bars)} nearest neighbours of {visible(of)} by cosine similarity.",
    )
