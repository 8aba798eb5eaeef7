"""How a mask changes the entropy of every head: layers down, heads across."""

import altair as alt
import numpy as np
import pandas as pd

from viz.colour_legend import colour_legend
from viz.head_axis import head_axis
from viz.numbers import written
from viz.palette import ACCENT, DIFFERENCE, NEUTRAL, ROUNDING
from viz.theme import INK, LIGHT_INK

_WIDTH = 640  # pixels for all heads together, while a cell stays between the narrowest and the widest
_NARROWEST, _WIDEST, _HEIGHT = 40, 80, 40
_STRONG = 0.8  # of the scale: from there on the colours are too dark for the dark ink of a light page


def entropy_change(before: np.ndarray, after: np.ndarray, *, selected: tuple[int, int]) -> alt.LayerChart:
    """After minus before [layer, head], blue for less and orange for more; the `selected` head is framed.

    A click on a cell sets the point selection `head`, fields `layer` and `head`.
    Raises ValueError where the shapes differ.
    """
    if before.shape != after.shape:
        raise ValueError(f"entropies must be of the same heads, got {before.shape} and {after.shape}")
    layer, head = np.indices(before.shape).reshape(2, -1)
    cells = pd.DataFrame(
        {
            "layer": layer,
            "head": head,
            "name": [f"L{layer} H{head}" for layer, head in zip(layer, head, strict=True)],
            "before": before.ravel().astype(float),
            "after": after.ravel().astype(float),
            "change": (after - before).ravel().astype(float),
        }
    )
    cells["selected"] = (cells["layer"] == selected[0]) & (cells["head"] == selected[1])
    largest = float(cells["change"].abs().max())
    largest = largest if largest > ROUNDING else 1.0
    cells["written"] = [written(change, "+.3f") for change in cells["change"]]
    cells["strong"] = cells["change"].abs() > _STRONG * largest
    n_layers, n_heads = before.shape
    step = int(np.clip(_WIDTH // n_heads, _NARROWEST, _WIDEST))
    base = alt.Chart(cells.sort_values("selected", kind="stable")).encode(
        x=alt.X("head:O", title="head", axis=head_axis("H", orient="top")),
        y=alt.Y("layer:O", title="layer", axis=head_axis("L", orient="left")),
    )
    click = alt.selection_point(name="head", fields=["layer", "head"], toggle=False, clear=False)
    colours = (
        base.mark_rect(cursor="pointer")
        .encode(
            color=alt.Color(
                "change:Q",
                scale=alt.Scale(domain=[-largest, largest], range=list(DIFFERENCE)),
                legend=colour_legend(
                    "change of the entropy H / ln n (no unit)", [-largest, 0, largest], format="+.2~g"
                ),
            ),
            stroke=alt.when("datum.selected").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL)),
            strokeWidth=alt.when("datum.selected").then(alt.value(3)).otherwise(alt.value(0.5)),
            description="name:N",
            tooltip=[
                alt.Tooltip("name:N", title="head"),
                alt.Tooltip("before:Q", format=".4f"),
                alt.Tooltip("after:Q", format=".4f"),
                alt.Tooltip("change:Q", format="+.4f"),
            ],
        )
        .add_params(click)
    )
    ink = alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")
    numbers = base.mark_text(color=ink, aria=False).encode(text="written:N")
    return alt.layer(colours, numbers).properties(
        width=step * n_heads,
        height=_HEIGHT * n_layers,
        autosize="pad",
        description=f"Change of the entropy of {n_layers} layers of {n_heads} heads; "
        f"L{selected[0]} H{selected[1]} is chosen.",
    )
