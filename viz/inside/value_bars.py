"""Horizontal bars of named values from a common zero: scores, weights, hidden units."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.figure import VegaFigure, click_on, data, either, form, tip, value
from ..builders.number_format import format_number
from ..builders.palette import ACCENT, EMPHASIS, FALLS, NEUTRAL, RISES, WeightScale
from ..builders.theme import FIT, INK
from .vector_rows import names_channel

_ROW, _LOW_ROW, _MANY = 24, 17, 40  # pixels a bar, and from how many on they are low
_ROOM = 0.16  # beside the bars, for their numbers, as a share of their reach


def value_bars(
    values: Mapping[str, float],
    *,
    what: str,
    before: Mapping[str, float] | None = None,
    was: str = "",
    weights: WeightScale | None = None,
    chosen: str = "",
    clicks: bool = False,
) -> VegaFigure:
    """Bars of `values` by name, with their numbers; `what` is the title of the axis. NaN stands for a masked key.

    Outlines show what each value was `before`, and `was` names these. If the values are attention `weights`, the axis
    reaches as far as the colours of the maps; other values are coloured by their sign. The bar called `chosen` is
    framed. With `clicks` a click sets the point selection `row`, field `row`, counted from 0.
    """
    row = list(range(len(values)))
    numbers = np.array(list(values.values()), float)
    earlier = np.full(len(row), np.nan) if before is None else np.array([before[name] for name in values])
    lowest, highest = _axis_ends(numbers, earlier, weights)
    margin = (highest - lowest) * _ROOM
    # The number stands beside the longer of the two bars, on the side to which that points.
    pairs = np.nan_to_num([numbers, earlier])
    furthest = np.where(np.abs(pairs[0]) >= np.abs(pairs[1]), *pairs)
    frame = {
        "row": row,
        "name": list(values),
        "value": numbers,
        "before": earlier,
        "number": [format_number(bar_value, "#.3g", otherwise="masked").rstrip(".") for bar_value in numbers],
        "at": furthest,
        "left": furthest < 0,
        "selected": [name == chosen for name in values],
    }
    return _chart_form(what, was if before is not None else None, weights is None, clicks).with_data(
        frame,
        values={
            "rows": list(values),
            "chosen": chosen,
            "low": lowest - margin * (lowest < 0),
            "high": highest + margin,
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(row), 1) * (_ROW if len(row) < _MANY else _LOW_ROW),
        description=f"{what} of {', '.join(list(values)[:12])}: {len(row)} bars"
        + (f", {chosen} framed" if chosen else ""),
    )


@form
def _chart_form(what: str, was: str | None, by_sign: bool, clicks: bool) -> alt.TopLevelMixin:
    title = what if was is None else f"{what}; outlined: {was}"
    axis = alt.Axis(
        orient="top",
        title=title,
        titleAnchor="start",
        titleFontWeight="normal",
        labelPadding=6,
        grid=False,
        tickCount=5,
    )
    scale = alt.Scale(domain=[value("low"), value("high")], nice=False)
    x = alt.X("value:Q", scale=scale, axis=axis)
    base = alt.Chart(data()).encode(y=names_channel(paddingInner=0.2), x=x)
    bar_colour = either("datum.value < 0", FALLS, RISES)
    bars = base.mark_bar(height={"band": 0.72}, aria=False)
    layers = [bars.encode(fill=bar_colour if by_sign else alt.value(EMPHASIS))]
    tooltip = [tip("name:N", title="row"), tip("value:Q", ".6~g", what)]
    if was is not None:
        tooltip.append(tip("before:Q", ".6~g", was))
        outlines = base.mark_bar(fill=None, stroke=NEUTRAL, strokeWidth=1, aria=False)
        layers.append(outlines.encode(x="before:Q"))
    numbers = base.mark_text(
        align=alt.expr("datum.left ? 'right' : 'left'"),
        dx=alt.expr("datum.left ? -5 : 5"),
        baseline="middle",
        fontSize=13,
        color=INK,
        aria=False,
    )
    # On top and clear: a click anywhere in a row counts.
    cover = base.mark_rect(fill="transparent", cursor="pointer" if clicks else "default").encode(
        x=alt.XValue(0),
        x2=alt.X2Value(alt.expr("width")),
        description="name:N",
        stroke=either("datum.selected", ACCENT, "transparent"),
        strokeWidth=alt.StrokeWidthValue(2),
        tooltip=tooltip,
    )
    layers += [numbers.encode(x="at:Q", text="number:N"), cover]
    if clicks:
        layers[-1] = cover.add_params(click_on("row", "row"))
    return alt.layer(*layers).properties(autosize=FIT)


def _axis_ends(values: np.ndarray, before: np.ndarray, weights: WeightScale | None) -> tuple[float, float]:
    """Lowest and highest value of the axis, which always contains 0."""
    if weights is not None:
        return 0.0, weights.largest
    numbers = np.concatenate([values, before])
    numbers = numbers[np.isfinite(numbers)]
    lowest, highest = float(numbers.min(initial=0)), float(numbers.max(initial=0))
    return (lowest, highest) if lowest < highest else (0.0, 1.0)
