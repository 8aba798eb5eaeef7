"""Horizontal bars in the order given: probabilities, parts of a total, and the nearest neighbours of a vector."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from .figure import VegaFigure, data, either, form, need_shape, tip, value
from .number_format import THIN_PERCENT, abbreviated, percent
from .palette import EMPHASIS, NEUTRAL
from .theme import FIT, INK
from .token_label import label, visible

_CLASS, _PART = 20, 24  # pixels a bar
_TEXT = 56  # pixels behind a full bar, for ">99.9 %"
_ROOM = 1.45  # of the largest part, for the text behind it
_NEIGHBOUR = 24  # pixels a neighbour
_NAMES = 124  # pixels for the names, on the left


def probabilities(values: np.ndarray, names: Sequence[str]) -> VegaFigure:
    """The classifier's probabilities [class]. Raises ValueError where values and names differ in number."""
    need_shape((len(names),), probabilities=values)
    shares = np.asarray(values, float)
    # What rounds to 0 % or 100 % says so only where it is that, 100 % only where no other class has any.
    one_below = np.nextafter(1, 0) if np.count_nonzero(shares) > 1 else 1.0
    texts = [percent(min(share, one_below), below="<", above=">") for share in shares.tolist()]
    bars = {"class": list(names), "probability": shares, "percent": texts, "largest": _largest(shares)}
    said = "The classifier's probability for each class, as bars."
    return _classes().of(bars, height=_CLASS * max(len(shares), 1), description=said)


@form
def _classes() -> alt.LayerChart:
    share = alt.Scale(domain=[0, 1], range=[0, alt.expr(f"max(width - {_TEXT}, 1)")])
    quarters = {"values": [0, 0.25, 0.5, 0.75, 1], "labelPadding": 6, "labelFlush": False}
    axis = alt.Axis(format="%", labelExpr=THIN_PERCENT, grid=False, **quarters)
    x = alt.X("probability:Q", title=None, stack=None, scale=share, axis=axis)
    return _bars(x, "class:N", "percent:N", ["class:N", tip("probability:Q", ".4f")])


def part_bars(names: Sequence[str], values: Sequence[int], *, of: str) -> VegaFigure:
    """Counts [part] as shares of their sum; `of` says what is counted.

    Raises ValueError where names and values differ in number.
    """
    need_shape((len(names),), values=values)
    total = sum(values)
    shares = [count / total if total else 0.0 for count in values]
    bars = {
        "part": list(names),
        "share": shares,
        "exact": [f"{count:,}" for count in values],
        "percent": [percent(share, 2) for share in shares],
        "text": [_text(count, share) for count, share in zip(values, shares, strict=True)],
        "largest": _largest(shares) & (total > 0),
    }
    return _parts(of).of(
        bars,
        values={"end": _ROOM * (max(shares, default=0) or 1), "total": f"{total:,}"},
        height=_PART * max(len(names), 1),
        description=f"{of[:1].upper()}{of[1:]} of each part of the encoder, as bars.",
    )


@form
def _parts(of: str) -> alt.LayerChart:
    # The title of an axis cannot come with the data, as the total does; that of a chart can, and looks like one.
    below = {"orient": "bottom", "anchor": "middle", "align": "center", "frame": "group", "offset": 16}
    total = alt.expr(f"'share of ' + total + ' {of}'")
    title = alt.TitleParams(total, fontSize=14, fontWeight="normal", color=NEUTRAL, **below)
    # The axis goes on below the text, the share does not.
    shown = f"datum.value > 1 ? '' : {THIN_PERCENT}"
    axis = alt.Axis(format=".0%", grid=False, ticks=False, tickCount=5, labelExpr=shown)
    x = alt.X("share:Q", title=None, stack=None, scale=alt.Scale(domain=[0, value("end")]), axis=axis)
    tooltip = ["part:N", tip("exact:N", title=of), tip("percent:N", title="share")]
    return _bars(x, "part:N", "text:N", tooltip).properties(title=title)


def _bars(x: alt.X, names: str, texts: str, tooltip: list[str | alt.Tooltip]) -> alt.LayerChart:
    every_name = alt.Axis(labelOverlap=False, labelFlush=False, labelLimit=200)  # each at its bar
    base = alt.Chart(data()).encode(x=x, y=alt.Y(names, title=None, sort=None, axis=every_name))
    bars = base.mark_bar(cornerRadiusEnd=3).encode(color=either("datum.largest", EMPHASIS, NEUTRAL))
    behind = base.mark_text(align="left", dx=5, color=INK).encode(text=texts)
    layers = [layer.encode(tooltip=tooltip) for layer in (bars, behind)]
    return alt.layer(*layers).properties(autosize=FIT)  # the axis below takes nothing from the bars


def _largest(shares: Sequence[float]) -> np.ndarray:
    return np.arange(len(shares)) == (np.argmax(shares) if len(shares) else -1)


def _text(count: int, share: float) -> str:
    return f"{abbreviated(count)} · {percent(share, below='<')}" if count else "0"


def neighbour_bars(
    names: Sequence[str], cosines: Sequence[float], *, of: str, places: Sequence[int | None] = ()
) -> VegaFigure:
    """Cosine similarities as horizontal bars in the order given; `of` is whose neighbours they are.

    `places` are positions of tokens in the input, None for what is not in it. Raises ValueError where names,
    similarities and places, if there are any, differ in number.
    """
    places = places or [None] * len(names)
    need_shape((len(names),), cosines=cosines, places=places)
    at = ["" if place is None else f" {place}" for place in places]
    frame = {
        "rank": np.arange(1, len(names) + 1),
        "name": [visible(name) for name in names],
        "label": [label(name, 14) + place for name, place in zip(names, at, strict=True)],
        "cosine": [float(cosine) for cosine in cosines],
    }
    return _neighbours().of(
        frame,
        values={"lowest": float(min(0.0, *cosines)) if len(cosines) else 0.0},
        height=_NEIGHBOUR * max(len(names), 1),
        description=f"The {len(names)} nearest neighbours of {visible(of)} by cosine similarity.",
    )


@form
def _neighbours() -> alt.LayerChart:
    base = alt.Chart(data()).encode(
        # Two neighbours may have one name, so a bar is told by its rank.
        y=alt.Y("rank:O", axis=None),
        tooltip=[tip("rank:O"), tip("name:N", title="neighbour"), tip("cosine:Q", ".4f")],
    )
    x = {
        "title": "cosine similarity",
        # a little beyond 1, for the number behind a full bar
        "scale": alt.Scale(domain=[value("lowest"), 1.25], nice=False, rangeMin=_NAMES),
        "axis": alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False),
    }
    names = base.mark_text(align="left", color=INK, limit=_NAMES - 8)
    numbers = base.transform_calculate(end="max(datum.cosine, 0)").mark_text(align="left", dx=5, color=INK)
    return alt.layer(
        base.mark_bar(color=EMPHASIS).encode(x=alt.X("cosine:Q", **x)),
        names.encode(x=alt.value(0), text="label:N"),
        numbers.encode(x=alt.X("end:Q", **x), text=alt.Text("cosine:Q", format=".3f")),
    ).properties(autosize=FIT)
