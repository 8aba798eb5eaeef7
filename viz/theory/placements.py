"""Norm placements compared over depth, layers or steps: a line for the mean over seeds, a band for the range; and the
accuracies that training runs with several warm-ups and learning rates reach.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import grid
from ..builders.chart import Column, chart, encodings_by_kind, layer, lines
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.number_format import one_two_five_ticks, percent
from ..builders.palette import NEUTRAL, PLACEMENTS, SHAPES
from ..builders.theme import FIT, INK, MIDDLE

_COLOURS = dict(zip(("pre-LN", "post-LN", "DeepNorm", "B2T"), PLACEMENTS.values(), strict=True))
_SHAPES = dict(zip(_COLOURS, SHAPES, strict=False))
_SOLID, _DASHED = [1, 0], [5, 4]
_LEGEND = {"columns": 3, "symbolOpacity": 1, "symbolStrokeWidth": 2, "symbolSize": 130, "labelLimit": 260}

Scale = Literal["linear", "log"]
_STEP = 30  # pixels a row


class PredictedLine(NamedTuple):
    """A line that theory predicts: its column in the data frame `guides`, its name with formula, the text's offset in
    pixels, and whether the text stands at the line's first position instead of the last.
    """

    field: str
    formula: str
    dy: int
    is_first: bool = False


# Lemma 2 of Xiong et al. 2020: two bounds, drawn as a band, and a line.
_LEMMA = {
    "pre-LN": (
        PredictedLine("low", "at least (1 + l/2) d", 12),
        PredictedLine("high", "pre-LN, at most (1 + 3l/2) d", -6),
    ),
    "post-LN": (PredictedLine("post", "post-LN: 3d/2", 12),),
}
_FALLING = (PredictedLine("falling", "dotted: falls like 1/√L", 60, is_first=True),)


def layer_gradients(norms: Mapping[str, np.ndarray]) -> VegaFigure:
    """Curves of gradient norms [seed, layer] for each variant, by name, on a logarithmic axis; layers count from 0."""
    return seed_spread(
        norms,
        _counted_positions(norms),
        x="layer",
        y="pull at the layer: length of its gradient",
        y_scale="log",
        what="Norm of the gradient in each layer",
    )


def last_layer_gradient(norms: Mapping[str, np.ndarray], depths: Sequence[int]) -> VegaFigure:
    """Curves of the gradient norms [seed, depth] of the last layer for each variant, by name, over the encoder's
    depth, and a line that falls as 1/√L.

    The line starts at the curve of pre-LN, or else of the first variant.
    """
    guides = {}
    if norms:
        begins = norms.get("pre-LN", next(iter(norms.values())))[:, 0].mean()
        guides = {"falling": begins * np.sqrt(depths[0] / np.array(depths))}
    return seed_spread(
        norms,
        depths,
        x="number of layers L",
        y="pull at the last layer: length of its gradient",
        x_scale="log",
        y_scale="log",
        guides=_FALLING if norms else (),
        guided=guides,
        what="Norm of the last layer's gradient over the number of layers",
    )


def hidden_norms(norms: Mapping[str, np.ndarray], lemma: np.ndarray) -> VegaFigure:
    """Curves of the squared norms [seed, layer] of residual-stream vectors for each variant, by name, after the
    layers 1, 2, ...

    `lemma` [3, layer] holds the predictions of Lemma 2 of Xiong et al. 2020: two bounds for pre-LN, and a line for
    post-LN. A prediction is drawn if `norms` has its variant.
    """
    return seed_spread(
        norms,
        range(1, lemma.shape[1] + 1),
        x="layers passed, l",
        y="squared length of a vector, mean",
        guides=tuple(guide for variant, lines in _LEMMA.items() if variant in norms for guide in lines),
        guided=dict(zip(("low", "high", "post"), lemma, strict=True)),
        what="Mean squared norm of the hidden vectors after each layer",
    )


def model_updates(output_changes: Mapping[str, np.ndarray], *, scale: Scale = "linear") -> VegaFigure:
    """Curves of the change of the output since the start of training, `output_changes` [seed, step] for each variant,
    by name; step 0 is before training.
    """
    return seed_spread(
        output_changes,
        _counted_positions(output_changes),
        x="step t",
        y="how far the output has moved",
        y_scale=scale,
        what="Norm of the update of the output over the steps",
    )


def seed_spread(
    values: Mapping[str, np.ndarray],
    positions: Sequence[int],
    *,
    x: str,
    y: str,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
    guides: tuple[PredictedLine, ...] = (),
    guided: Mapping[str, np.ndarray] | None = None,
    what: str,
) -> VegaFigure:
    """For each variant a line through the means over seeds of its `values` [seed, position], with a band from the
    smallest to the largest.

    `positions` are the x values. `x` and `y` are the titles of the axes, and `what` describes the chart for screen
    readers. The `guides` are drawn below the curves; `guided` maps the field of each to its values [position]. Raises
    KeyError for a variant whose name begins with no known placement.
    """
    frame = spread_over_seeds(values, positions)
    log_ticks = {}
    if y_scale == "log":  # a zero, where nothing has moved yet, has no place there
        frame = frame[frame["least"] > 0]
        drawn_values = chain(frame["least"], frame["largest"], *(guided or {}).values())
        log_ticks["y_ticks"] = one_two_five_ticks(drawn_values) or [
            1,
            2,
        ]  # the axis ends at the first and the last
    axis_ends = [*positions[:1], *positions[-1:]] or [1, 2]
    ends = {
        name: [position == end for position in positions]
        for name, end in (("first", axis_ends[0]), ("last", axis_ends[-1]))
    }
    guide_frame = {"position": list(positions), **ends, **(guided or {})}
    titles = {"variant": "placement", "position": x, "mean": "mean over seeds"}
    columns = [
        Column(name, frame[name], titles.get(name, ""), ".4g" if name in ("mean", "least", "largest") else "")
        for name in frame.columns
    ]
    along = {
        "x": alt.X(
            "position:Q",
            title=x,
            scale=alt.Scale(type=x_scale, domain=[value("first"), value("last")], nice=False, padding=12),
            axis=alt.Axis(values=value("ticks"), format="d", labelOverlap=True),
        )
    }
    y_options: Kwargs = {"scale": alt.Scale(zero=True)}
    if y_scale == "log":  # Vega alone writes no number above 1 where the curves end below 2
        y_domain = [alt.expr("y_ticks[0]"), alt.expr("y_ticks[length(y_ticks) - 1]")]
        scale = alt.Scale(type="log", domain=y_domain, nice=False)
        y_options = {"scale": scale, "axis": alt.Axis(values=value("y_ticks"), format="~g")}

    def up(field: str) -> Kwargs:
        return along | {"y": alt.Y(f"{field}:Q", title=y, **y_options)}

    channels = variant_channels(tuple(values))
    band = up("least") | {"y2": "largest:Q", "color": channels["color"]}
    shapes = []
    for field, *_ in guides:
        if field == "low":
            shapes.append(layer("area", up("low") | {"y2": "high:Q"}, "guides", color=NEUTRAL, opacity=0.2))
        elif field != "high":
            shapes.append(layer("line", up(field), "guides", color=NEUTRAL, strokeDash=[2, 4], strokeWidth=2))
    text: Kwargs = {"fontSize": MIDDLE, "color": INK}
    texts = [
        layer(
            "text",
            up(field),
            "guides",
            where="datum.first" if is_first else "datum.last",
            text=formula,
            align="left" if is_first else "right",
            dx=4 if is_first else -4,
            dy=dy,
            **text,
        )
        for field, formula, dy, is_first in guides
    ]
    return chart(
        columns,
        *shapes,
        *texts,
        layer("area", band, opacity=0.18),
        *lines({**up("mean"), **channels}, columns, {"strokeWidth": 2.5}, {"size": 50}),
        # The ticks are positions that were measured, at most nine of them.
        values={
            "ticks": list(positions)[:: max(1, -(-len(positions) // 9))],
            "first": axis_ends[0],
            "last": axis_ends[-1],
            **log_ticks,
        },
        frames={"guides": guide_frame} if guides else None,
        height=340,
        description=f"{what}, a line a placement of the norm.",
    )


def spread_over_seeds(values: Mapping[str, np.ndarray], positions: Sequence[int]) -> pd.DataFrame:
    """A data frame with mean, smallest and largest over the seeds of `values` [seed, position], by variant: a row for
    each variant and position.
    """
    rows = []
    for variant, by_seed in values.items():
        over_seeds = (by_seed.mean(axis=0), by_seed.min(axis=0), by_seed.max(axis=0))
        statistics = zip(positions, *(numbers.tolist() for numbers in over_seeds), strict=True)
        rows += [(variant, *row, len(by_seed)) for row in statistics]
    return pd.DataFrame(rows, columns=["variant", "position", "mean", "least", "largest", "seeds"])


def variant_channels(variants: Sequence[str]) -> Kwargs:
    """Channels with one colour and one shape for the norm placement of each variant; variants "without" residual
    connections are dashed.

    Raises KeyError for a variant whose name begins with no known placement.
    """
    placements = [variant.split()[0] for variant in variants]
    return encodings_by_kind(
        "variant:N",
        variants,
        color=[_COLOURS[placement] for placement in placements],
        shape=[_SHAPES[placement] for placement in placements],
        strokeDash=[_DASHED if "without" in variant else _SOLID for variant in variants],
        legend=_LEGEND,
    )


def _counted_positions(values: Mapping[str, np.ndarray]) -> range:
    """The positions of `values` [seed, position], counted from 0."""
    return range(next(iter(values.values())).shape[1] if values else 0)


class RunResult(NamedTuple):
    """The result of a training run: norm placement, peak learning rate, warm-up in steps, and final accuracy, None if
    the run diverged.

    `error` is the standard error of the accuracy, as text.
    """

    placement: str
    learning_rate: float
    warmup: int
    accuracy: float | None
    error: str = ""


def warmup_accuracies(runs: Sequence[RunResult]) -> VegaFigure:
    """A grid with a cell for each training run, coloured by its accuracy: a column for each learning rate, a row for
    each placement and warm-up, in the order of `runs`.
    """
    accuracies = np.array([np.nan if run.accuracy is None else run.accuracy for run in runs], float)
    written = ["diverged" if run.accuracy is None else percent(run.accuracy, 0) for run in runs]
    names = [f"{run.placement}, {f'{run.warmup} steps' if run.warmup else 'no warm-up'}" for run in runs]
    rates = [f"{run.learning_rate:g}" for run in runs]
    x_scale, y_scale = (alt.Scale(domain=value(name)) for name in ("rates", "rows"))
    return grid(
        [
            Column("warmup", names, "warm-up", in_file="warm-up"),
            Column("rate", rates, "learning rate", in_file="learning rate"),
            Column("accuracy", accuracies, None),
            Column("written", written, "accuracy, held out", in_file=None),
            Column("error", [run.error for run in runs], "standard error", in_file="standard error"),
        ],
        alt.X("rate:O", title="learning rate", scale=x_scale, axis=alt.Axis(labelAngle=0, labelFlush=False)),
        alt.Y("warmup:O", title=None, scale=y_scale, axis=alt.Axis(labelFlush=False, labelLimit=200)),
        largest=1.0,
        signed=False,
        colour_of="accuracy",
        written=written,
        drawing={"name": [f"{name}, learning rate {rate}" for name, rate in zip(names, rates, strict=True)]},
        values={
            "rates": [f"{rate:g}" for rate in sorted({run.learning_rate for run in runs})],
            "rows": list(dict.fromkeys(names)),
        },
        height=_STEP * max(len(set(names)), 1),
        autosize=FIT,
        title="Share of digits recognised after training",
        description="Accuracy over learning rate, norm placement and warm-up, a cell a run.",
    )
