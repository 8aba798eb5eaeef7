"""Heatmaps as Vega-Lite specifications, which can be drawn without a browser.

The cells are one picture with a pixel for each number of the matrix, enlarged by a whole factor: a quarter of a
million rectangles would be a file of forty megabytes.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import ImageColor

from ..builders.cells import FULL_INK, OTHER_FULL_INK, SIGNED_STRONG, STRONG
from ..builders.heatmap_figure import MARK_SIZE, Axis, Colours, Frame, Heatmap, Panel
from ..builders.label_placement import named_positions
from ..builders.palette import ACCENT, NEUTRAL, WEIGHTS, data_uri, hatching
from ..builders.picture_marks import CHOOSE
from ..builders.theme import CASING, MIDDLE, ON_DARK, OTHER_INK, SMALL, UPRIGHT
from ..builders.token_label import FONT
from ..builders.token_label import width as text_width
from ..builders.vega_colours import BELOW
from .export_style import LABEL

_BETWEEN_NAMES = 6  # pixels between two names in one line
_LINE = LABEL + 0.5  # pixels from one line of names to the next
_NUMBERED = 60  # pixels from one number of an axis to the next
_WIDTHS = {".": 0.28, "−": 0.58}  # of a letter in a cell, in sizes of the letters; a digit has
_DIGIT = 0.56
_BETWEEN_NUMBERS = 3  # pixels between the numbers of neighbouring cells
_SIDE = 1200  # pixels of the pictures of cells, of the longer side
_BETWEEN = 26  # pixels between panels, beside the names of their rows
_NATURAL = 760  # pixels of a map whose cells are not square
_WHOLE: dict[str, Any] = {
    "type": "image",
    "x": 0,
    "y": 0,
    "align": "left",
    "baseline": "top",
    "tooltip": None,
}


def heatmap_vega(figure: Heatmap, width: float) -> dict[str, Any]:
    """The Vega-Lite specification of a heatmap with its data; the panels share `width` pixels."""
    views = [
        _panel_view(figure, panel, panel_width)
        for panel, panel_width in zip(figure.panels, panel_widths(figure, width), strict=True)
    ]
    specification = views[0] if len(views) == 1 else {"hconcat": views, "spacing": _BETWEEN}
    if figure.title:
        specification["title"] = {"text": figure.title, "anchor": "start", "fontSize": MIDDLE}
    return {**specification, "description": figure.description}


def natural_width(figure: Heatmap) -> float:
    """The width of the figure in pixels if none is asked for."""
    return figure.height if figure.is_square else _NATURAL


def panel_widths(figure: Heatmap, width: float) -> np.ndarray:
    """The widths in pixels of the panels [panel] when they share `width` pixels."""
    shares = np.array([panel.domain[1] - panel.domain[0] for panel in figure.panels])
    return np.maximum(width * shares / shares.sum(), 8)


def needed_enlargement(figure: Heatmap, panel: Panel, width: float) -> float:
    """The factor by which the cells of a panel `width` pixels wide would have to grow so that their numbers do not
    touch; at most 1 if the numbers fit.
    """
    cell_width = width / max(len(panel.x.shown), 1)
    cell_height = _plot_height(figure, panel, width) / max(len(panel.y.shown), 1)
    texts = [number["text"] for number in _cell_texts(panel)]
    widest = SMALL * max((sum(_WIDTHS.get(letter, _DIGIT) for letter in text) for text in texts), default=0.0)
    return max((widest + _BETWEEN_NUMBERS) / cell_width, (SMALL + 1) / cell_height)


def _plot_height(figure: Heatmap, panel: Panel, width: float) -> float:
    """The height in pixels of a panel's plot that is `width` pixels wide."""
    if figure.is_square:
        return width * len(panel.y.shown) / max(len(panel.x.shown), 1)
    return max(figure.height - figure.margin["t"] - figure.margin["b"], 60)


def _cell_texts(panel: Panel) -> list[dict[str, Any]]:
    """A data row with position, text and value for each cell in sight that has a text."""
    if panel.written is None:
        return []
    return [
        {"x": x, "y": y, "text": panel.written[y, x], "value": float(panel.values[y, x])}
        for y in panel.y.shown
        for x in panel.x.shown
        if panel.written[y, x] and np.isfinite(panel.values[y, x])
    ]


def _panel_view(figure: Heatmap, panel: Panel, width: float) -> dict[str, Any]:
    """The Vega-Lite view of one panel, `width` pixels wide."""
    height = _plot_height(figure, panel, width)
    rows = _framed_positions([frame.y for frame in panel.frames], panel.y.shown)
    columns = _framed_positions([frame.x for frame in panel.frames], panel.x.shown)
    if panel.x.names is panel.y.names or list(panel.x.names or ()) == list(panel.y.names or ()):
        columns += rows  # a column with the name of the query has a name too
    x = _axis_channel(panel.x, "x", width, columns)
    y = _axis_channel(panel.y, "y", height, rows)
    corners: dict[str, float] = {"of": panel.colours.lowest}
    for channel, axis in (("x", panel.x), ("y", panel.y)):
        corners |= {channel: axis.shown.start - 0.5, f"{channel}2": axis.shown.stop - 0.5}
    encoding = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    if panel is figure.panels[0]:  # the picture brings its colours along: this is their legend
        encoding["color"] = _legend(panel.colours)
    layers = []
    if panel.x.shown and panel.y.shown:
        mark = _WHOLE | {"width": width, "height": height, "aspect": False, "smooth": False}
        choose = [{"calculate": CHOOSE, "as": "url"}]
        layers.append(
            _layer_with_data([_cell_pictures(panel)], mark, {"url": {"field": "url"}}, transform=choose)
        )
    layers.append(_layer_with_data([corners], {"type": "rect", "opacity": 0}, encoding))
    layers += _mark_layers(figure, panel, width, x, y)
    view: dict[str, Any] = {"width": width, "height": height, "layer": layers}
    if panel.name:
        text = "   ".join(filter(None, (panel.name, panel.sign)))
        view["title"] = {"text": text, "anchor": "middle", "fontSize": MIDDLE, "fontWeight": "normal"}
    return view


def _mark_layers(
    figure: Heatmap, panel: Panel, width: float, x: dict[str, Any], y: dict[str, Any]
) -> list[dict[str, Any]]:
    """Layers with the hatching, the numbers in cells, the frames and the marks above columns of a panel, with the
    channels `x` and `y`.
    """
    layers = []
    if panel.mask is not None and not panel.mask.all():
        # The hatching is of the whole matrix, of which only a part may be in sight.
        n_rows, n_columns = panel.mask.shape
        cell_width = width / len(panel.x.shown)
        cell_height = _plot_height(figure, panel, width) / len(panel.y.shown)
        size = {"width": cell_width * n_columns, "height": cell_height * n_rows, "clip": True}
        size |= {"x": -cell_width * panel.x.shown.start, "y": -cell_height * panel.y.shown.start}
        mark = _WHOLE | {"aspect": False, "smooth": False} | size
        layers.append(_layer_with_data([{"url": hatching(panel.mask)}], mark, {"url": {"field": "url"}}))
    if (written := _cell_texts(panel)) and needed_enlargement(figure, panel, width) <= 1:
        largest = panel.colours.largest
        is_strong = f"datum.value > {STRONG * largest!r}"
        if panel.colours.lowest < 0:
            is_strong = f"abs(datum.value) > {SIGNED_STRONG * largest!r}"
        ink = {"expr": f"{is_strong} ? ({OTHER_FULL_INK}) : ({FULL_INK})"}
        mark = {"type": "text", "fontSize": SMALL, "color": ink}
        layers.append(_layer_with_data(written, mark, {"x": x, "y": y, "text": {"field": "text"}}))
    for frame in panel.frames:
        corners = dict(zip(("x", "x2", "y", "y2"), (*frame.x, *frame.y), strict=True))
        box = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
        layers += [_layer_with_data([corners], mark, box) for mark in _frame_marks(frame)]
    if panel.marked is not None:
        points = [{"x": column, "y": -0.5} for column in panel.marked]
        mark = {"type": "point", "filled": True, "opacity": 1, "color": NEUTRAL}
        mark |= {"shape": "triangle-down", "size": MARK_SIZE**2}
        layers.append(_layer_with_data(points, mark, {"x": x, "y": y}))
    return layers


def _layer_with_data(
    rows: list[dict[str, Any]], mark: dict[str, Any], encoding: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """A Vega-Lite layer with its own data `rows`."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding, **options}


def _frame_marks(frame: Frame) -> list[dict[str, Any]]:
    """The marks that draw a frame; below the green frame of a selection lies a wider line in the colour of the page."""
    line: dict[str, Any] = {"stroke": frame.colour, "strokeWidth": frame.width}
    if frame.dashes:
        line["strokeDash"] = list(frame.dashes)
    lines = [line]
    if frame.colour == ACCENT:
        lines.insert(0, {"stroke": {"expr": OTHER_INK.expr}, "strokeWidth": frame.width + CASING})
    return [{"type": "rect", "fill": None, "fillOpacity": 0, "clip": True, **stroke} for stroke in lines]


def _framed_positions(sides: Sequence[tuple[float, float]], shown: range) -> list[int]:
    """The positions in sight inside the frames from start to end in `sides`, each once, such as the row of the query;
    frames around all positions in sight are ignored.
    """
    spans = [range(round(start + 0.5), round(end + 0.5)) for start, end in sides]
    positions = [
        position for span in spans if len(span) < len(shown) for position in span if position in shown
    ]
    return list(dict.fromkeys(positions))


def _axis_channel(axis: Axis, channel: str, length: float, framed: Sequence[int]) -> dict[str, Any]:
    """The x or y `channel` for an `axis` of `length` pixels, with cells at whole numbers and their names from a list.
    The names of `framed` positions are shown even if not all names have room.
    """
    shown = axis.shown
    domain = [shown.start - 0.5, shown.stop - 0.5]
    scale = {"domain": domain[::-1] if channel == "y" else domain, "nice": False, "zero": False}
    options: dict[str, Any] = {"grid": False, "title": axis.title or None, "labelBound": False}
    if axis.are_tokens:
        options["labelFont"] = FONT
        if channel == "x":
            options["orient"] = "top"
    if not axis.is_named:
        options["labels"] = False
    elif axis.names is None:
        options |= {"values": named_positions(shown, framed, _NUMBERED, length), "format": "d"}
    else:
        names = [axis.names[index] for index in shown]
        widest = max((text_width(name, LABEL) for name in names), default=0) + _BETWEEN_NAMES
        upright = channel == "x" and (axis.is_upright or widest * len(names) > length)
        room = widest if channel == "x" and not upright else _LINE
        options |= {
            "values": named_positions(shown, framed, room, length),
            "labelFlush": False,
            "labelOverlap": False,
            "labelExpr": f"{json.dumps(names)}[datum.value - {shown.start}]",
            "labelAngle": UPRIGHT if upright else 0,
        }
    return {"field": channel, "type": "quantitative", "scale": scale, "axis": options}


def _legend(colours: Colours) -> dict[str, Any]:
    """The Vega-Lite colour channel of these colours, with the colour bar as its legend."""
    scale: dict[str, Any] = {
        "domain": [colours.lowest, colours.largest],
        "range": list(colours.colours),
        "interpolate": "rgb",
        "clamp": True,
    }
    if colours.colours == WEIGHTS:
        scale["reverse"] = {"expr": ON_DARK}
    ticks = [float(tick) for tick in colours.ticks]
    legend: dict[str, Any] = {"title": list(colours.title), "values": ticks, "direction": "horizontal"}
    legend |= {"format": ".3~g", "orient": "bottom", "gradientLength": 150, "gradientThickness": 10}
    legend |= {"offset": 8, "labelOverlap": False}
    if colours.tick_texts:
        tick_texts = [
            f"abs(datum.value - {tick!r}) < 1e-9 ? {json.dumps(text.split(BELOW))} : "
            for tick, text in zip(ticks, colours.tick_texts, strict=True)
        ]
        legend["labelExpr"] = "".join(tick_texts) + "''"
    return {"field": "of", "type": "quantitative", "scale": scale, "legend": legend}


def _cell_pictures(panel: Panel) -> dict[str, str]:
    """The cells in sight as pictures for a light and a dark page, as data URIs; cells without a number are
    transparent.
    """
    colours = panel.colours
    y, x = (slice(axis.shown.start, axis.shown.stop) for axis in (panel.y, panel.x))
    values = panel.values[y, x].astype(float)
    positions = np.linspace(0, 1, len(colours.colours))
    table = np.array([_rgba(colour) for colour in colours.colours], float)
    span = colours.largest - colours.lowest or 1
    shares = np.clip((np.nan_to_num(values, nan=colours.lowest) - colours.lowest) / span, 0, 1)

    def colour_cells(stops: np.ndarray) -> str:
        # Like Plotly, each channel by itself, and opacity with them.
        pixels = np.stack([np.interp(shares, positions, channel) for channel in stops.T], axis=-1).round()
        pixels[~np.isfinite(values)] = 0
        return data_uri(pixels.astype(np.uint8), side=_SIDE)

    light = colour_cells(table)
    return {
        "on_light": light,
        "on_dark": colour_cells(table[::-1]) if colours.colours == WEIGHTS else light,
    }


def _rgba(colour: str) -> tuple[float, ...]:
    """Red, green and blue (0 to 255) and opacity (0 to 1) of a CSS colour."""
    if colour.startswith("rgba"):
        *channels, opacity = (float(channel) for channel in colour[5:-1].split(","))
        return (*channels, 255 * opacity)
    return (*ImageColor.getrgb(colour)[:3], 255)
