"""Heatmaps as descriptions: matrices with names, colours, frames and hatching. Plotly draws them on a page, Vega in
an exported file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .figure_page import plotly_iframe
from .palette import ACCENT, NEUTRAL, hatching
from .theme import LARGE, MIDDLE, SMALL
from .token_label import FONT

PLAIN_AXIS: dict[str, Any] = {
    "showgrid": False,
    "zeroline": False,
    "automargin": True,
    "tickfont": {"size": MIDDLE},
}
CLEAR = ("rgba(0, 0, 0, 0)",) * 2
MARK_SIZE = 9  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """A colour scale, and the title and ticks of its colour bar."""

    lowest: float
    largest: float
    colours: tuple[str, ...]  # at equal distances
    title: tuple[str, ...]  # lines
    ticks: tuple[float, ...]
    tick_texts: tuple[str, ...] = ()  # in place of numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The row axis or the column axis of a matrix: which positions are in sight, and what they are called."""

    shown: range  # those in sight
    title: str = ""
    names: Sequence[str] | None = None  # None: they are numbered from 0
    are_tokens: bool = False
    is_named: bool = True  # False where a panel beside it has the same names
    is_upright: bool = False  # the names of columns
    options: Mapping[str, Any] = field(default_factory=dict)  # what Plotly needs besides


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle around cells, in cell units: cell i of an axis goes from i - 0.5 to i + 0.5."""

    x: tuple[float, float]
    y: tuple[float, float]
    colour: str = ACCENT
    width: float = 2  # pixels
    dashes: tuple[int, ...] = ()  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One matrix of a heatmap, with its axes, tooltip, frames and hatching."""

    values: np.ndarray  # [row, column], NaN where no number is shown
    colours: Colours
    x: Axis
    y: Axis
    cell: str  # names a cell in its tooltip, in Plotly's syntax: `%{x}`
    number: str  # the rest of the tooltip
    customdata: np.ndarray | None = None  # what the tooltip reads besides
    frames: tuple[Frame, ...] = ()
    mask: np.ndarray | None = None  # [row, column], False where cells are hatched
    written: np.ndarray | None = None  # [row, column], texts in the cells
    marked: Sequence[int] | None = None  # columns with a mark above
    name: str = ""  # above the panel
    sign: str = ""  # between this panel and the next
    domain: tuple[float, float] = (0, 1)  # left and right end as shares of the width


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap:
    """A heatmap of one or several matrices side by side, all in the colours of the first; `specification` is the
    Plotly figure.
    """

    panels: tuple[Panel, ...]
    numbers: pd.DataFrame = field(repr=False)  # in a file
    description: str  # for screen readers
    height: int  # pixels, with the margins
    margin: Mapping[str, int]
    bar: Mapping[str, Any]  # Plotly's options of the colour bar
    title: str = ""
    is_square: bool = False  # whether cells are
    name_shift: int = 0  # pixels by which the names of panels are raised
    on_page: Mapping[str, Any] = field(default_factory=dict)  # Plotly's layout, where a page needs another

    @property
    def frame(self) -> pd.DataFrame:
        """A copy of the numbers for an exported file."""
        return self.numbers.copy(deep=False)

    @property
    def specification(self) -> go.Figure:
        """The Plotly figure."""
        layout: dict[str, Any] = {"height": self.height, "margin": dict(self.margin)}
        if self.title:
            title: dict[str, Any] = dict.fromkeys(("xref", "yref"), "container")
            title |= {"x": 0, "y": 1, "yanchor": "top", "pad": {"t": 8}, "font": {"size": LARGE}}
            layout["title"] = title | {"text": escape(self.title, quote=False)}
        traces: list[dict[str, Any]] = []
        shapes: list[dict[str, Any]] = []
        is_alone = len(self.panels) == 1
        for number, panel in enumerate(self.panels, start=1):
            suffix = "" if number == 1 else str(number)
            axes = {} if is_alone else {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
            traces += [trace | axes for trace in self._traces(panel)]
            refs = {} if is_alone else {"xref": f"x{suffix}", "yref": f"y{suffix}"}
            shapes += [_frame_shape(frame) | refs for frame in panel.frames]
            for letter, axis, other in (("x", panel.x, "y"), ("y", panel.y, "x")):
                options: dict[str, Any] = {} if is_alone else {"anchor": f"{other}{suffix}"}
                if letter == "x" and not is_alone:
                    options["domain"] = panel.domain
                if axis.title:
                    options["title"] = axis_title(axis.title)
                layout[f"{letter}axis{suffix}"] = {**PLAIN_AXIS, **options, **axis.options}
        if shapes:
            layout["shapes"] = shapes
        if is_alone and (mask := self.panels[0].mask) is not None and not mask.all():
            rows, columns = mask.shape
            extent = {"xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": columns, "sizey": rows}
            layout["images"] = [extent | {"source": hatching(mask), "layer": "above", "sizing": "stretch"}]
        if not is_alone:
            layout |= {"coloraxis": self._colour_axis(), "annotations": self._names()}
        for name, value in self.on_page.items():
            layout[name] = layout[name] | value if name in ("xaxis", "yaxis") else value
        return go.Figure(traces, layout)

    def _traces(self, panel: Panel) -> list[dict[str, Any]]:
        """A panel's Plotly traces: the matrix, an invisible trace that has the tooltips of hatched cells, and the
        marks above columns.
        """
        names = {
            letter: as_text(axis.names)
            for letter, axis in (("x", panel.x), ("y", panel.y))
            if axis.names is not None and axis.options.get("type") == "category"
        }
        common: dict[str, Any] = {"type": "heatmap", **names}
        template = f"{panel.cell}{panel.number}<extra></extra>"
        trace: dict[str, Any] = common | {"z": panel.values, "hovertemplate": template}
        if panel.customdata is not None:
            trace["customdata"] = panel.customdata
        if panel.written is not None:
            trace |= {"text": panel.written, "texttemplate": "%{text}", "textfont": {"size": SMALL}}
        colours = panel.colours
        own = {"zmin": colours.lowest, "zmax": colours.largest, "colorscale": colours.colours}
        if len(self.panels) > 1:
            is_shared = colours is self.panels[0].colours
            return [trace | ({"coloraxis": "coloraxis"} if is_shared else own | {"showscale": False})]
        traces = [trace | own | {"colorbar": dict(self.bar), "hoverongaps": False}]
        if panel.mask is not None and not panel.mask.all():
            is_number_seen = bool(np.isfinite(panel.values[~panel.mask]).any())
            masked = f"{panel.cell}{f'{panel.number},' if is_number_seen else ':'} masked<extra></extra>"
            below = np.where(panel.mask, np.nan, panel.values if is_number_seen else 0).astype(np.float32)
            clear = {"colorscale": CLEAR, "showscale": False, "hoverongaps": False}
            traces.append(common | clear | {"z": below, "hovertemplate": masked})
        if panel.marked is not None:
            traces.append(
                {
                    "type": "scatter",
                    "x": list(panel.marked),
                    "y": [-0.5] * len(panel.marked),
                    "mode": "markers",
                    "marker": {"symbol": "triangle-down", "size": MARK_SIZE, "color": NEUTRAL},
                    "cliponaxis": False,
                    "hovertemplate": "dimension %{x}<extra></extra>",
                    "showlegend": False,
                }
            )
        return traces

    def _colour_axis(self) -> dict[str, Any]:
        """Plotly's colour axis, which all panels share."""
        colours = self.panels[0].colours
        ends = {"cmin": colours.lowest, "cmax": colours.largest}
        return ends | {"colorscale": colours.colours, "colorbar": dict(self.bar)}

    def _names(self) -> list[dict[str, Any]]:
        """Plotly's annotations: the names above the panels, and the signs between them."""
        ends = [*(panel.domain for panel in self.panels), (1.0, 1.0)]
        texts = []
        for panel, (domain, beside) in zip(self.panels, pairwise(ends), strict=True):
            texts.append((escape(panel.name, quote=False), sum(domain) / 2))
            if panel.sign:
                texts.append((f"<b>{panel.sign}</b>", (domain[1] + beside[0]) / 2))
        common = {"xref": "paper", "xanchor": "center", "y": 1, "yref": "paper", "yanchor": "bottom"}
        common |= {"font": {"size": LARGE}, "yshift": self.name_shift, "showarrow": False}
        return [common | {"text": text, "x": x} for text, x in texts]

    def _repr_html_(self) -> str:
        """HTML for a notebook: an iframe with the heatmap and all scripts that draw it."""
        return plotly_iframe(self.specification, self.description)


def as_text(labels: Iterable[str]) -> list[str]:
    """`labels` escaped for Plotly, which would read markup in them as HTML."""
    return [escape(text, quote=False) for text in labels]


def axis_title(text: str, **options: Any) -> dict[str, Any]:
    """Plotly's options for the title of an axis."""
    return {"text": text, "font": {"size": MIDDLE}, **options}


def token_ticks(size: int = MIDDLE) -> dict[str, Any]:
    """Plotly's options for the labels of an axis that are tokens, `size` pixels high."""
    return {"tickfont": {"size": size, "family": FONT}}


def _frame_shape(frame: Frame) -> dict[str, Any]:
    """A frame as a shape of Plotly."""
    line: dict[str, Any] = {"color": frame.colour, "width": frame.width}
    if frame.dashes:
        line["dash"] = ",".join(f"{length}px" for length in frame.dashes)
    (x0, x1), (y0, y1) = frame.x, frame.y
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line}
