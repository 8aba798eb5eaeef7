"""When each head took its form: a cell a head, layers down, heads across."""

import altair as alt
import numpy as np

from viz.cells import cells, head_axis, head_cells
from viz.figure import VegaFigure, form, tip
from viz.palette import ATTENTION, NEUTRAL
from viz.theme import heading


def formation_map(steps: np.ndarray, *, first: int, last: int, title: str = "") -> VegaFigure:
    """Training steps [layer, head], on a logarithmic scale of blue from the `first` to the `last` one."""
    frame = head_cells(steps, called="step")
    # From 0, clear, to 1, the first strong colour of the scale: the numbers are all in the same ink.
    frame["late"] = np.log((frame["step"].to_numpy() + 1) / (first + 1)) / np.log(
        (max(last, first + 1) + 1) / (first + 1)
    )
    return _form().of(frame, values={"largest": len(ATTENTION) - 1}, title=heading(title))


@form
def _form() -> alt.LayerChart:
    return cells(
        alt.X("head:O", title=None, axis=head_axis("H", orient="top")),
        alt.Y("layer:O", title=None, axis=head_axis("L", orient="left")),
        tooltip=[tip("name:N", title="head"), tip("step:Q", ",", "formed at step")],
        signed=False,
        field="late",
        text=alt.Text("step:Q", format=".2~s"),
        font_size=13,
        stroke=NEUTRAL,
        strokeWidth=0.5,
    ).properties(
        width=alt.Step(62),
        height=alt.Step(34),
        description="The training step at which each head took its form.",
    )
