"""Player of training recordings: every head at one moment of training, for both encoders of a pair."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_scale
from app_pages.controls.training_controls import ACCURACY, CURVES, ENTROPY, GRADIENTS, MOMENT, NORMS, PROBE
from app_pages.show.show import show
from app_pages.subject import cache
from app_pages.subject.cache import Checkpoint, cached
from app_pages.toolkit.markdown import plain
from app_pages.training.tasks import GLANCES, explain, in_words, judged_on
from model.checkpoint import read_config
from model.checkpoint.training_history import standard_error
from model.checkpoint.training_recording import TrainingRecording, formation_step, read_recording
from model.record.from_arrays import from_arrays
from viz.attention.head_overview import head_overview
from viz.builders.head_grids import formation_map
from viz.builders.number_format import percent, with_error
from viz.builders.palette import ColourScale, side_colours
from viz.training.run_curves import run_curves

FRAME_S = 0.8  # a frame takes about 0.3 s to paint
_CAPTIONS = {
    ACCURACY: "",
    ENTROPY: r"$H_i / \ln n$ of the rows on this input, from 0 (one key has all the weight) to 1 (all n keys alike): mean "
    "over queries, and over the heads of a layer.",
    NORMS: "Mean over positions; stage 0 is the embedding, then attention and feed-forward of each layer.",
    GRADIENTS: "Euclidean norm of the gradient of one batch's loss with respect to all parameters of a layer.",
}
_CLIPPED = (
    " Here it was taken after clipping the whole gradient to norm 1: compare only layers of one encoder at "
    "one moment. The norm before clipping is in the histories."
)


def film(name: Checkpoint) -> TrainingRecording | None:
    """Recording of an encoder's training; None if there is none. Raises ValueError, with a sentence, if it is damaged."""
    return cache.of(read_recording, name, spinner="Reading the recording …")


@cached(spinner="Following every head …")
def formation_steps(name: Checkpoint, probe: int) -> np.ndarray:
    """Training step at which each head had formed, int [layer, head]."""
    recording = film(name)
    assert recording is not None  # it was shown above
    return formation_step(recording, probe)


def draw_player(names: Sequence[Checkpoint], controls: DeltaGenerator, more: DeltaGenerator) -> None:
    """Draws the recordings of these encoders side by side. Raises ValueError if one is damaged."""
    films = {name: recording for name in names if (recording := film(name)) is not None}
    if missing := [name for name in names if name not in films]:
        st.info(f"There is no recording of {' and '.join(missing)}.")
    if not films:
        return
    first = next(iter(films.values()))
    labels = {index: watched.name for index, watched in enumerate(first.probes)}
    with controls:
        probe = PROBE.choose(labels, format_func=labels.__getitem__)
        measure = CURVES.choose()
    with more.popover("View", key="more"):
        scale = choose_scale()
    playing = st.session_state.get("playing", False)
    # Only this part runs again for each frame.
    with st.container(key="film"):
        st.fragment(_draw_screen, run_every=FRAME_S if playing else None)(
            films, probe, measure, scale, playing
        )
    _draw_formation(films, probe)
    explain(task for recorded in films.values() for task in recorded.tasks)


def _draw_screen(
    films: dict[Checkpoint, TrainingRecording], probe: int, measure: str, scale: ColourScale, playing: bool
) -> None:
    first = next(iter(films.values()))
    moment = _choose_moment(len(first), playing)
    columns = st.columns(len(films), gap="medium")
    for column, (name, film) in zip(columns, films.items(), strict=True):
        last = min(moment, len(film) - 1)
        with column:
            st.caption(f"**{name}**: {_moment_text(film, last)}")
            show(
                head_overview(
                    from_arrays(film.probes[probe].pattern_at(last), film.probes[probe].tokens),
                    measures={"entropy": film.probes[probe].entropy[last]},
                    colours=scale,
                    clickable=False,
                ),
                width="content",
                key=f"film_{name}",
            )
            _draw_curves(name, films, probe, measure, last)


def _colours(names: Sequence[Checkpoint]) -> dict[str, str]:
    """Colour of each run's curve, the same also where a figure shows only one of them."""
    placements = [read_config(name).norm_placement for name in names]
    return dict(zip(names, side_colours(placements), strict=True))


def _choose_moment(n: int, playing: bool) -> int:
    """Draws the play button and the slider of a recording with `n` snapshots; returns the index of the one to show.

    While it plays, each rerun of the fragment moves on by one.
    """
    if st.session_state.get("playing", False) != playing:  # the button was pressed: let time run, or stop it
        st.rerun()
    if playing:
        MOMENT.take(now := min(MOMENT.held(0) + 1, n - 1))
        st.session_state["playing"] = now < n - 1
    with bar("time")[0]:
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            key="play",
            shortcut="P",
            on_click=_play_or_pause,
            args=(n,),
        )
        return MOMENT.choose(most=n - 1)


def _play_or_pause(n: int) -> None:
    st.session_state["playing"] = not st.session_state.get("playing", False)
    if st.session_state["playing"] and MOMENT.held() == n - 1:
        MOMENT.take(0)


def _moment_text(film: TrainingRecording, moment: int) -> str:
    task, accuracy = film.tasks[film.phase[moment]], film.accuracy[moment]
    return (
        f"training step {film.run_step[moment]:,} of {film.n_steps:,}, task “{plain(task)}”; "
        f"accuracy on {judged_on(film.tasks)} {_accuracy(task, float(accuracy))}"
    )


def _accuracy(task: str, share: float) -> str:
    if np.isnan(share):
        return "not measured"
    if (n := GLANCES.get(task)) is None:
        return percent(share)
    return f"{with_error(share, standard_error(share, n))} of {n}"


def _by_moment(film: TrainingRecording, values: np.ndarray, run: str) -> pd.DataFrame:
    """Table with a row for each value of `values` [moment, line], with the columns that `viz.training.run_curves` needs."""
    moment, line = np.indices(values.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "step": moment,
            "value": values.ravel(),
            "line": line,
            "run": run,
            "training step": [f"{step:,}" for step in film.run_step[moment]],
            "task": [film.tasks[phase] for phase in film.phase[moment]],
        }
    )


def _draw_curves(
    name: Checkpoint, films: dict[Checkpoint, TrainingRecording], probe: int, measure: str, moment: int
) -> None:
    recorded = films[name]
    probe_record = recorded.probes[probe]
    values, title, line, log_y = {
        ACCURACY: (recorded.accuracy[:, None], "accuracy", None, False),
        ENTROPY: (probe_record.layer_entropy, "entropy, mean of a layer", "layer", False),
        NORMS: (probe_record.residual_norm, "norm of the residual stream", "stage", True),
        GRADIENTS: (recorded.gradient_norm, "norm of the gradient", "layer", True),
    }[measure]
    chart = run_curves(
        _by_moment(recorded, values, name),
        y_title=title,
        runs=_colours(tuple(films)),
        line_title=line,
        x_title="recorded moment",
        step=moment,
        breaks=recorded.phase_starts,
        log_y=log_y,
    )
    show(chart, key=f"curves_{name}")
    caption = _CAPTIONS[measure]
    if measure == GRADIENTS and recorded.is_clipped:
        caption += _CLIPPED
    if measure == ACCURACY and len(recorded.tasks) > 1:
        caption += f"Accuracy on the task of the moment: {in_words(recorded.tasks)} (explained below). A thin line marks a new phase. "
    if measure == ACCURACY and np.isnan(values).any():
        caption += "Where the line has a gap, accuracy was not measured."
    st.caption(caption)


def _draw_formation(films: Mapping[Checkpoint, TrainingRecording], probe: int) -> None:
    with st.container(key="formation_heading"):
        st.markdown("#### When did each head form?")
    st.caption(
        "For each head, a training step: from then on its pattern on this input stays less than half as far from the "
        "last recorded one as the first recorded one was. Distance: mean over queries of the Jensen-Shannon "
        "divergence of the patterns' rows. The last recording was made just before the last training step, so the "
        "encoder on the other pages is one step further."
    )
    by_encoder: dict[str, np.ndarray] = {name: formation_steps(name, probe) for name in films}
    first_step = min(steps.min() for steps in by_encoder.values())
    last_step = max(steps.max() for steps in by_encoder.values())
    for column, (name, steps) in zip(st.columns(len(films), gap="medium"), by_encoder.items(), strict=True):
        with column:
            show(
                formation_map(
                    steps, first=int(first_step), last=int(last_step), title=f"{name}, training step"
                ),
                width="content",
                key=f"formation_{name}",
            )
