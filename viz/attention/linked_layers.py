"""The marks of the linked chart of all heads. Vega expressions make them follow the pointer and the chosen head,
query and key.

The expressions use the chart's parameters (`linked_heads.py`), such as where its parts lie and which head is shown.
"""

from typing import Any

import altair as alt

from ..builders.cells import CASING, FULL_INK, OTHER_FULL_INK, STRONG
from ..builders.chart import Layer, Rows
from ..builders.figure import Kwargs
from ..builders.label_placement import has_room
from ..builders.palette import ACCENT, FALLS, NEUTRAL, RISES, WEIGHTS
from ..builders.picture_marks import CHOOSE, box_between, image_at, text_at
from ..builders.theme import MIDDLE, ON_DARK, OTHER_INK, SMALL, UPRIGHT
from ..builders.token_label import FONT
from .linked_data import MOST_OPAQUE, TOP, ChartContent
from .matrix_links import link_outlines

N_STRONGEST = 8
LEAST = 0.0005  # a weight of less is 0.000, and does not stand among the strongest
ABOVE = 34  # pixels above the small maps: the sentence about the head, and the names of heads
KEY_LINE = 27  # pixels: a line of the list of strongest keys
MOST_GRID_LINES = 10  # columns of patches; more lines than these would cover the picture
_LETTER = 5.8  # pixels, about, of a letter of a sentence


def _box_corners(x: str, y: str, width: str, height: str) -> tuple[str, str, str, str]:
    """The four corner expressions that `box_between` takes, of a box of this `width` and `height` whose upper left
    corner is (`x`, `y`).
    """
    return x, y, f"datum._x + {width}", f"datum._y + {height}"


def _weight_expression(integer: str) -> str:
    """The Vega expression of an attention weight, from the expression `integer` of the integer that was sent for it."""
    return f"{integer} * state.unit / {TOP}"


# Vega expressions about the row of the data: where the small map of its head lies, and whether that head is chosen or shown.
_TILE_X, _TILE_Y = "left + step * datum.head", f"{ABOVE} + step * datum.layer"
_TILE = _box_corners(_TILE_X, _TILE_Y, "tile", "tile")
_HEAD_INDEX = "state.n_heads * datum.layer + datum.head"
_KEPT = "datum.layer == kept_layer && datum.head == kept_head"
_SHOWN = "datum.layer == layer && datum.head == head"
_FRAMED = f"({_KEPT}) || ({_SHOWN})"
_HAS_KEY = "isNumber(pointed_key)"
_POINTED_KEY = f"({_HAS_KEY} ? pointed_key : 0)"
_SHOWN_INDEX = "state.n_heads * layer + head"
SHOWN_HEAD = f"data('frame')[{_SHOWN_INDEX}]"
PICTURE = "data('picture')[0]"
_SCALE = alt.Scale(
    domain=[0, 1], range=list(WEIGHTS), interpolate="rgb", clamp=True, reverse=alt.expr(ON_DARK)
)
_COLOUR = {"color": alt.Color("weight:Q", scale=_SCALE, legend=None)}
_PAGE = alt.expr("!background || background == 'transparent' ? 'white' : background")


# Marks with these options answer the pointer, where Vega-Lite reports it.
_TAKES_POINTER: Kwargs = {"tooltip": alt.expr("''"), "cursor": "pointer", "fill": "transparent"}


def small_maps(content: ChartContent) -> list[Layer]:
    """The small maps of all heads. While the pointer is on a query, each shows only the row of that query, and marks
    the key with the largest weight.

    If the positions are patches of a picture, each small map shows the weights of the chosen or pointed-at query on
    the patches.
    """
    heads = Rows()
    width = f"{_maps_are_pictures(content)} ? 0 : tile" if content.picture else "tile"
    layers = [image_at(heads, _TILE_X, _TILE_Y, width, "tile")]
    if content.picture:
        layers += _small_pictures(content)
    else:
        veil: Kwargs = {"fill": _PAGE, "opacity": alt.expr("is_asking ? 0.8 : 0")}
        layers += [
            box_between(heads, *_box_corners(_TILE_X, _TILE_Y, "tile", "unit_y * query"), **veil),
            box_between(
                heads, _TILE_X, f"{_TILE_Y} + unit_y * (query + 1)", _TILE[2], f"{_TILE_Y} + tile", **veil
            ),
        ]
        strongest = heads.calculate(
            key=f"best[best_start + {_HEAD_INDEX}]",
            weight=_weight_expression(f"most[best_start + {_HEAD_INDEX}]"),
        )
        shown = alt.expr("is_asking ? 0.4 + 0.6 * datum.weight : 0")
        size = alt.expr(f"tile >= 84 ? {MIDDLE} : {SMALL}")
        # Half way between the row and the edge that is farther from it, so that the words do not cover the row.
        middle = f"{_TILE_Y} + tile * (query < state.n_queries / 2 ? 0.7 : 0.3)"
        layers += [
            text_at(
                strongest,
                f"{_TILE_X} + tile / 2",
                f"{middle} - (tile >= 44 ? 8 : 0)",
                "isNumber(datum.key) ? data('keys')[datum.key].label : ''",
                align="center",
                font=FONT,
                fontWeight="bold",
                fontSize=size,
                opacity=shown,
                limit=alt.expr("tile - 2"),
            ),
            text_at(
                strongest,
                f"{_TILE_X} + tile / 2",
                f"{middle} + 8",
                "tile >= 44 ? format(datum.weight, '.2f') : ''",
                align="center",
                fontSize=SMALL,
                opacity=shown,
            ),
        ]
    x, y = f"{_TILE_X} + unit_x * {_POINTED_KEY}", f"{_TILE_Y} + unit_y * query"
    cell, is_framed = _box_corners(x, y, "max(unit_x, 3)", "max(unit_y, 3)"), _HAS_KEY
    if content.picture and content.whole:  # there a key is a patch
        patch = f"{_POINTED_KEY} - {PICTURE}.first"
        size_x, size_y = _patch_size("tile")
        x = f"{_TILE_X} + {size_x} * (({patch}) % {PICTURE}.columns)"
        y = f"{_TILE_Y} + {size_y} * floor(({patch}) / {PICTURE}.columns)"
        cell = _box_corners(x, y, size_x, size_y)
        is_framed += f" && {patch} >= 0 && {patch} < {PICTURE}.rows * {PICTURE}.columns"
    shown = alt.expr(f"{is_framed} ? 1 : 0")
    cell_frame = box_between(heads, *cell, fill=None, stroke=ACCENT, strokeWidth=2, opacity=shown)
    wide = alt.expr(f"{_FRAMED} ? {4 + CASING} : 0")
    casing = box_between(heads, *_TILE, fill=None, stroke=OTHER_INK, strokeWidth=wide)
    frame = box_between(
        heads,
        *_TILE,
        stroke=alt.expr(f"{_FRAMED} ? '{ACCENT}' : '{NEUTRAL}'"),
        strokeWidth=alt.expr(f"{_FRAMED} ? 4 : 0.5"),
        strokeDash=alt.expr(f"({_SHOWN}) && !({_KEPT}) ? [5, 3] : [1, 0]"),
        **_TAKES_POINTER,
    )
    layer_names = heads.where("datum.head == 0")
    head_names = heads.where("datum.layer == 0")
    return [
        *layers,
        cell_frame,
        casing,
        frame,
        text_at(
            layer_names, "0", f"{_TILE_Y} + tile / 2", "datum.layer % lines_step ? '' : 'L' + datum.layer"
        ),
        text_at(
            head_names,
            f"{_TILE_X} + tile / 2",
            f"{ABOVE - 9}",
            "state.by_layer || datum.head % names_step ? '' : 'H' + datum.head",
            align="center",
        ),
    ]


def _small_pictures(content: ChartContent) -> list[Layer]:
    """In place of each small map the picture, over the weights of the chosen or pointed-at query.

    If not all weights were sent, these are pictures for the chosen query; while the pointer is on another query, the
    small maps are matrices.
    """
    size_x, size_y = _patch_size("tile")
    shown = _maps_are_pictures(content)
    size = f"{shown} ? share_x * tile : 0", "share_y * tile"
    if content.whole:
        weight = _weight_expression(f"weights[start + state.n_keys * ({_HEAD_INDEX}) + datum.position]")
        patches = Rows("small_patches").calculate(weight=f"{weight} / ({_end_of_colour_scale(_HEAD_INDEX)})")
        x, y = f"{_TILE_X} + {size_x} * datum.column", f"{_TILE_Y} + {size_y} * datum.row"
        opacity = alt.expr(f"{shown} ? {_patch_opacity(content.photo, 'datum.weight')} : 0")
        coloured = box_between(patches, *_box_corners(x, y, size_x, size_y), _COLOUR, opacity=opacity)
    else:
        url = f"{ON_DARK} ? datum.row_on_dark : datum.row_on_light"
        coloured = image_at(Rows(), _TILE_X, _TILE_Y, *size, url)
    url = f"{ON_DARK} ? {PICTURE}.on_dark : {PICTURE}.on_light"
    image = image_at(Rows(), _TILE_X, _TILE_Y, *size, url, smooth=True)
    return [image, coloured] if content.photo or not content.whole else [coloured, image]


def _maps_are_pictures(content: ChartContent) -> str:
    """The Vega expression that is true while the small maps are pictures instead of matrices."""
    if content.whole:
        return "(query >= 0 && (is_asking || state.on_picture))"
    return "(query >= 0 && query == state.row_query && state.on_picture)"


def _patch_size(side: str) -> tuple[str, str]:
    """Width and height of one patch as Vega expressions, in a picture whose longer side has `side` pixels (an
    expression).
    """
    return f"share_x * {side} / {PICTURE}.columns", f"share_y * {side} / {PICTURE}.rows"


def _end_of_colour_scale(head: str) -> str:
    """The Vega expression of the weight at which the colours of patches end in the head with the index `head` (an
    expression): 1, or the largest weight of the query.
    """
    return f"state.own_tops ? max(1e-9, {_weight_expression(f'most[best_start + {head}]')}) : 1"


def _patch_opacity(is_photo: bool, level: str) -> str:
    """The Vega expression of the opacity of a patch's colour, whose place on the colour scale is `level` (from 0 to
    1): on a photo the opacity grows with the weight, elsewhere it is 1.
    """
    return f"{MOST_OPAQUE} * max(0, {level})" if is_photo else "1"


def _rows_with_weights(frame: str) -> Rows:
    """The rows of the data frame `frame` with two more columns: `weight`, from the shown query to the row's position,
    and `level`, the weight as a share of the end of the colour scale.
    """
    return Rows(frame).calculate(
        weight=f"has_weights ? {_weight_expression('weights[row_start + datum.position]')} : 0",
        level="datum.weight / top_weight",
    )


def large_map(content: ChartContent, compact: bool) -> list[Layer]:
    """The large map of the head that is pointed at or chosen, with the names of its queries and keys."""
    heads, state = Rows(), Rows("state")
    # All of them are there, all but one without a width: a picture that comes new is loaded first, and the map would blink.
    shown = f"{_SHOWN} ? map_width : 0"
    url = f"{ON_DARK} ? datum.exact_on_dark : datum.exact_on_light" if content.exact else CHOOSE
    layers = [image_at(heads, "map_x", "top", shown, "map_height", url)]
    if content.mask:
        layers.append(image_at(heads, "map_x", "top", shown, "map_height", "datum.hatched"))
    right = "map_x + map_width"
    border: Kwargs = {"fill": None, "stroke": NEUTRAL, "strokeWidth": 0.5}
    layers.append(box_between(state, "map_x", "top", right, "top + map_height", **border))
    row_box = "map_x - 1", "top + cell * query - 1", f"{right} + 1", "top + cell * (query + 1) + 1"
    of_query: Kwargs = {"fill": None, "opacity": alt.expr("query >= 0 ? 1 : 0")}
    row_casing = box_between(state, *row_box, stroke=OTHER_INK, strokeWidth=2.5 + CASING / 2, **of_query)
    row_frame = box_between(state, *row_box, stroke=ACCENT, strokeWidth=2.5, **of_query)
    cell = _box_corners(f"map_x + cell * {_POINTED_KEY}", "top + cell * query", "cell", "cell")
    of_key: Kwargs = {"fill": None, "opacity": alt.expr(f"{_HAS_KEY} ? 1 : 0")}
    cell_frame = box_between(state, *cell, stroke=ACCENT, strokeWidth=3, **of_key)
    # Where it is too long for what is above the large map, it begins further left, but not where the colours of the tokens are
    # explained, above the first small maps.
    beside = (
        "56" if compact else "(56 + (keys_width ? keys_width + 100 : 0))"
    )  # the sign, and the way to a file
    length = f"({beside} + {_LETTER} * length({SHOWN_HEAD}.about_short))"
    above = "picture_x" if content.picture else "map_x - state.names"
    left = f"min({above}, max((hidden ? 0.4 : 0.2) * width, width - {length}))"
    name = text_at(state, left, "8", f"{SHOWN_HEAD}.name", fontWeight="bold")
    # At its right stands what the page says about the map.
    room = f"(width - {left} - {beside})"
    about = text_at(
        state,
        f"{left} + 8 * length({SHOWN_HEAD}.name) + 6",
        "8",
        f"length({SHOWN_HEAD}.about) * {_LETTER} < {room} ? {SHOWN_HEAD}.about : {SHOWN_HEAD}.about_short",
        limit=alt.expr(room),
    )
    layers += [row_casing, row_frame, *([link_outlines()] if content.links else []), cell_frame, name, about]
    if content.picture:
        return [
            *layers,
            text_at(
                state,
                "map_x",
                "top - 8",
                "width - map_x < 150 ? 'queries ↓ keys →' : 'rows: queries, columns: keys'"
                " + (width - map_x < 340 ? '' : '; r2c1: the patch in row 2, column 1, from 0')",
                fontSize=SMALL,
            ),
        ]
    ink = alt.expr(f"datum.level > {STRONG} ? ({OTHER_FULL_INK}) : ({FULL_INK})")
    written = "datum.weight >= 1.005 ? format(datum.weight, '.2~g') : datum.weight >= 0.995 ? '1' : slice(format(datum.weight, '.2f'), 1)"
    numbers = text_at(
        _rows_with_weights("keys").where("datum.weight >= 0.005"),
        "map_x + cell * (datum.position + 0.5)",
        "top + cell * (query + 0.5)",
        written,
        align="center",
        fontSize=SMALL,
        color=ink,
        opacity=alt.expr("cell >= 16 ? 1 : 0"),
    )
    size: Kwargs = {
        "font": FONT,
        "fontSize": SMALL if compact else alt.expr(f"cell >= {MIDDLE + 1} ? {MIDDLE} : {SMALL}"),
    }
    row_names = text_at(
        Rows("queries"),
        "map_x - 6",
        "top + cell * (datum.position + 0.5)",
        f"{has_room('datum.position', 'query', 'tokens_step')} ? datum.label : ''",
        align="right",
        tooltip=alt.expr("''"),  # or it would not answer the pointer
        cursor="pointer",
        fontWeight=alt.expr("datum.position == query ? 'bold' : 'normal'"),
        **size,
    )
    column_names = text_at(
        Rows("keys"),
        "map_x + cell * (datum.position + 0.5)",
        "top - 5",
        f"{has_room('datum.position', 'column', 'tokens_step')} ? datum.label : ''",
        angle=UPRIGHT,
        fontWeight=alt.expr("datum.position == pointed_key ? 'bold' : 'normal'"),
        **size,
    )
    return [*layers, numbers, row_names, column_names]


def strongest_keys() -> list[Layer]:
    """The list of the keys to which the query attends most, with their weights as bars and numbers."""
    rank = {
        "window": [{"op": "row_number", "as": "rank"}],
        "sort": [{"field": "weight", "order": "descending"}],
    }
    is_strongest = f"has_weights && datum.rank <= keys_shown && datum.weight >= {LEAST}"
    ranked = _rows_with_weights("keys").then(rank).where(is_strongest)
    y, share = f"keys_y + 4 + {KEY_LINE} * datum.rank", "datum.weight / state.unit"
    label = "data('queries')[query].label"
    has_room = f"width - keys_x > 200 || length({label}) < 13"
    heading = text_at(
        Rows("state"),
        "keys_x",
        "keys_y + 8",
        f"has_weights && keys_shown > 0 ? '“' + {label} + ({has_room} ? '” attends to' : '” →') : ''",
        fontWeight="bold",
        limit=alt.expr("width - keys_x"),
    )
    return [
        heading,
        text_at(ranked, "keys_x", y, "datum.label", font=FONT, limit=alt.expr("keys_right - keys_x - 45")),
        text_at(ranked, "keys_right", y, "format(datum.weight, '.3f')", align="right", font=FONT),
        box_between(
            ranked,
            "keys_x",
            f"{y} + 9",
            f"keys_x + (keys_right - keys_x) * {share}",
            "datum._y + 3",
            fill=WEIGHTS[5],
        ),
    ]


def large_picture(is_photo: bool) -> list[Layer]:
    """The large picture over the weights of its patches, which take the pointer: a photo lies below the colours, a
    grey picture above them.
    """
    patches = _rows_with_weights("patches").calculate(
        level=f"datum.weight / ({_end_of_colour_scale(_SHOWN_INDEX)})", weight="datum.level"
    )
    size_x, size_y = _patch_size("picture_side")
    x, y = f"picture_x + {size_x} * datum.column", f"{ABOVE} + {size_y} * datum.row"
    box = _box_corners(x, y, size_x, size_y)
    weights = box_between(
        patches, *box, _COLOUR, opacity=alt.expr(f"hidden ? 0 : {_patch_opacity(is_photo, 'datum.level')}")
    )
    changes = box_between(
        Rows("patches").calculate(change="hidden ? hidden[datum.position] : 0"),
        *box,
        fill=alt.expr(f"datum.change < 0 ? '{FALLS}' : '{RISES}'"),
        opacity=alt.expr(f"{MOST_OPAQUE if is_photo else 1} * abs(datum.change)"),
    )
    size = "share_x * picture_side", "share_y * picture_side"
    image = image_at(Rows("picture"), "picture_x", f"{ABOVE}", *size, smooth=True)
    is_marked = "datum.position == query || datum.position == pointed_key"
    grid = f"{PICTURE}.columns <= {MOST_GRID_LINES} ? 0.5 : 0"
    frames = box_between(
        Rows("patches"),
        *box,
        stroke=alt.expr(f"{is_marked} ? '{ACCENT}' : '{NEUTRAL}'"),
        strokeWidth=alt.expr(f"{is_marked} ? 4 : {grid}"),
        **_TAKES_POINTER,
    )
    return [image, weights, changes, frames] if is_photo else [weights, changes, image, frames]


def legend_marks(is_picture: bool) -> list[Layer]:
    """The colour bar of all maps, with a mark at the weight of an even spread over all keys or, where each map has
    its own range, at the end of the range of the shown head and query.
    """
    state = Rows("state")
    number = "format({}, '.3~r')"
    of_query = (
        f" + '; on the picture ' + {number.format(_end_of_colour_scale(_SHOWN_INDEX))}" if is_picture else ""
    )
    ends = f"(datum.own_tops ? ' (here ' + {number.format('top_weight')}{of_query} + ')' : '')"
    y, bar = "height - 14", "(width < 520 ? 100 : 180)"
    url = f"{ON_DARK} ? datum.legend_on_dark : datum.legend_on_light"
    return [
        text_at(state, "left", y, "'0'", fontSize=SMALL),
        image_at(state, "left + 12", "height - 18", bar, "8", url, smooth=True),
        text_at(
            state,
            f"left + 12 + {bar} * datum.even",
            "height - 5",
            "datum.even >= 0 ? '▲' : ''",
            fontSize=SMALL,
            align="center",
        ),
        text_at(
            state,
            f"left + 18 + {bar}",
            y,
            f"datum.reach + {ends} + '   ' + datum.quantity + (datum.even_text ? '   ' + datum.even_text : '')"
            " + (datum.notes ? '   ' + datum.notes : '')",
            fontSize=SMALL,
            limit=alt.expr(f"width - left - 20 - {bar}"),
        ),
    ]


def hover_targets(content: ChartContent, selections: list[dict[str, Any]]) -> Layer:
    """The transparent marks on the large map that take the pointer: its cells or, if there are too many, its rows and
    the cells of links. `selections` are the parameters that the marks set.
    """
    x, x2 = "map_x", "map_x + map_width"
    if content.cells:
        x, x2 = "map_x + cell * datum.key", "datum._x + cell"
    elif content.links:
        x = "isValid(datum.key) ? map_x + cell * datum.key : map_x"
        x2 = "datum._x + (isValid(datum.key) ? cell : map_width)"
    y = "top + cell * datum.position"
    tooltip = {"tooltip": alt.expr("datum.link")} if content.links else {}
    return box_between(
        Rows("cells"),
        x,
        y,
        x2,
        "datum._y + cell",
        fillOpacity=0,
        selections=selections,
        **_TAKES_POINTER | tooltip,
    )
