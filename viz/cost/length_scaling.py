"""Growth with the length of the sequence, on two logarithmic axes, where a power law is a straight line."""

from collections.abc import Mapping, Sequence

import altair as alt

from ..builders.curves import curves, encodings_by_kind, long_table
from ..builders.figure import VegaFigure, form, tip, value
from ..builders.number_format import powers_of_ten
from ..builders.palette import CATEGORIES, SHAPES


def length_scaling(
    lengths: Sequence[int],
    values: Mapping[str, Sequence[float]],
    *,
    quantity: str,
) -> VegaFigure:
    """Curves of values [length], all above 0, one for each name; `quantity` is the title of their axis."""
    frame = long_table(
        {layer_kind: (lengths, measured) for layer_kind, measured in values.items()}, "layer", "n", "value"
    )
    return _chart_form(tuple(values), quantity).with_data(
        frame,
        in_file={"layer": "kind of layer", "n": "positions", "value": quantity},
        values={
            "lengths": [length for length in lengths if length & (length - 1) == 0],
            "powers": powers_of_ten(frame["value"]),
        },
        description=f"{quantity} of {', '.join(values)} layers over the sequence length, on logarithmic axes.",
    )


@form
def _chart_form(kinds: tuple[str, ...], quantity: str) -> alt.TopLevelMixin:
    x = alt.X(
        "n:Q",
        title="sequence length n (positions)",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=value("lengths"), format=","),
    )
    y = alt.Y(
        "value:Q",
        title=quantity,
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~s" if quantity == "multiply-adds" else "~g", values=value("powers")),
    )
    legend = {"columns": 1, "labelLimit": 240, "symbolStrokeWidth": 2}
    channels = encodings_by_kind("layer:N", kinds, color=CATEGORIES, shape=SHAPES, legend=legend)
    tooltip = [tip("layer:N"), tip("n:Q", ","), tip("value:Q", ",", quantity)]
    lines, points = curves(x, y, channels, tooltip=tooltip, line={"strokeWidth": 2}, points={"size": 55})
    return alt.layer(lines, points).properties(height=380)
