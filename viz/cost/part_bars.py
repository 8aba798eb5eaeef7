"""How a total is made up: a bar a part."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import EMPHASIS, NEUTRAL
from viz.theme import INK

_STEP = 24  # pixels a part
_ROOM = 1.45  # of the largest bar, for the text behind it
_NAMES = alt.Axis(labelOverlap=False, labelFlush=False, labelLimit=200)  # every name, each at its bar


def part_bars(names: Sequence[str], values: Sequence[int], *, of: str) -> alt.LayerChart:
    """Counts [part] as horizontal bars in the order given, the largest emphasised; `of` says what is counted.

    Raises ValueError where names and values differ in number.
    """
    if len(names) != len(values):
        raise ValueError(f"{len(names)} parts need as many values, got {len(values)}")
    total = sum(values)
    shares = np.array([value / total if total else 0.0 for value in values])
    bars = pd.DataFrame(
        {
            "part": list(names),
            "share": shares,
            "exact": [f"{value:,}" for value in values],
            "text": [_text(value, share) for value, share in zip(values, shares, strict=True)],
            "largest": np.arange(len(shares)) == (np.argmax(shares) if total else -1),
        }
    )
    base = alt.Chart(bars).encode(
        x=alt.X(
            "share:Q",
            title=f"share of {total:,} {of}",
            stack=None,
            scale=alt.Scale(domain=[0, _ROOM * (shares.max(initial=0) or 1)]),
            # The axis goes on below the text, the share does not.
            axis=alt.Axis(
                format=".0%",
                grid=False,
                ticks=False,
                tickCount=5,
                labelExpr="datum.value > 1 ? '' : datum.label",
            ),
        ),
        y=alt.Y("part:N", title=None, sort=None, axis=_NAMES),
        tooltip=[
            alt.Tooltip("part:N"),
            alt.Tooltip("exact:N", title=of),
            alt.Tooltip("share:Q", format=".2%"),
        ],
    )
    return (
        base.mark_bar(cornerRadiusEnd=3).encode(
            color=alt.condition("datum.largest", alt.value(EMPHASIS), alt.value(NEUTRAL))
        )
        + base.mark_text(align="left", dx=5, color=INK).encode(text="text:N")
    ).properties(
        height=_STEP * max(len(bars), 1),
        autosize={"type": "fit-x", "contains": "padding"},
        description=f"{of[:1].upper()}{of[1:]} of each part of the encoder, as bars.",
    )


def _text(value: int, share: float) -> str:
    if not value:
        return "0"
    return f"{short(value)} · " + ("<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %")


def short(value: int) -> str:
    """To three digits: 37858304 is "37.9 M"."""
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {unit}"
    return str(value)
