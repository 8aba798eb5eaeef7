"""Figures as SVG, PDF or PNG, drawn by Vega in this process without a browser or a network. Numbers in cells can be
those on screen, those of all cells, or none.
"""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log10
from typing import Any

import numpy as np
import vl_convert
from PIL import Image

from ..builders.figure import Figure, VegaFigure
from ..builders.heatmap_figure import Heatmap, Panel
from ..builders.number_format import format_number
from ..builders.theme import PAGE, SMALL, file_config, heading
from .export_style import CM, LABEL, PT, ExportStyle, NumberChoice
from .heatmap_vega import heatmap_vega, natural_width, needed_enlargement, panel_widths
from .safe_text import (
    fold_legends,
    keep_spaces,
    name_rare_fonts,
    replace_forbidden,
    replace_missing_letters,
    wrap_titles,
)

_ONES = {"0.": "0", "1.": "1", "−1.": "−1"}
_NATURAL = 720  # pixels, of a figure that is as wide as the page that it stands on
_SMALLEST = 120  # pixels of a plot that is to be laid out
_ROUNDS = 4  # of laying out anew; each comes closer to the width, and two or three are enough
_MOST = 2.4  # times a figure's letters are enlarged where the whole of it is made smaller
_LETTER = 0.5  # of the size of the letters: the width of one, in the mean
_AROUND, _COARSE = 240, 0.5  # pixels around a figure that are looked at, and the scale of the look
_FURTHEST = 2000  # pixels around a figure, of which no more are looked at
_MARGIN = 4  # pixels, at least, from what is drawn to the edge of the file
_OPENING = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>')
# Vega paints the page's colour behind a figure, whose inks follow it even where it is not to be seen.
_BEHIND = re.compile(r"<svg [^>]*><rect [^>]*/>")

PixelBox = tuple[float, float, float, float]  # left, top, width, height
LayoutForWidth = Callable[[float], dict[str, Any]]


def number_choices(figure: Figure) -> tuple[NumberChoice, ...]:
    """The choices of `ExportStyle.numbers` for this figure, the default first; only the default if the figure has no
    numbers in cells.
    """
    if isinstance(figure, Heatmap):
        return ("drawn", "all", "none")
    specification = figure.specification
    return ("drawn", "none") if without_numbers(specification) != specification else ("drawn",)


def without_numbers(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The specification of a Vega-Lite chart without the layers that write a number into each coloured cell."""
    layers = specification["layer"]
    places = [_xy_channels(layer) for layer in layers if _is_coloured_cells(layer)]
    kept = [layer for layer in layers if not (_is_plain_text(layer) and _xy_channels(layer) in places)]
    return {**specification, "layer": kept}


def check_room(figure: Heatmap, width: float) -> None:
    """Raises ValueError if a number in the panels is wider or higher than its cell when all panels share `width`
    pixels.
    """
    widths = panel_widths(figure, width)
    lack = max(
        needed_enlargement(figure, panel, panel_width)
        for panel, panel_width in zip(figure.panels, widths, strict=True)
    )
    if lack > 1:
        raise ValueError(
            f"the numbers do not fit: cells would have to be {lack:.1f} times as large; "
            "choose a wider figure, smaller letters, or no numbers"
        )


def _cell_texts(panel: Panel) -> np.ndarray:
    """The values of all cells as texts [row, column], with the number of decimals at which the largest value has two
    digits.

    Up to 1, the zero before the point is left out: .25 and −.25, 1, and 0 for a value that rounds to it.
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
    """Whether a Vega-Lite layer draws rectangles coloured by a number."""
    return (
        layer["mark"]["type"] == "rect" and layer["encoding"].get("color", {}).get("type") == "quantitative"
    )


def _is_plain_text(layer: Mapping[str, Any]) -> bool:
    """Whether a Vega-Lite layer writes text in the default font, as numbers do; tokens have a font of their own."""
    return layer["mark"]["type"] == "text" and "font" not in layer["mark"]


def _xy_channels(layer: Mapping[str, Any]) -> tuple[Any, Any]:
    """The x and the y channel of a Vega-Lite layer, None for one that it lacks."""
    return layer["encoding"].get("x"), layer["encoding"].get("y")


def svg(figure: Figure, style: ExportStyle = ExportStyle()) -> str:  # noqa: B008 (frozen)
    """The figure as SVG, with its size in centimetres if the style has a width. Raises ValueError if only a browser
    can draw the figure, or if the style asks for numbers in all cells and they do not fit, or the figure has no
    cells.
    """
    return _svg(figure, style, "cm" if style.width_cm else "", CM if style.width_cm else 1)


def _svg(figure: Figure, style: ExportStyle, unit: str, pixels: float) -> str:
    """The figure as SVG, with its size in the CSS `unit` that is `pixels` pixels long."""
    svg_text, box, scale = _draw_in_width(figure, style)
    width_text, height_text = (f"{number * scale / pixels:.2f}{unit}" for number in box[2:])
    opening_tag = _svg_tag(width_text, height_text, box)
    if not style.transparent:
        names = ["x", "y", "width", "height"]
        box_attributes = " ".join(
            f'{name}="{coordinate:g}"' for name, coordinate in zip(names, box, strict=True)
        )
        opening_tag += f'<rect {box_attributes} fill="{PAGE[style.theme]}"/>'
    return _BEHIND.sub(lambda _: opening_tag, svg_text, count=1)


def png(figure: Figure, style: ExportStyle = ExportStyle()) -> bytes:  # noqa: B008 (frozen)
    """The figure as PNG, with the dots per inch of the style. Raises the errors of `svg`."""
    return vl_convert.svg_to_png(
        replace_missing_letters(svg(figure, style)), scale=72 / 96, ppi=style.dots_per_inch
    )


def pdf(figure: Figure, style: ExportStyle = ExportStyle()) -> bytes:  # noqa: B008 (frozen)
    """The figure as PDF, of the same size as `svg`, with texts as text in embedded fonts. Raises the errors of `svg`."""
    # which makes a point of each pixel
    return vl_convert.svg_to_pdf(replace_missing_letters(_svg(figure, style, "", PT)))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How to lay out a figure once its width is known."""

    in_width: LayoutForWidth  # the specification, for a width in pixels
    natural_width: float | None  # the figure's own; None if it is not known
    can_stretch: bool
    heatmap: Heatmap | None = None


def _draw_in_width(figure: Figure, style: ExportStyle) -> tuple[str, PixelBox, float]:
    """The figure as SVG, the bounding box of its drawing in pixels, and the factor by which to scale it to the
    style's width.
    """
    layout = _layout(figure, style)
    letters = style.font_pt * PT if style.font_pt else None
    target_width = style.width_cm * CM if style.width_cm else None
    scale = letters / LABEL if letters else 1.0
    asked_width = target_width / scale if target_width else layout.natural_width
    plot_width = (asked_width or _NATURAL) * (0.8 if isinstance(figure, Heatmap) else 1)
    # What reaches beyond a plot is no shorter beside a narrow one: rather, all of it is made a little smaller.
    min_width = _SMALLEST if isinstance(figure, Heatmap) else 0.85 * (asked_width or 0)
    enlargement = 1.0
    for rounds_left in reversed(range(_ROUNDS)):
        svg_text = _render(layout.in_width(plot_width), style, enlargement, asked_width)
        box = _bounding_box(svg_text)
        width = box[2]
        if not rounds_left or asked_width is None:
            break
        if layout.can_stretch and abs(width - asked_width) > 2 and plot_width > min_width:
            plot_width = max(plot_width + asked_width - width, min_width)
            continue
        if target_width is None or not letters or layout.can_stretch:
            break
        # What keeps its size is made smaller or larger as a whole, and its letters are not.
        enlarged = min(max(letters * width / (LABEL * target_width), 0.5), _MOST)
        if abs(enlarged - enlargement) < 0.03 * enlargement:
            break
        enlargement, asked_width = enlarged, width
    if style.numbers == "all" and layout.heatmap is not None:
        check_room(layout.heatmap, plot_width)
    return svg_text, box, target_width / width if target_width else scale


def _layout(figure: Figure, style: ExportStyle) -> _Layout:
    """The layout of the figure, with the numbers in cells and the title that the style asks for."""
    if isinstance(figure, Heatmap):
        title = ": ".join(filter(None, (style.above, figure.title))) if style.title else ""
        heatmap = replace(figure, title=title)
        if style.numbers != "drawn":
            has_all = style.numbers == "all"
            panels = [
                replace(panel, written=_cell_texts(panel) if has_all else None) for panel in figure.panels
            ]
            heatmap = replace(heatmap, panels=tuple(panels))
        return _Layout(partial(heatmap_vega, heatmap), natural_width(heatmap), True, heatmap)
    if style.numbers == "all" and len(number_choices(figure)) == 1:
        raise ValueError("this figure has no cells with a number each: leave numbers='all' out")
    specification = {**figure.specification, "datasets": _datasets(figure)}
    if style.numbers == "none":
        specification = without_numbers(specification)
    if not style.title:
        specification.pop("title", None)
    elif style.above:
        lines = _title_lines(specification.get("title"))
        below = {"subtitle": lines, "subtitleFontSize": SMALL} if lines else {}
        specification["title"] = heading(style.above) | below
    if not figure.takes_width:
        return _Layout(lambda _: specification, None, can_stretch=False)
    return _Layout(lambda width: {**specification, "width": width}, _NATURAL, can_stretch=True)


def title_of(figure: Figure) -> str:
    """The title and the subtitle of the whole figure as one line; "" without a title."""
    if isinstance(figure, Heatmap):
        return figure.title
    return " ".join(_title_lines(figure.specification.get("title")))


def _title_lines(title: Any) -> list[str]:
    """The lines of a Vega-Lite title, followed by those of its subtitle."""
    if isinstance(title, dict):
        return [*_title_lines(title.get("text")), *_title_lines(title.get("subtitle"))]
    return [title] if isinstance(title, str) else list(title or ())


def _render(
    specification: dict[str, Any], style: ExportStyle, enlargement: float, width: float | None
) -> str:
    """The SVG of a specification, with letters enlarged by `enlargement`. Unless `width` (pixels) is None, titles are
    wrapped and legends folded into more rows to fit it.
    """
    if width:
        letter = _LETTER * LABEL * enlargement
        specification = fold_legends(wrap_titles(specification, int(width / letter)), width, letter)
    full_specification = _enlarge_letters(replace_forbidden(specification), enlargement) | {
        "config": file_config(style.theme, enlargement)
    }
    # No picture and no data is ever fetched: what a figure shows, it brings along.
    svg_text = vl_convert.vegalite_to_svg(
        json.dumps(full_specification, default=_as_python), allowed_base_urls=[]
    )
    return name_rare_fonts(keep_spaces(replace_forbidden(svg_text)))


def _svg_tag(width: str, height: str, box: PixelBox) -> str:
    """The opening tag of an SVG of this size whose view box is `box`."""
    view = " ".join(f"{number:g}" for number in box)
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"'
    return f'<svg {names} width="{width}" height="{height}" viewBox="{view}">'


def _bounding_box(drawn: str, around: int = _AROUND) -> PixelBox:
    """The bounding box (x, y, width, height) of all marks in an SVG, in pixels: a long name can extend beyond the
    size that Vega computes.

    Marks are searched up to `around` pixels beyond that size, and further if marks reach the end of the searched
    area.
    """
    opening = _OPENING.search(drawn)
    assert opening, drawn[:200]
    width, height = map(float, opening.groups())
    enlarged_width, enlarged_height = width + 2 * around, height + 2 * around
    opening_tag = _svg_tag(
        f"{enlarged_width:g}", f"{enlarged_height:g}", (-around, -around, enlarged_width, enlarged_height)
    )
    enlarged_svg = _BEHIND.sub(opening_tag, drawn, count=1)
    picture = Image.open(io.BytesIO(vl_convert.svg_to_png(enlarged_svg, scale=_COARSE, ppi=72)))
    visible_box = picture.getbbox()
    if visible_box is None:
        return 0, 0, width, height
    to_end = min(*visible_box[:2], picture.width - visible_box[2], picture.height - visible_box[3])
    if to_end < _LETTER * LABEL and around < _FURTHEST:  # a line may be cut between two letters
        return _bounding_box(drawn, 4 * around)
    left, top, right, bottom = (pixel_edge / _COARSE - around for pixel_edge in visible_box)
    left, top = min(left - _MARGIN, 0), min(top - _MARGIN, 0)
    right, bottom = max(right + _MARGIN, width), max(bottom + _MARGIN, height)
    return left, top, right - left, bottom - top


def _enlarge_letters(value: Any, enlargement: float) -> Any:
    """The specification with letters of its titles enlarged by `enlargement`; texts in cells keep their size, as the
    cells have no room.
    """
    if isinstance(value, list):
        return [_enlarge_letters(child, enlargement) for child in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {
            key: child * enlargement if key in ("fontSize", "subtitleFontSize") else child
            for key, child in child.items()
        }
        if name == "title" and isinstance(child, dict)
        else child
        if name == "datasets"
        else _enlarge_letters(child, enlargement)
        for name, child in value.items()
    }


def _datasets(figure: VegaFigure) -> dict[str, list[dict]]:
    """The figure's data frames as lists of rows for Vega; numbers that are not finite are null."""
    return {
        name: json.loads(
            frame.map(replace_forbidden).to_json(
                orient="records", double_precision=15, default_handler=_as_python
            )
        )
        for name, frame in figure.frames.items()
    }


def _as_python(value: Any) -> Any:
    """A NumPy scalar or array as a Python number or list; any other value as it is."""
    return value.tolist()
