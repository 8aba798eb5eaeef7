"""Runs over learning rate and warm-up: a grid of final losses for each norm placement, and losses over time."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.address import Box
from app_pages.controls.control_bar import bar
from app_pages.controls.theory_controls import STORED_RATE
from app_pages.show.show import show
from app_pages.subject.cache import cached
from app_pages.toolkit.beside import beside
from app_pages.toolkit.markdown import PLACEMENTS
from model import checkpoint
from model.checkpoint.training_history import standard_error
from model.theory import warmup_grid
from viz.builders.number_format import percent
from viz.theory import warmup_figures

Grid = dict[str, list[warmup_grid.WarmupRun]]  # by placement, as named on screen


def draw_stored_runs(*, key: str) -> None:
    """Draws the stored runs at the checkpoints' size. Raises ValueError if their file is damaged."""
    path = checkpoint.CHECKPOINTS / warmup_grid.RUNS
    if not (runs := _read(path, path.stat().st_mtime_ns if path.exists() else 0)):
        st.info("There are no stored runs: `python -m model.train.warmup --data FOLDER` makes them.")
        return
    grid: Grid = {}
    for run in runs:
        grid.setdefault(PLACEMENTS.get(run.norm_placement, run.norm_placement), []).append(run)
    lengths = " or ".join(f"{length:,}" for length in sorted({run.n_steps for run in runs}))
    st.caption(
        f"{len(runs)} runs of {lengths} steps each, of both digit encoders at their full size. The learning "
        f"rate rises linearly over the warm-up and then stays; batches are of {warmup_grid.BATCH_SIZE_STORED}; "
        "everything else is as in the recipe of the checkpoints. Final loss: mean of the last "
        f"{warmup_grid.LAST_STEPS_STORED} steps; guessing gives ln 10 = {warmup_grid.GUESSING:.2f}. One seed: what "
        "several seeds show stands below."
    )
    rates, warmups = sorted({run.learning_rate for run in runs}), sorted({run.warmup for run in runs})
    draw_grids(grid, create_containers(grid, key=key), rates=rates, warmups=warmups, key=key)
    draw_losses(grid, STORED_RATE, key=key)


@cached
def _read(path: Path, _changed: int) -> list[warmup_grid.WarmupRun]:
    """Runs in the file; `_changed`, its modification time in ns, makes the cache notice new runs."""
    return warmup_grid.read_runs(path)


def create_containers(names: Iterable[str], *, key: str) -> dict[str, DeltaGenerator]:
    """Empty containers next to each other, by name, to be redrawn as runs come in."""
    names = list(names)
    columns = beside(*(f"{key}_{name.replace(' ', '_')}" for name in names))
    return {name: column.empty() for name, column in zip(names, columns, strict=True)}


def draw_grids(
    grid: Grid,
    places: dict[str, DeltaGenerator],
    *,
    rates: Sequence[float],
    warmups: Sequence[int],
    key: str | None,
) -> None:
    """Draws the grid of each placement with common colours and axes; with `key` None it will be redrawn within this run."""
    highest = warmup_grid.loss_scale_limit([run.final_loss for runs in grid.values() for run in runs])
    for name, runs in grid.items():
        cells = [(run.learning_rate, run.warmup, run.final_loss, run.accuracy) for run in runs]
        errors = ["" if run.accuracy is None else _error_text(run.accuracy) for run in runs]
        with places[name].container():
            figure = warmup_figures.warmup_grid(
                cells, title=name, errors=errors, rates=rates, warmups=warmups, highest=highest
            )
            show(figure, key=key and f"{key}_grid_{name}")
            if diverged := [run for run in runs if run.final_loss is None]:
                listed = "; ".join(f"{run.learning_rate:g} with warm-up {run.warmup}" for run in diverged)
                st.markdown(f"**Diverged** (the loss was no longer finite): learning rate {listed}.")


def _error_text(accuracy: float) -> str:
    return f"{percent(standard_error(accuracy, warmup_grid.N_JUDGED), brief=True)}, of {warmup_grid.N_JUDGED:,} digits"


def draw_losses(grid: Grid, rate: Box[str], *, key: str) -> None:
    """Draws loss over steps of the runs with one learning rate, one line for each warm-up."""
    all_runs = [run for runs in grid.values() for run in runs]
    rates = [f"{rate:g}" for rate in sorted({run.learning_rate for run in all_runs})]
    default_rate = f"{warmup_grid.most_affected_rate(all_runs):g}"
    with bar(key)[0]:
        chosen_rate = rate.choose(rates, default_rate)
    at_rate = {
        name: [run for run in runs if f"{run.learning_rate:g}" == chosen_rate] for name, runs in grid.items()
    }
    highest = warmup_grid.loss_scale_limit(
        [loss for runs in at_rate.values() for run in runs for loss in run.losses]
    )
    for name, container in create_containers(at_rate, key=f"{key}_losses").items():
        curves = {run.warmup: (run.steps, run.losses) for run in at_rate[name]}
        with container:
            show(
                warmup_figures.loss_curves(curves, highest=highest, title=name), key=f"{key}_losses_of_{name}"
            )
