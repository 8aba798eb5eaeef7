"""Curves of numbers that were recorded during training, over the steps."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, chart, encodings_by_kind, layer
from ..builders.figure import Kwargs, VegaFigure, tip
from ..builders.number_format import percent, standard_error
from ..builders.palette import NEUTRAL
from ..builders.theme import heading

_GAPS = "break-paths-filter-domains"  # a value that is missing interrupts the line
_SHADES = ((180, 141, 2), (135, 125, 128), (176, 66, 214))  # first line to last


def run_curves(
    table: pd.DataFrame,
    *,
    y_title: str,
    runs: Mapping[str, str],
    line_title: str | None = None,
    x_title: str = "training step",
    breaks: Sequence[int] = (),
    log_x: bool = False,
    log_y: bool = False,
    title: str = "",
) -> VegaFigure:
    """Curves of a data frame with the columns step, value, run and, with `line_title`, line: a number that orders the
    curves of one run.

    Each of the `runs` has its colour, even where `table` holds only one of them; where each run has several curves,
    the lines have different colours. `breaks` are steps where something new began; further columns go into the tooltip. Steps count from 0, and a logarithmic axis shows step + 1.
    """
    tooltip_columns = tuple(name for name in table.columns if name not in ("step", "value", "run", "line"))
    run_names = tuple(run for run in runs if run in set(table["run"])) or tuple(runs)
    lines = tuple(np.unique(table["line"]).tolist()) if line_title else ()
    legend = {"title": line_title, "values": list(lines or run_names), "symbolType": "stroke", "columns": 7}
    kinds = (
        ("line:O", lines, shades(len(lines))) if line_title else ("run:N", tuple(runs), tuple(runs.values()))
    )
    curve = {
        "x": alt.X(
            "shown:Q",
            title=f"{x_title} + 1" if log_x else x_title,
            scale=alt.Scale(type="log" if log_x else "linear", nice=False),
            axis=alt.Axis(
                format="~s", labelExpr="datum.value ? datum.label : '0'", labelOverlap=True, tickCount=6
            ),
        ),
        "y": alt.Y(
            "value:Q",
            title=y_title,
            scale=alt.Scale(type="log" if log_y else "linear", zero=False),
            axis=alt.Axis(format=".4~g", tickCount=5),
        ),
        **encodings_by_kind(*kinds[:2], color=kinds[2], legend=legend),
        "tooltip": [
            tip("run:N"),
            *([tip("line:O", title=line_title)] if line_title else []),
            tip("step:Q", ",", x_title),
            *(alt.Tooltip(field=name, type="nominal") for name in tooltip_columns),
            tip("value:Q", ".4~g", y_title),
        ],
    }
    line: Kwargs = {"strokeWidth": 2, "point": {"size": 22, "filled": True}, "invalid": _GAPS}
    return chart(
        [
            Column(name, table[name], None, in_file=y_title if name == "value" else "")
            for name in table.columns
        ],
        layer("line", curve, **line),
        layer("rule", {"x": "shown:Q"}, "breaks", color=NEUTRAL, strokeWidth=1, strokeDash=[3, 4]),
        drawing={"shown": table["step"] + log_x},
        frames={"breaks": {"shown": [step + log_x for step in breaks]}},
        height=320,
        autosize=None,
        title=heading(title),
        description=f"{title or y_title} over the steps of training, of {' and '.join(run_names)}.",
    )


def recorded_values(values: np.ndarray, run: str, steps: np.ndarray, tasks: Sequence[str]) -> pd.DataFrame:
    """The table of `run_curves` of `values` [moment, line], over the moments; `steps` and `tasks` [moment] go into the tooltip."""
    moment, line = np.indices(values.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "step": moment,
            "value": values.ravel(),
            "line": line,
            "run": run,
            "training step": [f"{step:,}" for step in steps[moment]],
            "task": np.array(tasks, object)[moment],
        }
    )


def with_errors(table: pd.DataFrame) -> pd.DataFrame:
    """The table of shares, with their standard errors and numbers of examples as text in place of the column `n`, NaN where not known."""
    is_known = table["n"].notna()
    numbers = list(zip(table["value"], table["n"], is_known, strict=True))
    return table.drop(columns="n").assign(
        **{
            "examples": [f"{int(n):,}" if known else "not known" for _, n, known in numbers],
            "standard error": [
                percent(standard_error(share, int(n)), brief=True) if known else "not known"
                for share, n, known in numbers
            ],
        }
    )


def shades(n: int) -> list[str]:
    """Colours of `n` lines in order, from the first shade to the last; all are legible on white and on black."""
    stops = np.linspace(0, len(_SHADES) - 1, n) if n > 1 else [0]
    channels = [np.interp(stops, range(len(_SHADES)), channel) for channel in np.transpose(_SHADES)]
    return [f"rgb({red:.0f}, {green:.0f}, {blue:.0f})" for red, green, blue in zip(*channels, strict=True)]
