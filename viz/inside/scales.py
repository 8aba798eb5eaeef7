"""The factors by which dot products can be scaled, d_k^-power: one colour each in all figures of them."""

import altair as alt

from viz.palette import CATEGORIES, EMPHASIS, NEUTRAL, SECOND

_NAMES = {0.0: "1", 0.5: "1/√d_k", 1.0: "1/d_k"}
_COLOURS = {0.0: SECOND, 0.5: EMPHASIS, 1.0: CATEGORIES[2]}
_OTHER = NEUTRAL


def scale_name(power: float) -> str:
    """The factor d_k^-power as it is written in a figure."""
    return _NAMES.get(power, f"d_k^−{power:g}")


def scale_colour(powers: list[float]) -> alt.Color:
    """The field `scale`, which holds names, with a legend above; `powers` are those drawn."""
    return alt.Color(
        "scale:N",
        scale=alt.Scale(
            domain=[scale_name(power) for power in powers],
            range=[_COLOURS.get(power, _OTHER) for power in powers],
        ),
        legend=alt.Legend(
            title="scale", orient="top", direction="horizontal", titleOrient="left", symbolOpacity=1
        ),
    )
