"""How figures follow the reader's theme, which only the browser knows, and the width of the page.

Streamlit colours axes, legends and titles, but leaves text marks black. Vega knows the background of the page, so
these expressions choose colours in the browser, and in an exported PNG too.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import altair as alt
import plotly.graph_objects as go
import plotly.io

from .palette import ACCENT, WEIGHTS

Theme = Literal["light", "dark"]
DARK_INK, LIGHT_INK = "#1a1c24", "#fafafa"
ON_DARK = "luminance(background) < 0.4"
# The width of a page's column, and a plot of the height that is asked for: what stands around it takes nothing from it.
FIT = {"type": "fit-x", "contains": "padding"}
INK = alt.expr(f"{ON_DARK} ? '{LIGHT_INK}' : '{DARK_INK}'")
OTHER_INK = alt.expr(f"{ON_DARK} ? '{DARK_INK}' : '{LIGHT_INK}'")  # on what is far from the page
# Of axes and legends: softer than `INK`, with a contrast of 6 to 11. Streamlit's own grey has 3.7 on a light page.
DARK_LABEL, LIGHT_LABEL = "#5b6070", "#c8cad0"
LABEL_INK = {"expr": f"{ON_DARK} ? '{LIGHT_LABEL}' : '{DARK_LABEL}'"}
CASING = 3  # pixels by which the line in the page's colour is wider than the frame that lies on it
# Letters of figures have three sizes, in pixels: headings, names and axes, and what stands in small cells.
LARGE, MIDDLE, SMALL = 15, 13, 11
UPRIGHT = 270  # degrees: names of columns are read from below upwards, on all maps
# Liberation Sans is as wide as Arial and Helvetica, letter by letter: a figure that was laid out with one of them
# fits with the others, and each machine has one.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
# As Streamlit has them: a figure that leaves the page looks as it did there.
PAGE: dict[Theme, str] = {"light": WEIGHTS[0], "dark": WEIGHTS[-1]}
PAGE_INK: dict[Theme, str] = {"light": DARK_INK, "dark": LIGHT_INK}
_GRID: dict[Theme, str] = {"light": "#e6eaf1", "dark": "#31333f"}
_FIRST: dict[Theme, str] = {"light": "#0068c9", "dark": "#83c9ff"}


def page_config() -> dict[str, Any]:
    """Vega's configuration on a page, which overrides that of Streamlit: letters that are large and dark enough."""
    labels = {"labelColor": LABEL_INK, "titleColor": LABEL_INK}
    sizes = {"labelFontSize": MIDDLE, "titleFontSize": MIDDLE}
    config: dict[str, Any] = dict.fromkeys(("axis", "legend", "header"), labels | sizes)
    # Streamlit moves the first and the last label of an axis inwards, away from their grid lines.
    return config | {"axis": labels | sizes | {"labelFlush": False}}


def file_config(theme: Theme, enlargement: float = 1) -> dict[str, Any]:
    """Vega's configuration in a file or a notebook: the look of Streamlit's theme, with letters enlarged by the
    factor `enlargement`.
    """
    ink, grid = PAGE_INK[theme], _GRID[theme]
    size = MIDDLE * enlargement
    text = {
        "labelFontSize": size,
        "titleFontSize": size,
        "labelColor": ink,
        "titleColor": ink,
        "titleFontWeight": "normal",
    }
    axis = {"ticks": False, "domain": False, "gridColor": grid, "domainColor": grid, "labelFlush": False}
    return {
        "background": PAGE[theme],
        "font": FONT,
        "title": {"color": ink, "subtitleColor": ink, "fontWeight": 600, "anchor": "start"},
        "axis": {**text, **axis, "labelOverlap": True, "labelPadding": 6}
        | {"labelLimit": 140 * enlargement, "titlePadding": 8, "labelSeparation": 4},
        # Names in two lines grow towards the plot, above it: they need the room that Streamlit gives to all.
        "axisTop": {"labelPadding": 16 * enlargement},
        "legend": {**text, "labelLimit": 0, "titleLimit": 0, "padding": 4},
        "header": {**text},
        "view": {"strokeWidth": 0, "continuousHeight": 350},
        "mark": {"color": _FIRST[theme]},
        "range": {"category": {"scheme": "tableau10"}},
        "bar": {"binSpacing": 4, "discreteBandSize": {"band": 0.85}},
        **{name: {"grid": False} for name in ("axisDiscrete", "axisXPoint", "axisTemporal", "axisXBand")},
    }


def heading(text: str | list[str], *below: str) -> dict:
    """The `title` property of a chart: `text`, of which each item of a list is a line, and smaller lines `below`."""
    title = {"text": text, "anchor": "start", "fontSize": MIDDLE, "limit": 0}
    smaller = {"subtitle": list(below), "subtitleFontSize": SMALL, "subtitleColor": {"expr": INK.expr}}
    return title | smaller if below else title


def lines_above(lines: Sequence[str]) -> dict[str, Any]:
    """Properties for `chart` that put small lines of text above a chart; empty without lines."""
    return {"title": heading(list(lines)) | {"fontSize": SMALL, "fontWeight": "normal"}} if lines else {}


def heading_with_reading(name: str, reading: str) -> dict:
    """The `title` property of a chart whose `name` is larger than in `heading` and in line with the plot, and below
    it `reading`, how to read the chart.
    """
    style = {
        "frame": "group",
        "fontSize": LARGE,
        "subtitleFontSize": MIDDLE,
        "subtitlePadding": 4,
        "offset": 10,
    }
    return heading(name, reading) | style


def in_theme(figure: go.Figure) -> go.Figure:
    """The Plotly figure with placeholders for the colours of weights, which the browser replaces by those of the
    theme.

    Streamlit's template has ten placeholders for the `chartSequentialColors` that `.streamlit/config.toml` sets:
    `WEIGHTS` on a light page, the same reversed on a dark one. Under each green frame a wider line in the colour of
    the page is added, as in `cells.casing_layer`; not under a thin frame, whose narrow row it would cover.
    """
    of_theme = plotly.io.templates["streamlit"].layout.colorscale.sequential
    for trace in figure.data:
        if "colorscale" in trace and trace.colorscale == weight_colour_scale():
            trace.colorscale = of_theme
    frames = [shape for shape in figure.layout.shapes if shape.line.color == ACCENT and shape.line.width > 1]
    page = plotly.io.templates["streamlit"].data.table[0].cells.fill.color  # the placeholder for it
    casings = [
        {**frame.to_plotly_json(), "line": {"color": page, "width": frame.line.width + CASING}}
        for frame in frames
    ]
    if casings:
        figure.layout.shapes = [*casings, *figure.layout.shapes]
    return figure


@cache
def weight_colour_scale() -> tuple:
    """The colours of weights in the form of a Plotly colour scale."""
    return go.Heatmap(colorscale=WEIGHTS).colorscale
