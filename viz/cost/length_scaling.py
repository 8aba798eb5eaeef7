"""Growth with the length of the sequence, on two logarithmic axes, where a power law is a straight line."""

from collections.abc import Mapping, Sequence

import altair as alt

from ..builders.chart import Column, chart, lines
from ..builders.curves import encodings_by_kind, long_columns
from ..builders.figure import VegaFigure, value
from ..builders.number_format import powers_of_ten
from ..builders.palette import CATEGORIES, SHAPES


def length_scaling(
    lengths: Sequence[int],
    values: Mapping[str, Sequence[float]],
    *,
    quantity: str,
) -> VegaFigure:
    """Curves of values [length], all above 0, one for each name; `quantity` is the title of their axis."""
    columns = long_columns(
        {layer_kind: (lengths, measured) for layer_kind, measured in values.items()},
        Column("layer", (), in_file="kind of layer"),
        Column("n", (), format=",", in_file="positions"),
        Column("value", (), quantity, ",", quantity),
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
            title=quantity,
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~s" if quantity == "multiply-adds" else "~g", values=value("powers")),
        ),
        **encodings_by_kind(
            "layer:N",
            tuple(values),
            color=CATEGORIES,
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
        height=380,
        autosize=None,
        description=f"{quantity} of {', '.join(values)} layers over the sequence length, on logarithmic axes.",
    )
