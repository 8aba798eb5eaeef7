"""The nearest neighbours of one vector, by cosine similarity."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.attention.token_label import label, visible
from viz.figure import VegaFigure, data, form, tip, value
from viz.palette import EMPHASIS
from viz.theme import FIT, INK

_STEP = 24  # pixels a neighbour
_NAMES = 124  # pixels for the names, on the left


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, of: str, places: Sequence[int | None] = ()
) -> VegaFigure:
    """Cosine similarities as horizontal bars in the order given; `of` is whose neighbours they are.

    `places` are positions of tokens in the input, None for what is not in it. Raises ValueError where names,
    similarities and places, if there are any, differ in number.
    """
    places = places or [None] * len(names)
    if not len(names) == len(cosines) == len(places):
        raise ValueError(f"got {len(names)} names, {len(cosines)} similarities and {len(places)} places")
    at = ["" if place is None else f" {place}" for place in places]
    frame = {
        "rank": np.arange(1, len(names) + 1),
        "name": [visible(name) for name in names],
        "label": [label(name, 14) + place for name, place in zip(names, at, strict=True)],
        "cosine": [float(cosine) for cosine in cosines],
    }
    return _form().of(
        frame,
        values={"lowest": float(min(0.0, *cosines)) if len(cosines) else 0.0},
        height=_STEP * max(len(names), 1),
        description=f"The {len(names)} nearest neighbours of {visible(of)} by cosine similarity.",
    )


@form
def _form() -> alt.LayerChart:
    base = alt.Chart(data()).encode(
        # Two neighbours may have one name, so a bar is told by its rank.
        y=alt.Y("rank:O", axis=None),
        tooltip=[tip("rank:O"), tip("name:N", title="neighbour"), tip("cosine:Q", ".4f")],
    )
    x = {
        "title": "cosine similarity",
        # a little beyond 1, for the number behind a full bar
        "scale": alt.Scale(domain=[value("lowest"), 1.25], nice=False, rangeMin=_NAMES),
        "axis": alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
    }
    names = base.mark_text(align="left", color=INK, limit=_NAMES - 8)
    numbers = base.transform_calculate(end="max(datum.cosine, 0)").mark_text(align="left", dx=5, color=INK)
    return alt.layer(
        base.mark_bar(color=EMPHASIS).encode(x=alt.X("cosine:Q", **x)),
        names.encode(x=alt.value(0), text="label:N"),
        numbers.encode(x=alt.X("end:Q", **x), text=alt.Text("cosine:Q", format=".3f")),
    ).properties(autosize=FIT)
