"""How a mask changes the entropy of every head: layers down, heads across."""

import altair as alt
import numpy as np

from viz.cells import cells, head_axis, head_cells, strong
from viz.colours import colour_legend
from viz.figure import VegaFigure, click_on, form, tip
from viz.numbers import written
from viz.palette import ROUNDING, largest

_WIDTH = 640  # pixels for all heads together, while a cell stays between the narrowest and the widest
_NARROWEST, _WIDEST, _HEIGHT = 40, 80, 40


def entropy_change(before: np.ndarray, after: np.ndarray, *, selected: tuple[int, int]) -> VegaFigure:
    """After minus before [layer, head], blue for less and orange for more; the `selected` head is framed.

    A click on a cell sets the point selection `head`, fields `layer` and `head`.
    Raises ValueError where the shapes differ.
    """
    if before.shape != after.shape:
        raise ValueError(f"entropies must be of the same heads, got {before.shape} and {after.shape}")
    n_layers, n_heads = before.shape
    frame = head_cells(after - before, selected)
    end = largest(after - before, at_least=ROUNDING)
    frame["before"], frame["after"] = (each.ravel()[frame.index].astype(float) for each in (before, after))
    frame["written"] = [written(change, "+.3f") for change in frame["value"]]
    frame["strong"] = strong(frame["value"], end)
    return _form().of(
        frame,
        values={"largest": end},
        width=int(np.clip(_WIDTH // n_heads, _NARROWEST, _WIDEST)) * n_heads,
        height=_HEIGHT * n_layers,
        description=f"Change of the entropy of {n_layers} layers of {n_heads} heads; "
        f"L{selected[0]} H{selected[1]} is chosen.",
    )


@form
def _form() -> alt.LayerChart:
    ticks = alt.ExprRef("[-largest, 0, largest]")
    return cells(
        alt.X("head:O", title="head", axis=head_axis("H", orient="top")),
        alt.Y("layer:O", title="layer", axis=head_axis("L", orient="left")),
        tooltip=[
            tip("name:N", title="head"),
            tip("before:Q", ".4f"),
            tip("after:Q", ".4f"),
            tip("value:Q", "+.4f", "change"),
        ],
        signed=True,
        font_size=11,
        legend=colour_legend("change of the entropy H / ln n (no unit)", ticks, format="+.2~g"),
        selectable=click_on("head", "layer", "head"),
    ).properties(autosize="pad")
