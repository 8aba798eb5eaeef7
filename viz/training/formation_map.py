"""When each head took its form: a cell a head, layers down, heads across."""

import altair as alt
import numpy as np
import pandas as pd

from viz.head_axis import head_axis
from viz.palette import ATTENTION, NEUTRAL
from viz.theme import INK


def formation_map(steps: np.ndarray, *, first: int, last: int, title: str = "") -> alt.LayerChart:
    """Training steps [layer, head], on a logarithmic scale of blue from the `first` to the `last` one."""
    heads = list(np.ndindex(*steps.shape))
    cells = pd.DataFrame(heads, columns=["layer", "head"], dtype=int)
    cells["name"] = [f"L{layer} H{head}" for layer, head in heads]
    cells["step"] = [int(steps[place]) for place in heads]
    cells["shown"] = cells["step"] + 1
    base = alt.Chart(cells).encode(
        x=alt.X("head:O", title=None, axis=head_axis("H", orient="top")),
        y=alt.Y("layer:O", title=None, axis=head_axis("L", orient="left")),
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            alt.Tooltip("step:Q", title="formed at step", format=","),
        ],
    )
    # Ink over whatever page lies below, as everywhere: the head that took its form first is clear.
    ink = alt.Color(
        "shown:Q",
        scale=alt.Scale(
            type="log", domain=[first + 1, max(last, first + 1) + 1], range=[ATTENTION[0], ATTENTION[1]]
        ),
        legend=None,
    )
    return alt.layer(
        base.mark_rect(stroke=NEUTRAL, strokeWidth=0.5).encode(color=ink),
        base.mark_text(color=INK, fontSize=13).encode(text=alt.Text("step:Q", format=".2~s")),
    ).properties(
        width=alt.Step(62),
        height=alt.Step(34),
        title=alt.Title(title, anchor="start", fontSize=13, limit=0),
        description="The training step at which each head took its form.",
    )
