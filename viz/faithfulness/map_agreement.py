"""How well an attention map agrees with the effects of removing tokens or patches: removed in the order of the map,
and one at a time.
"""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np

from ..builders.chart import Column, Layer, chart, dots, encodings_by_kind, layer, lines
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.number_format import THIN_PERCENT
from ..builders.palette import EMPHASIS, NEUTRAL
from ..builders.theme import INK, SMALL, heading_with_reading
from ..builders.token_label import label, visible

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
    removed_things: str,
    reading: str,
) -> VegaFigure:
    """The `curve` [step] of a quantity while tokens or patches are removed (or put back) in the order of a map,
    beside the mean of `random` curves [order, step].

    `counts` [step] are the numbers removed (put back) so far; the x axis shows them as shares of the last. The band
    is the mean of the random orders ± 2 standard deviations. `what` is the title of the y axis, with its unit,
    `removed_things` says what is removed, such as "tokens", and `reading` says how to read the figure.
    """
    mean, two_deviations = random.mean(axis=0), 2 * random.std(axis=0, ddof=1)
    band_bottom, band_top = mean - two_deviations, mean + two_deviations
    columns = [
        Column("count", np.asarray(counts, int), removed_things, in_file=f"{removed_things} {_DONE[kind]}"),
        Column("share", np.asarray(counts, float) / max(counts[-1], 1), None),
        Column("map", np.asarray(curve, float), MAP, ".4f"),
        Column("random", mean, f"{RANDOM}: mean", ".4f", "random, mean"),
        Column(
            "low", band_bottom, "mean − 2 standard deviations", ".4f", "random, mean minus two deviations"
        ),
        Column("high", band_top, "mean + 2 standard deviations", ".4f", "random, mean plus two deviations"),
    ]
    percent = alt.Axis(format="%", labelExpr=THIN_PERCENT, tickCount=5)
    x_title = f"share of the {removed_things} {_DONE[kind]}"
    x = {"x": alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=percent)}
    y: Kwargs = {
        "title": what,
        "scale": alt.Scale(domain=[value("lowest"), value("highest")], nice=True),
    }
    by_kind = encodings_by_kind("kind:N", (MAP, RANDOM), color=(EMPHASIS, NEUTRAL))

    def curve_of(field: str, name: str, **mark: Any) -> list[Layer]:
        kind: Kwargs = {"calculate": {"kind": f"'{name}'"}}
        channels = x | {"y": alt.Y(f"{field}:Q", **y)} | by_kind
        return lines(channels, columns, {**kind, "aria": False, **mark}, {**kind, "size": 40})

    band = x | {"y": alt.Y("low:Q", **y), "y2": "high:Q"}
    return chart(
        columns,
        layer("area", band, opacity=0.2, color=NEUTRAL, aria=False),
        *curve_of("random", RANDOM, strokeWidth=1.8, strokeDash=[5, 4]),
        *curve_of("map", MAP, strokeWidth=2.5),
        values={
            "lowest": float(min(0, *curve, *band_bottom)),
            "highest": float(max(0, *curve, *band_top)) or 1.0,
        },
        height=200,
        title=heading_with_reading(_TITLES[kind], reading),
        description=f"{_TITLES[kind]}: {what} over the share of {counts[-1]} {removed_things}, beside random orders.",
    )


_NAMED = 3  # of the largest scores, and of the largest effects
_ROOM, _LINE = 0.16, 0.06  # that a name takes, across and up, as shares of the figure


def score_effect(
    positions: Sequence[int],
    tokens: Sequence[str],
    scores: np.ndarray,
    effects: np.ndarray,
    *,
    kind: str,
    effect: str,
    selected: int | None,
) -> VegaFigure:
    """A point for each of the `positions` that were compared: its entry in the `scores` of the map on the x axis, and in
    the measured `effects` on the y axis, both [point]; `tokens` are those of the points.

    `kind` says how a position was removed, `effect` what was measured, with its unit; the position `selected` is
    marked. Spearman's correlation can be computed from the columns `score` and `effect`. A click on a point sets the
    point selection `token`, field `position`.
    """
    numbers, sizes = np.asarray(scores, float), np.asarray(effects, float)
    is_selected = np.asarray(positions, int) == (-1 if selected is None else selected)
    columns = [
        Column("token", [visible(token) for token in tokens]),
        Column("position", np.asarray(positions, int)),
        Column("score", numbers, format=".4f"),
        Column("effect", sizes, effect, ".4f"),
        Column("knock-out", [kind] * len(positions), None),
    ]
    low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0)) or 1.0
    position = {
        "x": alt.X(
            "score:Q",
            title="score under the map",
            scale=alt.Scale(domain=[value("left"), value("right")], nice=False),
        ),
        "y": alt.Y("effect:Q", title=effect, scale=alt.Scale(zero=True)),
    }
    text: Kwargs = {"align": "left", "dx": 7, "dy": -6, "fontSize": SMALL, "color": INK, "aria": False}
    click = ("token", "position")
    return chart(
        columns,
        layer("text", position | {"text": "label:N"}, where="datum.labelled", **text),
        dots(position, columns, click, sizes=(140, 60), called="token:N", opacity=0.85),
        drawing={
            "label": [label(token, 14) for token in tokens],
            "selected": is_selected,
            "labelled": _has_label(numbers, sizes, np.flatnonzero(is_selected)),
        },
        values={"left": low, "right": high + _ROOM * (high - low)},
        height=260,
        description=f"Score of a map and effect of knock-out ({kind}) for {len(positions)} positions.",
    )


def _has_label(scores: np.ndarray, effects: np.ndarray, selected: np.ndarray) -> list[bool]:
    """Whether each point has a label: the selected point and the outermost ones do, unless another label is too
    close.
    """
    points = np.stack(
        [column / (np.abs(column).max(initial=0) or 1) for column in (scores, effects)], axis=-1
    )
    by_size = np.stack([np.argsort(-column, kind="stable")[:_NAMED] for column in points.T], axis=-1)
    labelled: list[int] = []
    for index in (*selected.tolist(), *by_size.ravel().tolist()):
        x_distances, y_distances = np.abs(points[labelled] - points[index]).T if labelled else np.ones((2, 1))
        if not ((x_distances < _ROOM) & (y_distances < _LINE)).any():
            labelled.append(index)
    return [index in labelled for index in range(len(scores))]
