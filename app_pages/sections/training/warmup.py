"""The same encoder with and without warm-up, at several learning rates, for both placements."""

import pandas as pd
import streamlit as st

from app_pages.widgets.choice import choice
from app_pages.widgets.words import PLACEMENTS
from model import checkpoint
from model.theory.warmup import RUNS, WarmupRun, read_runs
from viz.theory.loss_curves import loss_curves


def warmup() -> None:
    """Raises ValueError where the file of the runs is damaged."""
    runs = read_runs(checkpoint.CHECKPOINTS / RUNS)
    if not runs:
        st.info("There are no stored runs: `python -m model.train.warmup --data FOLDER` makes them.")
        return
    n_steps = max(run.n_steps for run in runs)
    st.markdown(
        f"Both digit encoders at their full size, {n_steps:,} steps each. The learning rate rises linearly over the "
        "warm-up and then stays. Everything else but the size of the batches is as in the recipe of the checkpoints."
    )
    rates = sorted({run.learning_rate for run in runs})
    rate = choice("Highest learning rate", rates, key="warmup_rate", format_func=lambda rate: f"{rate:g}")
    chosen = [run for run in runs if run.learning_rate == rate]
    top = max((loss for run in chosen for loss in run.losses if loss is not None), default=1.0)
    for column, placement in zip(st.columns(2, gap="medium"), ("pre", "post"), strict=True):
        with column:
            _side([run for run in chosen if run.norm_placement == placement], placement, top)


def _side(runs: list[WarmupRun], placement: str, top: float) -> None:
    curves = {run.warmup: (run.steps, run.losses) for run in runs}
    chart = loss_curves(curves, highest=top, title=PLACEMENTS[placement])
    st.altair_chart(chart, key=f"warmup_{placement}")
    st.dataframe(
        pd.DataFrame(
            {
                "warm-up": [run.warmup for run in runs],
                "final loss": [_number(run.final_loss, ".3f") for run in runs],
                "held-out accuracy": [_number(run.accuracy, ".1%") for run in runs],
            }
        ),
        hide_index=True,
        key=f"warmup_table_{placement}",
    )


def _number(value: float | None, form: str) -> str:
    return "not finite" if value is None else f"{value:{form}}"
