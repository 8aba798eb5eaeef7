"""What the runs wrote down at every few steps: loss, accuracy, learning rate, gradient norm."""

import pandas as pd
import streamlit as st

from app_pages import address, state
from app_pages.training.films import in_words, logged, tasks
from app_pages.training.words import explain
from app_pages.widgets.show import show
from viz.numbers import percent
from viz.training.run_curves import run_curves

SMOOTH = 8  # logged losses are of single batches: the mean over so many entries is drawn


def histories(names: tuple[str, ...]) -> None:
    log_x = address.toggle("Logarithmic steps", key="training_log")
    for column, name in zip(st.columns(len(names), gap="medium"), names, strict=True):
        with column:
            _figures(name)
    curves = (
        ("loss", "log", f"training loss in nats, mean of {SMOOTH} logged batches"),
        ("accuracy", "evaluations", "accuracy on held-out data"),
        ("learning_rate", "log", "learning rate"),
        ("gradient_norm", "log", f"gradient norm, before clipping, mean of {SMOOTH} logged batches"),
    )
    places = [place for _ in range(2) for place in st.columns(2, gap="medium")]
    for place, (value, entries, title) in zip(places, curves, strict=True):
        table = pd.concat([_smooth(logged(name, value, entries), title) for name in names])
        if table.empty:
            place.info(f"No {value.replace('_', ' ')} was recorded.")
            continue
        chart = run_curves(
            table,
            y_title=title.partition(",")[0],
            runs=names,
            log_x=log_x,
            log_y=value == "gradient_norm",
            title=title,
        )
        with place:
            show(chart, key=f"history_{value}")
    if any(len(tasks(name)) > 1 for name in names):
        st.caption(
            "Where a curve jumps, the next phase began: a schedule of its own, and mostly another task, whose losses and "
            "accuracies compare with no other's."
        )
    explain(task for name in names for task in tasks(name))


def _smooth(table: pd.DataFrame, title: str) -> pd.DataFrame:
    """Within a phase, the mean of each group of neighbours, where the title says so."""
    if "mean of" not in title or table.empty:
        return table
    groups = table.groupby(["run", "phase", table.groupby("phase").cumcount() // SMOOTH], as_index=False)
    means = groups[["step", "value"]].mean()
    # The last group of a phase may be smaller, and as restless as a single batch; of a short phase it is all.
    return means[(groups.size()["size"] == SMOOTH) | ~means["phase"].duplicated()]


def _figures(name: str) -> None:
    history = state.loaded(name).history
    figures = history.get("figures")
    reached = (
        f"{percent(figures['accuracy'], 2)} of {figures['n']:,} {figures['data']}"
        if figures
        else "not measured"
    )
    st.markdown(f"**{name}**: {in_words(tasks(name)) or 'no recipe is known'}; {reached}")
