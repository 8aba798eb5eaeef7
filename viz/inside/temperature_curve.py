"""The classifier's probabilities over the temperature of attention, a curve for each class."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.curves import CHOSEN, curves, probability_axis, rule
from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import CATEGORIES, NEUTRAL, SHAPES
from ..builders.theme import FIT, INK, SMALL

_WORTH = 0.1  # a class that never gets so much stays grey


def temperature_curve(
    temperatures: Sequence[float],
    probabilities: np.ndarray,
    names: Sequence[str],
    *,
    chosen: float,
    marks: Mapping[str, float],
) -> VegaFigure:
    """Curves of `probabilities` [temperature, class] over a logarithmic axis that has 0 and infinity at its ends.

    `temperatures` ascend. The `chosen` one has a vertical line; each of `marks` (finite, above 0) has a dashed one
    with its name. Of many classes, those that stay below 10 % are grey. A click on a point sets the point selection
    `temperature`, field `index` into `temperatures`. Raises ValueError where the shapes do not fit each other.
    """
    n_temperatures, n_classes = len(temperatures), len(names)
    need_shape((n_temperatures, n_classes), probabilities=probabilities)
    positions = _axis_positions(temperatures)
    peaks = probabilities.max(axis=0, initial=0)
    largest = np.argsort(-peaks, kind="stable")[: len(CATEGORIES)]
    is_short = n_classes <= len(CATEGORIES)
    prominent = [
        index for index in range(n_classes) if is_short or (index in largest and peaks[index] >= _WORTH)
    ]
    frame = {
        "index": np.tile(np.arange(n_temperatures), n_classes),
        "temperature": _temperature_labels(temperatures) * n_classes,
        "place": np.tile(positions, n_classes),
        "class": np.repeat(list(names), n_temperatures),
        "probability": probabilities.T.ravel().astype(float),
        "prominent": np.repeat([index in prominent for index in range(n_classes)], n_temperatures),
    }
    return _chart_form(tuple(temperatures), tuple(names)).with_data(
        frame,
        in_file={"index": None},
        values={
            "prominent": [names[index] for index in prominent],
            "colours": _values_by_class(CATEGORIES, prominent, n_classes, NEUTRAL),
            "shapes": _values_by_class(SHAPES, prominent, n_classes, SHAPES[0]),
        },
        frames={
            CHOSEN: {"place": [positions[list(temperatures).index(chosen)]]},
            "marks": {"place": list(marks.values()), "text": list(marks)},
        },
        description=f"Probability of {n_classes} classes over the temperature of attention; {chosen:g} is marked.",
    )


@form
def _chart_form(temperatures: tuple[float, ...], names: tuple[str, ...]) -> alt.TopLevelMixin:
    positions = _axis_positions(temperatures).tolist()
    x = alt.X(
        "place:Q",
        title="temperature T (0: argmax; 1: as trained; ∞: uniform)",
        scale=alt.Scale(type="log", domain=[positions[0] * 0.85, positions[-1] / 0.85], nice=False),
        axis=alt.Axis(
            values=positions,
            labelExpr=f"{_temperature_labels(temperatures)}[indexof({positions}, datum.value)]",
            grid=False,
            labelOverlap="greedy",
        ),
    )
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", offset=22, values=value("prominent")
    )

    def channel(make: type, list_name: str) -> alt.Color | alt.Shape:
        range_ = [alt.ExprRef(f"{list_name}[{index}]") for index in range(len(names))]
        return make("class:N", scale=alt.Scale(domain=list(names), range=range_), legend=legend)

    lines, points = curves(
        x,
        alt.Y("probability:Q", title="probability", **probability_axis()),
        {
            "color": channel(alt.Color, "colours"),
            "shape": channel(alt.Shape, "shapes"),
            "opacity": either("datum.prominent", 1, 0.35),
        },
        tooltip=[tip("temperature:N", title="T"), tip("class:N"), tip("probability:Q", ".4f")],
        line={"strokeWidth": 2.5, "aria": False},
        points={"size": 70, "cursor": "pointer", "stroke": "transparent"},
        click=click_on("temperature", "index"),
    )
    marked = alt.Chart(data("marks")).encode(x="place:Q")
    dashed = marked.mark_rule(color=NEUTRAL, strokeDash=[4, 4], aria=False).encode(tooltip="text:N")
    mark_names = marked.mark_text(
        fontSize=SMALL, color=INK, align="left", dx=-4, baseline="bottom", dy=-8, aria=False
    )
    texts = mark_names.encode(y=alt.YValue(0), text="text:N")
    layers = [dashed, texts, rule("place"), lines, points.encode(description="temperature:N")]
    return alt.layer(*layers).properties(height=280, autosize=FIT)


def _values_by_class(values: Sequence[str], prominent: Sequence[int], n: int, rest: str) -> list[str]:
    """For each of `n` classes, in order: one of `values` if it is in `prominent`, else `rest`."""
    return [values[prominent.index(index)] if index in prominent else rest for index in range(n)]


def _temperature_labels(temperatures: Sequence[float]) -> list[str]:
    return ["∞" if np.isinf(temperature) else f"{temperature:g}" for temperature in temperatures]


def _axis_positions(temperatures: Sequence[float]) -> np.ndarray:
    """Positions of the temperatures on a logarithmic axis: 0 and infinity are a step beyond the finite ones."""
    positions = np.array(temperatures, float)
    finite = positions[(positions > 0) & np.isfinite(positions)]
    positions[positions == 0] = finite.min() / 2
    positions[np.isinf(positions)] = finite.max() * 2
    return positions
