"""What training runs with several warm-ups and learning rates reach."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from ..builders.cells import cells, strong
from ..builders.figure import VegaFigure, form, tip, value
from ..builders.number_format import percent
from ..builders.theme import FIT, MIDDLE

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
    frame = {
        "rate": [f"{run.learning_rate:g}" for run in runs],
        "warmup": names,
        "accuracy": accuracies,
        "written": written,
        "error": [run.error for run in runs],
        "strong": strong(accuracies, 1.0, signed=False),
        "name": [
            f"{name}, learning rate {run.learning_rate:g}" for name, run in zip(names, runs, strict=True)
        ],
    }
    return _cells_form().with_data(
        frame,
        in_file={"rate": "learning rate", "warmup": "warm-up", "error": "standard error", "name": None},
        values={
            "largest": 1.0,
            "rates": [f"{rate:g}" for rate in sorted({run.learning_rate for run in runs})],
            "rows": list(dict.fromkeys(names)),
        },
        height=_STEP * max(len(set(names)), 1),
        title="Share of digits recognised after training",
        description="Accuracy over learning rate, norm placement and warm-up, a cell a run.",
    )


@form
def _cells_form() -> alt.TopLevelMixin:
    rates, rows = (alt.Scale(domain=value(name)) for name in ("rates", "rows"))
    return cells(
        alt.X("rate:O", title="learning rate", scale=rates, axis=alt.Axis(labelAngle=0, labelFlush=False)),
        alt.Y("warmup:O", title=None, scale=rows, axis=alt.Axis(labelFlush=False, labelLimit=200)),
        tooltip=[
            tip("warmup:O", title="warm-up"),
            tip("rate:O", title="learning rate"),
            tip("written:N", title="accuracy, held out"),
            tip("error:N", title="standard error"),
        ],
        signed=False,
        field="accuracy",
        font_size=MIDDLE,
    ).properties(autosize=FIT)
