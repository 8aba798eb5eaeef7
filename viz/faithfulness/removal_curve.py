"""How an answer changes while tokens or patches are removed or put back, in the order of a map and in random orders."""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np

from ..builders.figure import Kwargs, VegaFigure, data, form, need_shape, tip, value
from ..builders.number_format import THIN_PERCENT
from ..builders.palette import EMPHASIS, NEUTRAL
from ..builders.theme import FIT, heading_with_reading

MAP, RANDOM = "order of the map", "random orders"
_TITLES = {"deletion": "Deletion", "insertion": "Insertion"}
_DONE = {"deletion": "taken away", "insertion": "put back"}


def removal_curve(
    kind: Literal["deletion", "insertion"],
    counts: Sequence[int],
    curve: np.ndarray,
    random: np.ndarray,
    *,
    what: str,
    units: str,
    reading: str,
) -> VegaFigure:
    """The `curve` [step] of a map beside the mean of `random` curves [order, step], over the share of units removed or
    put back.

    `counts` [step] are the numbers of units removed or put back. The band is the mean of the random orders ± 2 standard
    deviations. `what` is the title of the y axis, with its unit, `units` are the things that are removed, and `reading`
    says how to read the figure. Raises ValueError where the shapes do not fit each other, KeyError for another kind.
    """
    need_shape((len(counts),), curve=curve, mean=random[0] if len(random) else curve)
    mean, two_deviations = random.mean(axis=0), 2 * random.std(axis=0, ddof=1)
    band_bottom, band_top = mean - two_deviations, mean + two_deviations
    frame = {
        "count": np.asarray(counts, int),
        "share": np.asarray(counts, float) / max(counts[-1], 1),
        "map": np.asarray(curve, float),
        "random": mean,
        "low": band_bottom,
        "high": band_top,
    }
    return _chart_form(_DONE[kind], what, units).with_data(
        frame,
        in_file={
            "count": f"{units} {_DONE[kind]}",
            "random": "random, mean",
            "low": "random, mean minus two deviations",
            "high": "random, mean plus two deviations",
        },
        values={
            "lowest": float(min(0, *curve, *band_bottom)),
            "highest": float(max(0, *curve, *band_top)) or 1.0,
        },
        title=heading_with_reading(_TITLES[kind], reading),
        description=f"{_TITLES[kind]}: {what} over the share of {counts[-1]} {units}, beside random orders.",
    )


@form
def _chart_form(done: str, what: str, units: str) -> alt.TopLevelMixin:
    percent = alt.Axis(format="%", labelExpr=THIN_PERCENT, tickCount=5)
    x = alt.X("share:Q", title=f"share of the {units} {done}", scale=alt.Scale(domain=[0, 1]), axis=percent)
    y: Kwargs = {
        "title": what,
        "scale": alt.Scale(domain=[value("lowest"), value("highest")], nice=True),
    }
    colours = alt.Scale(domain=[MAP, RANDOM], range=[EMPHASIS, NEUTRAL])
    legend = alt.Legend(title=None, orient="top", labelLimit=0)
    tooltip = [
        tip("count:Q", title=units),
        tip("map:Q", ".4f", MAP),
        tip("random:Q", ".4f", f"{RANDOM}: mean"),
        tip("low:Q", ".4f", "mean − 2 standard deviations"),
        tip("high:Q", ".4f", "mean + 2 standard deviations"),
    ]
    base = alt.Chart(data()).encode(x=x)
    band = base.mark_area(opacity=0.2, color=NEUTRAL, aria=False).encode(y=alt.Y("low:Q", **y), y2="high:Q")

    def line(field: str, name: str, **mark: Any) -> list[alt.Chart]:
        colour = alt.Color("kind:N", scale=colours, legend=legend)
        kind_chart = base.transform_calculate(kind=f"'{name}'").encode(
            y=alt.Y(f"{field}:Q", **y), color=colour
        )
        line_layer = kind_chart.mark_line(aria=False, **mark)
        return [line_layer, kind_chart.mark_point(filled=True, opacity=1, size=40).encode(tooltip=tooltip)]

    layers = [*line("random", RANDOM, strokeWidth=1.8, strokeDash=[5, 4]), *line("map", MAP, strokeWidth=2.5)]
    return alt.layer(band, *layers).properties(height=200, autosize=FIT)
