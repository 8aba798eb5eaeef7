"""What the classifier answers while attention goes from hard to uniform: a line a class."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT
from viz.palette import ACCENT, CATEGORIES, NEUTRAL, SHAPES
from viz.theme import INK

_HEIGHT = 280
_WORTH = 0.1  # a class that never gets so much stays grey


def temperature_curve(
    temperatures: Sequence[float],
    probabilities: np.ndarray,
    names: Sequence[str],
    *,
    chosen: float,
    marks: dict[str, float],
) -> alt.LayerChart:
    """`probabilities` [temperature, class] over a logarithmic axis, on whose ends 0 and infinity stand.

    `temperatures` rise. The `chosen` one has a rule, each of `marks` (finite, above 0) a dashed one with its
    name. Of many classes, those that get less than 10 % everywhere are grey. A click on a point sets the point
    selection `temperature`, field `index` into `temperatures`.
    Raises ValueError where the shapes do not fit each other.
    """
    if probabilities.shape != (len(temperatures), len(names)):
        raise ValueError(
            f"{len(temperatures)} temperatures and {len(names)} classes need as many probabilities, "
            f"got {probabilities.shape}"
        )
    places = _places(temperatures)
    labels = ["∞" if np.isinf(value) else f"{value:g}" for value in temperatures]
    peaks = pd.Series(probabilities.max(axis=0, initial=0), index=list(names))
    few = len(names) <= len(CATEGORIES)
    largest = names if few else peaks[peaks >= _WORTH].nlargest(len(CATEGORIES)).index
    prominent = [name for name in names if name in largest]
    rows = pd.DataFrame(
        {
            "index": index,
            "temperature": labels[index],
            "place": places[index],
            "class": name,
            "probability": float(probabilities[index, number]),
            "prominent": name in prominent,
        }
        for number, name in enumerate(names)
        for index in range(len(temperatures))
    )
    written = {float(place): label for place, label in zip(places, labels, strict=True)}
    x = alt.X(
        "place:Q",
        title="temperature T (0: argmax; 1: as trained; ∞: uniform)",
        scale=alt.Scale(type="log", domain=[places[0] * 0.85, places[-1] / 0.85], nice=False),
        axis=alt.Axis(
            values=list(written),
            labelExpr=f"{list(written.values())}[indexof({list(written)}, datum.value)]",
            grid=False,
            labelOverlap="greedy",
        ),
    )
    legend = alt.Legend(title=None, orient="top", direction="horizontal", offset=22, values=prominent)
    base = alt.Chart(rows).encode(
        x=x,
        y=alt.Y(
            "probability:Q",
            title="probability",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%"),
        ),
        color=alt.Color(
            "class:N",
            scale=alt.Scale(domain=list(names), range=_given(CATEGORIES, prominent, names, NEUTRAL)),
            legend=legend,
        ),
        opacity=alt.when("datum.prominent").then(alt.value(1)).otherwise(alt.value(0.35)),
    )
    lines = base.mark_line(strokeWidth=2.5, aria=False)
    points = (
        base.mark_point(filled=True, size=70, cursor="pointer", stroke="transparent")
        .encode(
            shape=alt.Shape(
                "class:N",
                scale=alt.Scale(domain=list(names), range=_given(SHAPES, prominent, names, SHAPES[0])),
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip("temperature:N", title="T"),
                alt.Tooltip("class:N"),
                alt.Tooltip("probability:Q", format=".4f"),
            ],
            description=alt.Description("temperature:N"),
        )
        .add_params(alt.selection_point(name="temperature", fields=["index"], toggle=False, clear=False))
    )
    at = pd.DataFrame({"place": [places[list(temperatures).index(chosen)]]})
    rule = alt.Chart(at).mark_rule(color=ACCENT, strokeWidth=2.5, aria=False).encode(x=alt.X("place:Q"))
    marked = alt.Chart(pd.DataFrame({"place": list(marks.values()), "text": list(marks)}))
    dashed = marked.mark_rule(color=NEUTRAL, strokeDash=[4, 4], aria=False).encode(
        x=alt.X("place:Q"), tooltip=alt.Tooltip("text:N")
    )
    texts = marked.mark_text(color=INK, align="left", dx=-4, baseline="bottom", dy=-8, aria=False).encode(
        x=alt.X("place:Q"), y=alt.YValue(0), text=alt.Text("text:N")
    )
    return alt.layer(dashed, texts, rule, lines, points).properties(
        height=_HEIGHT,
        autosize=FIT,
        description=f"Probability of {len(names)} classes over the temperature of attention; {chosen:g} is marked.",
    )


def _given(values: Sequence[str], prominent: list[str], names: Sequence[str], other: str) -> list[str]:
    """One of `values` for each prominent name, `other` for the rest; in the order of `names`."""
    return [values[prominent.index(name)] if name in prominent else other for name in names]


def _places(temperatures: Sequence[float]) -> np.ndarray:
    """Where each stands on a logarithmic axis: 0 and infinity go a step beyond the finite ones."""
    places = np.array(temperatures, float)
    finite = places[(places > 0) & np.isfinite(places)]
    places[places == 0] = finite.min() / 2
    places[np.isinf(places)] = finite.max() * 2
    return places
