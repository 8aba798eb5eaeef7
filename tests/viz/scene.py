"""What a chart draws, item by item, as Vega lays it out: for tests of places and colours."""

import json
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from viz.builders.figure import VegaFigure
from viz.builders.theme import OTHER_INK


def drawn(figure: VegaFigure, *, width: int | None = None, dark: bool = False) -> list[list[dict]]:
    """The items of each layer, from the bottom; `width` and the theme as Streamlit would hand them over.

    Lines in the page's colour under frames are left out: `tests/viz/builders/test_cells.py` tests them.
    """
    view = _laid_out(_without_casings(whole(figure)), width=width, dark=dark)["items"][0]
    return [mark["items"] for mark in view["items"] if mark["role"] == "mark"]


def scene(figure: VegaFigure, *, width: int | None = None, dark: bool = False) -> dict[str, Any]:
    """Everything that Vega lays out, as a tree of groups, marks and items."""
    return _laid_out(whole(figure), width=width, dark=dark)


def items(node: dict[str, Any]) -> list[dict[str, Any]]:
    """All groups, marks and items of a `scene` or a part of it, the outermost first."""
    result = [node]
    for item in result:
        result += item.get("items", [])
    return result


def shown_texts(figure: VegaFigure, **options: Any) -> list[str]:
    """All that is written in the figure and can be seen, axes and legends too; `options` are those of `scene`."""
    texts = [item for item in items(scene(figure, **options)) if item.get("opacity", 1) > 0]
    return [str(item["text"]) for item in texts if item.get("text") is not None]


def numbers_in_cells(figure: VegaFigure) -> dict[str, str]:
    """The number in each cell of a grid, by the name of the cell that a screen reader hears, from left to right."""
    _, texts, cells = drawn(figure)
    written = {(text["x"], text["y"]): text["text"] for text in texts}
    centres = {
        cell["description"]: (cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2) for cell in cells
    }
    return {name: written[centres[name]] for name in sorted(centres, key=lambda name: centres[name])}


def _laid_out(spec: dict, *, width: int | None, dark: bool) -> dict[str, Any]:
    spec["config"] = {"background": "#171614" if dark else "#ffffff"}
    if width is not None:
        spec["width"] = width
    return vl_convert.vegalite_to_scenegraph(spec)["scenegraph"]


def _without_casings(spec: Any) -> Any:
    if isinstance(spec, list):
        return [_without_casings(part) for part in spec if not _is_casing(part)]
    if isinstance(spec, dict):
        return {name: _without_casings(part) for name, part in spec.items()}
    return spec


def _is_casing(part: Any) -> bool:
    mark = part.get("mark") if isinstance(part, dict) else None
    return isinstance(mark, dict) and mark.get("stroke") == OTHER_INK.to_dict()


def whole(figure: VegaFigure | alt.LayerChart) -> dict[str, Any]:
    """The specification with its data, as JSON. That every form is valid is tested once, in `test_forms.py`."""
    if not isinstance(figure, VegaFigure):
        return json.loads(figure.to_json())
    datasets = {name: frame.to_dict(orient="records") for name, frame in figure.frames.items()}
    return json.loads(json.dumps(figure.specification | {"datasets": datasets}, default=np.ndarray.tolist))
