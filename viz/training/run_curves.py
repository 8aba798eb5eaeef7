"""Curves of numbers recorded during training, over the training steps."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, chart, encodings_by_kind, layer
from ..builders.figure import Kwargs, VegaFigure, tip
from ..builders.number_format import THIN_PERCENT, percent, standard_error
from ..builders.palette import NEUTRAL
from ..builders.theme import INK, SMALL, heading

_GAPS = "break-paths-filter-domains"  # a value that is missing interrupts the line
_LETTER = 6.5  # pixels of a letter of a task's name
_WIDTH = 500  # pixels of all steps, in a window of 1280: where there are fewer, labels may touch
_SHADES = ((180, 141, 2), (135, 125, 128), (176, 66, 214))  # first line to last


def run_curves(
    table: pd.DataFrame,
    *,
    y_title: str,
    runs: Mapping[str, str],
    line_title: str | None = None,
    x_title: str = "training step",
    log_x: bool = False,
    log_y: bool = False,
    title: str = "",
    is_share: bool = False,
) -> VegaFigure:
    """Curves of the data frame `table`, which has the columns step, value, run and, with `line_title`, line: a number
    that orders the curves of one run.

    `runs` maps the name of each run to its colour, which it keeps even if `table` holds only one run; if each run has
    several curves, the lines have different colours instead. A curve is broken where the column "task" changes; if it
    changes at the same steps in all runs, a band for each task shows its number and, if there is room, its name; narrow
    bands share a label such as "6–9".
    Further columns go into the tooltip. Steps count from 0, and a logarithmic axis shows step + 1. With `is_share` the
    values are shares from 0 to 1, written as percentages.
    """
    form = ".4~%" if is_share else ".4~g"
    y_axis: Kwargs = {"format": form, "tickCount": 5} | ({"labelExpr": THIN_PERCENT} if is_share else {})
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
            axis=alt.Axis(**y_axis),
        ),
        **encodings_by_kind(*kinds[:2], color=kinds[2], legend=legend),
        "tooltip": [
            tip("run:N"),
            *([tip("line:O", title=line_title)] if line_title else []),
            tip("step:Q", ",", x_title),
            *(alt.Tooltip(field=name, type="nominal") for name in tooltip_columns),
            tip("value:Q", form, y_title),
        ],
    }
    drawing = {"shown": table["step"] + log_x}
    bands: list[dict[str, Any]] = []
    if "task" in table:
        drawing["stretch"] = table.groupby("run")["task"].transform(
            lambda task: (task != task.shift()).cumsum()
        )
        curve["detail"] = "stretch:N"
        bands = _task_bands(table.assign(**drawing), log_x=log_x)
    line: Kwargs = {"strokeWidth": 1.8, "point": {"size": 10, "filled": True}, "invalid": _GAPS}
    band: Kwargs = {"color": NEUTRAL, "opacity": alt.expr("datum.number % 2 ? 0.08 : 0.2")}
    room = "scale('x', datum.until) - scale('x', datum.shown)"
    name: Kwargs = {
        "text": alt.expr(f"{room} > {_LETTER} * length(datum.name) + 6 ? datum.name : datum.label"),
        # One that reaches back stands higher, or in a narrow figure it would touch the one before it.
        "align": alt.expr("datum.label_at > datum.shown ? 'right' : 'left'"),
        "dy": alt.expr("datum.label_at > datum.shown ? -12 : 0"),
        "color": INK,
        "fontSize": SMALL,
    }
    return chart(
        [
            Column(name, table[name], None, in_file=y_title if name == "value" else "")
            for name in table.columns
        ],
        layer(
            "rect",
            {"x": "shown:Q", "x2": "until:Q", "tooltip": [tip("name:N", title="task")]},
            "bands",
            **band,
        ),
        layer("line", curve, **line),
        layer("text", {"x": "label_at:Q", "y": alt.value(-9)}, "bands", **name),
        drawing=drawing,
        frames={"bands": bands},
        height=320,
        autosize=None,
        title=heading(title),
        description=f"{title or y_title} over the steps of training, of {' and '.join(run_names)}.",
    )


def _task_bands(table: pd.DataFrame, *, log_x: bool) -> list[dict[str, Any]]:
    """The numbered tasks with the steps where they begin and end and their labels; [] if there is only one task, or if
    the runs differ.
    """
    spans = table.groupby(["run", "stretch"]).agg(
        name=("task", "first"), shown=("shown", "min"), until=("shown", "max")
    )
    first, *others = [rows.reset_index(drop=True) for _, rows in spans.groupby("run")] or [spans]
    if len(first) < 2 or not all(map(first.equals, others)):
        return []
    first = first.assign(
        number=(first.index + 1).astype(str),
        until=first["shown"].shift(-1, fill_value=first["until"].iloc[-1]),
    )
    bounds = np.array([*first["shown"], first["until"].iloc[-1]], float)
    positions = np.log(bounds) if log_x else bounds
    labels, ends = _band_labels(np.diff(positions) * _WIDTH / (np.ptp(positions) or 1))
    return first.assign(
        name=first["number"] + " " + first["name"],
        label=labels,
        label_at=np.where(ends, bounds[-1], first["shown"]),
    ).to_dict("records")


def _band_labels(widths: np.ndarray) -> tuple[list[str], list[bool]]:
    """A label for each band of these `widths` in pixels: its number or, if several lack room, those of the first and the
    last of them on the first, such as "6–8", and "" on the others. Also whether it ends where the last band does, since
    it needs room of the bands before its own.
    """
    groups: list[range] = []
    for band in range(len(widths)):
        is_joined = bool(groups) and _room(groups[-1], widths) < 0
        first = groups.pop().start if is_joined else band
        groups.append(range(first, band + 1))
    while len(groups) > 1 and -_room(groups[-1], widths) > max(_room(groups[-2], widths), 0):
        last = groups.pop()
        groups.append(range(groups.pop().start, last.stop))
    labels, ends = [""] * len(widths), [False] * len(widths)
    for group in groups:
        labels[group.start] = _band_numbers(group)
    ends[groups[-1].start] = _room(groups[-1], widths) < 0
    return labels, ends


def _band_numbers(bands: range) -> str:
    """The number of the first and of the last of these bands, counted from 1, such as "6–8"; "6" for one band."""
    return f"{bands.start + 1}" if len(bands) == 1 else f"{bands.start + 1}–{bands.stop}"


def _room(bands: range, widths: np.ndarray) -> float:
    """Pixels that are left beside the numbers of these `bands`, of all [band] with these `widths` in pixels; below 0
    if they have too few.
    """
    return float(widths[bands.start : bands.stop].sum()) - _LETTER * len(_band_numbers(bands))


def recorded_values(values: np.ndarray, run: str, steps: np.ndarray, tasks: Sequence[str]) -> pd.DataFrame:
    """A table for `run_curves` of `values` [moment, line], with the moment as its step; `steps` and `tasks` [moment]
    go into the tooltip.
    """
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


def with_error_columns(table: pd.DataFrame) -> pd.DataFrame:
    """The `table` with the column `n`, the number of examples behind each accuracy `value` (NaN if not known),
    replaced by two columns of text: the number of examples and the standard error.
    """
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
    """Colours of `n` lines, in order from the first shade to the last, as CSS colours; all are legible on white and
    on black.
    """
    stops = np.linspace(0, len(_SHADES) - 1, n) if n > 1 else [0]
    channels = [np.interp(stops, range(len(_SHADES)), channel) for channel in np.transpose(_SHADES)]
    return [f"rgb({red:.0f}, {green:.0f}, {blue:.0f})" for red, green, blue in zip(*channels, strict=True)]
