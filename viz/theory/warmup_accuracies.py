"""What training runs with several warm-ups and learning rates reach."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from ..builders.cells import grid
from ..builders.chart import Column
from ..builders.figure import VegaFigure, value
from ..builders.number_format import percent
from ..builders.theme import FIT

_STEP = 30  # pixels a row


class RunResult(NamedTuple):
    """A training run: norm placement, peak learning rate, warm-up in steps, and the accuracy in the end, None where it diverged.

    `error` is the standard error of the accuracy, as text.
    """

    placement: str
    learning_rate: float
    warmup: int
    accuracy: float | None
    error: str = ""


def warmup_accuracies(runs: Sequence[RunResult]) -> VegaFigure:
    """A grid with a cell for each run, coloured by its accuracy: learning rates across, placements and warm-ups
    down, in the order of the runs.
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
