"""`history.json`: what it must be like in the places that are read, and what it tells of a run's steps.

Whatever else it holds is welcome.
"""

import math

import numpy as np
import pandas as pd
from jsonschema import Draft202012Validator

from ..files.json_schema import COUNT, NUMBER, WORDS, check, list_of, object_of

_FIGURES = {"n": COUNT, "accuracy": NUMBER, "loss": NUMBER, "data": WORDS}
_PHASES = list_of(object_of(("task",), task=WORDS))
_ROW = object_of(("phase", "step"), phase=COUNT, step=COUNT) | {"additionalProperties": NUMBER}
_ROWS = ("log", "evaluations")
_SCHEMA = Draft202012Validator(
    object_of(
        figures=object_of(_FIGURES, **_FIGURES),
        also_measured=list_of(object_of(_FIGURES, **_FIGURES)),
        recipe=object_of(published={"type": ["string", "null"]}, phases=_PHASES),
        probes=list_of(WORDS),
        log={"type": "array"},
        evaluations={"type": "array"},
    )
)
_OF_ROWS = Draft202012Validator(object_of(**{name: {"additionalProperties": _ROW} for name in _ROWS}))


def check_history(history: dict) -> None:
    """Raises ValueError, in one sentence, where a figure, a phase or a logged step is not what it must be."""
    check(history, _SCHEMA)
    n_phases = len(tasks(history))
    for name in _ROWS:
        rows = history.get(name, [])
        # A validator takes 40 µs a row, and a history may have 300,000: it only says what is wrong.
        if (odd := next((at for at, row in enumerate(rows) if not _is_row(row)), None)) is not None:
            check({name: {str(odd): rows[odd]}}, _OF_ROWS)
        if any(row["phase"] >= n_phases for row in rows):
            raise ValueError(f"{name} tells of more than the {n_phases} phases of the recipe")


def _is_row(row: object) -> bool:
    """Whether it is as `_ROW` has it."""
    if type(row) is not dict or not {"phase", "step"} <= row.keys():
        return False
    low, high, highest = NUMBER["minimum"], NUMBER["maximum"], COUNT["maximum"]
    return all(
        type(value) in (int, float)
        and not (value < low or value > high)
        and (name not in ("phase", "step") or (0 <= value <= highest and value == int(value)))
        for name, value in row.items()
    )


def measured(history: dict) -> list[dict]:
    """The figures of every data set that the encoder was measured on: n, accuracy, loss and data."""
    return [*([history["figures"]] if "figures" in history else []), *history.get("also_measured", [])]


def standard_error(share: float, n: int) -> float:
    """sqrt(p (1 - p) / n) of a share p of n examples: how far chance alone takes it; 0 where p is no share."""
    return math.sqrt(max(0.0, share * (1 - share)) / max(1, n))


def tasks(history: dict) -> tuple[str, ...]:
    """What the encoder learned, phase by phase."""
    return tuple(phase["task"] for phase in history.get("recipe", {}).get("phases", []))


def logged(history: dict, value: str, entries: str = "log") -> pd.DataFrame:
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
