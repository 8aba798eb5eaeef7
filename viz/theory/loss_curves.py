"""Losses of several runs over their steps, a line a warm-up."""

from collections.abc import Mapping, Sequence

import altair as alt

from viz.curves import by_kind, curves, long
from viz.figure import VegaFigure, form, tip, value
from viz.palette import CATEGORIES, NEUTRAL
from viz.theme import FIT

# The first, which is the shortest warm-up, in grey. The first three, as many as the grids here have, are apart for
# the common kinds of colour blindness as well.
_COLOURS = (NEUTRAL, *CATEGORIES)


def loss_curves(
    runs: Mapping[int, tuple[Sequence[int], Sequence[float | None]]], *, highest: float, title: str
) -> VegaFigure:
    """By warm-up in steps: the steps and the losses, None from where a run diverged. The axis ends at `highest`."""
    named = {f"{warmup} steps" if warmup else "none": run for warmup, run in sorted(runs.items())}
    frame = long(named, "warm-up", "step", "loss")
    return _form(tuple(named)).of(
        frame[frame["loss"].notna()],
        values={"highest": highest},
        title=title,
        description=f"{title}: loss over steps, a line a warm-up.",
    )


@form
def _form(warmups: tuple[str, ...]) -> alt.LayerChart:
    (lines,) = curves(
        alt.X("step:Q", title="step", axis=alt.Axis(format="d", tickMinStep=1)),
        alt.Y("loss:Q", title="loss of the batch (nats)", scale=alt.Scale(domain=[0, value("highest")])),
        by_kind("warm-up:N", warmups, color=_COLOURS, legend={"title": "warm-up"}),
        tooltip=[tip("warm-up:N"), tip("step:Q"), tip("loss:Q", ".4f")],
        line={"clip": True, "strokeWidth": 1.8},
    )
    return lines.properties(height=240, autosize=FIT)
