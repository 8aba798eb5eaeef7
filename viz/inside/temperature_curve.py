"""The classifier's probabilities over the temperature of attention, a curve for each class."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.chart import CHOSEN, Column, chart, layer, lines, probability_axis, vertical_line
from ..builders.figure import Kwargs, VegaFigure, conditional_value, value
from ..builders.palette import CATEGORIES, NEUTRAL, SHAPES
from ..builders.theme import INK, SMALL

_WORTH = 0.1  # a class that never gets so much stays grey


def temperature_curve(
    temperatures: Sequence[float],
    probabilities: np.ndarray,
    names: Sequence[str],
    *,
    chosen: float,
    marks: Mapping[str, float],
) -> VegaFigure:
    """Curves of `probabilities` [temperature, class] over a logarithmic axis with 0 and infinity at its ends; `names`
    are those of the classes.

    `temperatures` ascend. The `chosen` one has a vertical line; each of the `marks`, temperatures by name (finite,
    above 0), has a dashed line with its name. If there are many classes, those that stay below 10 % are grey. A click
    on a point sets the point selection `temperature`, field `index` into `temperatures`.
    """
    n_temperatures, n_classes = len(temperatures), len(names)
    positions = _axis_positions(temperatures)
    peaks = probabilities.max(axis=0, initial=0)
    largest = np.argsort(-peaks, kind="stable")[: len(CATEGORIES)]
    is_short = n_classes <= len(CATEGORIES)
    prominent = [
        index for index in range(n_classes) if is_short or (index in largest and peaks[index] >= _WORTH)
    ]
    labels = ["∞" if np.isinf(temperature) else f"{temperature:g}" for temperature in temperatures]
    ends = positions.tolist()
    columns = [
        Column("temperature", labels * n_classes, "T"),
        Column("class", [name for name in names for _ in temperatures]),
        Column("probability", probabilities.T, format=".4f"),
    ]
    x = alt.X(
        "place:Q",
        title="temperature T (0: argmax; 1: as trained; ∞: uniform)",
        scale=alt.Scale(type="log", domain=[ends[0] * 0.85, ends[-1] / 0.85], nice=False),
        axis=alt.Axis(
            values=ends,
            labelExpr=f"{labels}[indexof({ends}, datum.value)]",
            grid=False,
            labelOverlap="greedy",
        ),
    )
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", offset=22, values=value("prominent")
    )

    def scale(list_name: str) -> alt.Scale:
        range_ = [alt.ExprRef(f"{list_name}[{index}]") for index in range(n_classes)]
        return alt.Scale(domain=list(names), range=range_)

    by_class = {
        "x": x,
        "y": alt.Y("probability:Q", title="probability", **probability_axis()),
        "color": alt.Color("class:N", scale=scale("colours"), legend=legend),
        "shape": alt.Shape("class:N", scale=scale("shapes"), legend=legend),
        "opacity": conditional_value("datum.prominent", 1, 0.35),
    }
    text: Kwargs = {
        "fontSize": SMALL,
        "color": INK,
        "align": "left",
        "dx": -4,
        "baseline": "bottom",
        "dy": -8,
    }
    return chart(
        columns,
        layer(
            "rule",
            {"x": "place:Q", "tooltip": "text:N"},
            "marks",
            color=NEUTRAL,
            strokeDash=[4, 4],
            aria=False,
        ),
        layer("text", {"x": "place:Q", "y": alt.value(0), "text": "text:N"}, "marks", aria=False, **text),
        vertical_line("place"),
        *lines(
            by_class,
            columns,
            {"strokeWidth": 2.5, "aria": False},
            {"size": 70, "cursor": "pointer", "stroke": "transparent"},
            click=("temperature", "index"),
            description="temperature:N",
        ),
        drawing={
            "index": np.tile(np.arange(n_temperatures), n_classes),
            "place": np.tile(positions, n_classes),
            "prominent": [index in prominent for index in range(n_classes) for _ in temperatures],
        },
        values={
            "prominent": [names[index] for index in prominent],
            "colours": _values_by_class(CATEGORIES, prominent, n_classes, NEUTRAL),
            "shapes": _values_by_class(SHAPES, prominent, n_classes, SHAPES[0]),
        },
        frames={
            CHOSEN: {"place": [positions[list(temperatures).index(chosen)]]},
            "marks": {"place": list(marks.values()), "text": list(marks)},
        },
        height=280,
        description=f"Probability of {n_classes} classes over the temperature of attention; {chosen:g} is marked.",
    )


def _values_by_class(values: Sequence[str], prominent: Sequence[int], n: int, rest: str) -> list[str]:
    """For each of `n` classes one of `values`, in the order of the class indices `prominent`, or `rest` if the class
    is not in `prominent`.
    """
    return [values[prominent.index(index)] if index in prominent else rest for index in range(n)]


def _axis_positions(temperatures: Sequence[float]) -> np.ndarray:
    """The positions [temperature] on a logarithmic axis; 0 and infinity are one step beyond the finite temperatures."""
    positions = np.array(temperatures, float)
    finite = positions[(positions > 0) & np.isfinite(positions)]
    positions[positions == 0] = finite.min() / 2
    positions[np.isinf(positions)] = finite.max() * 2
    return positions
