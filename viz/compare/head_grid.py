"""One number a head: layers down, heads across, the number written in its cell."""

import altair as alt
import numpy as np

from viz.cells import cells, head_axis, head_cells, strong
from viz.figure import VegaFigure, click_on, form, tip
from viz.numbers import written
from viz.theme import heading

_WIDTH, _SMALLEST, _LARGEST = 230, 40, 64
_HEIGHT = 34


def head_grid(
    values: np.ndarray,
    *,
    selected: tuple[int, int],
    title: list[str],
    signed: bool,
    notes: list[str] | None = None,
    digits: int = 2,
) -> VegaFigure:
    """Values [layer, head], NaN where there is none; the `selected` (layer, head) is framed.

    `signed` values are coloured symmetrically about 0, others from 0 to the largest. `notes`, one a head layer
    by layer, go into the tooltip. A click sets the point selection `head`, fields `layer` and `head`.
    """
    sign = "+" if signed else ""
    largest = float(np.nanmax(np.abs(values), initial=0)) or 1.0
    frame = head_cells(values, selected)
    frame["written"] = [written(number, f"{sign}.{digits}f") for number in frame["value"]]
    frame["exact"] = [written(number, f"{sign}.4f", otherwise="no partner") for number in frame["value"]]
    frame["note"] = "" if notes is None else [notes[cell] for cell in frame.index]
    frame["strong"] = strong(frame["value"], largest)
    step = int(np.clip(_WIDTH // max(values.shape[1], 1), _SMALLEST, _LARGEST))
    return _form(signed, title[0], notes is not None).of(
        frame,
        values={"largest": largest},
        width=step * values.shape[1],
        height=_HEIGHT * values.shape[0],
        title=heading(*title),
        description=f"{title[0]} of {values.shape[0]} layers of {values.shape[1]} heads",
    )


@form
def _form(signed: bool, what: str, noted: bool) -> alt.LayerChart:
    tooltip = [tip("name:N", title="head"), tip("exact:N", title=what)]
    return cells(
        alt.X("head:O", title=None, axis=head_axis("H", orient="top")),
        alt.Y("layer:O", title=None, axis=head_axis("L", orient="left")),
        tooltip=[*tooltip, tip("note:N", title="pair")] if noted else tooltip,
        signed=signed,
        selectable=click_on("head", "layer", "head"),
    ).properties(autosize="pad")
