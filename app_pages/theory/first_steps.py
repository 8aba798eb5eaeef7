"""The first training steps: how far they move the encoder's output."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import bar, beside
from app_pages.controls.theory_controls import N_STEPS, RATE, TEN_STEPS, UPDATE_AXIS, WARM_UP_STEPS
from app_pages.show.show import heading, show
from app_pages.show.verdicts import stored_verdict
from app_pages.subject.cache import cached
from app_pages.theory.over_seeds import (
    FigureWithText,
    create_progress_container,
    measure_over_seeds,
    spread_sentence,
)
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.markdown import PLACEMENTS, plain, table
from model import checkpoint
from model.theory.digit_training import (
    GRID_BATCH_SIZE,
    N_JUDGED,
    RUNS,
    WarmupRun,
    mean_first_and_last,
    model_update,
    read_runs,
)
from model.theory.gradients_at_start import UntrainedConfig
from viz.builders.number_format import percent, standard_error
from viz.theory.placements import RunResult, model_updates, warmup_accuracies

RUNS_HEADING = "Does a slow rise of the learning rate help?"
UPDATE = r"""
In words: how far the output has moved from where it was before training, mean over the positions of 16 held-out digits.

$\|F(x, \theta_t) - F(x, \theta_0)\|$, where $F$ is the output of the last layer and $\theta_t$ the weights after $t$ steps of
Adam on digits.

Wang et al. 2022 (DeepNet, section 3): post-LN is unstable in training not because its gradients explode, but because
the very first steps change the output too much. Warm-up, and smaller weights at the start, make this change smaller;
DeepNorm is built to keep it below a bound.
"""

measured = cached(model_update)


def draw_first_steps(setting: UntrainedConfig, variants: list[str], n_layers: int, n_seeds: int) -> None:
    """Draws how far the first training steps move the output of each variant, and redraws it as seeds are measured."""
    with bar("steps")[0]:
        rate = RATE.choose()
        n_steps = N_STEPS.choose()
        warmup = WARM_UP_STEPS.choose()
        scale = UPDATE_AXIS.choose()
    n_warmup = 10 if warmup == TEN_STEPS else 0
    progress = create_progress_container()
    heading("How far do the first steps move the output?", key="theory_updates")
    figure = FigureWithText("updates")
    with st.expander("Why a far move at once is a danger", icon=":material/rule:"):
        st.markdown(UPDATE)

    def draw(results: dict[str, list[np.ndarray]], done: bool) -> None:
        updates = {variant: np.array(by_seed) for variant, by_seed in results.items()}
        n = len(next(iter(results.values())))
        options = {"learning_rate": rate, "warmup": n_warmup, "n_steps": n_steps}
        update = partial(call, model_update, named("setting", setting), n_layers=n_layers, **options)
        written = {
            variant: call(np.array, [update(variant=variant, seed=seed) for seed in range(n)])
            for variant in variants
        }
        source = named("updates", written, lambda: updates)
        figure.draw(
            call(model_updates, source, scale=scale),
            f"{_update_text(updates, n_steps, setting.d_model)}\n\n{stored_verdict('early_update')}",
            done=done,
        )

    measure_over_seeds(
        variants,
        n_seeds,
        measure=lambda variant, seed: measured(
            setting, variant, n_layers, seed=seed, learning_rate=rate, warmup=n_warmup, n_steps=n_steps
        ),
        draw=draw,
        text=f"Encoders trained for {n_steps} steps",
        what=("first steps", setting, tuple(variants), n_layers, n_seeds, rate, n_warmup, n_steps),
        bar=progress,
    )


def _update_text(updates: Mapping[str, np.ndarray], n_steps: int, d_model: int) -> str:
    """Text beside the figure: how far one step and all steps move the output, from `updates` [seed, step]."""
    rows = []
    for variant, by_seed in updates.items():
        cells = [
            f"{emphasis}{mean:.2f}{emphasis} ({ends.min():.2f} to {ends.max():.2f})"
            for emphasis, mean, ends in zip(
                ("**", ""), mean_first_and_last(by_seed), (by_seed[:, 1], by_seed[:, -1]), strict=True
            )
        ]
        rows.append((variant, *cells))
    scale = (
        rf"To compare: before training the output of a position is a vector of length $\sqrt{{d}} = {d_model**0.5:.1f}$; two unrelated "
        rf"ones are $\sqrt{{2d}} = {(2 * d_model) ** 0.5:.1f}$ apart."
    )
    headings = "", "after 1 step (over seeds)", f"after {n_steps}"
    return f"{spread_sentence(updates)}\n\n{table(headings, rows)}\n\n{scale}"


def draw_warm_up() -> None:
    """Draws the accuracies of stored training runs with and without a learning-rate warm-up."""
    heading(RUNS_HEADING, key="theory_stored_runs")
    try:
        _draw_stored_runs()
    except ValueError as error:
        st.info(f"The stored runs cannot be shown: {plain(str(error))}.")
    st.markdown(f"{stored_verdict('warm_up')} {stored_verdict('warm_up_gain')}")


def _draw_stored_runs() -> None:
    """Draws the accuracies of the stored runs. Raises ValueError if their file is damaged."""
    path = checkpoint.CHECKPOINTS / RUNS
    runs = _read(path, path.stat().st_mtime_ns if path.exists() else 0)
    if not runs:
        st.info("There are no stored runs: `python -m model.train.warmup --data FOLDER` makes them.")
        return
    figure, words = beside("stored_runs", "about_stored_runs")
    with figure:
        show(call(warmup_accuracies, _warmup_cells(runs)), key="theory_stored")
    words.markdown(
        f"Each cell is one run of {runs[0].n_steps:,} steps of a digit encoder at its full size, in batches of {GRID_BATCH_SIZE}, judged on "
        f"{N_JUDGED:,} held-out digits. In a warm-up the learning rate rises in a straight line; then it stays. Guessing gives "
        "10\u2009%. All have one seed."
    )


def _warmup_cells(runs: Sequence[WarmupRun]) -> list[RunResult]:
    return [
        RunResult(
            PLACEMENTS.get(run.norm_placement, run.norm_placement),
            run.learning_rate,
            run.warmup,
            run.accuracy,
            "" if run.accuracy is None else _error_text(run.accuracy),
        )
        for run in runs
    ]


@cached
def _read(path: Path, _changed: int) -> list[WarmupRun]:
    """Runs in the file; `_changed`, its modification time in ns, makes the cache notice new runs."""
    return read_runs(path)


def _error_text(accuracy: float) -> str:
    return f"{percent(standard_error(accuracy, N_JUDGED), brief=True)}, of {N_JUDGED:,} digits"
