"""Short training runs with several warm-ups and learning rates: losses over steps, and final losses."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.cells import INK_ON_CELLS, cells, strong
from ..builders.curves import curves, encodings_by_kind, long_table
from ..builders.figure import Kwargs, VegaFigure, data, form, tip, value
from ..builders.number_format import percent
from ..builders.palette import CATEGORIES, MASKED, NEUTRAL
from ..builders.theme import DARK_INK, FIT, MIDDLE

# The first, which is the shortest warm-up, in grey. The first three, as many as the grids here have, are apart for
# the common kinds of colour blindness as well.
_COLOURS = (NEUTRAL, *CATEGORIES)
_STEP = 46  # pixels a row
DIVERGED = "diverged"

WarmupRun = tuple[float, int, float | None, float | None]


def loss_curves(
    runs: Mapping[int, tuple[Sequence[int], Sequence[float | None]]], *, highest: float, title: str
) -> VegaFigure:
    """A curve of the loss for each warm-up; `runs` maps the warm-up in steps to the training steps and the losses,
    which are None once a run diverged.

    The axis ends at the loss `highest`.
    """
    runs_by_name = {f"{warmup} steps" if warmup else "none": run for warmup, run in sorted(runs.items())}
    frame = long_table(runs_by_name, "warm-up", "step", "loss")
    return _losses_form(tuple(runs_by_name)).with_data(
        frame[frame["loss"].notna()],
        values={"highest": highest},
        title=title,
        description=f"{title}: loss over steps, a line a warm-up.",
    )


@form
def _losses_form(warmups: tuple[str, ...]) -> alt.Chart:
    (lines,) = curves(
        alt.X("step:Q", title="step", axis=alt.Axis(format="d", tickMinStep=1)),
        alt.Y("loss:Q", title="loss of the batch (nats)", scale=alt.Scale(domain=[0, value("highest")])),
        encodings_by_kind("warm-up:N", warmups, color=_COLOURS, legend={"title": "warm-up"}),
        tooltip=[tip("warm-up:N"), tip("step:Q"), tip("loss:Q", ".4f")],
        line={"clip": True, "strokeWidth": 1.8},
    )
    return lines.properties(height=240, autosize=FIT)


def warmup_grid(
    runs: Sequence[WarmupRun],
    *,
    rates: Sequence[float],
    warmups: Sequence[int],
    highest: float,
    title: str,
    errors: Sequence[str] = (),
) -> VegaFigure:
    """A grid with a cell for each run, coloured by the final loss.

    A run is (learning rate, warm-up in steps, final loss in nats, accuracy); the loss is None if the run diverged, the
    accuracy if it was not measured. `rates` and `warmups` are the values on the axes. The colour scale goes from 0 to
    `highest`, so that several grids can be compared. `errors` are the standard errors of the accuracies, one text for
    each run, for the tooltip.
    """
    loss = np.array([np.nan if run[2] is None else run[2] for run in runs], float)
    loss_texts = [DIVERGED if np.isnan(cell) else f"{cell:.2f}" for cell in loss]
    accuracy = [None if run[3] is None else percent(run[3], brief=True) for run in runs]
    frame = {
        "rate": [f"{run[0]:g}" for run in runs],
        "warmup": [run[1] for run in runs],
        "loss": loss,
        "final loss": loss_texts,
        "written": [
            f"{loss_text}\n{accuracy_text}" if accuracy_text else loss_text
            for loss_text, accuracy_text in zip(loss_texts, accuracy, strict=True)
        ],
        "accuracy": [cell or "not measured" for cell in accuracy],
        "error": list(errors) or [""] * len(runs),
        "strong": strong(loss, highest, signed=False),
        "name": [f"learning rate {run[0]:g}, warm-up {run[1]}" for run in runs],
    }
    return _cells_form().with_data(
        frame,
        in_file={
            "rate": "learning rate",
            "warmup": "warm-up steps",
            "loss": "final loss",
            "final loss": None,
            "error": "standard error",
            "name": None,
        },
        values={"largest": highest, "rates": [f"{rate:g}" for rate in rates], "warmups": list(warmups)},
        height=_STEP * max(len(warmups), 1),
        title=f"{title}: final loss, accuracy",
        description=f"{title}: final loss and accuracy over learning rate and warm-up, a cell a run.",
    )


@form
def _cells_form() -> alt.TopLevelMixin:
    line: Kwargs = {"stroke": MASKED, "strokeWidth": 0.5}
    diverged = f"datum['final loss'] == '{DIVERGED}'"
    rates, warmups = (alt.Scale(domain=value(name)) for name in ("rates", "warmups"))
    return cells(
        alt.X("rate:O", title="learning rate", scale=rates, axis=alt.Axis(labelAngle=0, labelFlush=False)),
        alt.Y("warmup:O", title="warm-up (steps)", scale=warmups, axis=alt.Axis(labelFlush=False)),
        tooltip=[
            tip("rate:O", title="learning rate"),
            tip("warmup:O", title="warm-up (steps)"),
            tip("final loss:N"),
            tip("accuracy:N", title="accuracy, held out"),
            tip("error:N", title="standard error"),
        ],
        signed=False,
        field="loss",
        font_size=MIDDLE,
        between=[alt.Chart(data()).transform_filter(diverged).mark_rect(fill=MASKED, aria=False, **line)],
        writing={
            "lineBreak": "\n",
            "dy": alt.expr("indexof(datum.written, '\\n') < 0 ? 0 : -7"),
            "color": alt.expr(
                f"{diverged} ? '{DARK_INK}' : {INK_ON_CELLS.expr}"
            ),  # the grey is too light for light ink
        },
        **line,
    ).properties(autosize=FIT)
