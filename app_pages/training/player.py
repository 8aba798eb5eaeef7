"""Player of training recordings: the attention maps of every head during training, for both encoders of a pair."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.address import INDEX
from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_scale
from app_pages.controls.training_controls import ACCURACY, CURVES, ENTROPY, GRADIENTS, MOMENT, NORMS, PROBE
from app_pages.show.download import download
from app_pages.show.show import show
from app_pages.subject import cache
from app_pages.subject.as_python import encoder
from app_pages.subject.cache import Checkpoint, cached
from app_pages.toolkit.callbacks import callback
from app_pages.toolkit.expression import Expression, call, named
from app_pages.training.tasks import GLANCES, explain, judged_on, results_sentence, title_of
from model.checkpoint import read_config
from model.checkpoint.training_recording import TrainingRecording, formation_step, read_recording
from viz.builders.cells import formation_map
from viz.builders.figure import VegaFigure
from viz.builders.number_format import percent
from viz.builders.palette import ColourScale, side_colours
from viz.training.recorded_heads import recorded_heads
from viz.training.recording import Run
from viz.training.run_curves import recorded_values, run_curves

SPEEDS = (5, 10, 30)  # pictures a second
_LONG = 150  # moments from which a recording plays at the highest speed; a shorter one would be over in two seconds
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
_FORMATION_HELP = (
    "For each head, a training step: from then on its pattern on this input stays less than half as far from the "
    "last recorded one as the first recorded one was. Distance: mean over queries of the Jensen-Shannon "
    "divergence of the patterns' rows. The last recording was made just before the last training step, so the "
    "encoder on the other pages is one step further."
)
_HTML = f"""
<div class="player">
  <input type="range" min="0" max="0" value="0" aria-label="Recorded moment">
  <div class="buttons">
    <button type="button" class="play" title="P plays and pauses">▶ Play</button>
    <label>Pictures a second <select>{"".join(f"<option>{speed}</option>" for speed in SPEEDS)}</select></label>
    <span class="step"></span>
  </div>
</div>"""
_HERE = Path(__file__).parent
_player = st.components.v2.component(
    "training_player",
    html=_HTML,
    css=(_HERE / "player.css").read_text(encoding="utf-8"),
    js=(_HERE / "player.js").read_text(encoding="utf-8"),
)


def stored_recording(name: Checkpoint) -> TrainingRecording | None:
    """Recording of an encoder's training; None if there is none. Raises ValueError, with a one-sentence message, if it is
    damaged.
    """
    return cache.of(read_recording, name, spinner="Reading the recording …")


@cached(spinner="Following every head …")
def formation_steps(name: Checkpoint, probe: int) -> np.ndarray:
    """Training step at which each head's pattern on the recorded input `probe` had formed, int [layer, head]."""
    recording = stored_recording(name)
    assert recording is not None  # it was shown above
    return formation_step(recording, probe)


def draw_player(names: Sequence[Checkpoint], controls: DeltaGenerator, more: DeltaGenerator) -> None:
    """Draws the recordings of these encoders side by side. Raises ValueError if one is damaged."""
    recordings = {name: recording for name in names if (recording := stored_recording(name)) is not None}
    if missing := [name for name in names if name not in recordings]:
        st.info(f"There is no recording of {' and '.join(missing)}.")
    if not recordings:
        return
    first = next(iter(recordings.values()))
    labels = {index: watched.name for index, watched in enumerate(first.probes)}
    with controls:
        probe = PROBE.choose(labels, format_func=labels.__getitem__)
    with more.popover("View", key="more"):
        scale = choose_scale()
    # Only this part runs again for another moment, which the browser reports once nothing moves any more.
    st.fragment(_draw_heads)(recordings, probe, scale)
    explain(task for recorded in recordings.values() for task in recorded.tasks)
    _draw_formation(recordings, probe)
    _draw_curves(recordings, probe)


def _draw_heads(recordings: dict[Checkpoint, TrainingRecording], probe: int, scale: ColourScale) -> None:
    n = max(map(len, recordings.values()))
    written = MOMENT.read()
    # The trained encoder at first: untrained, all heads look alike.
    moment = min(int(written), n - 1) if re.fullmatch(INDEX, written) else n - 1
    names = tuple(recordings)
    stamp, figure = _heads(names[0], names[-1], probe, scale)

    def keep_moment() -> None:
        message = st.session_state["training_player"].chosen
        if not isinstance(message, Mapping) or message.get("stamp") != stamp:
            return
        chosen = message.get("moment")
        if isinstance(chosen, int | float) and 0 <= chosen < n:
            MOMENT.take("" if chosen == n - 1 else str(int(chosen)))

    # The chart is the same at every moment, and is not sent again.
    with st.container(key="film_and_player", gap=None):
        with st.container(key="shown_film", gap=None):
            st.vega_lite_chart(
                {**figure.specification, "datasets": figure.frames},
                key="film",
                width="stretch",
                height="stretch",
            )
        _player(
            key="training_player",
            data={
                "stamp": stamp,
                "moment": moment,
                "texts": [_at_moment(recordings, index, n) for index in range(n)],
                "speed": SPEEDS[2 if n >= _LONG else 1],
            },
            on_chosen_change=callback("training_player", keep_moment),
        )
        # In the corner of the film, and after its player for those who come by the keyboard.
        runs = _run_expressions(recordings, probe)
        download(call(recorded_heads, runs, colours=scale, moment=moment, alone=True), "film")
    st.caption(_alignment(tuple(recordings.values())))
    st.caption(results_sentence({name: cache.loaded(name).history for name in recordings}))


@cached(spinner="Drawing every moment …")
def _heads(first: Checkpoint, last: Checkpoint, probe: int, scale: ColourScale) -> tuple[str, VegaFigure]:
    """A stamp (short hash of the content) and the figure of all heads of two encoders, or of one if `first` is `last`."""
    recordings = {
        name: recording for name in (first, last) if (recording := stored_recording(name)) is not None
    }
    digest = hashlib.blake2b(repr((first, last, probe, scale)).encode(), digest_size=6)
    for recorded in recordings.values():
        digest.update(recorded.probes[probe].pattern.data)
    stamp = digest.hexdigest()
    runs = [run() for run in _run_expressions(recordings, probe)]
    return stamp, recorded_heads(runs, stamp=stamp, colours=scale)


def _recordings_expression(recordings: Iterable[Checkpoint]) -> dict[str, Expression]:
    """The recordings, as expressions."""
    return {
        name: named("recording", call(read_recording, encoder(name)), partial(stored_recording, name))
        for name in recordings
    }


def _run_expressions(recordings: Mapping[Checkpoint, TrainingRecording], probe: int) -> list[Expression]:
    """The runs that the figure of all heads is drawn from, as expressions."""
    colours, sources = _colours(tuple(recordings)), _recordings_expression(recordings)
    return [
        call(
            Run,
            name=name,
            colour=colours[name],
            pattern=source.probes[probe].pattern,
            tokens=source.probes[probe].tokens,
            step=source.run_step,
            n_steps=source.n_steps,
            phase=source.phase,
            tasks=[*map(title_of, recordings[name].tasks)],
            accuracy=source.accuracy,
            examples=[*map(GLANCES.get, recordings[name].tasks)],
        )
        for name, source in sources.items()
    ]


def _alignment(recordings: Sequence[TrainingRecording]) -> str:
    """Caption below the player: how moments of the two runs correspond, and which data accuracy is measured on."""
    first, *others = recordings
    data_name = judged_on(task for recorded in recordings for task in recorded.tasks)
    moments = "Moments are close together at the start of each phase, and further and further apart after it."
    if all(np.array_equal(first.run_step, other.run_step) for other in others):
        pairing = "Both encoders are shown at the same training step. " if others else ""
    else:
        pairing = "The runs have other steps: both are shown at the same share of their recorded moments. "
    gap = (
        " Where a line has a gap, accuracy was not measured."
        if any(np.isnan(recorded.accuracy).any() for recorded in recordings)
        else ""
    )
    return f"{pairing}{moments} Accuracy is of few examples of {data_name}, on the task of the phase.{gap}"


def _colours(names: Sequence[Checkpoint]) -> dict[str, str]:
    """Colour of each run's curve; the same in figures that show only one of the runs."""
    placements = [read_config(name).norm_placement for name in names]
    return dict(zip(names, side_colours(placements), strict=True))


def _at_moment(recordings: Mapping[Checkpoint, TrainingRecording], moment: int, n: int) -> str:
    """Text for screen readers that says at which training step, and accuracy, the slider stands."""
    own = [round(moment * (len(recorded) - 1) / max(n - 1, 1)) for recorded in recordings.values()]
    steps = [
        f"step {recorded.run_step[index]:,} of {recorded.n_steps:,}, phase: {title_of(recorded.tasks[recorded.phase[index]])}"
        for recorded, index in zip(recordings.values(), own, strict=True)
    ]
    accuracies = [
        _accuracy_text(recorded, index) for recorded, index in zip(recordings.values(), own, strict=True)
    ]
    if len(set(steps)) > 1:
        parts = zip(recordings, steps, accuracies, strict=True)
        return "; ".join(f"{name}: {step}, accuracy {accuracy}" for name, step, accuracy in parts)
    of_each = [f"{name} {accuracy}" for name, accuracy in zip(recordings, accuracies, strict=True)]
    return f"{steps[0]}, accuracy {', '.join(of_each) if len(recordings) > 1 else accuracies[0]}"


def _accuracy_text(recorded: TrainingRecording, moment: int) -> str:
    share = float(recorded.accuracy[moment])
    return "not measured" if np.isnan(share) else percent(share, brief=True)


def _draw_curves(recordings: dict[Checkpoint, TrainingRecording], probe: int) -> None:
    with st.container(key="curves_heading"):
        st.markdown("## What else was recorded?")
    with bar("curves")[0]:
        measure = CURVES.choose()
    for column, (name, recorded) in zip(
        st.columns(len(recordings), gap="medium"), recordings.items(), strict=True
    ):
        source = _recordings_expression(recordings)[name]
        probe_record, titles = source.probes[probe], [*map(title_of, recorded.tasks)]
        values, title, line, log_y = {
            ACCURACY: (source.accuracy[:, None], "accuracy", None, False),
            ENTROPY: (probe_record.layer_entropy, "entropy, mean of a layer", "layer", False),
            NORMS: (probe_record.residual_norm, "norm of the residual stream", "stage", True),
            GRADIENTS: (source.gradient_norm, "norm of the gradient", "layer", True),
        }[measure]
        chart = call(
            run_curves,
            call(recorded_values, values, name, source.run_step, call(np.array, titles)[source.phase]),
            y_title=title,
            runs=_colours(tuple(recordings)),
            line_title=line,
            x_title="recorded moment",
            log_y=log_y,
            title=name,
            is_share=measure == ACCURACY,
        )
        with column:
            show(chart, key=f"curves_{name}")
    caption = _CAPTIONS[measure]
    if measure == GRADIENTS and any(recorded.is_clipped for recorded in recordings.values()):
        caption += _CLIPPED
    if caption:
        st.caption(caption)


def _draw_formation(recordings: Mapping[Checkpoint, TrainingRecording], probe: int) -> None:
    with st.container(key="formation_heading"):
        st.markdown("## When did each head form?", help=_FORMATION_HELP)
    sources = {
        name: call(formation_step, recording, probe).with_value(partial(formation_steps, name, probe))
        for name, recording in _recordings_expression(recordings).items()
    }
    all_steps = call(np.concatenate, [call(steps.ravel) for steps in sources.values()])
    for column, (name, steps) in zip(st.columns(len(recordings), gap="medium"), sources.items(), strict=True):
        with column:
            show(
                call(formation_map, steps, among=all_steps, title=f"{name}, training step"),
                width="content",
                key=f"formation_{name}",
            )
