"""Points for tokens or patches: the score of a map against the effect of knocking them out."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, dots, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape, value
from ..builders.theme import INK, SMALL
from ..builders.token_label import label, visible

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
    """Scores [position] across and effects [position] up, of those `positions` that were compared, with their `tokens`.

    `kind` says how each was knocked out, `effect` what was measured, with its unit; the position `selected` is
    marked. Spearman's correlation follows from the columns `score` and `effect` alone. A click on a point sets the
    point selection `token`, field `position`. Raises ValueError where the shapes do not fit each other.
    """
    need_shape((len(positions),), tokens=tokens, scores=scores, effects=effects)
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
    """Whether each point has a label: the selected one and those far out do, unless another label is too close."""
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
