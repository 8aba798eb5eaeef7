"""The nearest neighbours of a vector, as horizontal bars."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.figure import Kwargs, VegaFigure, data, form, need_shape, tip, value
from ..builders.palette import EMPHASIS
from ..builders.theme import FIT, INK, MIDDLE
from ..builders.token_label import FONT, label, visible

_BAR = 24  # pixels a bar
_NAME_WIDTH = 124  # pixels for the names, on the left


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, word: str, positions: Sequence[int | None] = ()
) -> VegaFigure:
    """Horizontal bars of the cosine similarities of a `word` and its neighbours `names`, in the given order.

    `positions` are the neighbours' positions in the input, None for a word that is not in it. Raises ValueError if
    names, similarities and positions differ in number.
    """
    positions = positions or [None] * len(names)
    need_shape((len(names),), cosines=cosines, positions=positions)
    suffixes = ["" if position is None else f" {position}" for position in positions]
    frame = {
        "rank": np.arange(1, len(names) + 1),
        "name": [visible(name) for name in names],
        "label": [label(name, 14) + suffix for name, suffix in zip(names, suffixes, strict=True)],
        "cosine": [float(cosine) for cosine in cosines],
    }
    return _chart_form().with_data(
        frame,
        values={"lowest": float(min(0.0, *cosines)) if len(cosines) else 0.0},
        height=_BAR * max(len(names), 1),
        description=f"The {len(names)} nearest neighbours of {visible(word)} by cosine similarity.",
    )


@form
def _chart_form() -> alt.TopLevelMixin:
    base = alt.Chart(data()).encode(
        # Two neighbours may have one name, so a bar is told by its rank.
        y=alt.Y("rank:O", axis=None),
        tooltip=[tip("rank:O"), tip("name:N", title="neighbour"), tip("cosine:Q", ".4f")],
    )
    x: Kwargs = {
        "title": "cosine similarity",
        # a little beyond 1, for the number behind a full bar
        "scale": alt.Scale(domain=[value("lowest"), 1.25], nice=False, rangeMin=_NAME_WIDTH),
        "axis": alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
    }
    names = base.mark_text(align="left", font=FONT, fontSize=MIDDLE, color=INK, limit=_NAME_WIDTH - 8)
    numbers = base.transform_calculate(end="max(datum.cosine, 0)").mark_text(
        align="left", dx=5, fontSize=MIDDLE, color=INK
    )
    return alt.layer(
        base.mark_bar(color=EMPHASIS).encode(x=alt.X("cosine:Q", **x)),
        names.encode(x=alt.value(0), text="label:N"),
        numbers.encode(x=alt.X("end:Q", **x), text=alt.Text("cosine:Q", format=".3f")),
    ).properties(autosize=FIT)
