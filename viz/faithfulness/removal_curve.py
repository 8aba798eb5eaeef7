"""How an answer changes while tokens or patches are removed or put back, in the order of a map and in random orders."""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np

from ..builders.chart import Column, Layer, chart, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape, value
from ..builders.number_format import THIN_PERCENT
from ..builders.palette import EMPHASIS, NEUTRAL
from ..builders.theme import heading_with_reading

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
    columns = [
        Column("count", np.asarray(counts, int), units, in_file=f"{units} {_DONE[kind]}"),
        Column("share", np.asarray(counts, float) / max(counts[-1], 1), None),
        Column("map", np.asarray(curve, float), MAP, ".4f"),
        Column("random", mean, f"{RANDOM}: mean", ".4f", "random, mean"),
        Column(
            "low", band_bottom, "mean − 2 standard deviations", ".4f", "random, mean minus two deviations"
        ),
        Column("high", band_top, "mean + 2 standard deviations", ".4f", "random, mean plus two deviations"),
    ]
    percent = alt.Axis(format="%", labelExpr=THIN_PERCENT, tickCount=5)
    x_title = f"share of the {units} {_DONE[kind]}"
    x = {"x": alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=percent)}
    y: Kwargs = {
        "title": what,
        "scale": alt.Scale(domain=[value("lowest"), value("highest")], nice=True),
    }
    colours = alt.Scale(domain=[MAP, RANDOM], range=[EMPHASIS, NEUTRAL])
    legend = alt.Legend(title=None, orient="top", labelLimit=0)

    def line(field: str, name: str, **mark: Any) -> list[Layer]:
        channels = x | {
            "y": alt.Y(f"{field}:Q", **y),
            "color": alt.Color("kind:N", scale=colours, legend=legend),
        }
        kind_of_line: Kwargs = {"calculate": {"kind": f"'{name}'"}}
        dots = channels | {"tooltip": columns}
        return [
            layer("line", channels, aria=False, **kind_of_line, **mark),
            layer("point", dots, filled=True, opacity=1, size=40, **kind_of_line),
        ]

    band = x | {"y": alt.Y("low:Q", **y), "y2": "high:Q"}
    return chart(
        columns,
        layer("area", band, opacity=0.2, color=NEUTRAL, aria=False),
        *line("random", RANDOM, strokeWidth=1.8, strokeDash=[5, 4]),
        *line("map", MAP, strokeWidth=2.5),
        values={
            "lowest": float(min(0, *curve, *band_bottom)),
            "highest": float(max(0, *curve, *band_top)) or 1.0,
        },
        height=200,
        title=heading_with_reading(_TITLES[kind], reading),
        description=f"{_TITLES[kind]}: {what} over the share of {counts[-1]} {units}, beside random orders.",
    )
