"""The score of one query and one key as a function of their distance, as curves of its parts and as a map of all of them."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.curves import CHOSEN, curves, encodings_by_kind, long_table, rule
from ..builders.figure import VegaFigure, data, form, need_shape, tip
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number
from ..builders.palette import CATEGORIES, MASKED, largest
from ..builders.theme import INK

MOST = len(CATEGORIES)  # parts that can be told apart
_HEIGHT = 300  # pixels


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
    if len(parts) > MOST:
        raise ValueError(f"at most {MOST} curves can be told apart here, got {len(parts)}")
    first, last = int(offsets.min()), int(offsets.max())
    lowest, highest = (first, last) if window is None else window
    bands = [(first, lowest), (highest, last)]
    series = {name: (offsets, values) for name, values in parts.items()}
    return _scores_form(tuple(parts), x_title).with_data(
        long_table(series, "part", "offset", "amount"),
        frames={
            "total": {"offset": offsets, "amount": total},
            "masked": [{"from": start, "to": end} for start, end in bands if start < end],
            CHOSEN: {"offset": [own_offset]},
        },
        description=f"Score over the offset of two positions, as a sum of {', '.join(parts)}; their own offset, {own_offset}, is "
        "marked",
    )


@form
def _scores_form(names: tuple[str, ...], x_title: str) -> alt.TopLevelMixin:
    axis = alt.Axis(format="d", tickMinStep=1)
    x = alt.X("offset:Q", title=x_title, scale=alt.Scale(nice=False), axis=axis)
    y = alt.Y("amount:Q", title="score")
    (parts,) = curves(
        x,
        y,
        encodings_by_kind("part:N", names, color=CATEGORIES[: len(names)], legend={"columns": 4}),
        tooltip=[tip("part:N"), tip("offset:Q"), tip("amount:Q", "+.4f", "adds")],
        line={"strokeWidth": 1.4},
    )
    total = alt.Chart(data("total")).mark_line(strokeWidth=2.8, color=INK)
    masked = alt.Chart(data("masked")).mark_rect(color=MASKED, opacity=0.2, aria=False)
    layers = (
        masked.encode(x=alt.X("from:Q", title=x_title), x2="to:Q"),
        parts,
        total.encode(x=x, y=y, tooltip=[tip("offset:Q"), tip("amount:Q", ".4f", "score, the sum")]),
        rule("offset", strokeWidth=2),
    )
    return alt.layer(*layers).properties(height=_HEIGHT)


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
