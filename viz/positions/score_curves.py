"""Curves over the distance of two positions: the score of a query and a key by its parts, and what else depends on it alone."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer, lines
from ..builders.curves import CHOSEN, encodings_by_kind, long_columns, rule
from ..builders.figure import VegaFigure, need_shape, tip
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number
from ..builders.palette import CATEGORIES, MASKED, largest
from ..builders.theme import INK

MOST = len(CATEGORIES)  # parts that can be told apart
_HEIGHT = 300  # pixels
_OFFSETS = alt.Axis(format="d", tickMinStep=1)


def score_curves(
    offsets: np.ndarray,
    parts: Mapping[str, np.ndarray],
    total: np.ndarray,
    *,
    own_offset: int,
    x_title: str = "offset: key − query (positions)",
    window: tuple[int, int] | None = None,
) -> VegaFigure:
    """Curves over `offsets` (key minus query) of the `parts` of a score, by name, and in ink of their sum, `total`.

    A green line marks the pair's `own_offset`. Offsets that a mask forbids, before and behind the `window`, are grey. Raises
    ValueError where a curve does not have one value for each offset, or for more parts than colours.
    """
    need_shape((len(offsets),), total=total, **parts)
    _need_colours(parts)
    first, last = int(offsets.min()), int(offsets.max())
    lowest, highest = (first, last) if window is None else window
    bands = [(first, lowest), (highest, last)]
    columns = long_columns(
        {name: (offsets, values) for name, values in parts.items()},
        Column("part", ()),
        Column("offset", ()),
        Column("amount", (), "adds", "+.4f"),
    )
    x = alt.X("offset:Q", title=x_title, scale=alt.Scale(nice=False), axis=_OFFSETS)
    y = alt.Y("amount:Q", title="score")
    by_part = encodings_by_kind("part:N", tuple(parts), color=CATEGORIES[: len(parts)], legend={"columns": 4})
    tooltip = [tip("offset:Q"), tip("amount:Q", ".4f", "score, the sum")]
    return chart(
        columns,
        layer(
            "rect",
            {"x": alt.X("from:Q", title=x_title), "x2": "to:Q"},
            "masked",
            color=MASKED,
            opacity=0.2,
            aria=False,
        ),
        *lines({"x": x, "y": y, **by_part}, columns, {"strokeWidth": 1.4}),
        layer("line", {"x": x, "y": y, "tooltip": tooltip}, "total", strokeWidth=2.8, color=INK),
        rule("offset", strokeWidth=2),
        frames={
            "total": {"offset": offsets, "amount": total},
            "masked": [{"from": start, "to": end} for start, end in bands if start < end],
            CHOSEN: {"offset": [own_offset]},
        },
        height=_HEIGHT,
        autosize=None,
        description=f"Score over the offset of two positions, as a sum of {', '.join(parts)}; their own offset, {own_offset}, is "
        "marked",
    )


def distance_curves(
    offsets: np.ndarray, by_name: Mapping[str, np.ndarray], *, what: str, unit: str = "positions"
) -> VegaFigure:
    """A curve over `offsets` (key minus query, in `unit`) for each name, of values [offset]; `what` is the title of the y axis.

    Raises ValueError where a curve does not have one value for each offset, or for more curves than colours.
    """
    need_shape((len(offsets),), **by_name)
    _need_colours(by_name)
    columns = long_columns(
        {name: (offsets, values) for name, values in by_name.items()},
        Column("curve", ()),
        Column("offset", ()),
        Column("amount", (), what, ".4~g"),
    )
    x_title = f"offset: key − query ({unit})"
    x = alt.X("offset:Q", title=x_title, scale=alt.Scale(nice=False), axis=_OFFSETS)
    y = alt.Y("amount:Q", title=what)
    names, colours = tuple(by_name), CATEGORIES[: len(by_name)]
    by_curve = encodings_by_kind("curve:N", names, color=colours, legend={"columns": 4})
    return chart(
        columns,
        *lines({"x": x, "y": y, **by_curve}, columns, {"strokeWidth": 1.8}),
        height=320,
        autosize=None,
        description=f"{what} over the offset of two positions, of {', '.join(by_name)}",
    )


def _need_colours(curves: Mapping[str, np.ndarray]) -> None:
    if len(curves) > MOST:
        raise ValueError(f"at most {MOST} curves can be told apart here, got {len(curves)}")


def short_length(wavelength: float) -> str:
    """A wavelength with three digits, or in whole positions if it is longer."""
    return format_number(wavelength, ",.0f" if wavelength >= 100 else ".3g")


def pair_map(
    by_pair: np.ndarray, offsets: Sequence[int], wavelengths: np.ndarray, *, own_offset: int
) -> Heatmap:
    """A heatmap of what each pair of numbers adds to a score [pair, offset], the fastest pair on top; the column of
    `own_offset` is framed.

    Raises ValueError where the shapes do not fit each other.
    """
    n_pairs = len(wavelengths)
    need_shape((n_pairs, len(offsets)), by_pair=by_pair)
    names = [f"{pair}: λ {short_length(wavelengths[pair])}" for pair in range(n_pairs)]
    own = list(offsets).index(own_offset)
    return heatmap(
        by_pair,
        x=[format_number(offset, "d") for offset in offsets],
        y=names,
        titles=("offset: key − query", "pair and its wavelength"),
        colours=colour_scale("adds to the score", "symmetric about 0", largest(by_pair)),
        cell="pair %{y}<br>offset %{x}",
        number="<br>adds %{z:.4f}",
        height=_HEIGHT + 90,
        framed=(range(own, own + 1), range(n_pairs)),
        description=f"What each of {n_pairs} pairs of numbers adds to the score at {len(offsets)} offsets: narrow stripes on top, "
        "wide ones below",
    )
