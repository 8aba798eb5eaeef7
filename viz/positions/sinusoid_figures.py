"""Sinusoidal positions as clocks, as a table, and as curves."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import cells, chosen_frame
from ..builders.figure import Kwargs, VegaFigure, data, either, form, need_shape, tip, value
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import FIT, INK, MIDDLE, SMALL
from ..builders.theme import heading as chart_title

AT_MOST = 16  # clocks in a row; of more frequencies, evenly spaced ones are drawn
_LARGEST = 36  # pixels of a radius, as all lengths here
_MIDDLE, _HEIGHT = 62, 128
_ACROSS = f"min(width / {AT_MOST}, {2.4 * _LARGEST})"  # the width is known in the browser alone
_RADIUS = f"(0.42 * {_ACROSS})"
# Of a hand that was turned further, with or without "_before".
_SINE_NOW = "datum.sine{0} * cos(datum.turned) + datum.cosine{0} * sin(datum.turned)"
_COSINE_NOW = "datum.cosine{0} * cos(datum.turned) - datum.sine{0} * sin(datum.turned)"
_NAME, _LETTER = 36, 7  # pixels of a clock's name with one letter before its number, and of each further one
_COLUMN, _ROW = 52, 22  # pixels
_BAND = 3.2  # units from curve to curve: from -1 to 1, and a line of text
_PIXELS = 92  # a band


def clock_hands(
    angles: np.ndarray,
    wavelengths: np.ndarray,
    *,
    before: np.ndarray | None = None,
    counted: str = "k",
    per_step: np.ndarray | None = None,
) -> VegaFigure:
    """A clock for each frequency, whose hand is at the angle [frequency] in radians, clockwise from the top.

    The hand points to (sin, cos); faint hands show the angles `before`. Above each clock stand the word `counted` and its
    number, below it the wavelength in positions. All hands are turned by `per_step` [frequency] radians times the value `t`, which is 0
    unless something moves it. Raises ValueError if the arrays differ in length.
    """
    before = angles if before is None else before
    per_step = np.zeros_like(angles) if per_step is None else per_step
    need_shape(angles.shape, before=before, wavelengths=wavelengths, per_step=per_step)
    n_frequencies = len(angles)
    drawn_indices = np.unique(
        np.linspace(0, n_frequencies - 1, min(n_frequencies, AT_MOST)).round().astype(int)
    )
    frame = {
        counted: drawn_indices,
        "place": np.arange(len(drawn_indices)) + 0.5,
        "wavelength": wavelengths[drawn_indices],
        "turns": angles[drawn_indices] / (2 * np.pi),
        "sine": np.sin(angles[drawn_indices]),
        "cosine": np.cos(angles[drawn_indices]),
        "sine_before": np.sin(before[drawn_indices]),
        "cosine_before": np.cos(before[drawn_indices]),
        "per_step": per_step[drawn_indices],
    }
    return _clocks_form(counted).with_data(
        frame,
        in_file={"sine_before": "sine, before", "cosine_before": "cosine, before", "per_step": None},
        values={"t": 0},
        description=f"{len(drawn_indices)} of the {n_frequencies} frequencies as clocks, the fastest on the left",
    )


@form
def _clocks_form(counted: str) -> alt.TopLevelMixin:
    name_width = _NAME + _LETTER * (len(counted) - 1)
    base = alt.Chart(data()).transform_calculate(
        turned="datum.per_step * t",
        turns_now="datum.turns + datum.turned / (2 * PI)",
        sine_now=_SINE_NOW.format(""),
        cosine_now=_COSINE_NOW.format(""),
        sine_before_now=_SINE_NOW.format("_before"),
        cosine_before_now=_COSINE_NOW.format("_before"),
        middle=f"datum.place * {_ACROSS}",
        centre=str(_MIDDLE),
        tip_x=f"datum.middle + {_RADIUS} * datum.sine_now",
        tip_y=f"{_MIDDLE} - {_RADIUS} * datum.cosine_now",
        tip_x_before=f"datum.middle + {_RADIUS} * datum.sine_before_now",
        tip_y_before=f"{_MIDDLE} - {_RADIUS} * datum.cosine_before_now",
        twelve=f"{_MIDDLE} - {_RADIUS}",
        twelve_end=f"{_MIDDLE} - 0.8 * {_RADIUS}",
        above=f"{_MIDDLE} - {_RADIUS} - 12",
        below=f"{_MIDDLE} + {_RADIUS} + 13",
        # Where the clocks are narrower than their names, some of them go without.
        named=f"(datum.place - 0.5) % ceil({name_width} / {_ACROSS}) == 0",
        name=f"datum.named ? '{counted} ' + datum.{counted} : ''",
        length="datum.named ? 'λ ' + format(datum.wavelength, '.3~s') : ''",
        spoken=f"'{counted} ' + datum.{counted} + ': ' + format(datum.turns_now, '.3~f') + ' turns'",
    )
    faces = base.mark_point(
        shape="circle",
        size=alt.expr(f"pow(2 * {_RADIUS}, 2)"),  # Vega takes the square of the diameter
        stroke=NEUTRAL,
        strokeWidth=1,
        fill="transparent",
    ).encode(
        x=pixel_x("middle"),
        y=pixel_y("centre"),
        description="spoken:N",
        tooltip=[
            tip(f"{counted}:Q"),
            tip("wavelength:Q", ",.2f", "wavelength (positions)"),
            tip("turns_now:Q", ",.4f", "turns since t = 0"),
            tip("sine_now:Q", ".4f", "sine"),
            tip("cosine_now:Q", ".4f", "cosine"),
        ],
    )
    noon = base.mark_rule(stroke=NEUTRAL, strokeWidth=1, aria=False).encode(
        x=pixel_x("middle"), y=pixel_y("twelve"), y2="twelve_end:Q"
    )
    hand: Kwargs = {"strokeCap": "round", "aria": False, "tooltip": None}
    hands_before = base.mark_rule(**hand, stroke=NEUTRAL, strokeWidth=2.5, opacity=0.6).encode(
        x=pixel_x("middle"), x2="tip_x_before:Q", y=pixel_y("centre"), y2="tip_y_before:Q"
    )
    hands = base.mark_rule(**hand, stroke=INK, strokeWidth=3).encode(
        x=pixel_x("middle"), x2="tip_x:Q", y=pixel_y("centre"), y2="tip_y:Q"
    )
    text = base.mark_text(aria=False, color=INK, fontSize=SMALL)
    names = text.encode(x=pixel_x("middle"), y=pixel_y("above"), text="name:N")
    lengths = text.encode(x=pixel_x("middle"), y=pixel_y("below"), text="length:N")
    layers = (noon, hands_before, hands, faces, names, lengths)
    return alt.layer(*layers).properties(width=900, height=_HEIGHT, autosize=FIT)


def counter_table(
    values: np.ndarray,
    texts: np.ndarray,
    columns: Sequence[str],
    positions: Sequence[int],
    *,
    position: int,
    title: str,
    heading: str,
) -> VegaFigure:
    """A table of `texts` on the colours of `values`, both [position, column]; the row of the chosen `position` is
    framed.

    `heading` is the common title of the columns; the name of a column may have several lines, separated by "|".
    Raises ValueError where the shapes do not fit.
    """
    shape = (len(positions), len(columns))
    need_shape(shape, values=values, texts=texts)
    row, column = np.indices(shape).reshape(2, -1)
    t, column_names = np.asarray(positions)[row], np.asarray(columns, dtype=object)[column]
    frame = {
        "t": t,
        "column": column_names,
        "value": values.ravel().astype(float),
        "written": texts.ravel().astype(object),
        "name": [
            f"t = {row_position}, {column_name}"
            for row_position, column_name in zip(t, column_names, strict=True)
        ],
    }
    return _table_form(heading).with_data(
        frame,
        in_file={"t": "position", "name": None},
        frames={"framed": {"t": [position]}},
        values={"largest": 1},
        width=_COLUMN * len(columns),
        height=_ROW * len(positions),
        title=chart_title(title) | {"fontWeight": "normal"},
        description=f"{title}; position {position} is framed",
    )


@form
def _table_form(heading: str) -> alt.TopLevelMixin:
    x_axis = alt.Axis(
        orient="top",
        labelAngle=0,
        labelExpr="split(datum.label, '|')",
        labelLimit=0,
        labelOverlap=False,
        ticks=False,
        domain=False,
    )
    y = alt.Y("t:O", title="position t", axis=alt.Axis(ticks=False, domain=False))
    table = cells(
        alt.X("column:N", sort=None, title=heading, axis=x_axis),
        y,
        tooltip=[tip("t:O", title="position t"), tip("column:N"), tip("written:N", title="value")],
        signed=True,
        font_size=SMALL,
        writing={"color": INK},
        stroke=NEUTRAL,
        strokeWidth=0.5,
        opacity=0.75,
    )
    frame = chosen_frame(alt.Chart(data("framed")).encode(y=y))
    return alt.layer(table, *frame).properties(autosize="pad")


def wave_curves(
    names: Sequence[str], values: np.ndarray, t: np.ndarray, waves: np.ndarray, *, position: int
) -> VegaFigure:
    """Curves `waves` [curve, t] with dots at `values` [curve, position]; the chosen `position` is marked.

    Raises ValueError where names, dots and waves differ in number.
    """
    need_shape((len(names), ...), values=values, waves=waves)
    n_curves, n_positions = values.shape
    shift = -_BAND * np.arange(n_curves)
    dots = {
        "name": np.repeat(list(names), n_positions),
        "t": np.tile(np.arange(n_positions), n_curves),
        "value": values.astype(float).ravel(),
        "place": np.round(values + shift[:, None], 4).ravel(),
    }
    lines = {
        "curve": np.repeat(np.arange(n_curves), len(t)),
        "t": np.tile(np.round(t, 3), n_curves),
        "place": np.round(waves + shift[:, None], 4).ravel(),
    }
    bands = pd.DataFrame(
        {"name": list(names), "zero": shift, "low": shift - 1.1, "high": shift + 1.1, "above": shift + 1.55}
    )
    return _waves_form(n_curves).with_data(
        dots,
        in_file={"name": "dimension", "t": "position"},
        values={
            "position": position,
            "last": max(n_positions - 1, 1),
            "size": 14 if n_positions <= 128 else 3,
        },
        frames={"waves": lines, "bands": bands},
        height=max(n_curves, 1) * _PIXELS,
        description=f"{n_curves} dimensions over {n_positions} positions; one position is marked",
    )


@form
def _waves_form(n_curves: int) -> alt.TopLevelMixin:
    x = alt.X("t:Q", title="position t", scale=alt.Scale(domain=[0, value("last")], nice=False))
    # Each band has the labels -1, 0 and 1.
    ticks = [tick_value - _BAND * curve for curve in range(n_curves) for tick_value in (-1, 0, 1)]
    labels = f"round(datum.value + {_BAND} * round(-datum.value / {_BAND}))"
    axis = alt.Axis(values=ticks, grid=False, labelExpr=labels)
    scale = alt.Scale(domain=[-_BAND * max(n_curves - 1, 0) - 1.2, 2], nice=False)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="value, from −1 to 1", scale=scale, axis=axis)

    def if_chosen(then: object, otherwise: object) -> Mapping[str, Any]:
        return either("datum.t == +position", then, otherwise)

    curves = alt.Chart(data("waves")).mark_line(color=EMPHASIS, strokeWidth=1.5, aria=False)
    dots = alt.Chart(data()).mark_circle(opacity=1)
    points = dots.encode(
        x=x,
        y=up("place"),
        color=if_chosen(ACCENT, EMPHASIS),
        size=if_chosen(90, value("size")),
        tooltip=[tip("name:N", title="dimension"), tip("t:Q", title="position t"), tip("value:Q", ".4f")],
    )
    bands = alt.Chart(data("bands"))
    names = bands.mark_text(align="left", fontSize=MIDDLE, color=INK, dx=2)
    rule = bands.mark_rule(color=ACCENT, strokeWidth=1.5, aria=False)
    zero = bands.mark_rule(color=NEUTRAL, strokeWidth=0.5, aria=False)
    return alt.layer(
        zero.encode(y=up("zero")),
        rule.encode(x=alt.XDatum(value("position"), type="quantitative"), y=up("low"), y2="high:Q"),
        curves.encode(x=x, y=up("place"), detail="curve:N"),
        points,
        names.encode(x=alt.value(0), y=up("above"), text="name:N"),
    )
