"""How one probability follows a shift of all positions."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, EMPHASIS, NEUTRAL


def shift_curve(
    shifts: Sequence[int],
    probabilities: np.ndarray,
    class_names: Sequence[str],
    *,
    selected: int,
) -> alt.LayerChart:
    """Probabilities [shift, class]: the curve of the class that leads at the first shift, filled where it leads.

    A vertical line marks the shift `selected`. A click on a dot sets the point selection `shift`, field `shift`.
    Raises ValueError where the probabilities are not one of each class for each shift.
    """
    if probabilities.shape != (len(shifts), len(class_names)):
        shape = (len(shifts), len(class_names))
        raise ValueError(f"shifts and classes need probabilities of {shape}, got {probabilities.shape}")
    leading = probabilities.argmax(axis=1) if len(shifts) else np.zeros(0, int)
    followed = int(leading[0]) if len(shifts) else 0
    table = pd.DataFrame(
        {
            "shift": list(shifts),
            "probability": probabilities[:, followed].astype(float),
            "says": [class_names[at] for at in leading],
            "kept": leading == followed,
            "name": [f"shift {shift}" for shift in shifts],
        }
    )
    base = alt.Chart(table).encode(
        x=alt.X(
            "shift:Q",
            title="shift k, in positions",
            scale=alt.Scale(domain=[0, max([*shifts, 1])], nice=False),
            axis=alt.Axis(tickMinStep=1, format="d", grid=False),
        ),
        y=alt.Y(
            "probability:Q",
            title=f"probability of {class_names[followed]}",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
        ),
    )
    line = base.mark_line(strokeWidth=1.5, color=NEUTRAL, aria=False)
    rule = alt.Chart(pd.DataFrame({"shift": [selected]})).mark_rule(color=ACCENT, strokeWidth=2.5, aria=False)
    points = (
        base.mark_point(size=60, cursor="pointer", stroke=EMPHASIS, fillOpacity=1)
        .encode(
            fill=alt.when("datum.kept").then(alt.value(EMPHASIS)).otherwise(alt.value("transparent")),
            description="name:N",
            tooltip=[
                alt.Tooltip("shift:Q", title="shift k"),
                alt.Tooltip("probability:Q", format=".4f"),
                alt.Tooltip("says:N", title="the classifier says"),
            ],
        )
        .add_params(alt.selection_point(name="shift", fields=["shift"], toggle=False, clear=False))
    )
    return alt.layer(line, rule.encode(x="shift:Q"), points).properties(
        height=260,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"Probability of {class_names[followed]} at {len(table)} shifts of all positions.",
    )
