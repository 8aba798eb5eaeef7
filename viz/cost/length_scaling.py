"""How something grows with the length of the sequence, on two logarithmic axes: a power law is a straight line."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from viz.numbers import powers_of_ten
from viz.palette import CATEGORIES, SHAPES


def length_scaling(
    lengths: Sequence[int],
    values: Mapping[str, Sequence[float]],
    *,
    quantity: str,
    fits: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> alt.LayerChart:
    """Values [length], all above 0, of each kind of layer; `quantity` is the title of their axis.

    `fits` are lengths and values of a fitted line a kind, drawn dashed.
    """
    kinds = list(values)
    colour = alt.Color(
        "layer:N",
        title=None,
        scale=alt.Scale(domain=kinds, range=CATEGORIES[: len(kinds)]),
        legend=alt.Legend(orient="top", columns=2, labelLimit=240, symbolStrokeWidth=2),
    )
    shape = alt.Shape("layer:N", title=None, scale=alt.Scale(domain=kinds, range=SHAPES[: len(kinds)]))
    every = [value for found in values.values() for value in found]
    powers = [n for n in lengths if n & (n - 1) == 0]
    x = alt.X(
        "n:Q",
        title="sequence length n (positions)",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=powers, format=","),
    )
    y = alt.Y(
        "value:Q",
        title=quantity,
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~s" if quantity == "multiply-adds" else "~g", values=powers_of_ten(every)),
    )
    points = alt.Chart(_long({kind: (lengths, found) for kind, found in values.items()})).encode(
        x=x,
        y=y,
        color=colour,
        tooltip=[
            alt.Tooltip("layer:N"),
            alt.Tooltip("n:Q", format=","),
            alt.Tooltip("value:Q", title=quantity, format=",.4~g" if fits else ","),
        ],
    )
    marks = points.mark_point(filled=True, size=55, opacity=1).encode(shape=shape)
    if fits is None:
        lines = points.mark_line(strokeWidth=2)
    else:
        lines = (
            alt.Chart(_long(fits)).mark_line(strokeDash=[6, 4], strokeWidth=2).encode(x=x, y=y, color=colour)
        )
    return (lines + marks).properties(
        height=380,
        description=f"{quantity} of {', '.join(kinds)} layers over the sequence length, on logarithmic axes.",
    )


def _long(series: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> pd.DataFrame:
    rows = [
        (kind, n, value)
        for kind, (lengths, values) in series.items()
        for n, value in zip(lengths, values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["layer", "n", "value"])
