"""The accuracy while heads are removed one after the other, a curve for each encoder."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from ..builders.chart import WHOLE, Column, chart, encodings_by_kind, layer, lines
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.number_format import THIN_PERCENT
from ..builders.palette import NEUTRAL, SHAPES, side_colours

HEIGHT = 300


class Curve(NamedTuple):
    """The pruning of one encoder; step 0 is before the first head is removed."""

    placement: str  # as `ModelConfig` names it
    heads: Sequence[str]  # which went at each step, such as "L0 H3"; "" at step 0
    accuracy: np.ndarray  # [step], from 0 to 1
    loss: np.ndarray  # [step], nats
    change: Sequence[str]  # of the accuracy since step 0, in words
    may_go: int  # heads gone, before accuracy is lower


def pruning_curve(encoders: Mapping[str, Curve]) -> VegaFigure:
    """Curves of accuracy over the number of heads removed, by the name of the encoder.

    A dashed vertical line marks the step `may_go` of each encoder. A click on a point sets the point selection `step`,
    fields `encoder` and `went`.
    """
    curves = list(encoders.values())
    accuracy = np.concatenate([np.zeros(0), *(curve.accuracy for curve in curves)])
    loss = np.concatenate([np.zeros(0), *(curve.loss for curve in curves)])
    columns = [
        Column("encoder", [name for name, curve in encoders.items() for _ in curve.heads]),
        Column(
            "step",
            [step for curve in curves for step in range(len(curve.heads))],
            "heads removed",
            "",
            "heads removed",
        ),
        Column(
            "went",
            [head for curve in curves for head in curve.heads],
            "the last of them",
            "",
            "head removed last",
        ),
        Column("accuracy", accuracy, "accuracy", ".2%"),
        Column("change", [change for curve in curves for change in curve.change], "change since step 0"),
        Column("loss", loss, "mean loss, nats", ".4f"),
    ]
    colours = side_colours([curve.placement for curve in curves])
    channels = {
        "x": alt.X("step:Q", title="heads removed", axis=WHOLE, scale=alt.Scale(nice=False)),
        "y": alt.Y(
            "accuracy:Q",
            title="accuracy",
            scale=alt.Scale(domain=[value("least"), 1], nice=False),
            axis=alt.Axis(format=".0%", labelExpr=THIN_PERCENT),
        ),
        **encodings_by_kind("encoder:N", tuple(encoders), color=colours, shape=SHAPES),
    }
    rule = {"x": "step:Q", "color": channels["color"]}
    dashes: Kwargs = {"strokeDash": [5, 4], "strokeWidth": 1.5, "color": NEUTRAL}
    return chart(
        columns,
        layer("rule", rule, "may_go", aria=False, **dashes),
        *lines(
            channels,
            columns,
            {"strokeWidth": 2},
            {"size": 60, "cursor": "pointer"},
            click=("step", "encoder", "went"),
        ),
        frames={"may_go": {"encoder": list(encoders), "step": [curve.may_go for curve in curves]}},
        values={"least": float(np.floor(accuracy.min() * 20) / 20) if len(accuracy) else 0.0},
        height=HEIGHT,
        description=f"Accuracy of {' and '.join(encoders)} as heads go, one after the other",
    )
