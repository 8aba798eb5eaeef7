"""Curves measured with several seeds: the mean as a line, all seeds in a band around it."""

from collections.abc import Mapping, Sequence
from typing import Literal

import altair as alt
import numpy as np
import pandas as pd

from viz.theory.variant_colours import variant_colours

HEIGHT = 340
Scale = Literal["linear", "log"]


def seed_spread(
    values: Mapping[str, np.ndarray],
    positions: Sequence[int],
    *,
    x: str,
    y: str,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
    guides: Sequence[alt.Chart] = (),
    description: str,
) -> alt.LayerChart:
    """One line a variant through the mean over seeds of values [seed, position], a band from least to largest.

    `x` and `y` are the titles of the axes; `guides` are drawn below the curves, on axes from `position_axis` and
    `value_axis` with the same titles. Raises ValueError where positions and values differ in number.
    """
    rows = spread(values, positions)
    if y_scale == "log":  # a zero, where nothing has moved yet, has no place there
        rows = rows[rows["least"] > 0]
    channels = variant_colours(list(values))
    base = alt.Chart(rows).encode(x=position_axis(positions, title=x, scale=x_scale), color=channels["color"])
    mean = value_axis("mean", title=y, scale=y_scale)
    band = base.mark_area(opacity=0.18).encode(y=value_axis("least", title=y, scale=y_scale), y2="largest:Q")
    points = base.mark_point(filled=True, size=50, opacity=1).encode(
        y=mean,
        shape=channels["shape"],
        tooltip=[
            alt.Tooltip("variant:N", title="placement"),
            alt.Tooltip("position:Q", title=x),
            alt.Tooltip("mean:Q", title="mean over seeds", format=".4g"),
            alt.Tooltip("least:Q", format=".4g"),
            alt.Tooltip("largest:Q", format=".4g"),
            alt.Tooltip("seeds:Q"),
        ],
    )
    line = base.mark_line(strokeWidth=2.5).encode(y=mean, strokeDash=channels["strokeDash"])
    return alt.layer(*guides, band, line, points).properties(
        height=HEIGHT, autosize={"type": "fit-x", "contains": "padding"}, description=description
    )


def position_axis(positions: Sequence[int], *, title: str, scale: Scale) -> alt.X:
    """For the field `position`: the ticks are positions that were measured, at most nine of them."""
    every = max(1, -(-len(positions) // 9))
    domain = [min(positions), max(positions)] if positions else [1, 2]
    return alt.X(
        "position:Q",
        title=title,
        scale=alt.Scale(type=scale, domain=domain, nice=False, padding=12),
        axis=alt.Axis(values=list(positions)[::every], format="d", labelOverlap=True),
    )


def value_axis(field: str, *, title: str, scale: Scale) -> alt.Y:
    reach = {"nice": False, "padding": 12} if scale == "log" else {"zero": True}
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type=scale, **reach))


def spread(values: Mapping[str, np.ndarray], positions: Sequence[int]) -> pd.DataFrame:
    """A row a variant and position: mean, least and largest over the seeds of values [seed, position]."""
    columns = {name: [] for name in ("variant", "position", "mean", "least", "largest", "seeds")}
    for variant, by_seed in values.items():
        if by_seed.ndim != 2 or by_seed.shape[1] != len(positions):
            n = len(positions)
            raise ValueError(f"{n} positions need values [seed, {n}], got {by_seed.shape}")
        columns["variant"] += [variant] * len(positions)
        columns["position"] += positions
        columns["mean"] += by_seed.mean(axis=0).tolist()
        columns["least"] += by_seed.min(axis=0).tolist()
        columns["largest"] += by_seed.max(axis=0).tolist()
        columns["seeds"] += [len(by_seed)] * len(positions)
    return pd.DataFrame(columns)
