"""One colour a placement of the norm, on every chart; dashed without residual connections."""

from collections.abc import Sequence

import altair as alt

from viz.palette import FIRST, SECOND

_COLOURS = {"pre-LN": FIRST, "post-LN": SECOND, "DeepNorm": "#009f9e", "B2T": "#a048f6"}
_SOLID, _DASHED = [1, 0], [5, 4]


def variant_colours(variants: Sequence[str]) -> dict[str, alt.Color | alt.StrokeDash]:
    """Channels for the field `variant`, with one legend above the chart.

    Raises KeyError for a variant that begins like none of the known placements.
    """
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=3,
        symbolType="stroke",
        symbolOpacity=1,
        symbolStrokeWidth=3,
        symbolSize=300,
        labelLimit=260,
    )
    colours = [_COLOURS[variant.split()[0]] for variant in variants]
    dashes = [_DASHED if "without" in variant else _SOLID for variant in variants]
    return {
        "color": alt.Color("variant:N", scale=alt.Scale(domain=list(variants), range=colours), legend=legend),
        "strokeDash": alt.StrokeDash(
            "variant:N", scale=alt.Scale(domain=list(variants), range=dashes), legend=legend
        ),
    }
