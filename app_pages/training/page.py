"""Training: how the shipped encoders were trained, played back from recordings of their training runs."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import bar
from app_pages.controls.training_controls import LOG_STEPS, PART, RECORDING
from app_pages.inputs.row import choose_encoder
from app_pages.show.show import show
from app_pages.subject import cache, encoders, session_encoders
from app_pages.subject.as_python import encoder
from app_pages.subject.cache import Checkpoint
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import plain
from app_pages.training.player import draw_player
from app_pages.training.tasks import (
    explain,
    judged_on,
    results_sentence,
    task_names_text,
    title_of,
    why_curves_end_elsewhere,
)
from model.checkpoint.training_history import tasks
from model.checkpoint.training_log import averaged_rows, logged_values
from viz.builders.palette import NEUTRAL, side_colours
from viz.training.run_curves import run_curves, with_error_columns

SMOOTH = 8  # logged losses are of single batches: the mean over so many entries is drawn
MOST = 2000  # points of a curve; of a longer history, means over more entries are drawn, or every so many
CURVES = (  # value, its list in the history, whether it is smoothed, axis title
    ("loss", "log", True, "training loss in nats"),
    ("accuracy", "evaluations", False, "accuracy on {judged_on}"),
    ("learning_rate", "log", False, "learning rate"),
    ("gradient_norm", "log", True, "gradient norm, before clipping"),
)

_OTHERS = "The encoders of this project brought recordings of their training along: choose one of them above."


def choose_pair() -> tuple[Checkpoint, ...]:
    """Draws the list of encoders; returns the chosen one and the other of its pre-LN/post-LN pair, only the chosen one if it has no
    pair, () if there is none.
    """
    name = choose_encoder()
    names = (encoders.pair(name) or (name,)) if name is not None else ()
    for other in names:
        if other != name:
            st.markdown(f"and its partner {plain(other)}", width="content")
    return tuple(map(Checkpoint, names))


def draw() -> None:
    part = PART.choose()
    controls, more = bar("controls")
    with controls:
        names = choose_pair()
    try:
        if not names:
            st.info("There is no encoder of this kind to show.")
        elif names[0] in session_encoders.opened_encoders() and not cache.loaded(names[0]).history:
            st.info(f"{names[0]} comes from elsewhere: its folder does not say how it was trained. {_OTHERS}")
        elif part == RECORDING:
            draw_player(names, controls, more)
        else:
            draw_histories(names, controls)
    except (ValueError, OSError) as error:
        st.info(f"This cannot be shown: {plain(str(error))}.")


def draw_histories(names: Sequence[Checkpoint], controls: DeltaGenerator) -> None:
    """Draws four charts of training, with a curve for each of these encoders, and explains the tasks they were trained on."""
    with controls:
        log_x = LOG_STEPS.choose()
    by_encoder: dict[str, dict[str, Any]] = {name: cache.loaded(name).history for name in names}
    colours = side_colours([cache.loaded(name).config.norm_placement for name in names])
    st.markdown(f"{results_sentence(by_encoder)} {why_curves_end_elsewhere(by_encoder.values())}")
    learned = {
        name: plain(task_names_text(tasks(history))) or "not known" for name, history in by_encoder.items()
    }
    if len(set(learned.values())) == 1:
        learned = {"Tasks": learned[names[0]]}
    for name, words in learned.items():
        st.caption(f"{name}: {words}")
    columns = [column for _ in range(2) for column in st.columns(2, gap="medium")]
    data_name = judged_on(task for history in by_encoder.values() for task in tasks(history))
    for column, (value, entries, is_smoothed, y_title) in zip(columns, CURVES, strict=True):
        title = y_title.format(judged_on=data_name)
        n_entries = (len(logged_values(history, value, entries)) for history in by_encoder.values())
        n = math.ceil(max(n_entries) / MOST)
        if is_smoothed:
            n = max(n, SMOOTH)
            title = f"{title}, mean of {n:,} logged batches"
        elif n > 1:
            title = f"{title}, 1 entry in {n:,} drawn"
        curves = [_curve_expression(name, value, entries, max(n, 1), is_smoothed) for name in names]
        values = [curve()[["step", "value"]] for curve in curves]
        if all(table.empty for table in values):
            column.info(f"No {value.replace('_', ' ')} was recorded.")
            continue
        runs = dict(zip(names, colours, strict=True))
        if len(names) > 1 and all(map(values[0].equals, values)):  # one curve would hide the other
            runs = {"both": NEUTRAL}
        table = call(
            pd.concat, [call(curve.assign, run=run) for run, curve in zip(runs, curves, strict=False)]
        )
        chart = call(
            run_curves,
            table,
            y_title=title.partition(",")[0],
            runs=runs,
            log_x=log_x,
            log_y=value == "gradient_norm",
            title=title,
            is_share=value == "accuracy",
        )
        with column:
            show(chart, key=f"history_{value}")
    if any(len(tasks(history)) > 1 for history in by_encoder.values()):
        st.caption("A band is a task: losses and accuracies of different tasks do not compare.")
    explain(task for history in by_encoder.values() for task in tasks(history))


def _curve_expression(name: Checkpoint, value: str, entries: str, n: int, is_smoothed: bool) -> Expression:
    """The curve of one training run as an expression: means over `n` entries of the history, or every n-th entry, each with the
    name of its task.
    """
    history = encoder(name).history
    table = call(logged_values, history, value, entries)
    table = call(averaged_rows, table, n) if is_smoothed else table[::n]
    if value == "accuracy":
        counts = call(call(logged_values, history, "n", entries).rename, columns={"value": "n"})
        counts = call(counts.drop_duplicates, ["phase", "step"])
        table = call(with_error_columns, call(table.merge, counts, how="left", on=["phase", "step"]))
    titles = [*map(title_of, tasks(cache.loaded(name).history))]
    task = call(table["phase"].map, dict(enumerate(titles)))
    return call(call(table.drop, columns="phase").assign, task=task)
