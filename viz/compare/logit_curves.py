"""What the classifier would answer at each stage: a curve a class."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import NEUTRAL

_GAP, _LETTER = 8, 8  # pixels: from a curve to its name, and for each letter of that


def logit_curves(
    logits: np.ndarray,
    stages: Sequence[str],
    class_names: Sequence[str],
    *,
    marked: Mapping[str, str],
    title: str = "",
    domain: tuple[float, float] | None = None,
) -> alt.LayerChart:
    """Logits [stage, class]; the classes `marked` with a colour carry their name, the others are grey.

    Raises ValueError where the shapes do not fit each other.
    """
    if logits.shape != (len(stages), len(class_names)):
        raise ValueError(f"{len(stages)} stages of {len(class_names)} classes, got logits of {logits.shape}")
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    stage, number = np.indices(logits.shape).reshape(2, -1)
    rows = pd.DataFrame(
        {
            "stage": np.asarray(stages, dtype=object)[stage],
            "class": np.asarray(class_names, dtype=object)[number],
            "logit": logits.ravel().astype(float),
            "probability": (weights / weights.sum(axis=-1, keepdims=True)).ravel().astype(float),
            "last": stage == len(stages) - 1,
        }
    )
    rows["marked"] = rows["class"].isin(list(marked))
    beyond = _GAP + _LETTER * max(map(len, marked), default=0)  # the names of classes
    base = alt.Chart(rows).encode(
        x=alt.X(
            "stage:N",
            sort=list(stages),
            title="read off at",
            scale=alt.Scale(range=[0, alt.expr(f"max(width - {beyond}, 1)")]),
            axis=alt.Axis(labelAngle=-45, labelOverlap="greedy"),
        ),
        y=alt.Y(
            "logit:Q", title="logit", scale=alt.Scale(domain=domain, padding=10) if domain else alt.Undefined
        ),
        color=alt.Color(
            "class:N",
            scale=alt.Scale(
                domain=list(class_names), range=[marked.get(name, NEUTRAL) for name in class_names]
            ),
            legend=None,
        ),
        detail="class:N",
        tooltip=[
            "class:N",
            "stage:N",
            alt.Tooltip("logit:Q", format=".4f"),
            alt.Tooltip("probability:Q", format=".4f"),
        ],
    )
    faint = base.transform_filter("!datum.marked").mark_line(strokeWidth=1.2, opacity=0.6, point={"size": 20})
    strong = base.transform_filter("datum.marked").mark_line(strokeWidth=3, point={"size": 55})
    names = (
        base.transform_filter("datum.marked && datum.last")
        .mark_text(align="left", dx=_GAP, fontSize=13, fontWeight="bold")
        .encode(text="class:N")
    )
    return alt.layer(faint, strong, names).properties(
        height=240,
        autosize={"type": "fit-x", "contains": "padding"},  # the names below take nothing from the curves
        title=alt.Title(title, anchor="start", fontSize=13, limit=0),
        description=f"{title}: logits of {len(class_names)} classes at {len(stages)} stages",
    )
