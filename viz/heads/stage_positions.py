"""Effects of patching the residual stream: a row for each stage, a column for each position."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import BARE_AXIS, cells
from ..builders.figure import VegaFigure, click_on, form, need_shape, tip
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
    numbers = effects.ravel().astype(float)
    max_effect = largest(numbers[np.isfinite(numbers)], at_least=ROUNDING)
    names = [f"{index} {label(token, 14)}" for index, token in enumerate(tokens)]
    frame = pd.DataFrame(
        {
            "stage": [stages[index] for index in stage],
            "position": position,
            "column": [names[index] for index in position],
            "token": [visible(tokens[index]) for index in position],
            "value": numbers,
            "exact": cell_numbers(numbers, max_effect, signed=signed).exact,
            "strong": False,
            "selected": position == query,
        }
    )
    frame["name"] = frame["stage"] + ", " + frame["column"]
    frame = frame.sort_values("selected", kind="stable")
    return _chart_form(tuple(stages), what, signed, ends, len(tokens) <= _BORDERED).with_data(
        frame,
        in_file={"column": None, "value": what, "name": None},
        values={
            "largest": max_effect,
            "order": names,
            "first": -1 if query is None else query,
        },
        height=_STEP * len(stages),
        description=f"Effect on {what} of each of {len(tokens)} positions at each of {len(stages)} stages",
    )


@form
def _chart_form(
    stages: tuple[str, ...], what: str, signed: bool, ends: tuple[str, str], has_borders: bool
) -> alt.TopLevelMixin:
    x_axis = name_axis(orient="top", domain=False, grid=False)
    return cells(
        alt.X("column:N", sort={"field": "position"}, title=None, axis=x_axis),
        alt.Y("stage:N", sort=list(stages), title=None, axis=alt.Axis(**BARE_AXIS)),
        tooltip=[tip("stage:N"), tip("token:N"), tip("position:Q"), tip("exact:N", title=what)],
        signed=signed,
        text=None,
        legend=named_legend(what, ends, signed=signed),
        selectable=click_on("cell", "stage", "position"),
        borders=(2, 0.2 if has_borders else 0),
    ).properties(autosize=FIT)
