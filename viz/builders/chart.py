"""Vega-Lite charts from columns and layers of marks: each column is declared once, and layers refer to it by name.
Also line charts over a number or over stages of the residual stream.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from altair.utils import schemapi

from .figure import FRAME, Columns, Kwargs, VegaFigure, conditional_value
from .number_format import THIN_PERCENT
from .palette import ACCENT, EMPHASIS
from .theme import FIT

Channels = Mapping[str, Any]
# A unit of Vega-Lite as JSON holds it; "selections" are the parameters that its marks set.
Layer = Mapping[str, Any]

_ENDS = ("x2", "y2")  # channels whose type is that of x and y
CHOSEN = "chosen"  # the frame of the place that `rule` marks
WHOLE = alt.Axis(tickMinStep=1, format="d", grid=False)  # an axis of whole numbers

Series = Mapping[str, tuple[Iterable, Iterable]]  # by kind: x values and y values


class Column(NamedTuple):
    """One column of a chart's data: its name in the data frame, its title in the tooltip, and its name in the
    exported file.
    """

    name: str
    values: Any  # one for each mark
    title: str | None = ""  # in the tooltip: by default its name; None: not in the tooltip
    format: str = ""  # Vega's, of numbers
    in_file: str | None = ""  # by default its name; None: not in a file


class Rows(NamedTuple):
    """The rows of a data frame, after transforms of Vega-Lite."""

    frame: str = FRAME
    transform: tuple[Mapping[str, Any], ...] = ()

    def then(self, *transforms: Mapping[str, Any]) -> "Rows":
        """The rows after further transforms."""
        return Rows(self.frame, (*self.transform, *transforms))

    def where(self, expression: str) -> "Rows":
        """The rows for which the Vega `expression` is true."""
        return self.then({"filter": expression})

    def calculate(self, **columns: str) -> "Rows":
        """The rows with further `columns`, Vega expressions by name; an expression may use the columns that come
        before it.
        """
        return self.then(*({"calculate": expression, "as": name} for name, expression in columns.items()))


def chart(
    columns: Sequence[Column],
    *layers: Layer | None,
    drawing: Columns | None = None,
    frames: Mapping[str, Columns] | None = None,
    values: Mapping[str, Any] | None = None,
    params: Sequence[Mapping[str, Any]] = (),
    last: np.ndarray | None = None,
    table: Callable[[], pd.DataFrame] | None = None,
    autosize: object = FIT,
    **properties: Any,
) -> VegaFigure:
    """A figure of these layers, drawn in this order; a layer that is None is left out.

    The data frame has the `columns`, and those of `drawing`, which only the drawing needs; arrays are flattened in C
    order. Rows whose entry in `last` is true are drawn last, on top of the others. `frames` are further data frames
    by name. `values` are numbers and lists by name, to which channels refer by `value(name)`; `params` are further
    parameters of Vega-Lite. `table` makes another table for the exported file, as in `VegaFigure`; `properties` are
    Vega-Lite's properties of the whole chart.
    """
    frame = pd.DataFrame(
        {column.name: _flattened(column.values) for column in columns}
        | {name: _flattened(numbers) for name, numbers in (drawing or {}).items()}
    )
    if last is not None:
        frame = frame.iloc[np.argsort(np.ravel(last), kind="stable")]
    in_file = dict.fromkeys(drawing or ()) | {
        column.name: column.name if column.in_file == "" else column.in_file for column in columns
    }
    units, selections = [], []
    for number, unit in enumerate([dict(unit) for unit in layers if unit is not None]):
        for selection in unit.pop("selections", ()):
            unit["name"] = f"view_{number}"
            selections.append({**selection, "views": [unit["name"]]})
        units.append(unit)
    params = [
        *selections,
        *params,
        *({"name": name, "value": number} for name, number in (values or {}).items()),
    ]
    specification = {"$schema": alt.SCHEMA_URL, **as_vega_lite(properties)}
    specification |= {"autosize": autosize} if autosize else {}
    specification |= {"params": params} if params else {}
    specification["layer"] = units
    if len({unit["data"]["name"] for unit in units}) == 1:  # said once
        specification["data"] = units[0]["data"]
        for unit in units:
            del unit["data"]
    made = {name: pd.DataFrame(content) for name, content in (frames or {}).items()}
    return VegaFigure(specification, {FRAME: frame, **made}, in_file, table)


def layer(
    mark: str,
    channels: Channels,
    frame: str | Rows = FRAME,
    *,
    where: str = "",
    calculate: Mapping[str, str] | None = None,
    click: tuple[str, ...] = (),
    selections: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> Layer:
    """A layer of marks of Vega-Lite's type `mark`, such as "bar", with their `options`: one mark for each row of
    `frame` for which the Vega expression `where` is true.

    A channel is one of Altair's, or the name of a column with its type, such as "name:N"; a tooltip is a list of
    these and of `Column`. `calculate` are Vega expressions for further columns. A click on a mark sets the point
    selection `click[0]` to the mark's fields `click[1:]`; `selections` are further parameters that the marks set.
    """
    rows = Rows(frame) if isinstance(frame, str) else frame
    rows = rows.where(where) if where else rows
    rows = rows.calculate(**(calculate or {}))
    if click:
        selections = [point_selection(*click), *selections]
    unit: dict[str, Any] = {
        "data": {"name": rows.frame},
        "mark": {"type": mark, **as_vega_lite(options)},
        "encoding": {name: _channel_json(name, channel) for name, channel in channels.items()},
    }
    unit |= {"transform": list(rows.transform)} if rows.transform else {}
    return unit | ({"selections": selections} if selections else {})


def point_selection(name: str, *fields: str, **options: Any) -> dict[str, Any]:
    """The parameter of a point selection `name`, which holds the `fields` of the mark that was clicked last, unless
    Vega-Lite's `options` say otherwise.
    """
    select = {"type": "point", "fields": list(fields), "toggle": False, "clear": False}
    return {"name": name, "select": select | options}


def hover_selection(*fields: str) -> dict[str, Any]:
    """The parameter of the point selection `over`, which holds the `fields` of the mark under the pointer. It is
    cleared where the pointer is on no mark that has the last of the fields.
    """
    # Cleared where the pointer is over nothing that has the field; at each move it would cost a second pass.
    nothing = {
        "source": "view",
        "type": "pointerover",
        "filter": [f"!item() || !item().datum || !isDefined(item().datum.{fields[-1]})"],
    }
    # An item that is left makes such an event too, out of a move; this is the pointer leaving the chart.
    out = {"source": "view", "type": "pointerout", "filter": ["event.type == 'pointerout'"]}
    return point_selection("over", *fields, on="pointerover", clear={"merge": [nothing, out]})


def lines(
    channels: Channels,
    tooltip: Sequence[Any],
    line: Mapping[str, Any],
    points: Mapping[str, Any] | None = None,
    click: tuple[str, ...] = (),
    **further: Any,
) -> list[Layer]:
    """Layers of lines through the rows of the data frame and, with `points`, of a point for each row; `line` and
    `points` are options of these marks.

    `tooltip`, `click` and the channels `further` apply to the points, or to the lines if there are no points.
    """
    channels = as_vega_lite(channels)  # once for both
    thread = {name: channel for name, channel in channels.items() if name != "shape"}
    if points is None:
        return [layer("line", thread | {"tooltip": tooltip} | further, click=click, **line)]
    dots = {name: channel for name, channel in channels.items() if name != "strokeDash"}
    dots |= {"tooltip": tooltip} | further
    style = {"filled": True, "opacity": 1, **points}
    return [layer("line", thread, **line), layer("point", dots, click=click, **style)]


def dots(
    channels: Channels,
    tooltip: Sequence[Any],
    click: tuple[str, ...],
    *,
    sizes: tuple[float, float],
    mark: str = "point",
    called: str = "name:N",
    **options: Any,
) -> Layer:
    """A layer of points at these `channels`; those whose column `selected` is true are green. `sizes` are the sizes of
    selected and of other points, and `called` is the column that screen readers read; the other arguments are those
    of `layer`.
    """
    style = {"cursor": "pointer"} | ({"filled": True} if mark == "point" else {}) | options
    own = {
        "color": conditional_value("datum.selected", ACCENT, EMPHASIS),
        "size": conditional_value("datum.selected", *sizes),
        "description": called,
        "tooltip": tooltip,
    }
    return layer(mark, own | dict(channels), click=click, **style)


def _flattened(values: Any) -> Any:
    """An array flattened in C order, floats as float64; anything else as it is."""
    if not isinstance(values, np.ndarray):
        return values
    return values.ravel().astype(float) if values.dtype.kind == "f" else values.ravel()


def _tooltip_line_of_column(column: Column) -> Any:
    """The tooltip line of a column, as Vega-Lite's JSON."""
    has_kind = isinstance(column.values, np.ndarray) or len(column.values)  # an empty list has none
    kind = "Q" if (np.asarray(column.values).dtype.kind in "iuf" if has_kind else column.format) else "N"
    line = {**_field_json(f"{column.name}:{kind}"), "format": column.format, "title": column.title}
    return {name: part for name, part in line.items() if part}


def _field_json(text: str) -> dict[str, Any]:
    """The field and type of a text such as "name:N", as Vega-Lite's JSON."""
    name, _, letter = text.rpartition(":")
    kinds = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}
    return {"field": name, "type": kinds[letter]}


def _channel_json(name: str, channel: Any) -> Any:
    """The `channel` called `name` as Vega-Lite's JSON; a list under "tooltip" becomes its lines."""
    if name == "tooltip" and isinstance(channel, list | tuple):
        return [
            _line_of_tooltip(line)
            for line in channel
            if not (isinstance(line, Column) and line.title is None)
        ]
    if isinstance(channel, str):
        field = _field_json(channel)
        return {"field": field["field"]} if name in _ENDS else field
    return as_vega_lite(channel)


def _line_of_tooltip(line: Any) -> Any:
    """A line of a tooltip as Vega-Lite's JSON: of a column, of a text such as "name:N", or of an Altair object."""
    if isinstance(line, Column):
        return _tooltip_line_of_column(line)
    return _field_json(line) if isinstance(line, str) else as_vega_lite(line)


def skip_altair_checks() -> None:
    """Turns off Altair's checks of axes and legends against its schema: tests do them, and they take longer than the
    rest of a chart.
    """
    schemapi.disable_debug_mode()


def as_vega_lite(item: Any) -> Any:
    """`item` with all Altair objects inside of it as Vega-Lite's JSON."""
    if isinstance(item, alt.SchemaBase):
        return item.to_dict(validate=False)
    if isinstance(item, Mapping):
        return {name: as_vega_lite(part) for name, part in item.items()}
    return [as_vega_lite(part) for part in item] if isinstance(item, list | tuple) else item


def long_columns(series: Series, kind: Column, x: Column, y: Column) -> list[Column]:
    """The columns `kind`, `x` and `y` with the values of the `series` in long form: a row for each point, `kind`
    holding the name of its series. Values that the columns held before are replaced.
    """
    rows = [
        (name, x_value, y_value)
        for name, pairs in series.items()
        for x_value, y_value in zip(*pairs, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[kind.name, x.name, y.name])
    return [column._replace(values=frame[column.name].to_numpy()) for column in (kind, x, y)]


def encodings_by_kind(
    field: str, kinds: Sequence[str], *, legend: Kwargs | None = None, **ranges: Sequence
) -> Kwargs:
    """Channels, such as colour, shape and dash, that distinguish the `kinds` in the column `field` (such as
    "side:N").

    `ranges` maps each channel to its values, in the order of `kinds`. All channels share one legend above the plot.
    """
    legend_above = alt.Legend(**{"title": None, "orient": "top", "labelLimit": 0, **(legend or {})})
    channels = {"color": alt.Color, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
    scales = {
        name: alt.Scale(domain=list(kinds), range=list(colours[: len(kinds)]))
        for name, colours in ranges.items()
    }
    return {name: channels[name](field, scale=scale, legend=legend_above) for name, scale in scales.items()}


_MOST_UPRIGHT = 6  # names of stages that stand beside each other without being slanted


def stage_axis(stages: Sequence[str], title: str, **options: Any) -> alt.X:
    """The x channel of the column `stage`, whose axis names the `stages` in this order; many names are slanted."""
    angle = -45 if len(stages) > _MOST_UPRIGHT else 0
    axis = alt.Axis(labelAngle=angle, labelOverlap="greedy", labelLimit=0)
    return alt.X("stage:N", sort=list(stages), title=title, axis=axis, **options)


def probability_axis() -> Kwargs:
    """Options of an axis for a probability, from 0 to 1."""
    axis = alt.Axis(format="%", labelExpr=THIN_PERCENT, values=[0, 0.25, 0.5, 0.75, 1])
    return {"scale": alt.Scale(domain=[0, 1]), "axis": axis}


def vertical_line(field: str, tooltip: Any = None, **mark: Any) -> Layer:
    """A vertical line at the value of `field` in the data frame named `CHOSEN`, with options of its `mark`."""
    style: Kwargs = {"color": ACCENT, "strokeWidth": 2.5, "aria": False, **mark}
    channels: Kwargs = {"x": f"{field}:Q"} | ({"tooltip": tooltip} if tooltip else {})
    return layer("rule", channels, CHOSEN, **style)
