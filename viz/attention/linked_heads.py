"""All heads as small maps, one of them as a large map, and a list of its strongest keys, in one linked chart.

With the pointer on a row of the large map, or on a patch of the picture, each small map shows which key that query
attends to most; with the pointer on a small map, the large map shows that head. The browser does all of this: the
weights are sent with the chart as text, which its Vega expressions read, and nothing is sent to the server while the
pointer moves.

The script `linked_heads.js` adds the tokens as buttons, the keyboard, and what stays chosen after a click. It sends
events to the chart through `document.body`, and the chart sends events to the script through
`document.documentElement`. The app and the offline page use both chart and script, a notebook only the chart. The
marks of the chart are in `linked_layers.py`, its data in `linked_data.py`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..builders.chart import chart, hover_selection, point_selection
from ..builders.figure import VegaFigure, check_shapes
from ..builders.heatmap import position_labels
from ..builders.number_format import head_name
from ..builders.palette import (
    TO_ONE,
    WeightScale,
    colour_bar_pictures,
    hatching,
    map_pictures,
    with_token_colours,
)
from ..builders.picture_marks import weight_table
from ..builders.theme import MIDDLE, SMALL
from ..builders.token_label import width
from .linked_data import (
    MOST_CELLS,
    ChartContent,
    cell_frame,
    has_cells,
    measures_in_words,
    patch_frames,
    query_row_pictures,
    sends_all,
    stamp_of,
    value_of_largest_integer,
    weights_as_integers,
)
from .linked_layers import (
    ABOVE,
    KEY_LINE,
    N_STRONGEST,
    PICTURE,
    SHOWN_HEAD,
    hover_targets,
    large_map,
    large_picture,
    legend_marks,
    small_maps,
    strongest_keys,
)
from .matrix_links import MatrixLink, link_frame

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

SCRIPT = with_token_colours(Path(__file__).with_suffix(".js"))
STYLE = Path(__file__).with_suffix(".css")
HTML = Path(__file__).with_suffix(".html")  # of the tokens

_LABEL = 14  # letters of a token at most
_LEFT, _GAP, _BELOW, _KEYS = 28, 24, 26, 150  # pixels: names of layers, between parts, legend, strongest keys
_KEYS_MOST = 190  # pixels: the list of strongest keys where there is room
_NAME, _LINE = 24, 13  # pixels that the name of a head takes, such as H11, and a line of names
_LARGE_SHARE = (
    0.58  # of the width for two figures side by side, which the one that is looked at takes at most
)
_WIDE = 900  # pixels of the chart from which the strongest keys have a place of their own


def linked_heads(
    record: "AttentionRecord",
    *,
    selected: tuple[int, int] = (0, 0),
    query: int | None = 0,
    measures: Mapping[str, np.ndarray] | None = None,
    about: Sequence[str] | None = None,
    by_layer: bool = False,
    scale: WeightScale = TO_ONE,
    tops: np.ndarray | None = None,
    reach: str = "1",
    picture: np.ndarray | None = None,
    on_picture: bool = True,
    compact: bool = False,
    channel: str = "",
    notes: Sequence[str] = (),
    links: Sequence[MatrixLink] | None = None,
) -> VegaFigure:
    """The attention of all heads of a record in one linked chart, which opens at the `selected` (layer, head) and at
    `query`, if any.

    `measures` [layer, head] by name, and `about`, one sentence for each head in the order of layers, describe the
    head that the large map shows. With `by_layer` the record has one map for each layer instead of one for each head.
    The colours of each map end at its entry in `tops` [layer, head], without `tops` at 1; the legend names this range
    `reach`. A `compact` chart has small names and no list of the strongest keys. `picture`, uint8 [height, width] or
    [height, width, 3], is the picture whose patches are the record's positions, and is drawn beside the maps; with
    `on_picture` each small map is this picture over the weights of the chosen query, otherwise the whole matrix.
    `notes` are lines of text above the chart. `links` between words of a text are outlined in the large map, with
    solid lines where the head that is shown follows them; None if the text can have no links. `channel` connects the
    chart with the `linked_heads.js` of the same channel; without it the chart itself remembers a click.

    The chart takes its width and height from its container, at least 680 × 380 pixels. Raises ValueError if a measure
    has another shape than [layer, head].

    >>> from loupe import from_arrays, linked_heads
    >>> figure = linked_heads(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]))
    """
    n_layers, n_heads, n_queries, n_keys = record.pattern.shape
    measures = measures or {}
    check_shapes((n_layers, n_heads), **measures, **({} if tops is None else {"tops": tops}))
    is_whole = sends_all(record)
    keys = record.attended
    maxima = np.ones((n_layers, n_heads)) if tops is None else np.where(tops > 0, tops, 1)
    indices = list(np.ndindex(n_layers, n_heads))
    sentences = [*(about or [""] * len(indices))]
    numbers_of = measures_in_words(measures)
    short_sentences = sentences
    if numbers_of:
        sentences = [" · ".join(filter(None, parts)) for parts in zip(sentences, numbers_of, strict=True)]
    heads: dict[str, Any] = {
        "layer": [layer for layer, _ in indices],
        "head": [head for _, head in indices],
        "name": [f"L{layer}" if by_layer else head_name(layer, head) for layer, head in indices],
        "about": sentences,
        "about_short": short_sentences,  # where the measures do not fit
        "top": maxima.ravel(),
        **map_pictures(record.pattern, tops=maxima, max_size=MOST_CELLS, side=1),
    }
    size = SMALL if compact else MIDDLE
    pool_size = -(-max(n_queries, n_keys) // MOST_CELLS)
    has_exact = pool_size > 1 and is_whole
    if has_exact:
        exact = map_pictures(record.pattern, tops=maxima, max_size=max(n_queries, n_keys), side=1)
        heads |= {f"exact_{theme}": pictures for theme, pictures in exact.items()}
    if pool_size > 1 and not (picture is not None and on_picture and is_whole):
        maps = "in small maps" if has_exact else "in these maps"
        notes = [*notes, f"{maps} a pixel is the largest of up to {pool_size} × {pool_size} weights"]
    key_labels = position_labels(keys.tokens, keys.numbers, _LABEL)
    query_labels = position_labels(record.tokens, record.numbers, _LABEL)
    stamp = stamp_of(record)
    name_width = 0 if picture is not None else max(width(text, size) for text in query_labels) + 10
    name_height = 0 if picture is not None else max(width(text, size) for text in key_labels) + 8
    even = f"▲ same weight for all: 1/{n_keys} = {1 / n_keys:.2g}" if scale.shares and n_keys > 1 else ""
    state = {
        "stamp": [stamp],
        "layer": [selected[0]],
        "head": [selected[1]],
        "query": [-1 if query is None else query],
        "n_layers": [n_layers],
        "n_heads": [n_heads],
        "n_queries": [n_queries],
        "n_keys": [n_keys],
        "by_layer": [by_layer],
        "names": [name_width],
        "names_above": [name_height],
        "unit": [value_of_largest_integer(record)],
        "quantity": [scale.what],
        "reach": [reach],
        "own_tops": [tops is not None],
        "even": [1 / n_keys if even and tops is None else -1],
        "even_text": [even if tops is None else ""],
        "notes": ["; ".join(notes)],
        **colour_bar_pictures(),
    }
    if not channel:
        numbers = weights_as_integers(record, selected)
        state |= {name: [values.ravel().tolist()] for name, values in numbers.items()}
        state["is_whole"] = [is_whole]
    cells = cell_frame((n_queries, n_keys), links)
    cells["stamp"] = [stamp] * len(cells["position"])
    heads["stamp"] = [stamp] * len(indices)
    frames: dict[str, Any] = {"state": state, "cells": cells}
    if picture is None:  # a frame that no part of a chart shows cannot be replaced by new data
        frames["queries"] = {"position": np.arange(n_queries), "label": query_labels, "stamp": stamp}
        frames["keys"] = {"position": np.arange(n_keys), "label": key_labels}
    if links is not None:
        frames["links"] = link_frame(links)
    has_mask = not record.mask.all()
    if has_mask:
        heads["hatched"] = [hatching(record.mask[index]) for index in indices]
    if picture is not None:
        frames |= patch_frames(record, picture, indices if is_whole else [], stamp)
        state |= {"on_picture": [on_picture], "row_query": [-1]}
        if not is_whole:
            shown_query = 0 if query is None or query < 0 else query
            state["row_query"] = [shown_query]
            row_tops = None if tops is None else record.pattern[:, :, shown_query].max(axis=-1)
            heads |= query_row_pictures(record, shown_query, row_tops)
    content = ChartContent(
        picture=picture is not None,
        photo=picture is not None and picture.ndim == 3,
        whole=is_whole,
        cells=has_cells((n_queries, n_keys)),
        mask=has_mask,
        exact=has_exact,
        links=links is not None,
    )
    clicks = (
        []
        if channel
        else [_click_selection("chosen_head", "layer", "head"), _click_selection("chosen_query", "position")]
    )
    return chart(
        [],
        *small_maps(content),
        *large_map(content, compact),
        *(large_picture(content.photo) if content.picture else strongest_keys()),
        *legend_marks(content.picture),
        hover_targets(content, [_hover_selection(channel), *clicks]),
        drawing=heads,
        frames=frames,
        params=_parameters(channel, content.picture, compact),
        table=partial(
            weight_table,
            record.pattern[:, 0] if by_layer else record.pattern,
            {"layer": None, **({} if by_layer else {"head": None}), "query": query_labels},
            key_labels,
        ),
        # Where nothing else gives it a size, as in a notebook, it fits beside the margins of one.
        width=960,
        height=480,
        autosize="none",
        padding=dict.fromkeys(("left", "right", "top", "bottom"), 0),
        description=f"{scale.what.capitalize()} of {n_layers} layers of {n_heads} heads, and of one of them in large.",
        usermeta={"embedOptions": {"renderer": "canvas"}},
    )


def _parameters(channel: str, is_picture: bool, compact: bool) -> list[dict[str, Any]]:
    """The chart's parameters as Vega expressions, in order: an expression may use the parameters above it."""
    # What is chosen and pointed at, and the numbers of that query: from the script of this channel, or from the chart.
    if channel:
        own = f"asked['{channel}']"
        heard = f"asked && {own} && {own}.stamp == state.stamp ? {own} : null"
        numbers = {name: f"heard ? heard.{name} : []" for name in ("weights", "best", "most")}
        numbers |= {"is_whole": "heard ? heard.is_whole : false", "start": "0", "best_start": "0"}
        numbers["hidden"] = "heard ? heard.hidden : null"
        own_head = "heard && layer == heard.own_layer && head == heard.own_head"
        pointed = {
            part: f"heard && isNumber(heard.over_{part}) ? heard.over_{part} : null"
            for part in ("layer", "head", "query", "key")
        }
    else:
        numbers = {name: f"state.{name}" for name in ("weights", "best", "most", "is_whole")}
        numbers["start"] = "query * state.n_keys * (is_whole ? state.n_layers * state.n_heads : 1)"
        numbers["best_start"] = "query * state.n_layers * state.n_heads"
        numbers["hidden"] = "null"
        own_head = "layer == state.layer && head == state.head"
        chosen = {"layer": "head.layer", "head": "head.head", "query": "query.position"}
        heard = ", ".join(
            f"{part}: isArray(chosen_{field}) ? chosen_{field}[0] : null" for part, field in chosen.items()
        )
        heard = f"{{{heard}}}"
        pointed = {
            part: f"isArray(over.stamp) && over.stamp[0] == state.stamp && isNumber(over.{field}[0]) ? over.{field}[0] : null"
            for part, field in (("layer", "layer"), ("head", "head"), ("query", "position"), ("key", "key"))
        }
    narrow, side = "width - left - state.names - 2 * gap", "height - top - below"
    # In a narrow and high place the large map stands below the small ones.
    is_stacked = "width < 480 && height > 1.3 * width" if compact and not is_picture else "false"
    of_both = f"({narrow} - keys_width)"  # the small maps take what the large one cannot use
    of_large = f"min(height - 22 - state.names_above - below, {_LARGE_SHARE} * {of_both})"
    of_width = "(width < 520 ? 0.22 : 0.255) * width" if compact else f"({of_both} - {of_large})"
    of_tiles = f"height - {ABOVE} - below"
    names = {
        "state": "data('state')[0]",
        "heard": heard,
        **{
            f"kept_{part}": f"heard && isNumber(heard.{part}) ? heard.{part} : state.{part}"
            for part in ("layer", "head", "query")
        },
        **{f"pointed_{part}": expr for part, expr in pointed.items()},
        "layer": "isNumber(pointed_layer) ? pointed_layer : kept_layer",
        "head": "isNumber(pointed_head) ? pointed_head : kept_head",
        # -1 where no query is chosen
        "query": "min(isNumber(pointed_query) ? pointed_query : kept_query, state.n_queries - 1)",
        "is_asking": "isNumber(pointed_query)",  # then each small map shows that row alone
        **numbers,
        "has_weights": f"query >= 0 && (is_whole || ({own_head}))",
        "row_start": "start + (is_whole ? state.n_keys * (state.n_heads * layer + head) : 0)",
        "top_weight": f"{SHOWN_HEAD}.top",
        # Where the parts are.
        "left": f"{_LEFT}",
        "gap": f"{_GAP // 2 if compact else _GAP}",
        "below": f"{_BELOW}",
        "is_stacked": is_stacked,
        "keys_width": "0" if is_picture or compact else f"width >= {_WIDE} ? {_KEYS} : 0",
    }
    if is_picture:
        names |= {
            "step": f"min(({of_tiles}) / state.n_layers, (state.n_heads > 8 ? 0.4 : {0.33 if compact else 0.28}) * width / state.n_heads, 150)",
            "picture_x": "left + step * state.n_heads + gap",
            "beside": f"max(60, min({of_tiles}, {_LARGE_SHARE} * (width - picture_x - gap - 4)))",
            # In a high place the picture stands above the large map, if that makes it much larger.
            "above": f"min(width - picture_x - 4, 0.6 * ({of_tiles}))" if compact else "0",
            "is_above": "above > 1.3 * beside",
            "picture_side": "is_above ? above : beside",
            "top": f"{ABOVE} + (is_above ? max(step * state.n_layers, picture_side) + 20 : 0)",
            # As wide and as high as the picture is: only a square fills its place.
            "share_x": f"min(1, {PICTURE}.aspect)",
            "share_y": f"min(1, 1 / {PICTURE}.aspect)",
            "map_x": "is_above ? picture_x : picture_x + picture_side + gap",
            "map_side": f"max(60, min({side}, width - map_x - 4))",
        }
    else:
        names |= {
            "step": f"min((is_stacked ? 0.35 : 1) * ({of_tiles}) / state.n_layers, (is_stacked ? width - left : {of_width}) / state.n_heads, 170)",
            # The large map beside the small ones and the names of its rows or, where it becomes larger, right below both.
            "maps_right": "left + step * state.n_heads + gap",
            "maps_end": f"max(22 + state.names_above, {ABOVE} + step * state.n_layers + 4)",
            "is_in_corner": f"!is_stacked && min(width - max(maps_right, state.names) - 4, {side.replace('top', 'maps_end')}) > "
            f"min(width - maps_right - state.names - 4, {side.replace('top', '22 - state.names_above')})"
            if compact
            else "false",
            "top": "is_in_corner ? maps_end : 22 + state.names_above + (is_stacked ? 18 + step * state.n_layers : 0)",
            "map_x": "is_stacked ? max(left, state.names) : is_in_corner ? max(maps_right, state.names) : maps_right + state.names",
            "map_side": f"max(60, min({side}, width - map_x - (keys_width ? keys_width + gap : 4)))",
        }
    names |= {
        "tile": "step - max(2, min(8, step * 0.07))",
        # Where all names would touch, every second, third, … one is written.
        "names_step": f"ceil({_NAME} / step)",
        "lines_step": f"ceil({_LINE} / step)",
        "cell": "map_side / max(state.n_queries, state.n_keys)",
        "tokens_step": f"ceil({SMALL} / cell)",
        "column": "isNumber(pointed_key) ? pointed_key : query",
        "map_width": "cell * state.n_keys",
        "map_height": "cell * state.n_queries",
        "unit_y": "tile / state.n_queries",
        "unit_x": "tile / state.n_keys",
        # The strongest keys: at the right of the large map or, in a narrow chart, below the small maps.
        "keys_x": "keys_width ? map_x + map_width + gap : left",
        "keys_y": f"keys_width ? top : {ABOVE + 8} + step * state.n_layers",
        "keys_right": f"keys_x + max({_KEYS}, min({_KEYS_MOST}, width - keys_x))",
        "keys_shown": "0"
        if compact
        else f"min({N_STRONGEST}, floor((height - below - keys_y - 18) / {KEY_LINE}))",
    }
    message = {"name": "asked", "value": None, "bind": {"element": "body", "event": "loupe-ask"}}
    expressions = [{"name": name, "expr": expression} for name, expression in names.items()]
    return [message, *expressions] if channel else expressions


def _hover_selection(channel: str) -> dict[str, Any]:
    """The point selection `over` of the mark under the pointer.

    With a `channel`, its fields are sent to the script one by one, as events; without one the chart uses them itself.
    """
    fields = ("layer", "head", "position", "key", "stamp")
    over = hover_selection(*fields)
    if channel:
        del over["select"]["clear"]
        over["bind"] = {field: {"element": "html", "event": f"loupe-{channel}-{field}"} for field in fields}
    return over


def _click_selection(name: str, *fields: str) -> dict[str, Any]:
    """The point selection `name` of the mark that was clicked last, among the marks that have these `fields`."""
    has_fields = (
        f"item() && item().datum && isDefined(item().datum.stamp) && isDefined(item().datum.{fields[0]})"
    )
    return point_selection(name, *fields, on={"source": "scope", "type": "click", "filter": [has_fields]})
