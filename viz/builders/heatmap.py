"""Heatmaps with zoom, a tooltip for each cell, and hatching over cells that a mask forbids."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .heatmap_figure import PLAIN_AXIS, Axis, Colours, Frame, Heatmap, Panel, as_text, axis_title, token_ticks
from .label_placement import named_positions
from .palette import DIFFERENCE, WEIGHTS, WeightScale
from .theme import MIDDLE, SMALL, UPRIGHT
from .token_label import label, shortened, width_in_letters
from .vega_colours import BELOW, EVEN, weight_legend

# A colour bar above the plot pushes it down by its own height, over an empty strip; one at the top of the figure does not. Plotly
# draws it over the last line of its title, which therefore is an empty one.
_EMPTY_LINE = "\xa0"
_AT_TOP = {"y": 1, "yref": "container", "yanchor": "top", "ypad": 14}
_BELOW = {"y": 0, "yref": "paper", "yanchor": "top", "ypad": 14}
_NARROW = 320  # pixels: a map in a narrow column
_LETTER = 0.5  # of the size of the letters: the width of one, in the mean
_TOKEN_LETTER = 0.6  # the same of a letter of a token
_ABOVE, _TITLE, _AXIS_TITLE = 80, 40, 24  # pixels: of the colour bar, of the title and of that of an axis
_AROUND = 150  # pixels that names and title of the columns take above a map
# Of compact maps, in pixels: a line with title and colour bar, and below it the names of columns. Where they are shown, a
# style sheet makes room for these margins.
_BAR, _LINE, _MIDDLE_OF_LINE, _WAY_TO_FILE, _NAMES = 56, 26, 13, 26, 84
MARGIN = {"l": 104, "r": 2, "t": _LINE + _NAMES, "b": 6, "pad": 2}
# Sides of the plots, in pixels, which only the browser knows: these are the least in use.
_SIDE, _SIDE_BESIDE, _SIDE_COMPACT = 420, 240, 255
_NOTE = 18  # pixels, a line below the title of the colour bar


def heatmap(
    values: np.ndarray,
    *,
    x: Sequence[str] | None = None,
    y: Sequence[str] | None = None,
    titles: tuple[str, str],
    colours: Colours,
    cell: str,
    description: str,
    height: int,
    number: str = ": %{z:.4f}",
    title: str = "",
    square: bool = False,
    mask: np.ndarray | None = None,
    framed: tuple[range, range] | None = None,
    written: np.ndarray | None = None,
    shown: tuple[range, range] | None = None,
    customdata: np.ndarray | None = None,
    marked: Sequence[int] | None = None,
    under_hatching: bool = False,
    tokens: str = "",
    beside: bool = False,
    notes: Sequence[str] = (),
) -> Heatmap:
    """A heatmap of `values` [row, column], row 0 on top, in `colours` as `colour_scale` returns them.

    `titles` are those of the x and the y axis. `x` and `y` are the labels of columns and rows, which must all differ;
    by default both are numbered. The axes named in `tokens` ("x", "y" or "xy") have tokens for labels: those of
    columns stand upright above the map, with the colour bar below the map; if not all of them have room, the label of
    the `framed` position is shown, and others at equal distances. The tooltip shows the templates `cell`, which names
    the cell, and `number`, both in Plotly's syntax (`%{x}`), which may use `customdata` [row, column]. Cells that
    `mask` [row, column] forbids (False) are hatched and have no number, unless their values stay visible
    `under_hatching`. `framed` is (columns, rows) inside a frame, `shown` (columns, rows) to which the axes are
    zoomed. `written` [row, column] are texts in the cells, `notes` lines in the title of the colour bar, and `marked`
    columns with a mark above. A map that stands `beside` others has small cells. `height` is in pixels, and `square`
    cells are as high as wide.
    """
    rows, columns = values.shape
    is_shown = mask is None or under_hatching or mask
    shown_values = np.asarray(np.where(is_shown, values, np.nan), np.float32)
    colours = replace(colours, title=(*colours.title, *notes))
    above = _ABOVE + _NOTE * len(notes)
    options = {
        "x": _category_axis(x, square),
        "y": _category_axis(y, square) | {"autorange": "reversed"},
    }
    margin = {"l": 10, "r": 10, "t": above + (_TITLE if title else 0), "b": 10}
    is_upright = x is not None and ("x" in tokens or _labels_width(x) > _NARROW)
    if x is not None and "x" not in tokens:
        standoff = 12 + (_LETTER * MIDDLE * max(map(len, x), default=0) if is_upright else 12)
        options["x"] |= {"tickangle": UPRIGHT if is_upright else 0}
        options["x"] |= {"title": axis_title(titles[0], standoff=standoff) if titles[0] else None}
    side = _SIDE_BESIDE if beside else min(_SIDE, height - above - _AROUND) if square else _SIDE
    for axis, labels, positions in zip("xy", (x, y), _framed_positions(framed, x, y), strict=True):
        if labels is not None and axis in tokens:
            options[axis] |= _token_axis(labels, positions, side, shown and shown["xy".index(axis)])
    if x is not None and "x" in tokens:
        # Above the names Plotly sets a colour bar and its title at no fixed distance: it stands below the map.
        names = max(map(width_in_letters, x), default=0) * _TOKEN_LETTER * options["x"]["tickfont"]["size"]
        top = round(names) + 10 + (_AXIS_TITLE if titles[0] else 0) + (_TITLE if title else 0)
        margin |= {"t": top, "b": above}
        options["x"] |= {"side": "top", "tickangle": UPRIGHT, "automargin": False, "ticklabelstandoff": 4}
        bar = _colour_bar(colours) | _BELOW
    else:
        bar = _colour_bar(replace(colours, title=(*colours.title, _EMPTY_LINE))) | _AT_TOP
    if square:
        options["x"] |= {"constraintoward": "left"}
        options["y"] |= {"constraintoward": "top", "scaleanchor": "x"}
    if shown is not None:
        x_range, y_range = ((side.start - 0.5, side.stop - 0.5) for side in shown)
        options["x"] |= {"range": x_range}
        options["y"] |= {"range": y_range[::-1], "autorange": False}
    x_shown, y_shown = shown or (range(columns), range(rows))
    frames: tuple[Frame, ...] = ()
    if framed is not None:
        width = 1 if len(framed[1]) == 1 and rows > 64 else 2  # a thin line leaves narrow cells visible
        x_ends, y_ends = ((side.start - 0.5, side.stop - 0.5) for side in framed)
        frames = (Frame(x_ends, y_ends, width=width),)
    panel = Panel(
        values=shown_values,
        colours=colours,
        x=Axis(
            shown=x_shown,
            title=titles[0],
            names=x,
            are_tokens="x" in tokens,
            is_upright=is_upright,
            options=options["x"],
        ),
        y=Axis(shown=y_shown, title=titles[1], names=y, are_tokens="y" in tokens, options=options["y"]),
        cell=cell,
        number=number,
        customdata=customdata,
        frames=frames,
        mask=mask,
        written=written,
        marked=marked,
    )
    return Heatmap(
        panels=(panel,),
        numbers=pd.DataFrame(shown_values, index=y, columns=x),
        description=description,
        height=height,
        margin=margin,
        bar=bar,
        title=title,
        is_square=square,
    )


def panels_beside(
    panels: Sequence[Panel],
    *,
    numbers: pd.DataFrame,
    description: str,
    height: int,
    margin: Mapping[str, int],
    name_shift: int = 0,
) -> Heatmap:
    """A figure of matrices side by side, in the colours of the first; `height` is in pixels, including the margins
    above and below.

    `numbers` is the data frame for an exported file. The names of the panels are raised by `name_shift` pixels.
    """
    colours = panels[0].colours
    return Heatmap(
        panels=tuple(panels),
        numbers=numbers,
        description=description,
        height=height,
        margin=margin,
        bar=_colour_bar(replace(colours, title=(*colours.title, _EMPTY_LINE))) | _AT_TOP,
        name_shift=name_shift,
    )


def compact_heatmap(figure: Heatmap, title: str, *, height: int | None = None) -> Heatmap:
    """The heatmap for a row of several: its name, the colour bar and the ends of the colour scale on one line, and
    margins of fixed size.

    So the plots of maps in containers of one size have one size too, whatever their labels are. `title` is in
    Plotly's markup. Without a `height` in pixels the figure takes the height of its container. Its exported file is
    that of the heatmap without these changes.
    """
    (panel,) = figure.panels
    lowest, largest = panel.colours.lowest, panel.colours.largest
    is_signed = lowest < 0
    end_of_scale = f"{'±' * is_signed}{largest:.3g}"
    if (furthest := float(np.nanmax(np.abs(panel.values), initial=0))) > 1.01 * largest:
        end_of_scale += f", up to {furthest:.3g}"
    beside_bar = _WAY_TO_FILE + _LETTER * MIDDLE * len(end_of_scale) + 6
    marks = [position for position in panel.colours.ticks if 0 < position < largest and not is_signed]
    middle = _NAMES + _MIDDLE_OF_LINE
    on_line = {"yanchor": "middle", "yshift": middle}
    ends = on_line | {"x": 1, "font": {"size": SMALL}}
    texts = [
        on_line | {"text": title, "x": 0, "xanchor": "left", "font": {"size": MIDDLE}},
        ends | {"text": end_of_scale, "xanchor": "left", "xshift": 4 - beside_bar},
    ]
    if not is_signed:
        texts.append(ends | {"text": f"{lowest:.3g}", "xanchor": "right", "xshift": -4 - _BAR - beside_bar})
    for position in marks:
        shift = (position / largest - 1) * _BAR - beside_bar
        above_bar = {"yanchor": "bottom", "yshift": _NAMES, "xanchor": "center", "xshift": shift}
        texts.append(ends | above_bar | {"text": EVEN})
    paper = {"xref": "paper", "yref": "paper", "y": 1, "showarrow": False, "borderpad": 0}
    bar = {
        "orientation": "h",
        "lenmode": "pixels",
        "len": _BAR + 2 * beside_bar,
        "thickness": 8,
        "showticklabels": False,
        "ticks": "",
        "outlinewidth": 0,
        "x": 1,
        "xanchor": "right",
        "xpad": beside_bar,
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "ypad": _LINE - _MIDDLE_OF_LINE - 4,
    }
    names: dict[str, Any] = {"title": None, "automargin": False, "ticks": ""}
    columns, rows = (list(map(str, labels)) for labels in (figure.frame.columns, figure.frame.index))
    framed = [round(frame.y[0] + 0.5) for frame in panel.frames]
    room = MARGIN["t"] - _LINE - MARGIN["pad"]
    size = (
        MIDDLE
        if max(map(width_in_letters, [*columns, *rows]), default=0) * _TOKEN_LETTER * MIDDLE <= room
        else SMALL
    )
    across = _token_axis(columns, framed, _SIDE_COMPACT, most=size)
    most = int(room / _TOKEN_LETTER / size)
    names_above = [shortened(columns[position], most) for position in across["tickvals"]]
    on_page = {
        "height": height,
        "title": None,
        "margin": MARGIN,
        "xaxis": names | across | {"ticktext": as_text(names_above)},
        "yaxis": names | _token_axis(rows, framed, _SIDE_COMPACT, most=size),
        "annotations": [paper | text for text in texts],
    }
    return replace(figure, bar=bar, on_page=on_page)


def position_labels(
    tokens: Sequence[str], numbers: Sequence[int] | None = None, max_letters: int = 14
) -> list[str]:
    """A unique label for each position: the token, after its position if the token occurs more than once.

    ("the", "film", "the") gives 0 the, film, 2 the. A label without a position contains no space, so it cannot equal
    one with a position. `numbers` are the numbers of the positions if they do not count from 0. At most `max_letters`
    letters of a token are shown.
    """
    labels = [label(token, max_letters) for token in tokens]
    label_counts = Counter(labels)
    positions = range(len(labels)) if numbers is None else numbers
    return [
        f"{position} {text}" if label_counts[text] > 1 else text
        for position, text in zip(positions, labels, strict=True)
    ]


def colour_scale(what: str, reach: str, largest: float, *, signed: bool = True) -> Colours:
    """Colours from -`largest` (from 0 unless `signed`) to `largest`.

    The title of the colour bar is the name `what` of the quantity, and the text `reach`, which describes the range of
    the colours.
    """
    lowest = -largest if signed else 0.0
    return Colours(
        lowest=lowest,
        largest=largest,
        colours=DIFFERENCE if signed else WEIGHTS,
        title=(f"{what}, {reach}",),
        ticks=(lowest, (lowest + largest) / 2, largest),
    )


def attention_scale(scale: WeightScale, n_keys: int, keys: str = "") -> Colours:
    """The colours of attention weights, with the ticks of `weight_legend`; `n_keys` is the number of keys, and `keys`
    says which keys are counted.
    """
    legend = weight_legend(scale, n_keys, keys)
    return Colours(
        lowest=0.0,
        largest=scale.largest,
        colours=WEIGHTS,
        title=legend.title,
        ticks=tuple(legend.ticks),
        tick_texts=tuple(
            EVEN if mark == EVEN else f"{mark}{tick:.3g}" for tick, mark in legend.ticks.items()
        ),
    )


def _colour_bar(colours: Colours) -> dict[str, Any]:
    """Plotly's options for a short horizontal colour bar; a vertical one would move away from a square map."""
    title = "<br>".join(as_text(colours.title))
    return {
        "title": {"text": title, "side": "top", "font": {"size": MIDDLE}},
        "tickfont": {"size": MIDDLE},
        "tickangle": 0,  # Plotly turns close ticks, the triangle of equal weights with them
        "orientation": "h",
        "lenmode": "pixels",
        "len": 150,
        "thickness": 10,
        "tickvals": colours.ticks,
        "tickformat": ".3~g",
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        **(
            {"ticktext": [text.replace(BELOW, "<br>") for text in colours.tick_texts]}
            if colours.tick_texts
            else {}
        ),
    }


def _framed_positions(
    framed: tuple[range, range] | None, x: Sequence[str] | None, y: Sequence[str] | None
) -> tuple[Sequence[int], Sequence[int]]:
    """The columns and rows whose names are bold: those of a frame around a single column or a single row.

    If queries and keys are the same tokens (`x` equals `y`), a framed row makes the name of its own column bold too.
    """
    if framed is None:
        return (), ()
    columns, rows = (side if len(side) == 1 else () for side in framed)
    return columns or (rows if x == y else ()), rows


def _token_axis(
    labels: Sequence[str],
    always_named: Sequence[int],
    side: float,
    shown: range | None = None,
    most: int = MIDDLE,
) -> dict:
    """Plotly's options of an axis with tokens for labels, `side` pixels long, of which only the positions `shown` are
    in sight.

    Letters are at most `most` pixels high, and smaller if that gives all labels room. If it does not, the positions in
    `always_named` keep their labels, and others at equal distances.
    """
    room = side * len(labels) / max(len(shown or labels), 1)
    size = SMALL if len(labels) * (SMALL + 1) <= room < len(labels) * (most + 1) else most
    positions = named_positions(range(len(labels)), always_named, size, room)
    return token_ticks(size) | {"tickmode": "array", "tickvals": positions}


def _category_axis(labels: Sequence[str] | None, square: bool) -> dict:
    """Plotly's options of an axis with these `labels`, None for an axis without labels; with `square`, cells keep
    their shape when the width changes.
    """
    axis = PLAIN_AXIS
    if labels is not None:
        axis = axis | {"type": "category", "categoryorder": "array", "categoryarray": as_text(labels)}
    return axis | ({"constrain": "domain"} if square else {})


def _labels_width(labels: Sequence[str]) -> float:
    """The estimated width in pixels of all `labels` side by side."""
    return _LETTER * MIDDLE * max(map(len, labels), default=0) * len(labels)
