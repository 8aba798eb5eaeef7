"""Distances of paired heads, on one input and over a data set."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.figure import Kwargs, VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL

_STEP, _WIDTH = 18, 400  # pixels a pair, and across


def pair_spread(
    names: Sequence[str],
    here: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    *,
    ones: Sequence[int],
    others: Sequence[int],
    selected: int | None,
) -> VegaFigure:
    """A row for each pair of heads, the most distant first: mean ± standard deviation [pair] as a bar, this input as a
    dot.

    `ones` and `others` are the numbers of the first and of the second heads; the pair whose first head is `selected` is
    marked. A click on a row sets the point selection `pair`, fields `one` and `other`. Raises ValueError where the
    shapes do not fit each other.
    """
    n_pairs = len(names)
    need_shape((n_pairs,), here=here, mean=mean, sd=sd, ones=ones, others=others)
    order = np.argsort(-np.asarray(mean), kind="stable")
    frame = {
        "name": np.asarray(names, dtype=object)[order],
        "here": np.asarray(here, float)[order],
        "mean": np.asarray(mean, float)[order],
        "sd": np.asarray(sd, float)[order],
        "low": np.maximum(np.asarray(mean) - sd, 0)[order],
        "high": (np.asarray(mean) + sd)[order],
        "one": np.asarray(ones, int)[order],
        "other": np.asarray(others, int)[order],
    }
    frame["selected"] = frame["one"] == (-1 if selected is None else selected)
    x_maximum = max([*frame["here"], *frame["high"]], default=1.0) or 1.0
    return _chart_form().with_data(
        frame,
        in_file={
            "name": "pair",
            "here": "this input",
            "sd": "standard deviation",
            **dict.fromkeys(("low", "high", "one", "other")),
        },
        values={"top": x_maximum, "order": frame["name"].tolist()},
        width=_WIDTH,
        height=_STEP * n_pairs,
        description=f"Head distances of {n_pairs} pairs of heads, over a data set and on this input",
    )


@form
def _chart_form() -> alt.TopLevelMixin:
    x_scale = alt.Scale(domain=[0, value("top")], nice=False)
    x: Kwargs = {"title": "head distance (nats)", "scale": x_scale, "axis": alt.Axis(tickCount=5)}
    y = alt.Y(
        "name:N",
        title=None,
        scale=alt.Scale(domain=value("order")),
        axis=alt.Axis(ticks=False, domain=False, labelLimit=0, labelOverlap=False),
    )
    tooltip = [
        tip("name:N", title="pair"),
        *(
            tip(f"{field}:Q", ".4f", title)
            for field, title in (("here", "on this input"), ("mean", "mean"), ("sd", "standard deviation"))
        ),
    ]
    base = alt.Chart(data()).encode(y=y, tooltip=tooltip)
    bars = base.mark_bar(size=7, opacity=0.45, color=NEUTRAL)
    bars = bars.encode(x=alt.X("low:Q", **x), x2="high:Q")
    means = base.mark_tick(size=11, thickness=2, color=NEUTRAL).encode(x=alt.X("mean:Q", **x))
    dots = base.mark_point(filled=True, opacity=1, size=60, cursor="pointer")
    dots = dots.encode(x=alt.X("here:Q", **x), color=either("datum.selected", ACCENT, EMPHASIS))
    return alt.layer(bars, means, dots.add_params(click_on("pair", "one", "other"))).properties(
        autosize="pad"
    )
