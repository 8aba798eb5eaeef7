"""What the Training page reads: films and histories, cached, and as tables for the curves."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from app_pages import state
from model.film import Film, formed_at, read_film, way_to_form


@st.cache_resource(max_entries=6, show_spinner="Reading the film …")
def film(name: str) -> Film | None:
    """Raises ValueError, in one sentence, where it is damaged."""
    return read_film(state.loaded(name))


@st.cache_resource(max_entries=12, show_spinner="Following every head …")
def formation(name: str, probe: int) -> tuple[np.ndarray, np.ndarray]:
    """[moment, layer, head] head distance to the last form; [layer, head] the moment at which it was taken."""
    way = way_to_form(film(name).probes[probe].pattern)
    return way, formed_at(way)


def by_line(shown: Film, values: np.ndarray, run: str) -> pd.DataFrame:
    """Long form of values [moment, line] for `viz.training.run_curves`, over moments."""
    moment, line = np.indices(values.shape).reshape(2, -1)
    when = [f"{step:,}" for step in shown.at]
    return pd.DataFrame(
        {
            "step": moment,
            "value": values.ravel(),
            "line": line,
            "run": run,
            "training step": [when[place] for place in moment],
            "task": [shown.tasks[shown.phase[place]] for place in moment],
        }
    )


def logged(name: str, value: str, entries: str = "log") -> pd.DataFrame:
    """One value of a checkpoint's history by step since the beginning; `phase` is the number of its phase."""
    history = state.loaded(name).history
    rows = [row for row in history.get(entries, []) if value in row]
    table = pd.DataFrame(rows, columns=["phase", "step", value]).rename(columns={value: "value"})
    lengths = [_length(history, number) for number in range(len(tasks(name)))]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(int)
    return table.assign(step=table["step"] + starts[table["phase"].to_numpy(int)], run=name)


def tasks(name: str) -> list[str]:
    """What the checkpoint learned, phase by phase."""
    return [phase["task"] for phase in state.loaded(name).history.get("recipe", {}).get("phases", [])]


def in_words(tasks: Sequence[str]) -> str:
    """What was learned, one after the other."""
    named = [f"{task} again" if task == before else task for before, task in pairwise(["", *tasks])]
    return "; then ".join(named)


def _length(history: dict, phase: int) -> int:
    """Steps of a phase: its last evaluation stands at its last step."""
    return max(
        (row["step"] + 1 for row in history.get("evaluations", []) if row["phase"] == phase), default=0
    )
