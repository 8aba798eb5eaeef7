"""Losses of several runs over their steps, a line a warm-up."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from viz.palette import CATEGORIES, NEUTRAL

# The first, which is the shortest warm-up, in grey. The first three, as many as the grids here have, are apart for
# the common kinds of colour blindness as well.
_COLOURS = (NEUTRAL, *CATEGORIES)


def loss_curves(
    curves: Mapping[int, tuple[Sequence[int], Sequence[float | None]]], *, highest: float, title: str
) -> alt.Chart:
    """By warm-up in steps: the steps and the losses, None from where a run diverged. The axis ends at `highest`."""
    curves = dict(sorted(curves.items()))
    rows = pd.DataFrame(
        [
            {"warm-up": f"{warmup} steps" if warmup else "none", "step": step, "loss": loss}
            for warmup, (steps, losses) in curves.items()
            for step, loss in zip(steps, losses, strict=True)
            if loss is not None
        ],
        columns=["warm-up", "step", "loss"],
    )
    names = [f"{warmup} steps" if warmup else "none" for warmup in curves]
    return (
        alt.Chart(rows)
        .mark_line(clip=True, strokeWidth=1.8)
        .encode(
            x=alt.X("step:Q", title="step", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("loss:Q", title="loss of the batch (nats)", scale=alt.Scale(domain=[0, highest])),
            color=alt.Color(
                "warm-up:N",
                scale=alt.Scale(domain=names, range=list(_COLOURS[: len(names)])),
                legend=alt.Legend(title="warm-up", orient="top"),
            ),
            tooltip=[alt.Tooltip("warm-up:N"), alt.Tooltip("step:Q"), alt.Tooltip("loss:Q", format=".4f")],
        )
        .properties(
            height=240,
            title=title,
            autosize={"type": "fit-x", "contains": "padding"},
            description=f"{title}: loss over steps, a line a warm-up.",
        )
    )
