"""Numbers in the cells of an exported figure: as they are drawn, in all cells, or none."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, log10
from typing import Any

import numpy as np

from ..builders.figure import Figure
from ..builders.heatmap_figure import Heatmap, Panel
from ..builders.number_format import format_number
from .export_style import CellNumbers
from .heatmap_vega import lack_of_room, panel_widths

_ONES = {"0.": "0", "1.": "1", "−1.": "−1"}


def number_choices(figure: Figure) -> tuple[CellNumbers, ...]:
    """What can be chosen for this figure, first what it draws by itself; nothing else if it has no numbers in cells."""
    if isinstance(figure, Heatmap):
        return ("drawn", "all", "none")
    specification = figure.specification
    return ("drawn", "none") if without_numbers(specification) != specification else ("drawn",)


def with_numbers(figure: Heatmap, numbers: CellNumbers) -> Heatmap:
    """The heatmap with these numbers in its cells; cells without a value stay empty."""
    if numbers == "drawn":
        return figure
    panels = [replace(panel, written=_texts(panel) if numbers == "all" else None) for panel in figure.panels]
    return replace(figure, panels=tuple(panels))


def without_numbers(view: Mapping[str, Any]) -> dict[str, Any]:
    """A Vega-Lite view without the layers that write a number into each coloured cell."""
    result = dict(view)
    if "layer" in view:
        places = [_place(layer) for layer in view["layer"] if _is_coloured_cells(layer)]
        result["layer"] = [
            without_numbers(layer)
            for layer in view["layer"]
            if not (_is_plain_text(layer) and _place(layer) in places)
        ]
    for name in ("hconcat", "vconcat", "concat"):
        if name in view:
            result[name] = [without_numbers(child) for child in view[name]]
    if isinstance(view.get("spec"), dict):
        result["spec"] = without_numbers(view["spec"])
    return result


def check_room(figure: Heatmap, width: float) -> None:
    """Raises ValueError if a number of the panels is wider or higher than its cell where they share `width` pixels."""
    widths = panel_widths(figure, width)
    lack = max(
        lack_of_room(figure, panel, panel_width)
        for panel, panel_width in zip(figure.panels, widths, strict=True)
    )
    if lack > 1:
        raise ValueError(
            f"the numbers do not fit: cells would have to be {lack:.1f} times as large; "
            "choose a wider figure, smaller letters, or no numbers"
        )


def _texts(panel: Panel) -> np.ndarray:
    """The values of all cells as texts, with as many decimals as two digits of the largest need.

    Up to 1, the zero before the point is left out: .25 and −.25, 1, and 0 for what rounds to it.
    """
    largest = max(abs(panel.colours.lowest), abs(panel.colours.largest)) or 1
    decimals = max(0, 2 - ceil(log10(largest)))
    written = np.full(panel.values.shape, "", dtype=object)
    for index, value in np.ndenumerate(panel.values):
        if np.isfinite(value):
            text = format_number(float(value), f".{decimals}f")
            if largest <= 1:
                text = _ONES.get(text.rstrip("0"), text.replace("0.", ".", 1))
            written[index] = text
    return written


def _is_coloured_cells(layer: Mapping[str, Any]) -> bool:
    colour = layer.get("encoding", {}).get("color", {})
    return _mark(layer).get("type") == "rect" and colour.get("type") == "quantitative"


def _is_plain_text(layer: Mapping[str, Any]) -> bool:
    """Whether a layer is text in the letters of numbers; tokens have letters of their own."""
    mark = _mark(layer)
    return mark.get("type") == "text" and "font" not in mark


def _place(layer: Mapping[str, Any]) -> tuple[Any, Any]:
    encoding = layer.get("encoding", {})
    return encoding.get("x"), encoding.get("y")


def _mark(layer: Mapping[str, Any]) -> Mapping[str, Any]:
    mark = layer.get("mark", {})
    return {"type": mark} if isinstance(mark, str) else mark
