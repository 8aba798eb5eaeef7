"""Grids with one number for each head: a row for each layer, a column for each head."""

from typing import Any

import altair as alt
import numpy as np

from .cells import cells, head_axis, head_cells, strong
from .figure import LayeredChart, VegaFigure, click_on, form, need_shape, tip
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
    frame = head_cells(values, selected)
    numbers = cell_numbers(frame["value"].to_numpy(), max_value, signed=signed, digits=digits)
    frame["written"], frame["exact"] = numbers.written, numbers.exact
    frame["note"] = "" if notes is None else [notes[cell] for cell in frame.index]
    frame["strong"] = strong(frame["value"], max_value, signed=signed)
    cell_side = int(np.clip(_NARROW // max(values.shape[1], 1), _LEAST, _MOST))
    return _grid_form(signed, title[0], notes is not None).with_data(
        frame,
        in_file={"value": title[0], "note": None if notes is None else "pair"},
        values={"largest": max_value},
        width=cell_side * values.shape[1],
        height=_LOW * values.shape[0],
        title=heading(*title, *filter(None, [numbers.unit])),
        description=f"{title[0]} of {values.shape[0]} layers of {values.shape[1]} heads",
    )


@form
def _grid_form(signed: bool, what: str, noted: bool) -> LayeredChart:
    tooltip = [tip("exact:N", title=what), *([tip("note:N", title="pair")] if noted else [])]
    return _head_cells_chart(tooltip, signed=signed, selectable=click_on("head", "layer", "head")).properties(
        autosize="pad"
    )


def entropy_change(before: np.ndarray, after: np.ndarray, *, selected: tuple[int, int]) -> VegaFigure:
    """A grid of `after` minus `before`, two entropies [layer, head]: negative cells are purple, positive ones gold.

    The `selected` head is framed. A click on a cell sets the point selection `head`, fields `layer` and `head`.
    Raises ValueError if the shapes differ.
    """
    need_shape(before.shape, after=after)
    n_layers, n_heads = before.shape
    frame = head_cells(after - before, selected)
    max_change = largest(after - before, at_least=ROUNDING)
    frame["before"], frame["after"] = (
        entropies.ravel()[frame.index].astype(float) for entropies in (before, after)
    )
    frame["written"] = [format_number(change, "+.3f") for change in frame["value"]]
    frame["strong"] = strong(frame["value"], max_change, signed=True)
    return _entropy_form().with_data(
        frame,
        in_file={"value": "change"},
        values={"largest": max_change},
        width=int(np.clip(_WIDTH // n_heads, _NARROWEST, _WIDEST)) * n_heads,
        height=_HEIGHT * n_layers,
        description=f"Change of the entropy of {n_layers} layers of {n_heads} heads; "
        f"{head_name(*selected)} is chosen.",
    )


@form
def _entropy_form() -> LayeredChart:
    return _head_cells_chart(
        [tip("before:Q", ".4f"), tip("after:Q", ".4f"), tip("value:Q", "+.4f", "change")],
        titles=("layer", "head"),
        signed=True,
        font_size=SMALL,
        legend=colour_legend("change of the entropy H / ln n (no unit)", SIGNED_ENDS, format="+.2~g"),
        selectable=click_on("head", "layer", "head"),
    ).properties(autosize="pad")


def formation_map(steps: np.ndarray, *, among: np.ndarray, title: str = "") -> VegaFigure:
    """A grid of the training `steps` [layer, head] at which heads formed, coloured by their rank in `among`, the steps
    of all heads that are compared.

    Most heads form late in a run, so colours by the step itself would be nearly the same for all.
    """
    frame = head_cells(steps, called="step")
    ordered = np.sort(among, axis=None)
    before = np.searchsorted(ordered, frame["step"], side="left")
    up_to = np.searchsorted(ordered, frame["step"], side="right")
    frame["late"] = (
        (before + up_to - 1) / 2 / max(ordered.size - 1, 1)
    )  # heads of one step share their mean rank
    frame["strong"] = strong(frame["late"], 1, signed=False)
    return _steps_form().with_data(frame, values={"largest": 1}, title=heading(title))


@form
def _steps_form() -> LayeredChart:
    description = "The training step at which each head took its form."
    return _head_cells_chart(
        [tip("step:Q", ",", "formed at step")],
        signed=False,
        field="late",
        legend=colour_legend(
            "order in which the heads formed", [0, 1], labelExpr="datum.value < 0.5 ? 'first' : 'last'"
        ),
        text=alt.Text("step:Q", format=".2~s"),
        font_size=MIDDLE,
        stroke=NEUTRAL,
        strokeWidth=0.5,
    ).properties(width=alt.Step(62), height=alt.Step(34), description=description, autosize="pad")


def _head_cells_chart(
    tooltip: list[alt.Tooltip], *, titles: tuple[str | None, str | None] = (None, None), **options: Any
) -> LayeredChart:
    """A chart with a cell for each head, whose tooltip has the head's name and the lines `tooltip`; `titles` are those
    of the y and the x axis.
    """
    return cells(
        alt.X("head:O", title=titles[1], axis=head_axis("H", orient="top")),
        alt.Y("layer:O", title=titles[0], axis=head_axis("L", orient="left")),
        tooltip=[tip("name:N", title="head"), *tooltip],
        **options,
    )
