"""Plotly's heatmaps as Vega-Lite, which can be drawn without a browser: same numbers, labels, colours, marks and
hatching.

The cells are one picture with a pixel for each number of the matrix, enlarged in whole steps: a quarter of a million
squares would be a file of forty megabytes.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from PIL import ImageColor

from ..builders.cells import FULL_INK, OTHER_FULL_INK, SIGNED_STRONG, STRONG
from ..builders.figure import PlotlyFigure
from ..builders.label_placement import named_positions
from ..builders.palette import ACCENT, WEIGHTS, data_uri
from ..builders.picture_marks import CHOOSE
from ..builders.theme import CASING, MIDDLE, ON_DARK, OTHER_INK, SMALL, UPRIGHT
from ..builders.token_label import width as text_width
from .export_style import LABEL

_BETWEEN_NAMES = 6  # pixels between two names in one line
_LINE = LABEL + 0.5  # pixels from one line of names to the next
_NUMBERED = 60  # pixels from one number of an axis to the next
_WIDTHS = {".": 0.28, "−": 0.58}  # of a letter in a cell, in sizes of the letters; a digit has
_DIGIT = 0.56
_BETWEEN_NUMBERS = 3  # pixels between the numbers of neighbouring cells
_SIDE = 1200  # pixels of the pictures of cells, of the longer side
_BETWEEN = 26  # pixels between panels, beside the names of their rows
_TAG = re.compile("<[^<>]*>")  # of Plotly's markup; in its strings, what is not markup is escaped


@dataclass(frozen=True, slots=True)
class VegaPanels:
    """The panels of a figure as Vega-Lite needs them, before their width is known."""

    panels: tuple[Mapping[str, Any], ...]
    colour_scale: Mapping[str, Any]  # `zmin`, `zmax`, `colorscale` and `colorbar` of Plotly
    title: str
    description: str
    natural: float  # pixels, the width of the whole where none is asked for

    def laid_out(self, width: float) -> dict[str, Any]:
        """The specification with its data; the panels share `width` pixels."""
        drawn_panels = [
            _panel_chart(panel, panel_width, self.colour_scale, legend=panel_index == 0)
            for panel_index, (panel, panel_width) in enumerate(
                zip(self.panels, self.widths(width), strict=True)
            )
        ]
        specification = (
            drawn_panels[0] if len(drawn_panels) == 1 else {"hconcat": drawn_panels, "spacing": _BETWEEN}
        )
        title = {"title": {"text": self.title, "anchor": "start", "fontSize": MIDDLE}} if self.title else {}
        return {**title, **specification, "description": self.description}

    def widths(self, width: float) -> np.ndarray:
        """Pixels of each panel where they share `width` pixels."""
        shares = np.array([panel["share"] for panel in self.panels])
        return np.maximum(width * shares / shares.sum(), 8)


def vega_panels(figure: PlotlyFigure) -> VegaPanels:
    """The panels of a Plotly figure. Raises ValueError where it draws something else than heatmaps with marks."""
    plotly_figure = figure.specification
    if unknown_types := {trace.type for trace in plotly_figure.data} - {"heatmap", "scatter"}:
        raise ValueError(f"no vega_panels for a figure with {', '.join(sorted(unknown_types))}")
    traces = [trace.to_plotly_json() for trace in plotly_figure.data]
    layout = plotly_figure.layout.to_plotly_json()
    shared = layout.get("coloraxis", {})
    colour_scale = next((trace for trace in traces if "colorbar" in trace), None) or {
        "zmin": shared["cmin"],
        "zmax": shared["cmax"],
        **shared,
    }
    maps = [trace for trace in traces if trace["type"] == "heatmap" and not _has_no_colours(trace)]
    panels = tuple(_panel_content(trace, layout, traces, plotly_figure, colour_scale) for trace in maps)
    height = float(layout.get("height") or 450)
    is_square = len(panels) == 1 and panels[0]["square"]
    title = layout.get("title", {}).get("text", "")
    return VegaPanels(
        panels, colour_scale, _plain_text(title), figure.description, height if is_square else 760
    )


def lack_of_room(panel: Mapping[str, Any], width: float) -> float:
    """How many times as large the cells of a panel `width` pixels wide would have to be for their numbers not to touch;
    1 or less if they do not.
    """
    rows, columns = panel["values"].shape
    cell_width = width / max(columns, 1)
    cell_height = cell_width if panel["square"] else panel["height"] / max(rows, 1)
    widest = max((_number_width(cell_text["text"]) for cell_text in panel["written"]), default=0.0)
    return max((widest + _BETWEEN_NUMBERS) / cell_width, (SMALL + 1) / cell_height)


def _number_width(text: str) -> float:
    return SMALL * sum(_WIDTHS.get(letter, _DIGIT) for letter in text)


def _has_no_colours(trace: Mapping) -> bool:
    """Whether all colours of a trace are transparent: its cells are only there for the tooltip."""
    return "colorscale" in trace and all(
        colour.endswith(" 0)") for _, colour in _colour_stops(trace["colorscale"])
    )


def _panel_content(
    trace: Mapping, layout: Mapping, traces: Sequence[Mapping], drawn: go.Figure, colour_scale: Mapping
) -> dict:
    """A panel's values, axes, colours and marks, read from Plotly's layout."""
    axis_ids = trace.get("xaxis", "x"), trace.get("yaxis", "y")
    x_axis, y_axis = (layout.get(name[0] + "axis" + name[1:], {}) for name in axis_ids)
    values = _as_array(trace["z"]).astype(float)
    scale = trace if "zmin" in trace else colour_scale
    rows, columns = values.shape
    (first_x, end_x), (first_y, end_y) = _visible_range(x_axis, columns), _visible_range(y_axis, rows)
    domain = x_axis.get("domain") or (0, 1)
    starts = [
        element["domain"][0]
        for name, element in layout.items()
        if name.startswith("xaxis") and "domain" in element
    ]
    return {
        "values": values[first_y:end_y, first_x:end_x],
        "scale": {name: scale[name] for name in ("zmin", "zmax", "colorscale")},
        "x": _axis_content(x_axis, trace.get("x"), range(first_x, end_x)),
        "y": _axis_content(y_axis, trace.get("y"), range(first_y, end_y)),
        "square": "scaleanchor" in y_axis,
        "share": domain[1] - domain[0],
        "height": _plot_height(layout),
        "written": _cell_texts(trace, first_x, first_y, end_x, end_y),
        "frames": [
            element
            for element in layout.get("shapes", ())
            if (element.get("xref", "x"), element.get("yref", "y")) == axis_ids
        ],
        "hatching": [
            element["source"] for element in layout.get("images", ()) if element["xref"] == axis_ids[0]
        ],
        "of": (rows, columns),
        "points": [
            element
            for element in traces
            if element["type"] == "scatter" and element.get("xaxis", "x") == axis_ids[0]
        ],
        "heading": [
            _plain_text(element["text"])
            for element in layout.get("annotations", ())
            if abs(element["x"] - sum(domain) / 2) < 1e-6 and len(drawn.data) > 1
        ],
        "sign": [
            _plain_text(element["text"])
            for element in layout.get("annotations", ())
            if domain[1]
            < element["x"]
            < min((start for start in starts if start > domain[1]), default=domain[1])
        ],
    }


def _as_array(values: Any) -> np.ndarray:
    """An array of a Plotly figure, which may be stored as bytes after a copy."""
    if not isinstance(values, dict):
        return np.asarray(values)
    shape = [int(axis_length) for axis_length in str(values.get("shape", -1)).split(",")]
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).reshape(shape)


def _visible_range(axis: Mapping, n: int) -> tuple[int, int]:
    """Indices of the first visible cell and of the one after the last."""
    bounds = sorted(axis.get("range") or (-0.5, n - 0.5))
    return max(round(bounds[0] + 0.5), 0), min(round(bounds[1] + 0.5), n)


def _axis_content(axis: Mapping, labels: Any, shown: range) -> dict:
    names = labels if labels is not None else axis.get("ticktext")
    title = [_plain_text(line) for line in ((axis.get("title") or {}).get("text") or "").split("<br>")]
    return {
        "title": title if len(title) > 1 else title[0],
        "names": None if names is None else [_plain_text(name) for name in names],
        "unnamed": axis.get("showticklabels") is False,
        "font": (axis.get("tickfont") or {}).get("family"),
        "orient": axis.get("side"),
        "upright": axis.get("tickangle", 0) % 360 == UPRIGHT,  # Plotly writes it as -90
        "shown": shown,
    }


def _plain_text(markup: str) -> str:
    """Text without Plotly's markup."""
    return unescape(_TAG.sub(" ", str(markup)).strip() if "<" in str(markup) else str(markup))


def _plot_height(layout: Mapping) -> float:
    margin = layout.get("margin", {})
    return max(float(layout.get("height") or 450) - margin.get("t", 80) - margin.get("b", 60), 60)


def _cell_texts(trace: Mapping, left: int, top: int, right: int, bottom: int) -> list[dict]:
    if trace.get("text") is None:
        return []
    texts, values = np.asarray(trace["text"], object), _as_array(trace["z"]).astype(float)
    return [
        {"x": column, "y": row, "text": _plain_text(texts[row, column]), "value": float(values[row, column])}
        for row in range(top, bottom)
        for column in range(left, right)
        if texts[row, column] and np.isfinite(values[row, column])
    ]


def _panel_chart(panel: Mapping, width: float, colour_scale: Mapping, *, legend: bool) -> dict:
    rows, columns = panel["values"].shape
    height = width * rows / max(columns, 1) if panel["square"] else panel["height"]
    framed_rows = _framed(panel, "y")
    # A column with the name of the query has a name too.
    framed_columns = [
        *_framed(panel, "x"),
        *(framed_rows if panel["x"]["names"] == panel["y"]["names"] else []),
    ]
    x = _axis_channel(panel["x"], "x", width, framed_columns)
    y = _axis_channel(panel["y"], "y", height, framed_rows)
    picture_size = {"width": width, "height": height, "aspect": False, "smooth": False}
    image_mark = {
        "type": "image",
        "x": 0,
        "y": 0,
        "align": "left",
        "baseline": "top",
        "tooltip": None,
    } | picture_size
    layers = []
    if panel["values"].size:
        picture = {"values": [_cell_pictures(panel)]}
        choose = [{"calculate": CHOOSE, "as": "url"}]
        layers.append(
            {
                "data": picture,
                "transform": choose,
                "mark": image_mark,
                "encoding": {"url": {"field": "url"}},
            }
        )
    visible_bounds = {"x": [panel["x"]["shown"].start - 0.5], "x2": [panel["x"]["shown"].stop - 0.5]}
    visible_bounds |= {"y": [panel["y"]["shown"].start - 0.5], "y2": [panel["y"]["shown"].stop - 0.5]}
    corners = {name: value[0] for name, value in visible_bounds.items()} | {"of": panel["scale"]["zmin"]}
    encoding = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    if legend:  # the picture brings its colours along: this is their legend
        encoding["color"] = _colour_channel(colour_scale)
    layers.append(
        {"data": {"values": [corners]}, "mark": {"type": "rect", "opacity": 0}, "encoding": encoding}
    )
    layers += _mark_layers(panel, image_mark, x, y)
    view = {"width": width, "height": height, "layer": layers}
    if panel["heading"]:
        title = "   ".join([*panel["heading"], *panel["sign"]])
        view["title"] = {"text": title, "anchor": "middle", "fontSize": MIDDLE, "fontWeight": "normal"}
    return view


def _mark_layers(panel: Mapping, whole: Mapping, x: dict, y: dict) -> list[dict]:
    """Layers with the hatching, the numbers in cells, the frames and the points of a panel, on its axes `x` and `y`."""
    layers = []
    if panel["hatching"]:
        # The hatching is of the whole matrix, of which only a part may be in sight.
        n_rows, n_columns = panel["of"]
        shown_columns, shown_rows = panel["x"]["shown"], panel["y"]["shown"]
        cell = whole["width"] / len(shown_columns), whole["height"] / len(shown_rows)
        mark_size = {"width": cell[0] * n_columns, "height": cell[1] * n_rows, "clip": True}
        mark_size |= {"x": -cell[0] * shown_columns.start, "y": -cell[1] * shown_rows.start}
        urls = [{"url": source} for source in panel["hatching"]]
        layers.append(
            {"data": {"values": urls}, "mark": {**whole, **mark_size}, "encoding": {"url": {"field": "url"}}}
        )
    if panel["written"] and lack_of_room(panel, whole["width"]) <= 1:
        largest = panel["scale"]["zmax"]
        is_strong = f"datum.value > {STRONG * largest!r}"
        if panel["scale"]["zmin"] < 0:
            is_strong = f"abs(datum.value) > {SIGNED_STRONG * largest!r}"
        ink = {"expr": f"{is_strong} ? ({OTHER_FULL_INK}) : ({FULL_INK})"}
        mark = {"type": "text", "fontSize": SMALL, "color": ink}
        text = {"x": x, "y": y, "text": {"field": "text"}}
        layers.append({"data": {"values": panel["written"]}, "mark": mark, "encoding": text})
    for frame in panel["frames"]:
        corners = {name.removesuffix("0").replace("1", "2"): frame[name] for name in ("x0", "x1", "y0", "y1")}
        line = {"stroke": frame["line"]["color"], "strokeWidth": frame["line"]["width"]}
        if dash := frame["line"].get("dash"):
            line["strokeDash"] = [float(length.removesuffix("px")) for length in dash.split(",")]
        box = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
        lines = [line]
        if line["stroke"] == ACCENT:
            lines.insert(0, {"stroke": {"expr": OTHER_INK.expr}, "strokeWidth": line["strokeWidth"] + CASING})
        for stroke in lines:
            mark = {"type": "rect", "fill": None, "fillOpacity": 0, "clip": True, **stroke}
            layers.append({"data": {"values": [corners]}, "mark": mark, "encoding": box})
    for trace in panel["points"]:
        points = [{"x": column, "y": row} for column, row in zip(trace["x"], trace["y"], strict=True)]
        marker = trace["marker"]
        shape = {"shape": marker["symbol"], "size": marker["size"] ** 2, "color": marker["color"]}
        mark = {"type": "point", "filled": True, "opacity": 1, **shape}
        layers.append({"data": {"values": points}, "mark": mark, "encoding": {"x": x, "y": y}})
    return layers


def _framed(panel: Mapping, channel: str) -> list[int]:
    """The columns (x) or rows (y) of a panel that a frame singles out, such as the row of the query, each once."""
    shown = panel[channel]["shown"]
    framed = [
        range(round(frame[f"{channel}0"] + 0.5), round(frame[f"{channel}1"] + 0.5))
        for frame in panel["frames"]
    ]
    positions = [
        position for span in framed if len(span) < len(shown) for position in span if position in shown
    ]
    return list(dict.fromkeys(positions))


def _axis_channel(axis: Mapping, channel: str, length: float, framed: Sequence[int]) -> dict:
    """The x or y `channel` for an `axis` of `length` pixels: cells are at whole numbers, and their names come from a
    list, not from an expression. The names of `framed` positions are there even where not all names have room.
    """
    shown_range = axis["shown"]
    domain = [shown_range.start - 0.5, shown_range.stop - 0.5]
    scale = {"domain": domain[::-1] if channel == "y" else domain, "nice": False, "zero": False}
    axis_options: dict[str, Any] = {"grid": False, "title": axis["title"] or None, "labelBound": False}
    if axis["orient"]:
        axis_options["orient"] = axis["orient"]
    if axis["font"]:
        axis_options["labelFont"] = axis["font"]
    if axis["unnamed"]:
        axis_options["labels"] = False
    elif axis["names"] is None:
        axis_options |= {"values": named_positions(shown_range, framed, _NUMBERED, length), "format": "d"}
    else:
        names = [axis["names"][index] for index in shown_range]
        widest = max((text_width(name, LABEL) for name in names), default=0) + _BETWEEN_NAMES
        upright = channel == "x" and (axis["upright"] or widest * len(names) > length)
        room = widest if channel == "x" and not upright else _LINE
        axis_options |= {
            "values": named_positions(shown_range, framed, room, length),
            "labelFlush": False,
            "labelOverlap": False,
        }
        literal = "[" + ",".join(_string_literal(name) for name in names) + "]"
        axis_options["labelExpr"] = f"{literal}[datum.value - {shown_range.start}]"
        axis_options["labelAngle"] = UPRIGHT if upright else 0
    return {"field": channel, "type": "quantitative", "scale": scale, "axis": axis_options}


def _string_literal(text: str) -> str:
    """`text` as a string literal of a Vega expression, escaped so that nothing in it can end it."""
    return (
        "'"
        + "".join(
            character if character.isalnum() and character.isascii() else _escape_letter(character)
            for character in text
        )
        + "'"
    )


def _escape_letter(letter: str) -> str:
    utf16_bytes = letter.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"\\u{utf16_bytes[index]:02x}{utf16_bytes[index + 1]:02x}" for index in range(0, len(utf16_bytes), 2)
    )


def _colour_stops(colorscale: Any) -> list[tuple[float, str]]:
    """A colour scale of Plotly as pairs of a position from 0 to 1 and a colour."""
    stops = list(colorscale)
    if stops and isinstance(stops[0], str):
        return list(zip(np.linspace(0, 1, len(stops)).tolist(), stops, strict=True))
    return [(float(position), str(colour)) for position, colour in stops]


def _colour_channel(colour_scale: Mapping) -> dict:
    """A colour channel with the colour bar of Plotly's figure as its legend."""
    stops = [colour for _, colour in _colour_stops(colour_scale["colorscale"])]
    bar = colour_scale["colorbar"]
    scale = {
        "domain": [colour_scale["zmin"], colour_scale["zmax"]],
        "range": stops,
        "interpolate": "rgb",
        "clamp": True,
    }
    if tuple(stops) == WEIGHTS:
        scale["reverse"] = {"expr": ON_DARK}
    ticks = [float(tick) for tick in bar["tickvals"]]
    lines = [_plain_text(line) for line in bar["title"]["text"].split("<br>") if line.strip()]
    legend = {"title": lines, "values": ticks, "direction": "horizontal", "format": ".3~g"}
    legend["orient"] = "bottom" if bar.get("yanchor") == "top" else "top"
    legend |= {"gradientLength": 150, "gradientThickness": 10, "offset": 8, "labelOverlap": False}
    if texts := bar.get("ticktext"):
        tick_texts = [
            f"abs(datum.value - {tick!r}) < 1e-9 ? {_string_literal(_plain_text(text))} : "
            for tick, text in zip(ticks, texts, strict=True)
        ]
        legend["labelExpr"] = "".join(tick_texts) + "''"
    return {"field": "of", "type": "quantitative", "scale": scale, "legend": legend}


def _cell_pictures(panel: Mapping) -> dict[str, str]:
    """The cells as pictures for a light and a dark page; cells without a number are transparent."""
    scale, values = panel["scale"], panel["values"]
    stops = _colour_stops(scale["colorscale"])
    positions = np.array([position for position, _ in stops])
    table = np.array([_rgba(colour) for _, colour in stops], float)
    span = scale["zmax"] - scale["zmin"] or 1
    shares = np.clip((np.nan_to_num(values, nan=scale["zmin"]) - scale["zmin"]) / span, 0, 1)

    def colour_cells(colours: np.ndarray) -> str:
        # Like Plotly, each channel by itself, and opacity with them.
        pixels = np.stack([np.interp(shares, positions, channel) for channel in colours.T], axis=-1).round()
        pixels[~np.isfinite(values)] = 0
        return data_uri(pixels.astype(np.uint8), side=_SIDE)

    light = colour_cells(table)
    is_reversed = tuple(colour for _, colour in stops) == WEIGHTS
    return {"on_light": light, "on_dark": colour_cells(table[::-1]) if is_reversed else light}


def _rgba(colour: str) -> tuple[float, ...]:
    if colour.startswith("rgba"):
        *channels, opacity = (float(channel) for channel in colour[5:-1].split(","))
        return (*channels, 255 * opacity)
    return (*ImageColor.getrgb(colour)[:3], 255)
