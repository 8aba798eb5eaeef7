"""Sinusoidal position vectors as clocks, as a table, and as curves."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import frame_layers, grid
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip, value
from ..builders.number_format import format_number
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE, SMALL
from ..builders.theme import heading as chart_title

MOST_CLOCKS = 16  # clocks in a row; of more frequencies, evenly spaced ones are drawn
_MAX_RADIUS = 36  # pixels of a radius, as all lengths here
_CENTRE_Y, _HEIGHT = 62, 128
_CLOCK_WIDTH = f"min(width / {MOST_CLOCKS}, {2.4 * _MAX_RADIUS})"  # the width is known in the browser alone
_RADIUS = f"(0.42 * {_CLOCK_WIDTH})"
_NAME_WIDTH, _LETTER_WIDTH = (
    36,
    7,
)  # pixels of a clock's name with one letter before its number, and of each further one
_COLUMN_WIDTH, _ROW_HEIGHT = 52, 22  # pixels
_CURVE_SPACING = 3.2  # units from curve to curve: from -1 to 1, and a line of text
_CURVE_HEIGHT = 92  # a band


def clock_hands(
    angles: np.ndarray,
    wavelengths: np.ndarray,
    *,
    before: np.ndarray | None = None,
    counted: str = "clock",
    per_step: np.ndarray | None = None,
) -> VegaFigure:
    """A clock for each frequency, whose hand has turned by `angles` [frequency] in radians, clockwise from the top.

    The hand points to (sin, cos); faint hands show the angles `before` [frequency]. Above each clock stands the word
    `counted` with the clock's number, below it the wavelength in positions. If an element of the page sets the
    chart's value `t` (0 without one), all hands turn by another `per_step` [frequency] radians times `t`.
    """
    before = angles if before is None else before
    per_step = np.zeros_like(angles) if per_step is None else per_step
    n_frequencies = len(angles)
    drawn_indices = np.unique(
        np.linspace(0, n_frequencies - 1, min(n_frequencies, MOST_CLOCKS)).round().astype(int)
    )
    name_width = _NAME_WIDTH + _LETTER_WIDTH * (len(counted) - 1)
    edges = {
        "angle_now": "datum.angle + datum.per_step * t",
        "turns_now": "datum.angle_now / (2 * PI)",
        "sine_now": "sin(datum.angle_now)",
        "cosine_now": "cos(datum.angle_now)",
        "middle": f"datum.place * {_CLOCK_WIDTH}",
        "centre": str(_CENTRE_Y),
        "tip_x": f"datum.middle + {_RADIUS} * datum.sine_now",
        "tip_y": f"{_CENTRE_Y} - {_RADIUS} * datum.cosine_now",
        "tip_x_before": f"datum.middle + {_RADIUS} * sin(datum.angle_now - datum.turned)",
        "tip_y_before": f"{_CENTRE_Y} - {_RADIUS} * cos(datum.angle_now - datum.turned)",
        "twelve": f"{_CENTRE_Y} - {_RADIUS}",
        "twelve_end": f"{_CENTRE_Y} - 0.8 * {_RADIUS}",
        "above": f"{_CENTRE_Y} - {_RADIUS} - 12",
        "below": f"{_CENTRE_Y} + {_RADIUS} + 13",
        # Where the clocks are narrower than their names, they have numbers alone, and some of them none.
        "named": f"(datum.place - 0.5) % ceil({_NAME_WIDTH} / {_CLOCK_WIDTH}) == 0",
        "name": f"datum.named ? ({_CLOCK_WIDTH} < {name_width} ? '' : '{counted} ') + datum.{counted} : ''",
        "length": "datum.named ? 'λ ' + format(datum.wavelength, '.3~s') : ''",
        "spoken": f"'{counted} ' + datum.{counted} + ': ' + format(datum.turns_now, '.3~f') + ' turns'",
    }
    tooltip = [
        tip(f"{counted}:Q"),
        tip("wavelength:Q", ",.2f", "wavelength (positions)"),
        tip("turns_now:Q", ",.4f", "turns since t = 0"),
        tip("sine_now:Q", ".4f", "sine"),
        tip("cosine_now:Q", ".4f", "cosine"),
    ]
    centre = {"x": pixel_x("middle"), "y": pixel_y("centre")}
    hand: Kwargs = {"calculate": edges, "strokeCap": "round", "aria": False, "tooltip": None}
    text: Kwargs = {"calculate": edges, "aria": False, "color": INK, "fontSize": SMALL}
    return chart(
        [
            Column(counted, drawn_indices),
            Column("wavelength", wavelengths[drawn_indices]),
            Column("turns", angles[drawn_indices] / (2 * np.pi)),
            Column("sine", np.sin(angles[drawn_indices])),
            Column("cosine", np.cos(angles[drawn_indices])),
            Column("sine_before", np.sin(before[drawn_indices]), in_file="sine, before"),
            Column("cosine_before", np.cos(before[drawn_indices]), in_file="cosine, before"),
        ],
        layer(
            "rule",
            {"x": pixel_x("middle"), "y": pixel_y("twelve"), "y2": "twelve_end:Q"},
            calculate=edges,
            stroke=NEUTRAL,
            strokeWidth=1,
            aria=False,
        ),
        layer(
            "rule",
            centre | {"x2": "tip_x_before:Q", "y2": "tip_y_before:Q"},
            stroke=NEUTRAL,
            strokeWidth=2.5,
            opacity=0.6,
            **hand,
        ),
        layer("rule", centre | {"x2": "tip_x:Q", "y2": "tip_y:Q"}, stroke=INK, strokeWidth=3, **hand),
        layer(
            "point",
            centre | {"description": "spoken:N", "tooltip": tooltip},
            calculate=edges,
            shape="circle",
            size=alt.expr(f"pow(2 * {_RADIUS}, 2)"),  # Vega takes the square of the diameter
            stroke=NEUTRAL,
            strokeWidth=1,
            fill="transparent",
        ),
        layer("text", {"x": pixel_x("middle"), "y": pixel_y("above"), "text": "name:N"}, **text),
        layer("text", {"x": pixel_x("middle"), "y": pixel_y("below"), "text": "length:N"}, **text),
        drawing={
            "place": np.arange(len(drawn_indices)) + 0.5,
            "angle": angles[drawn_indices],
            "turned": (angles - before)[drawn_indices],
            "per_step": per_step[drawn_indices],
        },
        values={"t": 0},
        width=900,
        height=_HEIGHT,
        description=f"{len(drawn_indices)} of the {n_frequencies} frequencies as clocks, the fastest on the left",
    )


def counter_table(
    values: np.ndarray,
    columns: Sequence[str],
    positions: Sequence[int],
    *,
    texts: np.ndarray | None = None,
    position: int,
    title: str,
    heading: str,
) -> VegaFigure:
    """A table of `values` [position, column] as coloured cells, with `texts` [position, column] in them, by default
    the numbers; the row of the chosen `position` is framed.

    `heading` is the common title of the columns; the name of a column may have several lines, separated by "|".
    """
    written = (
        [format_number(number, "+.2f") for number in values.flat] if texts is None else texts.ravel().tolist()
    )
    row, column = np.indices(values.shape).reshape(2, -1)
    t, names = np.asarray(positions)[row], [columns[index] for index in column]
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
    return grid(
        [
            Column("t", t, "position t", "d", "position"),
            Column("column", names),
            Column("value", values, None),
            Column("written", written, "value", in_file=None),
        ],
        alt.X("column:N", sort=None, title=heading, axis=x_axis),
        y,
        largest=1,
        signed=True,
        written=alt.Text("written:N"),
        font_size=SMALL,
        ink=INK,
        mark={"stroke": NEUTRAL, "strokeWidth": 0.5, "opacity": 0.75},
        above=frame_layers({"y": y}, "framed"),
        drawing={"name": [f"t = {number}, {name}" for number, name in zip(t, names, strict=True)]},
        frames={"framed": {"t": [position]}},
        width=_COLUMN_WIDTH * len(columns),
        height=_ROW_HEIGHT * len(positions),
        title=chart_title(title) | {"fontWeight": "normal"},
        description=f"{title}; position {position} is framed",
    )


def wave_curves(
    names: Sequence[str], values: np.ndarray, t: np.ndarray, waves: np.ndarray, *, position: int
) -> VegaFigure:
    """Curves `waves` [curve, t] over `t`, with these `names` and dots at the whole positions, `values` [curve,
    position]; the chosen `position` is marked.
    """
    n_curves, n_positions = values.shape
    shift = -_CURVE_SPACING * np.arange(n_curves)
    x = alt.X("t:Q", title="position t", scale=alt.Scale(domain=[0, value("last")], nice=False))
    # Each band has the labels -1, 0 and 1.
    ticks = [tick_value - _CURVE_SPACING * curve for curve in range(n_curves) for tick_value in (-1, 0, 1)]
    labels = f"round(datum.value + {_CURVE_SPACING} * round(-datum.value / {_CURVE_SPACING}))"
    axis = alt.Axis(values=ticks, grid=False, labelExpr=labels)
    scale = alt.Scale(domain=[-_CURVE_SPACING * max(n_curves - 1, 0) - 1.2, 2], nice=False)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="value, from −1 to 1", scale=scale, axis=axis)

    columns = [
        Column("name", np.repeat(list(names), n_positions), "dimension", in_file="dimension"),
        Column("t", np.tile(np.arange(n_positions), n_curves), "position t", in_file="position"),
        Column("value", values, format=".4f"),
    ]
    points = {
        "x": x,
        "y": up("place"),
        "color": conditional_value("datum.t == +position", ACCENT, EMPHASIS),
        "size": conditional_value("datum.t == +position", 90, value("size")),
        "tooltip": columns,
    }
    at_position = alt.XDatum(value("position"), type="quantitative")
    return chart(
        columns,
        layer("rule", {"y": up("zero")}, "bands", color=NEUTRAL, strokeWidth=0.5, aria=False),
        layer(
            "rule",
            {"x": at_position, "y": up("low"), "y2": "high:Q"},
            "bands",
            color=ACCENT,
            strokeWidth=1.5,
            aria=False,
        ),
        layer(
            "line",
            {"x": x, "y": up("place"), "detail": "curve:N"},
            "waves",
            color=EMPHASIS,
            strokeWidth=1.5,
            aria=False,
        ),
        layer("circle", points, opacity=1),
        layer(
            "text",
            {"x": alt.value(0), "y": up("above"), "text": "name:N"},
            "bands",
            align="left",
            fontSize=MIDDLE,
            color=INK,
            dx=2,
        ),
        drawing={"place": np.round(values + shift[:, None], 4)},
        values={
            "position": position,
            "last": max(n_positions - 1, 1),
            "size": 14 if n_positions <= 128 else 3,
        },
        frames={
            "waves": {
                "curve": np.repeat(np.arange(n_curves), len(t)),
                "t": np.tile(np.round(t, 3), n_curves),
                "place": np.round(waves + shift[:, None], 4).ravel(),
            },
            "bands": {
                "name": list(names),
                "zero": shift,
                "low": shift - 1.1,
                "high": shift + 1.1,
                "above": shift + 1.55,
            },
        },
        height=max(n_curves, 1) * _CURVE_HEIGHT,
        autosize=None,
        description=f"{n_curves} dimensions over {n_positions} positions; one position is marked",
    )
