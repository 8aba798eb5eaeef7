"""Points for tokens or patches: the score of a map against the effect of knocking them out."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import ACCENT, EMPHASIS
from ..builders.theme import FIT, INK, SMALL
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
    frame = {
        "position": np.asarray(positions, int),
        "token": [visible(token) for token in tokens],
        "score": np.asarray(scores, float),
        "effect": np.asarray(effects, float),
        "knock-out": [kind] * len(positions),
        "label": [label(token, 14) for token in tokens],
        "selected": np.asarray(positions, int) == (-1 if selected is None else selected),
    }
    frame["labelled"] = _has_label(frame["score"], frame["effect"], np.flatnonzero(frame["selected"]))
    score_range = float(frame["score"].min(initial=0)), float(frame["score"].max(initial=0)) or 1.0
    return _chart_form(effect).with_data(
        frame,
        values={"left": score_range[0], "right": score_range[1] + _ROOM * (score_range[1] - score_range[0])},
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


@form
def _chart_form(effect: str) -> alt.TopLevelMixin:
    x = alt.X(
        "score:Q",
        title="score under the map",
        scale=alt.Scale(domain=[value("left"), value("right")], nice=False),
    )
    y = alt.Y("effect:Q", title=effect, scale=alt.Scale(zero=True))
    base = alt.Chart(data()).encode(x=x, y=y)
    points = base.mark_point(filled=True, opacity=0.85, cursor="pointer").encode(
        color=either("datum.selected", ACCENT, EMPHASIS),
        size=either("datum.selected", 140, 60),
        description="token:N",
        tooltip=[
            tip("token:N"),
            tip("position:Q"),
            tip("score:Q", ".4f"),
            tip("effect:Q", ".4f", effect),
        ],
    )
    names = base.transform_filter("datum.labelled").mark_text(
        align="left", dx=7, dy=-6, fontSize=SMALL, color=INK, aria=False
    )
    labels = names.encode(text="label:N")
    return alt.layer(labels, points.add_params(click_on("token", "position"))).properties(
        height=260, autosize=FIT
    )
