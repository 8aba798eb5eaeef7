"""Costs of an encoder: their growth with the length of the sequence, on two logarithmic axes, where a power law is a
straight line; and the cost of each part, as horizontal bars.
"""

from collections.abc import Mapping, Sequence

import altair as alt

from ..builders.chart import Column, chart, encodings_by_kind, layer, lines, long_columns
from ..builders.figure import VegaFigure, conditional_value, value
from ..builders.number_format import THIN_PERCENT, format_count, percent, powers_of_ten
from ..builders.palette import EMPHASIS, NEUTRAL, SHAPES
from ..builders.theme import INK, LABEL_INK, MIDDLE

_BAR = 24  # pixels a bar
_ROOM = 2  # end of the axis as a multiple of the largest share: the rest is for the text behind its bar
_END = 1.2  # at least, so that two charts beside each other mostly have the same scale


def length_scaling(lengths: Sequence[int], values: Mapping[str, Sequence[float]]) -> VegaFigure:
    """Curves of the number of multiply-adds over the sequence lengths; `values` maps the name of each curve to its
    values [length], all above 0.
    """
    columns = long_columns(
        {layer_kind: (lengths, measured) for layer_kind, measured in values.items()},
        Column("layer", (), in_file="kind of layer"),
        Column("n", (), format=",", in_file="positions"),
        Column("value", (), "multiply-adds", ",", "multiply-adds"),
    )
    channels = {
        "x": alt.X(
            "n:Q",
            title="sequence length n (positions)",
            scale=alt.Scale(type="log", base=2, nice=False),
            axis=alt.Axis(values=value("lengths"), format=","),
        ),
        "y": alt.Y(
            "value:Q",
            title="multiply-adds",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~s", values=value("powers")),
        ),
        **encodings_by_kind(
            "layer:N",
            tuple(values),
            color=(EMPHASIS, NEUTRAL),
            shape=SHAPES,
            legend={"columns": 1, "labelLimit": 240, "symbolStrokeWidth": 2},
        ),
    }
    return chart(
        columns,
        *lines(channels, columns, {"strokeWidth": 2}, {"size": 55}),
        values={
            "lengths": [length for length in lengths if length & (length - 1) == 0],
            "powers": powers_of_ten(columns[-1].values),
        },
        height=340,
        autosize=None,
        description=f"Multiply-adds of {', '.join(values)} over the sequence length, on logarithmic axes.",
    )


def part_bars(names: Sequence[str], values: Sequence[int], *, quantity: str, marked: str = "") -> VegaFigure:
    """Horizontal bars of counts `values` [part] with the share of each in their sum; `quantity` says what is counted,
    such as parameters.

    The part `marked` has the colour of the first curve of `length_scaling`.
    """
    total_count = sum(values)
    shares = [count / total_count if total_count else 0.0 for count in values]
    columns = [
        Column("part", list(names)),
        Column("share", shares, None),
        Column("exact", [f"{count:,}" for count in values], quantity, in_file=quantity),
        Column("percent", [percent(share, 2, brief=True) for share in shares], "share", in_file=None),
    ]
    # A title of the chart that looks like one of its axis, which could not hold a `value`.
    title = alt.TitleParams(
        alt.expr(f"'share of ' + total + ' {quantity}'"),
        fontSize=MIDDLE,
        fontWeight="normal",
        color=LABEL_INK,
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
    base = {
        "x": alt.X("share:Q", title=None, stack=None, scale=alt.Scale(domain=[0, value("end")]), axis=axis),
        "y": alt.Y("part:N", title=None, sort=None, axis=every_name),
        "tooltip": columns,
    }
    return chart(
        columns,
        layer(
            "bar", base | {"color": conditional_value("datum.marked", EMPHASIS, NEUTRAL)}, cornerRadiusEnd=3
        ),
        layer("text", base | {"text": "text:N"}, align="left", dx=5, fontSize=MIDDLE, color=INK),
        drawing={
            "text": [
                f"{format_count(count)} · {percent(share, brief=True)}" if count else "0"
                for count, share in zip(values, shares, strict=True)
            ],
            "marked": [name == marked for name in names],
        },
        values={"end": max(_ROOM * (max(shares, default=0) or 1), _END), "total": f"{total_count:,}"},
        height=_BAR * max(len(names), 1),
        title=title,
        description=f"{quantity[:1].upper()}{quantity[1:]} of each part of the encoder, as bars.",
    )
