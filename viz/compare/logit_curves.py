"""What the classifier would answer at each stage: a curve a class."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from viz.curves import stage_axis
from viz.figure import VegaFigure, data, form, tip, value
from viz.palette import NEUTRAL
from viz.theme import FIT, heading

_GAP, _LETTER = 8, 8  # pixels: from a curve to its name, and for each letter of that


def logit_curves(
    logits: np.ndarray,
    stages: Sequence[str],
    class_names: Sequence[str],
    *,
    marked: Mapping[str, str],
    title: str,
    domain: tuple[float, float],
) -> VegaFigure:
    """Logits [stage, class]; the classes `marked` with a colour carry their name, the others are grey.

    The axis spans `domain`. Raises ValueError where the shapes do not fit each other.
    """
    if logits.shape != (len(stages), len(class_names)):
        raise ValueError(f"{len(stages)} stages of {len(class_names)} classes, got logits of {logits.shape}")
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    n = len(stages)
    frame = {
        "stage": np.repeat(np.asarray(stages, dtype=object), len(class_names)),
        "class": list(class_names) * n,
        "logit": logits.ravel().astype(float),
        "probability": (weights / weights.sum(axis=-1, keepdims=True)).ravel().astype(float),
        "colour": [marked.get(name, NEUTRAL) for name in class_names] * n,
        "marked": [name in marked for name in class_names] * n,
        "last": np.repeat(np.arange(n) == n - 1, len(class_names)),
    }
    beyond = _GAP + _LETTER * max(map(len, marked), default=0)  # pixels for the names of classes
    return _form(tuple(stages)).of(
        frame,
        values={"beyond": beyond, "lowest": domain[0], "highest": domain[1]},
        title=heading(title),
        description=f"{title}: logits of {len(class_names)} classes at {n} stages",
    )


@form
def _form(stages: tuple[str, ...]) -> alt.LayerChart:
    across = alt.Scale(range=[0, alt.expr("max(width - beyond, 1)")])
    base = alt.Chart(data()).encode(
        x=stage_axis(stages, "read off at", scale=across),
        y=alt.Y(
            "logit:Q", title="logit", scale=alt.Scale(domain=[value("lowest"), value("highest")], padding=10)
        ),
        color=alt.Color("colour:N", scale=None),
        detail="class:N",
        tooltip=["class:N", "stage:N", *(tip(f"{field}:Q", ".4f") for field in ("logit", "probability"))],
    )
    faint = base.transform_filter("!datum.marked").mark_line(strokeWidth=1.2, opacity=0.6, point={"size": 20})
    strong = base.transform_filter("datum.marked").mark_line(strokeWidth=3, point={"size": 55})
    names = (
        base.transform_filter("datum.marked && datum.last")
        .mark_text(align="left", dx=_GAP, fontSize=13, fontWeight="bold")
        .encode(text="class:N")
    )
    return alt.layer(faint, strong, names).properties(height=240, autosize=FIT)
