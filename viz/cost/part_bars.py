"""How a total is made up: a bar a part."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.figure import VegaFigure, data, form, value
from viz.numbers import abbreviated, percent
from viz.palette import EMPHASIS, NEUTRAL
from viz.theme import FIT, INK

_STEP = 24  # pixels a part
_ROOM = 1.45  # of the largest bar, for the text behind it


def part_bars(names: Sequence[str], values: Sequence[int], *, of: str) -> VegaFigure:
    """Counts [part] as horizontal bars in the order given, the largest emphasised; `of` says what is counted.

    Raises ValueError where names and values differ in number.
    """
    if len(names) != len(values):
        raise ValueError(f"{len(names)} parts need as many values, got {len(values)}")
    total = sum(values)
    shares = [count / total if total else 0.0 for count in values]
    largest = max(shares, default=0)
    frame = pd.DataFrame(
        {
            "part": list(names),
            "share": shares,
            "exact": [f"{count:,}" for count in values],
            "text": [_text(count, share) for count, share in zip(values, shares, strict=True)],
            "largest": np.arange(len(shares)) == (np.argmax(shares) if total else -1),
        }
    )
    return _form(of).of(
        frame,
        values={"end": _ROOM * (largest or 1), "total": f"{total:,}"},
        height=_STEP * max(len(names), 1),
        description=f"{of[:1].upper()}{of[1:]} of each part of the encoder, as bars.",
    )


@form
def _form(of: str) -> alt.LayerChart:
    # An axis takes no title that comes with the data, as the total does; a chart does. It looks as one of an axis.
    below = {"orient": "bottom", "anchor": "middle", "align": "center", "frame": "group", "offset": 16}
    title = alt.TitleParams(
        alt.expr(f"'share of ' + total + ' {of}'"), fontSize=14, fontWeight="normal", color=INK, **below
    )
    # The axis goes on below the text, the share does not.
    shown = "datum.value > 1 ? '' : datum.label"
    axis = alt.Axis(format=".0%", grid=False, ticks=False, tickCount=5, labelExpr=shown)
    every_name = alt.Axis(labelOverlap=False, labelFlush=False, labelLimit=200)
    base = alt.Chart(data()).encode(
        x=alt.X("share:Q", title=None, stack=None, scale=alt.Scale(domain=[0, value("end")]), axis=axis),
        y=alt.Y("part:N", title=None, sort=None, axis=every_name),
        tooltip=["part:N", alt.Tooltip("exact:N", title=of), alt.Tooltip("share:Q", format=".2%")],
    )
    bars = base.mark_bar(cornerRadiusEnd=3).encode(
        color=alt.condition("datum.largest", alt.value(EMPHASIS), alt.value(NEUTRAL))
    )
    texts = base.mark_text(align="left", dx=5, color=INK).encode(text="text:N")
    return (bars + texts).properties(autosize=FIT, title=title)


def _text(count: int, share: float) -> str:
    return f"{abbreviated(count)} · {percent(share, below='<')}" if count else "0"
