"""Learning rate by warm-up: longer stored runs, and short ones made on demand."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import bar
from app_pages.controls.theory_controls import GRID_LAYERS, GRID_STEPS, LIVE_RATE
from app_pages.show.show import heading
from app_pages.show.verdicts import stored_measurements, verdict_lines
from app_pages.subject.cache import cached
from app_pages.theory.warmup_runs import Grid, create_containers, draw_grids, draw_losses, draw_stored_runs
from app_pages.toolkit.markdown import plain
from model.claims.catalogue import CLAIMS
from model.theory import warmup_grid
from model.theory.untrained_encoder import UntrainedConfig
from model.theory.warmup_grid import WarmupRun

RATES, WARMUPS = (1e-3, 3e-3, 1e-2), (0, 10, 30)
SMALL = UntrainedConfig(d_model=32, n_heads=4, expansion=2, initialisation="Xavier")
Cell = tuple[str, int, float, int, int]  # variant, layers, learning rate, steps of warm-up and in all
# In the session: the runs that are being made, and those that are done. What came of them lies in the cache.
RUNNING, DONE = "theory_grid_running", "theory_grid_done"


trained = cached(warmup_grid.train_once)


def draw_warm_up(variants: list[str]) -> None:
    """Draws what a warm-up does for the first thousands of steps: stored runs, verdicts on them, and runs made on demand."""
    _draw_stored_grid()
    _write_verdicts_over_seeds()
    if variants:
        _draw_live_grid(variants)


def _draw_live_grid(variants: list[str]) -> None:
    """Trains one run after the other until all are done or the user stops; finished runs stay."""
    heading("Short runs of small encoders, made when you press Start", key="theory_live_runs")
    with bar("runs")[0]:
        n_layers = GRID_LAYERS.choose()
        n_steps = GRID_STEPS.choose()
        button = st.empty()
    st.caption(
        f"The digits that come with the app, read as 16 patches; width {SMALL.d_model}, batches of "
        f"{warmup_grid.BATCH_SIZE}, Adam (β 0.9 and 0.98), one seed. The learning rate rises linearly over the "
        "warm-up and stays. Final loss: mean of the last tenth of the steps; guessing gives ln 10 = "
        f"{warmup_grid.GUESSING:.2f}."
    )
    cells = [
        (variant, n_layers, rate, n_warmup, n_steps)
        for n_warmup in WARMUPS
        for rate in RATES
        for variant in variants
    ]
    finished_cells: set = st.session_state.setdefault(DONE, set())
    cells_left = [cell for cell in cells if cell not in finished_cells]
    running = st.session_state.get(RUNNING) == cells
    _draw_start_button(button, cells, running, len(cells_left))
    progress = st.empty()
    places = create_containers(variants, key="theory_live")
    grid: Grid = {
        variant: [_trained_run(cell) for cell in cells if cell in finished_cells and cell[0] == variant]
        for variant in variants
    }
    if any(grid.values()):
        draw_grids(grid, places, rates=RATES, warmups=WARMUPS, key=None if running else "theory_live")
    if running:
        for run_number, cell in enumerate(cells_left, 1):
            progress.progress((run_number - 1) / len(cells_left), f"Run {run_number} of {len(cells_left)}")
            grid[cell[0]].append(_trained_run(cell))
            finished_cells.add(cell)
            draw_grids(grid, places, rates=RATES, warmups=WARMUPS, key=None)
        st.session_state[RUNNING] = None
        st.rerun()
    if any(grid.values()):
        draw_losses(grid, LIVE_RATE, key="theory_live")


def _draw_stored_grid() -> None:
    """Draws longer runs at the checkpoints' size, if they are stored."""
    heading("Longer runs of both digit encoders at full size, stored", key="theory_stored_runs")
    st.markdown(
        "Does training fail at a high learning rate, and does it help to raise the rate slowly at the start, in a warm-up?"
    )
    try:
        draw_stored_runs(key="theory_stored")
    except ValueError as error:
        st.info(f"The stored runs cannot be shown: {plain(str(error))}.")


def _write_verdicts_over_seeds() -> None:
    """Writes the verdicts of the page Norm placement on the claims about warm-up, measured over several seeds."""
    try:
        measurements = stored_measurements()
    except (ValueError, OSError):
        return  # Norm placement says what is wrong with the file
    claims = [
        claim
        for claim in CLAIMS
        if claim.key in ("warm_up", "warm_up_gain") and claim.measurements(measurements)
    ]
    if not claims:
        return
    st.markdown("**With more seeds: what [Norm placement](norm_placement) makes of it**")
    for column, claim in zip(st.columns(len(claims), gap="medium"), claims, strict=True):
        column.markdown(f"*{claim.says}*", help=claim.measured)
        column.markdown(verdict_lines(claim.judgements(measurements), claim.rule))


def _trained_run(cell: Cell) -> WarmupRun:
    variant, n_layers, rate, n_warmup, n_steps = cell
    return trained(SMALL, variant, n_layers, learning_rate=rate, warmup=n_warmup, n_steps=n_steps, seed=0)


def _draw_start_button(place: DeltaGenerator, cells: list[Cell], running: bool, n_left: int) -> None:
    def press() -> None:
        st.session_state[RUNNING] = None if running else cells

    label = "Stop" if running else f"Start {n_left} short runs" if n_left else "All runs are done"
    place.button(
        label,
        on_click=press,
        key="theory_grid_run",
        icon=f":material/{'stop' if running else 'play_arrow' if n_left else 'check'}:",
        type="secondary" if running else "primary",
        disabled=not n_left,
    )
