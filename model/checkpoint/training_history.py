"""`history.json`: what it must be like in the places that are read, and what it tells of a run's steps.

Whatever else it holds is welcome.
"""

import math
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from ..schema import Count, Number, convert

LARGEST = 1e300  # JSON may hold numbers that no float holds


class Figures(TypedDict):
    """How well an encoder answers on one data set."""

    n: Count
    accuracy: Number
    loss: Number
    data: str


class Phase(TypedDict):
    """One phase of a training recipe."""

    task: str


class Recipe(TypedDict, total=False):
    """How an encoder was trained, as far as pages read it."""

    published: str | None
    phases: list[Phase]


class History(TypedDict, total=False):
    """What is read of `history.json`."""

    figures: Figures
    also_measured: list[Figures]
    recipe: Recipe
    probes: list[str]
    log: list[dict[str, float]]
    evaluations: list[dict[str, float]]


class StepOfRun(TypedDict):
    """When a row of the log was written."""

    phase: Count
    step: Count


def check_history(history: dict[str, Any]) -> None:
    """Raises ValueError, in one sentence, where a figure, a phase or a logged step is not what it must be."""
    convert(history, History)
    n_phases = len(tasks(history))
    for name in ("log", "evaluations"):
        rows = history.get(name, [])
        convert(rows, list[StepOfRun], name)
        for index, row in enumerate(rows):
            if row["phase"] >= n_phases:
                raise ValueError(f"{name} tells of more than the {n_phases} phases of the recipe")
            if not all(abs(value) <= LARGEST or math.isnan(value) for value in row.values()):
                raise ValueError(f"{name} {index} holds a number beyond {LARGEST}")


def measured(history: dict[str, Any]) -> list[Figures]:
    """The figures of every data set that the encoder was measured on: n, accuracy, loss and data."""
    return [*([history["figures"]] if "figures" in history else []), *history.get("also_measured", [])]


def standard_error(share: float, n: int) -> float:
    """sqrt(p (1 - p) / n) of a share p of n examples: how far chance alone takes it; 0 where p is no share."""
    return math.sqrt(max(0.0, share * (1 - share)) / max(1, n))


def tasks(history: dict[str, Any]) -> tuple[str, ...]:
    """What the encoder learned, phase by phase."""
    return tuple(phase["task"] for phase in history.get("recipe", {}).get("phases", []))


def logged(history: dict[str, Any], value: str, entries: str = "log") -> pd.DataFrame:
    """One value of the history's "log" or "evaluations": phase, step since the beginning of the run, value.

    Entries that do not tell the value are left out. A phase is as long as its last evaluation says.
    """
    lengths = [0] * len(tasks(history))
    for row in history.get("evaluations", []):
        phase = int(row["phase"])
        lengths[phase] = max(lengths[phase], int(row["step"]) + 1)
    rows = [row for row in history.get(entries, []) if value in row]
    table = pd.DataFrame(rows, columns=["phase", "step", value]).rename(columns={value: "value"})
    return table.assign(step=table["step"] + starts(lengths)[table["phase"].to_numpy(int)])


def starts(lengths: list[int]) -> np.ndarray:
    """Steps before each phase, of phases with so many steps each."""
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(int)


def smoothed(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Of what `logged` returns, the mean of each `n` neighbours within a phase, at the mean of their steps.

    What is left at the end of a phase is dropped, as a mean of fewer is as restless as a single entry; of a phase
    with fewer than `n` entries it is all there is, and stays.
    """
    if table.empty:
        return table
    groups = table.groupby(["phase", table.groupby("phase").cumcount() // n], as_index=False)
    means = groups[["step", "value"]].mean()
    return means[(groups.size()["size"] == n) | ~means["phase"].duplicated()]
