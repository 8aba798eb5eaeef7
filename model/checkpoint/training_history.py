"""Reads `history.json`: types of the fields that are used; other fields are ignored."""

import math
from typing import Any, TypedDict

import numpy as np

from ..schema import Count, Number, convert

LARGEST_NUMBER = 1e300  # JSON may hold numbers that no float holds


class Figures(TypedDict):
    """How well an encoder does on one data set: number of examples, accuracy, mean loss in nats, and the name of the data."""

    n: Count
    accuracy: Number
    loss: Number
    data: str


class StoredPhase(TypedDict):
    """One phase of a training recipe."""

    task: str


class StoredRecipe(TypedDict, total=False):
    """The recipe by which an encoder was trained: the fields of it that pages read."""

    published: str | None
    phases: list[StoredPhase]


class History(TypedDict, total=False):
    """The fields of `history.json` that are read."""

    figures: Figures
    also_measured: list[Figures]
    recipe: StoredRecipe
    probes: list[str]
    log: list[dict[str, float]]
    evaluations: list[dict[str, float]]


class PhaseAndStep(TypedDict):
    """The fields of each row of the log and of the evaluations: the phase of the training, and the step within that
    phase.
    """

    phase: Count
    step: Count


def check_history(history: dict[str, Any]) -> None:
    """Raises ValueError, with a one-sentence message, if a field that is read has a wrong type or a value out of range."""
    convert(history, History)
    n_phases = len(tasks(history))
    for name in ("log", "evaluations"):
        rows = history.get(name, [])
        convert(rows, list[PhaseAndStep], name)
        for index, row in enumerate(rows):
            if row["phase"] >= n_phases:
                raise ValueError(f"{name} tells of more than the {n_phases} phases of the recipe")
            if not all(abs(value) <= LARGEST_NUMBER or math.isnan(value) for value in row.values()):
                raise ValueError(f"{name} {index} holds a number beyond {LARGEST_NUMBER}")


def all_figures(history: dict[str, Any]) -> list[Figures]:
    """Accuracy and loss of the encoder on each data set that it was evaluated on."""
    return [*([history["figures"]] if "figures" in history else []), *history.get("also_measured", [])]


def tasks(history: dict[str, Any]) -> tuple[str, ...]:
    """Names of the tasks that the encoder was trained on, one for each phase."""
    return tuple(phase["task"] for phase in history.get("recipe", {}).get("phases", []))


def phase_offsets(lengths: list[int]) -> np.ndarray:
    """Number of steps before each phase, [phase]; `lengths` holds the number of steps of each phase."""
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(int)
