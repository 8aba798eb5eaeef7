"""What a chart draws, item by item, as Vega lays it out: for tests of places and colours."""

import json
from typing import Any

import vl_convert

from viz.builders.figure import VegaFigure


def drawn(figure: VegaFigure, *, width: int | None = None, dark: bool = False) -> list[list[dict]]:
    """The items of each layer, from the bottom; `width` and the theme as Streamlit would hand them over."""
    view = scene(figure, width=width, dark=dark)["items"][0]
    return [mark["items"] for mark in view["items"] if mark["role"] == "mark"]


def scene(figure: VegaFigure, *, width: int | None = None, dark: bool = False) -> dict[str, Any]:
    """Everything that Vega lays out, as a tree of groups, marks and items."""
    spec = whole(figure)
    spec["config"] = {"background": "#171614" if dark else "#ffffff"}
    if width is not None:
        spec["width"] = width
    return vl_convert.vegalite_to_scenegraph(spec)["scenegraph"]


def whole(figure: VegaFigure) -> dict[str, Any]:
    """The specification with its data, checked against Vega-Lite's schema."""
    chart = figure.chart() if isinstance(figure, VegaFigure) else figure
    return json.loads(chart.to_json())
