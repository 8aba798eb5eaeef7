"""Horizontal bars of named values, with outlines of what the values were before: used for hidden units."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.figure import VegaFigure, data, either, form, tip, value
from ..builders.number_format import format_number
from ..builders.palette import FALLS, NEUTRAL, RISES
from ..builders.theme import FIT, INK, MIDDLE
from .vector_rows import names_channel

_ROW = 24  # pixels a bar
_ROOM = 0.16  # beside the bars, for their numbers, as a share of their reach


def value_bars(
    values: Mapping[str, float], *, what: str, before: Mapping[str, float], was: str
) -> VegaFigure:
    """Bars of `values` by name, coloured by sign, with their numbers; `what` is the title of the axis.

    Outlines show what each value was `before`; `was` is the name of the outlines.
    """
    numbers = np.array(list(values.values()), float)
    earlier = np.array([before[name] for name in values], float)
    both = np.concatenate([numbers, earlier])
    lowest, highest = float(both.min(initial=0)), float(both.max(initial=0))
    if lowest == highest:
        highest = 1.0
    margin = (highest - lowest) * _ROOM
    # The number stands beside the longer of the two bars, on the side to which that points.
    furthest = np.where(np.abs(numbers) >= np.abs(earlier), numbers, earlier)
    frame = {
        "name": list(values),
        "value": numbers,
        "before": earlier,
        "number": [format_number(bar_value, "#.3g") for bar_value in numbers],
        "at": furthest,
        "left": furthest < 0,
    }
    return _chart_form(what, was).with_data(
        frame,
        in_file={"value": what, "before": was, "number": None},
        values={
            "rows": list(values),
            "chosen": "",
            "low": lowest - margin * (lowest < 0),
            "high": highest + margin,
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(values), 1) * _ROW,
        description=f"{what} of {', '.join(list(values)[:12])}: {len(values)} bars",
    )


@form
def _chart_form(what: str, was: str) -> alt.TopLevelMixin:
    axis = alt.Axis(
        orient="top",
        title=f"{what}; outlined: {was}",
        titleAnchor="start",
        titleFontWeight="normal",
        labelPadding=6,
        grid=False,
        tickCount=5,
    )
    scale = alt.Scale(domain=[value("low"), value("high")], nice=False)
    base = alt.Chart(data()).encode(
        y=names_channel(paddingInner=0.2), x=alt.X("value:Q", scale=scale, axis=axis)
    )
    bars = base.mark_bar(height={"band": 0.72}, aria=False)
    outlines = base.mark_bar(fill=None, stroke=NEUTRAL, strokeWidth=1, aria=False)
    numbers = base.mark_text(
        align=alt.expr("datum.left ? 'right' : 'left'"),
        dx=alt.expr("datum.left ? -5 : 5"),
        baseline="middle",
        fontSize=MIDDLE,
        color=INK,
        aria=False,
    )
    # On top and clear: the pointer anywhere in a row shows its numbers.
    cover = base.mark_rect(fill="transparent").encode(
        x=alt.XValue(0),
        x2=alt.X2Value(alt.expr("width")),
        description="name:N",
        tooltip=[tip("name:N", title="row"), tip("value:Q", ".6~g", what), tip("before:Q", ".6~g", was)],
    )
    return alt.layer(
        bars.encode(fill=either("datum.value < 0", FALLS, RISES)),
        outlines.encode(x="before:Q"),
        numbers.encode(x="at:Q", text="number:N"),
        cover,
    ).properties(autosize=FIT)
