"""How far each head of one encoder is from each of another, with the pairs of a matching ringed."""

import altair as alt
import numpy as np
import pandas as pd

from viz.colour_legend import colour_legend
from viz.palette import ACCENT, ATTENTION, NEUTRAL
from viz.theme import INK

_SIDE = 540  # pixels of the longer side, while a cell stays between the smallest and the largest
_SMALLEST, _LARGEST = 10, 26


def distance_heatmap(
    distances: np.ndarray,
    partners: np.ndarray,
    *,
    n_heads: tuple[int, int],
    names: tuple[str, str],
    selected: int | None,
) -> alt.LayerChart:
    """Distances [one, other] in nats, heads numbered layer by layer with `n_heads` a layer on either side.

    `partners` [one] is the number of each head's partner, -1 for none: that cell is ringed, and framed
    where the head is `selected`. A click on a cell sets the point selection `pair`, fields `one` and `other`.
    """
    ones, others = np.indices(distances.shape).reshape(2, -1)
    cells = pd.DataFrame(
        {
            "one": ones,
            "other": others,
            "first": [_name(head, n_heads[0]) for head in ones],
            "second": [_name(head, n_heads[1]) for head in others],
            "distance": distances.ravel().astype(float),
            "matched": np.asarray(partners)[ones] == others,
        }
    )
    cells["pair"] = [f"{one} and {other}" for one, other in zip(cells["first"], cells["second"], strict=True)]
    cells["paired"] = np.where(cells["matched"], "one of the pairs", "none")
    step = int(np.clip(_SIDE // max(*distances.shape, 1), _SMALLEST, _LARGEST))
    tooltip = [
        alt.Tooltip("first:N", title=names[0]),
        alt.Tooltip("second:N", title=names[1]),
        alt.Tooltip("distance:Q", format=".4f", title="distance (nats)"),
        alt.Tooltip("paired:N", title="pair"),
    ]
    base = alt.Chart(cells).encode(
        x=alt.X("second:N", sort=None, title=names[1], axis=_axis(labelAngle=-90, orient="top")),
        y=alt.Y("first:N", sort=None, title=names[0], axis=_axis()),
    )
    colours = base.mark_rect(aria=False).encode(
        color=alt.Color(
            "distance:Q",
            scale=alt.Scale(domain=[0, _top(distances)], range=list(ATTENTION)),
            legend=colour_legend(
                "head distance (nats), 0 to the largest here", [0, _top(distances)], format=".3f"
            ),
        )
    )
    rings = (
        base.transform_filter("datum.matched")
        .mark_point(shape="circle", size=(0.6 * step) ** 2, filled=False, stroke=INK, strokeWidth=2)
        .encode(tooltip=alt.value(None), description=alt.value("matched"))
    )
    # On top and clear: a click on a ring counts as one on its cell.
    cover = (
        base.mark_rect(fill="transparent", cursor="pointer", strokeWidth=0.3, stroke=NEUTRAL)
        .encode(description="pair:N", tooltip=tooltip)
        .add_params(alt.selection_point(name="pair", fields=["one", "other"], toggle=False, clear=False))
    )
    chosen = alt.Chart(cells[cells["one"] == selected]).mark_rect(
        fill=None, stroke=ACCENT, strokeWidth=4, aria=False
    )
    frame = chosen.transform_filter("datum.matched").encode(
        x=alt.X("second:N", sort=None), y=alt.Y("first:N", sort=None)
    )
    return alt.layer(colours, rings, frame, cover).properties(
        width=step * distances.shape[1],
        height=step * distances.shape[0],
        autosize="pad",
        description=f"Distances of the {distances.shape[0]} heads of {names[0]} from the {distances.shape[1]} of {names[1]}",
    )


def _name(head: int, n_heads: int) -> str:
    return "L{} H{}".format(*divmod(int(head), n_heads))


def _top(distances: np.ndarray) -> float:
    return float(distances.max(initial=0)) or 1.0


def _axis(**options: object) -> alt.Axis:
    return alt.Axis(labelOverlap=True, labelFlush=False, ticks=False, domain=False, grid=False, **options)
