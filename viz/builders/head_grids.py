"""Grids with one number for each head: a row for each layer, a column for each head."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from .cells import grid, head_axis, layer_channel
from .chart import Column
from .figure import VegaFigure, need_shape
from .number_format import format_number, head_name
from .palette import NEUTRAL, ROUNDING, largest
from .short_numbers import cell_numbers
from .theme import MIDDLE, SMALL, heading
from .vega_colours import SIGNED_ENDS, colour_legend

_NARROW, _LEAST, _MOST = 230, 40, 64
_LOW = 34
_WIDTH = 640  # pixels for all heads together, while a cell stays between the narrowest and the widest
_NARROWEST, _WIDEST, _HEIGHT = 40, 80, 40


def head_grid(
    values: np.ndarray,
    *,
    selected: tuple[int, int],
    title: list[str],
    signed: bool,
    notes: list[str] | None = None,
    digits: int = 2,
) -> VegaFigure:
    """A grid of values [layer, head], NaN for a head without a value; the `selected` (layer, head) is framed.

    `signed` values are coloured symmetrically about 0, others from 0 to the largest. `notes`, one for each head in the
    order of layers, are shown in the tooltip. A click sets the point selection `head`, fields `layer` and `head`.
    """
    max_value = largest(values[np.isfinite(values)], at_least=ROUNDING)
    numbers = cell_numbers(values, max_value, signed=signed, digits=digits)
    cell_side = int(np.clip(_NARROW // max(values.shape[1], 1), _LEAST, _MOST))
    return _head_cells(
        [
            Column("value", values, None, in_file=title[0]),
            Column("exact", numbers.exact, title[0], in_file=None),
            *([] if notes is None else [Column("note", notes, "pair", in_file="pair")]),
        ],
        selected=selected,
        largest=max_value,
        signed=signed,
        written=numbers.written,
        width=cell_side * values.shape[1],
        height=_LOW * values.shape[0],
        title=heading(*title, *filter(None, [numbers.unit])),
        description=f"{title[0]} of {values.shape[0]} layers of {values.shape[1]} heads",
    )


def entropy_change(before: np.ndarray, after: np.ndarray, *, selected: tuple[int, int]) -> VegaFigure:
    """A grid of `after` minus `before`, two entropies [layer, head]: negative cells are purple, positive ones gold.

    The `selected` head is framed. A click on a cell sets the point selection `head`, fields `layer` and `head`.
    Raises ValueError if the shapes differ.
    """
    need_shape(before.shape, after=after)
    n_layers, n_heads = before.shape
    return _head_cells(
        [
            Column("before", before, format=".4f"),
            Column("after", after, format=".4f"),
            Column("value", after - before, "change", "+.4f", "change"),
        ],
        selected=selected,
        titles=("layer", "head"),
        largest=largest(after - before, at_least=ROUNDING),
        signed=True,
        written=[format_number(change, "+.3f") for change in (after - before).flat],
        font_size=SMALL,
        legend=colour_legend("change of the entropy H / ln n (no unit)", SIGNED_ENDS, format="+.2~g"),
        width=int(np.clip(_WIDTH // n_heads, _NARROWEST, _WIDEST)) * n_heads,
        height=_HEIGHT * n_layers,
        description=f"Change of the entropy of {n_layers} layers of {n_heads} heads; "
        f"{head_name(*selected)} is chosen.",
    )


def formation_map(steps: np.ndarray, *, among: np.ndarray, title: str = "") -> VegaFigure:
    """A grid of the training `steps` [layer, head] at which heads formed, coloured by their rank in `among`, the steps
    of all heads that are compared.

    Most heads form late in a run, so colours by the step itself would be nearly the same for all.
    """
    ordered = np.sort(among, axis=None)
    # Heads of one step share their mean rank.
    ranks = (
        np.searchsorted(ordered, steps, side="left") + np.searchsorted(ordered, steps, side="right") - 1
    ) / 2
    return _head_cells(
        [Column("step", steps.astype(float), "formed at step", ",")],
        drawing={"late": ranks / max(ordered.size - 1, 1)},
        colour_of="late",
        largest=1,
        signed=False,
        legend=colour_legend(
            "order in which the heads formed", [0, 1], labelExpr="datum.value < 0.5 ? 'first' : 'last'"
        ),
        written=alt.Text("step:Q", format=".2~s"),
        font_size=MIDDLE,
        mark={"stroke": NEUTRAL, "strokeWidth": 0.5},
        width={"step": 62},
        height={"step": 34},
        title=heading(title),
        description="The training step at which each head took its form.",
    )


def _head_cells(
    columns: Sequence[Column],
    *,
    selected: tuple[int, int] | None = None,
    titles: tuple[str | None, str | None] = (None, None),
    **options: Any,
) -> VegaFigure:
    """A grid with a cell for each head, whose columns follow its layer, number and name; `titles` are those of the y and the x axis.

    The head `selected` is framed, and a click on any sets the point selection `head`.
    """
    heads = list(np.ndindex(columns[0].values.shape))
    layers, numbers = np.indices(columns[0].values.shape).reshape(2, -1)
    names = [head_name(layer, head) for layer, head in heads]
    first = [Column("layer", layers, None), Column("head", numbers, None), Column("name", names, "head")]
    if selected is not None:
        options |= {"click": ("head", "layer", "head"), "selected": [head == selected for head in heads]}
    return grid(
        [*first, *columns],
        alt.X("head:O", title=titles[1], axis=head_axis("H", orient="top")),
        layer_channel(titles[0]),
        **options,
    )
