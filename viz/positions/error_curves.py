"""How far several maps miss what they should make of each position."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ATTENTION, DIFFERENCE, EMPHASIS

_COLOURS = (EMPHASIS, DIFFERENCE[-1], ATTENTION[2])
_HEIGHT = 340  # pixels


def error_curves(errors: Mapping[str, np.ndarray]) -> alt.Chart:
    """A line a map, named by the keys, over position t; the errors are not negative.

    Raises ValueError for more than three maps.
    """
    if len(errors) > len(_COLOURS):
        raise ValueError(f"at most {len(_COLOURS)} curves can be told apart here, got {len(errors)}")
    curves = pd.concat(
        [pd.DataFrame({"map": name, "t": np.arange(len(of)), "error": of}) for name, of in errors.items()]
        or [pd.DataFrame(columns=["map", "t", "error"])]
    )
    return (
        alt.Chart(curves)
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("t:Q", title="position t", scale=alt.Scale(nice=False)),
            y=alt.Y("error:Q", title="root mean square error"),
            color=alt.Color(
                "map:N",
                sort=None,
                scale=alt.Scale(domain=list(errors), range=list(_COLOURS[: len(errors)])),
                legend=alt.Legend(title=None, orient="top", direction="vertical", labelLimit=0),
            ),
            tooltip=[
                alt.Tooltip("map:N"),
                alt.Tooltip("t:Q", title="position t"),
                alt.Tooltip("error:Q", format=".3~g"),
            ],
        )
        .properties(height=_HEIGHT, description=f"Error over the position of {', '.join(errors)}")
    )
