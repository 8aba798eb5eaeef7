"""How one probability follows a shift of all positions."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.curves import CHOSEN, WHOLE, curves, probability, rule
from viz.figure import VegaFigure, click_on, either, form, tip, value
from viz.palette import EMPHASIS, NEUTRAL
from viz.theme import FIT


def shift_curve(
    shifts: Sequence[int], probabilities: np.ndarray, class_names: Sequence[str], *, selected: int
) -> VegaFigure:
    """Probabilities [shift, class]: the curve of the class that leads at the first shift, filled where it leads.

    A vertical line marks the shift `selected`. A click on a dot sets the point selection `shift`, field `shift`.
    Raises ValueError where the probabilities are not one of each class for each shift.
    """
    if probabilities.shape != (len(shifts), len(class_names)):
        shape = (len(shifts), len(class_names))
        raise ValueError(f"shifts and classes need probabilities of {shape}, got {probabilities.shape}")
    leading = probabilities.argmax(axis=1) if len(shifts) else np.zeros(0, int)
    followed = int(leading[0]) if len(shifts) else 0
    frame = {
        "shift": list(shifts),
        "probability": probabilities[:, followed].astype(float),
        "says": [class_names[at] for at in leading],
        "kept": leading == followed,
        "name": [f"shift {shift}" for shift in shifts],
    }
    return _form(class_names[followed]).of(
        frame,
        values={"last": max([*shifts, 1])},
        frames={CHOSEN: {"shift": [selected]}},
        description=f"Probability of {class_names[followed]} at {len(shifts)} shifts of all positions.",
    )


@form
def _form(name: str) -> alt.LayerChart:
    scale = alt.Scale(domain=[0, value("last")], nice=False)
    line, points = curves(
        alt.X("shift:Q", title="shift k, in positions", scale=scale, axis=WHOLE),
        probability(f"probability of {name}"),
        {},
        tooltip=[
            tip("shift:Q", title="shift k"),
            tip("probability:Q", ".4f"),
            tip("says:N", title="the classifier says"),
        ],
        line={"strokeWidth": 1.5, "color": NEUTRAL, "aria": False},
        points={"size": 60, "cursor": "pointer", "stroke": EMPHASIS, "filled": False, "fillOpacity": 1},
        click=click_on("shift", "shift"),
    )
    kept = either("datum.kept", EMPHASIS, "transparent")
    points = points.encode(fill=kept, description="name:N")
    return alt.layer(line, rule("shift"), points).properties(height=260, autosize=FIT)
