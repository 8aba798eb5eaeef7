"""The accuracy while heads are removed one after the other, a curve for each encoder."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.curves import WHOLE, curves, encodings_by_kind
from ..builders.figure import VegaFigure, click_on, data, form, tip, value
from ..builders.number_format import THIN_PERCENT
from ..builders.palette import NEUTRAL, SHAPES, side_colours
from ..builders.theme import FIT

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
    rows = [
        (name, step, head, accuracy, loss, change)
        for name, curve in encoders.items()
        for step, (head, accuracy, loss, change) in enumerate(
            zip(curve.heads, curve.accuracy.tolist(), curve.loss.tolist(), curve.change, strict=True)
        )
    ]
    frame = pd.DataFrame(rows, columns=["encoder", "step", "went", "accuracy", "loss", "change"])
    end_steps = {"encoder": list(encoders), "step": [curve.may_go for curve in encoders.values()]}
    placements = tuple(curve.placement for curve in encoders.values())
    return _chart_form(tuple(encoders), placements).with_data(
        frame,
        in_file={"step": "heads removed", "went": "head removed last"},
        frames={"may_go": end_steps},
        values={"least": float(np.floor(frame["accuracy"].min() * 20) / 20) if len(frame) else 0.0},
        height=HEIGHT,
        description=f"Accuracy of {' and '.join(encoders)} as heads go, one after the other",
    )


@form
def _chart_form(names: tuple[str, ...], placements: tuple[str, ...]) -> alt.TopLevelMixin:
    colours = side_colours(placements)
    x = alt.X("step:Q", title="heads removed", axis=WHOLE, scale=alt.Scale(nice=False))
    y = alt.Y(
        "accuracy:Q",
        title="accuracy",
        scale=alt.Scale(domain=[value("least"), 1], nice=False),
        axis=alt.Axis(format=".0%", labelExpr=THIN_PERCENT),
    )
    channels = encodings_by_kind("encoder:N", names, color=colours, shape=SHAPES)
    curve_layers = curves(
        x,
        y,
        channels,
        tooltip=[
            tip("encoder:N"),
            tip("step:Q", title="heads removed"),
            tip("went:N", title="the last of them"),
            tip("accuracy:Q", ".2%", "accuracy"),
            tip("change:N", title="change since step 0"),
            tip("loss:Q", ".4f", "mean loss, nats"),
        ],
        line={"strokeWidth": 2},
        points={"size": 60, "cursor": "pointer"},
        click=click_on("step", "encoder", "went"),
    )
    end_rules = alt.Chart(data("may_go")).mark_rule(
        strokeDash=[5, 4], strokeWidth=1.5, color=NEUTRAL, aria=False
    )
    end_rules = end_rules.encode(x="step:Q", color=channels["color"])
    return alt.layer(end_rules, *curve_layers).properties(autosize=FIT)
