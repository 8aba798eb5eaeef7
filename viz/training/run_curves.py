"""Something that was recorded while encoders learned, over the steps of their training: a curve each."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import FIRST, NEUTRAL, SECOND

_HEIGHT = 320
_SHADES = ((34, 166, 160), (47, 138, 200), (124, 92, 214), (216, 70, 91), (217, 140, 8))  # first line to last


def run_curves(
    table: pd.DataFrame,
    *,
    y_title: str,
    runs: Sequence[str],
    line_title: str | None = None,
    x_title: str = "training step",
    at: int | None = None,
    breaks: Sequence[int] = (),
    log_x: bool = False,
    log_y: bool = False,
    title: str = "",
) -> alt.LayerChart:
    """Columns step, value, run and, with `line_title`, line: a number that orders the curves of one run.

    Curves of different `runs` differ in colour, also where `table` holds one of them alone; where each run has
    several, the lines differ. `at` marks a step, `breaks` those where something new began; further columns are
    said on hover. Steps count from 0, and the axis shows step + 1 where it is logarithmic. Raises ValueError
    where columns are missing.
    """
    needed = {"step", "value", "run"} | ({"line"} if line_title else set())
    if missing := sorted(needed - set(table.columns)):
        raise ValueError(f"the columns {missing} are missing, got {list(table.columns)}")
    said = [name for name in table.columns if name not in ("step", "value", "run", "line")]
    shown = table.assign(shown=table["step"] + log_x)
    named = [run for run in runs if run in set(table["run"])] or list(runs)
    lines = sorted(table["line"].unique()) if line_title else []
    legend = alt.Legend(
        title=line_title, values=lines or named, orient="top", symbolType="stroke", labelLimit=0, columns=7
    )
    if line_title:
        colour = alt.Color("line:O", scale=alt.Scale(domain=lines, range=shades(len(lines))), legend=legend)
    else:
        colour = alt.Color("run:N", scale=alt.Scale(domain=list(runs), range=[FIRST, SECOND]), legend=legend)
    curves = (
        alt.Chart(shown)
        .mark_line(
            strokeWidth=2,
            point=alt.OverlayMarkDef(size=22, filled=True),
            invalid="break-paths-filter-domains",
        )
        .encode(
            x=alt.X(
                "shown:Q",
                title=f"{x_title} + 1" if log_x else x_title,
                scale=alt.Scale(type="log" if log_x else "linear", nice=False),
                axis=alt.Axis(format="~s", labelOverlap=True, tickCount=6),
            ),
            y=alt.Y(
                "value:Q",
                title=y_title,
                scale=alt.Scale(type="log" if log_y else "linear", zero=False),
                axis=alt.Axis(format=".4~g", tickCount=5),
            ),
            color=colour,
            tooltip=[
                alt.Tooltip("run:N"),
                *([alt.Tooltip("line:O", title=line_title)] if line_title else []),
                alt.Tooltip("step:Q", title=x_title, format=","),
                *(alt.Tooltip(field=name, type="nominal") for name in said),
                alt.Tooltip("value:Q", title=y_title, format=".4~g"),
            ],
        )
    )
    marks = pd.DataFrame(
        [{"shown": place + log_x, "now": False} for place in breaks]
        + ([] if at is None else [{"shown": at + log_x, "now": True}]),
        columns=["shown", "now"],
    )
    rules = (
        alt.Chart(marks)
        .mark_rule(color=NEUTRAL)
        .encode(
            x="shown:Q",
            strokeWidth=alt.when("datum.now").then(alt.value(2.5)).otherwise(alt.value(1)),
            strokeDash=alt.when("datum.now").then(alt.value([1, 0])).otherwise(alt.value([3, 4])),
        )
    )
    return alt.layer(curves, rules).properties(
        height=_HEIGHT,
        title=alt.Title(title, anchor="start", fontSize=13, limit=0),
        description=f"{title or y_title} over the steps of training, of {' and '.join(named)}.",
    )


def shades(n: int) -> list[str]:
    """Colours of `n` lines in order, from the first shade to the last; all read on white and on black."""
    places = np.linspace(0, len(_SHADES) - 1, n) if n > 1 else [0]
    channels = [np.interp(places, range(len(_SHADES)), channel) for channel in np.transpose(_SHADES)]
    return [f"rgb({red:.0f}, {green:.0f}, {blue:.0f})" for red, green, blue in zip(*channels, strict=True)]
