"""The counts of the parts of an encoder, as horizontal bars: shares of a total."""

from collections.abc import Sequence

import altair as alt

from ..builders.figure import VegaFigure, data, either, form, need_shape, tip, value
from ..builders.number_format import THIN_PERCENT, abbreviated, percent
from ..builders.palette import EMPHASIS, NEUTRAL
from ..builders.theme import FIT, INK, MIDDLE, SMALL

_BAR = 24  # pixels a bar
_ROOM = 1.7  # end of the axis as a multiple of the largest share: the rest is for the text behind its bar


def part_bars(names: Sequence[str], values: Sequence[int], *, quantity: str) -> VegaFigure:
    """Horizontal bars of counts [part], with each count's share of the sum; `quantity` says what is counted.

    Raises ValueError where names and values differ in number.
    """
    need_shape((len(names),), values=values)
    total_count = sum(values)
    shares = [count / total_count if total_count else 0.0 for count in values]
    largest = shares.index(max(shares)) if total_count else -1
    bars = {
        "part": list(names),
        "share": shares,
        "exact": [f"{count:,}" for count in values],
        "percent": [percent(share, 2, brief=True) for share in shares],
        "text": [_count_text(count, share) for count, share in zip(values, shares, strict=True)],
        "largest": [index == largest for index in range(len(shares))],
    }
    return _chart_form(quantity).with_data(
        bars,
        in_file={"exact": quantity, "percent": None, "largest": None},
        values={"end": _ROOM * (max(shares, default=0) or 1), "total": f"{total_count:,}"},
        height=_BAR * max(len(names), 1),
        description=f"{quantity[:1].upper()}{quantity[1:]} of each part of the encoder, as bars.",
    )


@form
def _chart_form(quantity: str) -> alt.TopLevelMixin:
    # The title of an axis cannot come with the data, as the total does; that of a chart can, and looks like one.
    title = alt.TitleParams(
        alt.expr(f"'share of ' + total + ' {quantity}'"),
        fontSize=MIDDLE,
        fontWeight="normal",
        color=NEUTRAL,
        orient="bottom",
        anchor="middle",
        align="center",
        frame="group",
        offset=16,
    )
    # The axis goes on below the text, the share does not.
    percents = f"datum.value > 1 ? '' : {THIN_PERCENT}"
    axis = alt.Axis(format=".0%", grid=False, ticks=False, tickCount=5, labelExpr=percents)
    every_name = alt.Axis(labelOverlap=False, labelFlush=False, labelLimit=200)  # each at its bar
    base = alt.Chart(data()).encode(
        x=alt.X("share:Q", title=None, stack=None, scale=alt.Scale(domain=[0, value("end")]), axis=axis),
        y=alt.Y("part:N", title=None, sort=None, axis=every_name),
    )
    tooltip = [tip("part:N"), tip("exact:N", title=quantity), tip("percent:N", title="share")]
    bars = base.mark_bar(cornerRadiusEnd=3).encode(
        color=either("datum.largest", EMPHASIS, NEUTRAL), tooltip=tooltip
    )
    texts = base.mark_text(align="left", dx=5, fontSize=SMALL, color=INK).encode(
        text="text:N", tooltip=tooltip
    )
    # With `FIT` the axis below takes nothing from the bars.
    return alt.layer(bars, texts).properties(autosize=FIT, title=title)


def _count_text(count: int, share: float) -> str:
    return f"{abbreviated(count)} · {percent(share, brief=True)}" if count else "0"
