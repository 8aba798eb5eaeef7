"""The log of a training run as tables, from `history.json`; a module of its own, since the first prediction waits for no pandas."""

from typing import Any

import pandas as pd

from .training_history import phase_offsets, tasks


def logged_values(history: dict[str, Any], value_name: str, log_name: str = "log") -> pd.DataFrame:
    """Table of one logged value, such as "loss", with the columns phase, step and value; `log_name` is "log" or
    "evaluations".

    Steps are counted from the beginning of the run; a phase ends at its last evaluation. Rows without the value are left
    out.
    """
    lengths = [0] * len(tasks(history))
    for row in history.get("evaluations", []):
        phase = int(row["phase"])
        lengths[phase] = max(lengths[phase], int(row["step"]) + 1)
    rows = [row for row in history.get(log_name, []) if value_name in row]
    table = pd.DataFrame(rows, columns=["phase", "step", value_name]).rename(columns={value_name: "value"})
    return table.assign(step=table["step"] + phase_offsets(lengths)[table["phase"].to_numpy(int)])


def averaged_rows(table: pd.DataFrame, n_averaged: int) -> pd.DataFrame:
    """The table of `logged_values` with every `n_averaged` consecutive rows of a phase replaced by one row, their mean.

    The last rows of a phase, if fewer than `n_averaged`, are left out, unless the phase has no other rows.
    """
    if table.empty:
        return table
    groups = table.groupby(["phase", table.groupby("phase").cumcount() // n_averaged], as_index=False)
    means = groups[["step", "value"]].mean()
    return means[(groups.size()["size"] == n_averaged) | ~means["phase"].duplicated()]
