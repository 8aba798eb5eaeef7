"""What a chart draws, item by item, as Vega lays it out: for tests of places and colours."""

import json
from typing import Any

import vl_convert

from viz.figure import VegaFigure


def drawn(figure: VegaFigure, *, width: int | None = None, dark: bool = False) -> list[list[dict]]:
    """The items of each layer, from the bottom; `width` and the theme as Streamlit would hand them over."""
    spec = whole(figure)
    spec["config"] = {"background": "#0e1117" if dark else "#ffffff"}
    if width is not None:
        spec["width"] = width
    scene = vl_convert.vegalite_to_scenegraph(spec)
    view = scene["scenegraph"]["items"][0]
    return [mark["items"] for mark in view["items"] if mark["role"] == "mark"]


def whole(figure: VegaFigure) -> dict[str, Any]:
    """The specification with its data, checked against Vega-Lite's schema."""
    chart = figure.chart() if isinstance(figure, VegaFigure) else figure
    return json.loads(chart.to_json())
