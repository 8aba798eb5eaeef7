"""Effects of removing each head, all heads of a layer, and each feed-forward: a row for each layer."""

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import BARE_AXIS, cells, strong
from ..builders.figure import VegaFigure, click_on, form, need_shape, tip
from ..builders.number_format import format_number
from ..builders.palette import ROUNDING, largest
from ..builders.theme import SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour_legend

ATTENTION, FEED_FORWARD = "attn", "FF"  # the last two columns
_WIDTH, _NARROWEST, _WIDEST, _HEIGHT = 560, 38, 58, 34


def ablation_grid(
    effects: np.ndarray, away: np.ndarray, *, what: str, signed: bool, over: np.ndarray | None = None
) -> VegaFigure:
    """A grid of effects [layer, heads, then all heads, then feed-forward]: the change of `what` when one part alone is
    removed.

    Parts that are removed at present (True in `away`) are framed. `signed` effects are coloured symmetrically about 0.
    `over` holds the same effects over a data set for the tooltip, NaN where they are not known. A click sets the point
    selection `part`, fields `layer`, `column` and `away`, so that a second click differs from the first. Raises
    ValueError where the shapes differ.
    """
    need_shape(effects.shape, away=away, **({} if over is None else {"over": over}))
    n_layers, n_columns = effects.shape
    names = [*(f"H{head}" for head in range(n_columns - 2)), ATTENTION, FEED_FORWARD]
    max_effect = largest(effects, at_least=ROUNDING)
    largest_of_heads = largest(effects[:, :-2], at_least=ROUNDING)
    decimals = int(
        np.clip(1 - np.floor(np.log10(largest_of_heads)), 2, 4)
    )  # of small effects more, or all would be 0.00
    number_spec = f"{'+' if signed else ''}.{decimals}f"
    rows = [
        {
            "layer": layer,
            "column": column,
            "part": names[column],
            "name": f"L{layer} {names[column]}",
            "value": float(effects[layer, column]),
            "written": format_number(float(effects[layer, column]), number_spec),
            "over": "not measured"
            if over is None
            else format_number(float(over[layer, column]), ".3g", otherwise="not measured"),
            "away": bool(away[layer, column]),
            "selected": bool(away[layer, column]),
        }
        for layer, column in np.ndindex(effects.shape)
    ]
    frame = pd.DataFrame(rows).sort_values("selected", kind="stable")  # no neighbour's border lies on a frame
    frame["strong"] = strong(frame["value"], max_effect, signed=signed)
    step = int(np.clip(_WIDTH // n_columns, _NARROWEST, _WIDEST))
    return _chart_form(tuple(names), what, signed, over is not None).with_data(
        frame,
        in_file={
            "column": None,
            "value": what,
            "over": None if over is None else "mean size over the data set",
        },
        values={"largest": max_effect},
        width=step * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what} without each of {n_layers} layers of {n_columns - 2} heads, without all heads of each layer and "
        f"without each feed-forward; {int(away.sum())} of them are taken away.",
    )


@form
def _chart_form(names: tuple[str, ...], what: str, signed: bool, has_data: bool) -> alt.TopLevelMixin:
    x_axis = alt.Axis(orient="top", labelAngle=0, labelFlush=False, **BARE_AXIS)
    y_axis = alt.Axis(
        orient="left", labelExpr="'L' + datum.label", labelAngle=0, labelFlush=False, **BARE_AXIS
    )
    ticks = SIGNED_ENDS if signed else alt.ExprRef("[0, largest]")
    tooltip = [tip("name:N", title="without"), tip("value:Q", "+.4f" if signed else ".4f", what)]
    return cells(
        alt.X("part:N", sort=list(names), title=None, axis=x_axis),
        alt.Y("layer:O", title=None, axis=y_axis),
        tooltip=[*tooltip, *([tip("over:N", title="mean size over the data set")] if has_data else [])],
        signed=signed,
        legend=colour_legend(what, ticks, format="+.2~g" if signed else ".2~g"),
        selectable=click_on("part", "layer", "column", "away"),
        borders=(4, 0.4),
        font_size=SMALL,
    ).properties(autosize="pad")
