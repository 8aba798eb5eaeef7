"""Effects of removing each head, all heads of a layer, and each feed-forward: a row for each layer."""

import numpy as np

from ..builders.cells import grid, layer_channel, part_channel
from ..builders.chart import Column
from ..builders.figure import VegaFigure, need_shape
from ..builders.number_format import format_number
from ..builders.palette import ROUNDING, largest
from ..builders.theme import SMALL
from ..builders.vega_colours import ENDS, SIGNED_ENDS, colour_legend

ATTENTION, FEED_FORWARD = "attn", "FF"  # the last two columns
_WIDTH, _NARROWEST, _WIDEST, _HEIGHT = 560, 38, 58, 34
_OVER = "mean size over the data set"


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
    layers, columns = np.indices(effects.shape).reshape(2, -1)
    sign = "+" if signed else ""
    # Of small effects more decimals, or all would be 0.00.
    decimals = int(np.clip(1 - np.floor(np.log10(largest(effects[:, :-2], at_least=ROUNDING))), 2, 4))
    means = np.full(effects.shape, np.nan) if over is None else over
    return grid(
        [
            Column("layer", layers, None),
            Column("part", [names[column] for column in columns], None),
            Column(
                "name",
                [f"L{layer} {names[column]}" for layer, column in np.ndindex(effects.shape)],
                "without",
            ),
            Column("value", effects, what, f"{sign}.4f", what),
            Column(
                "over",
                [format_number(mean, ".3g", otherwise="not measured") for mean in means.flat],
                None if over is None else _OVER,
                in_file=None if over is None else _OVER,
            ),
        ],
        part_channel(names),
        layer_channel(),
        largest=largest(effects, at_least=ROUNDING),
        signed=signed,
        written=[format_number(effect, f"{sign}.{decimals}f") for effect in effects.flat],
        font_size=SMALL,
        legend=colour_legend(what, SIGNED_ENDS if signed else ENDS, format=f"{sign}.2~g"),
        click=("part", "layer", "column", "away"),
        selected=away,
        borders=(4, 0.4),
        drawing={"column": columns, "away": away},
        width=int(np.clip(_WIDTH // n_columns, _NARROWEST, _WIDEST)) * n_columns,
        height=_HEIGHT * n_layers,
        description=f"{what} without each of {n_layers} layers of {n_columns - 2} heads, without all heads of each layer and "
        f"without each feed-forward; {int(away.sum())} of them are taken away.",
    )
