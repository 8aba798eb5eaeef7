"""Effects of patching the residual stream: a row for each stage, a column for each position."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column
from ..builders.figure import VegaFigure, need_shape
from ..builders.label_placement import name_axis
from ..builders.palette import ROUNDING, largest
from ..builders.short_numbers import cell_numbers
from ..builders.theme import FIT
from ..builders.token_label import label, visible
from ..builders.vega_colours import named_legend

_STEP = 22  # pixels a stage
_BORDERED = 36  # positions; between more cells lines would cover the colours


def stage_positions(
    effects: np.ndarray,
    stages: Sequence[str],
    tokens: Sequence[str],
    *,
    query: int | None,
    what: str,
    signed: bool,
    ends: tuple[str, str] = ("falls", "rises"),
) -> VegaFigure:
    """A heatmap of effects [stage, position] on `what`, NaN where a position has no partner; the column of the
    `query` is framed. `ends` name the ends of the colours.

    A click sets the point selection `cell`, fields `stage` and `position`. Raises ValueError where the shapes do not
    fit.
    """
    need_shape((len(stages), len(tokens)), effects=effects)
    stage, position = np.indices(effects.shape).reshape(2, -1)
    max_effect = largest(effects[np.isfinite(effects)], at_least=ROUNDING)
    names = [f"{index} {label(token, 14)}" for index, token in enumerate(tokens)]
    columns = [names[index] for index in position]
    x_axis = name_axis(orient="top", domain=False, grid=False)
    return grid(
        [
            Column("stage", [stages[index] for index in stage]),
            Column("token", [visible(tokens[index]) for index in position]),
            Column("position", position),
            Column("value", effects, None, in_file=what),
            Column("exact", cell_numbers(effects, max_effect, signed=signed).exact, what, in_file=None),
        ],
        alt.X("column:N", sort=alt.SortField("position"), title=None, axis=x_axis),
        alt.Y("stage:N", sort=list(stages), title=None, axis=alt.Axis(**BARE_AXIS)),
        largest=max_effect,
        signed=signed,
        legend=named_legend(what, ends, signed=signed),
        click=("cell", "stage", "position"),
        selected=position == query,
        borders=(2, 0.2 if len(tokens) <= _BORDERED else 0),
        drawing={
            "column": columns,
            "name": [f"{stages[index]}, {column}" for index, column in zip(stage, columns, strict=True)],
        },
        values={"order": names, "first": -1 if query is None else query},
        height=_STEP * len(stages),
        autosize=FIT,
        description=f"Effect on {what} of each of {len(tokens)} positions at each of {len(stages)} stages",
    )
