"""One colour and one shape a placement of the norm, on every chart; dashed without residual connections."""

from collections.abc import Sequence

import altair as alt

from viz.palette import CATEGORIES, FIRST, SECOND, SHAPES

_COLOURS = {"pre-LN": FIRST, "post-LN": SECOND, "DeepNorm": CATEGORIES[3], "B2T": CATEGORIES[2]}
_SHAPES = dict(zip(_COLOURS, SHAPES, strict=False))
_SOLID, _DASHED = [1, 0], [5, 4]


def variant_colours(variants: Sequence[str]) -> dict[str, alt.Color | alt.Shape | alt.StrokeDash]:
    """Channels for the field `variant`, with one legend above the chart.

    Raises KeyError for a variant that begins like none of the known placements.
    """
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=3,
        symbolOpacity=1,
        symbolStrokeWidth=2,
        symbolSize=130,
        labelLimit=260,
    )
    placements = [variant.split()[0] for variant in variants]
    dashes = [_DASHED if "without" in variant else _SOLID for variant in variants]

    def channel(kind: type, values: list) -> alt.Color | alt.Shape | alt.StrokeDash:
        return kind("variant:N", scale=alt.Scale(domain=list(variants), range=values), legend=legend)

    return {
        "color": channel(alt.Color, [_COLOURS[placement] for placement in placements]),
        "shape": channel(alt.Shape, [_SHAPES[placement] for placement in placements]),
        "strokeDash": channel(alt.StrokeDash, dashes),
    }
