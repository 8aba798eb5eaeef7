"""All heads, one of them in large, and its strongest keys: one chart in which every part answers the pointer.

Whoever points at a row of the large map, or at a patch of the picture, sees in each small map which key that query attends
to most; whoever points at a small map sees that head in large. The browser does all of it: the weights travel with the
chart as text, which its expressions read, and nothing is sent to the server while one points.

`linked_heads.js` is the other half: the tokens as buttons, the keyboard, and what stays chosen after a click. It tells the
chart what is pointed at and chosen through `document.body`, and hears from the chart through `document.documentElement`.
The app and the offline page show both halves, a notebook the chart alone.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import numpy as np

from ..builders.cells import CASING, FULL_INK, OTHER_FULL_INK, STRONG
from ..builders.chart import Layer, Rows, chart, selection
from ..builders.figure import Kwargs, VegaFigure, need_shape
from ..builders.heatmap import position_labels
from ..builders.number_format import head_name
from ..builders.palette import (
    ACCENT,
    FALLS,
    NEUTRAL,
    RISES,
    TO_ONE,
    WEIGHTS,
    WeightScale,
    data_uri,
    hatching,
    tiles,
    weight_colours,
)
from ..builders.picture_marks import CHOOSE, box_between, image_at, picture_ink, text_at, weight_table
from ..builders.theme import MIDDLE, ON_DARK, OTHER_INK, SMALL, UPRIGHT
from ..builders.token_label import FONT, has_room, visible, width, with_token_colours
from .matrix_links import MatrixLink, cell_labels, link_frame, link_outlines

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

SCRIPT = with_token_colours(Path(__file__).with_suffix(".js"))
STYLE = Path(__file__).with_suffix(".css")
HTML = Path(__file__).with_suffix(".html")  # of the tokens

# More weights than these are too much for one message: of a head that is not chosen, the strongest keys alone are sent.
MOST_WEIGHTS = 1_500_000
MOST_CELLS = 64  # positions; in a larger map a cell is too small to point at, and its whole row answers
_MOST_HASHED = 10_000_000
TOP = (1 << 16) - 1  # weights travel as whole numbers from 0 to this, which stands for `unit_of`
_MOST_UNIT = 1000
N_STRONGEST = 8
LEAST = 0.0005  # a weight of less is 0.000, and does not stand among the strongest
_LABEL = 14  # letters of a token at most
_SIDE = 400  # pixels of the picture
_LEFT, _GAP, _BELOW, _KEYS = 28, 24, 26, 150  # pixels: names of layers, between parts, legend, strongest keys
_KEYS_MOST, _KEY_LINE = 190, 27  # pixels: the list of strongest keys where there is room; a line of it
_NAME, _LINE = 24, 13  # pixels that the name of a head takes, such as H11, and a line of names
_ABOVE = 34  # pixels above the small maps: the sentence about the head, and the names of heads
MOST_GRID_LINES = 10  # columns of patches; more lines than these would cover the picture
MOST_OPAQUE = 0.85  # of a colour on a photo, which stays visible; it is clear where the weight is 0
_LETTER = 5.8  # pixels, about, of a letter of a sentence
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
    """The attention of all heads of a record, linked; it opens at the `selected` (layer, head) and at `query`, if any.

    `about` [layer · head], a sentence, and `measures` [layer, head] describe the head that is shown in large. With
    `by_layer` the record has one map for each layer. The colours
    of each map end at its entry in `tops` [layer, head], and without them at 1; the legend calls that `reach`. A
    `compact` chart has small names, and no list of the strongest keys. `picture`, uint8 [height, width] or [height,
    width, 3], is drawn beside the maps if the positions are patches of it; with `on_picture` each small map is the picture
    too, with the weights of the shown query, and else the whole matrix. `links` between words of a text are outlined in the
    large map, solid where the shown head follows them; None if the text never has any. A `channel` connects the chart with the
    `linked_heads.js` of the same channel; without one a click on the chart is kept by the chart itself.
    The chart takes its width and height from where it is shown, from 680 × 380 pixels.
    Raises ValueError if a measure has another shape than [layer, head].

    >>> from loupe import from_arrays, linked_heads
    >>> figure = linked_heads(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]))
    """
    n_layers, n_heads, n_queries, n_keys = record.pattern.shape
    measures = measures or {}
    need_shape((n_layers, n_heads), **measures, **({} if tops is None else {"tops": tops}))
    is_whole = sends_all(record)
    keys = record.attended
    maxima = np.ones((n_layers, n_heads)) if tops is None else np.where(tops > 0, tops, 1)
    indices = list(np.ndindex(n_layers, n_heads))
    sentences = [*(about or [""] * len(indices))]
    numbers_of = _in_words(measures)
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
        **_tile_urls(record.pattern, maxima, at_most=MOST_CELLS),
    }
    size = SMALL if compact else MIDDLE
    pool_size = -(-max(n_queries, n_keys) // MOST_CELLS)
    has_exact = pool_size > 1 and is_whole
    if has_exact:
        urls = _tile_urls(record.pattern, maxima, at_most=max(n_queries, n_keys))
        heads |= {f"exact_{theme}": pictures for theme, pictures in urls.items()}
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
        "unit": [unit_of(record)],
        "quantity": [scale.what],
        "reach": [
            reach if tops is None or picture is None else f"{reach}, on the picture of the shown query"
        ],
        "even": [1 / n_keys if even and tops is None else -1],
        "even_text": [even if tops is None else ""],
        "notes": ["; ".join(notes)],
        **_legend(),
    }
    if not channel:
        numbers = weight_numbers(record, selected)
        state |= {name: [values.ravel().tolist()] for name, values in numbers.items()}
        state["is_whole"] = [is_whole]
    cells = _cell_frame((n_queries, n_keys), links)
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
        frames |= _patches(record, picture, indices if is_whole else [], stamp)
        state |= {"on_picture": [on_picture], "row_query": [-1], "own_tops": [tops is not None]}
        if not is_whole:
            shown_query = 0 if query is None or query < 0 else query
            state["row_query"] = [shown_query]
            row_tops = None if tops is None else record.pattern[:, :, shown_query].max(axis=-1)
            heads |= _rows_on_picture(record, shown_query, row_tops)
    shows = Shows(
        picture=picture is not None,
        photo=picture is not None and picture.ndim == 3,
        whole=is_whole,
        cells=_has_cells((n_queries, n_keys)),
        mask=has_mask,
        exact=has_exact,
        links=links is not None,
    )
    return chart(
        [],
        *_small_maps(shows),
        *_large_map(shows, compact),
        *(_picture(shows.photo) if shows.picture else _strongest_keys()),
        *_legend_marks(),
        _cells(shows, channel),
        drawing=heads,
        frames=frames,
        params=_parameters(channel, shows.picture, compact),
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


class Shows(NamedTuple):
    """What a chart shows, of which its layers depend."""

    picture: bool  # the positions are patches of a picture
    photo: bool  # of one in colours
    whole: bool  # the weights of all heads come along
    cells: bool  # the large map is small enough to point at its cells
    mask: bool
    exact: bool  # the large map has pictures of its own, the small ones being pooled
    links: bool  # links between words are outlined in the large map, which may have none at the moment


def stamp_of(record: "AttentionRecord") -> str:
    """A short hash of tokens and weights: what was chosen under another stamp belongs to another input or encoder.

    Of more than `_MOST_HASHED` weights it takes those of some queries, at equal distances: a gigabyte would take seconds.
    """
    every = 1 + record.pattern.size // _MOST_HASHED
    digest = hashlib.blake2b(np.ascontiguousarray(record.pattern[:, :, ::every]).data, digest_size=6)
    digest.update("\0".join(record.tokens).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def sends_all(record: "AttentionRecord") -> bool:
    """Whether one message takes the weights of all heads."""
    return record.pattern.size <= MOST_WEIGHTS


def weight_numbers(
    record: "AttentionRecord", selected: tuple[int, int], *, is_whole: bool | None = None
) -> dict[str, np.ndarray]:
    """What expressions and script read: arrays of uint16, weights as whole numbers, of which `TOP` is `unit_of` the record.

    `weights` [query, layer, head, key] are those of all heads or, unless it `is_whole` (by default as `sends_all` says),
    of the `selected` one; `best` [query, layer, head] is the key with the largest weight, and `most` that weight.
    """
    pattern = record.pattern
    if is_whole is None:
        is_whole = sends_all(record)
    unit = unit_of(record)
    shown = pattern if is_whole else pattern[selected][None, None]
    return {
        "weights": np.moveaxis(_whole_numbers(shown, unit), 2, 0),
        # the largest of the weights as they lie in memory, not of the moved ones, of which numpy would make a copy
        "best": np.moveaxis(pattern.argmax(axis=-1).astype(np.uint16), 2, 0),
        "most": np.moveaxis(_whole_numbers(pattern.max(axis=-1), unit), 2, 0),
    }


def script_data(
    record: "AttentionRecord",
    *,
    channel: str,
    chart_selector: str,
    kept: tuple[int, int, int],
    own: tuple[int, int] | None = None,
    has_picture: bool = False,
    tops: np.ndarray | None = None,
    shares_query: str = "",
    title: tuple[str, str, int] = ("", "", 0),
    partners: Sequence[tuple[int, int] | None] = (),
    hidden: Mapping[str, Any] | None = None,
    coloured_by: str = "attention",
    answered: int = 0,
) -> dict[str, Any]:
    """What `linked_heads.js` needs for the tokens of a chart with this `channel`, which is in the element that the CSS selector
    `chart_selector` finds.

    `kept` is the chosen (layer, head, query), `coloured_by` the chosen colouring of the tokens, "attention" or "answer", which
    needs `hidden`. `own` is the one head whose weights come along, if not those of all, and
    `answered` the last choice that the server took. The patches of a picture have no buttons: they are pointed at in
    the picture. All of it can be JSON but for the arrays of `weight_numbers`, which the script takes as base64 of
    little-endian numbers or as Uint16Array.
    """
    n_layers, n_heads, n_queries, n_keys = record.pattern.shape
    layer, head, query = kept
    buttons = [index for index, role in enumerate(record.roles) if not (has_picture and role == "patch")]
    own_layer, own_head = own or (0, 0)
    return {
        "channel": channel,
        "chart_selector": chart_selector,
        "stamp": stamp_of(record),
        "tokens_id": shares_query or channel,
        "queries": [visible(record.tokens[position]) for position in buttons],
        "positions": buttons,
        "keys": None if record.keys is None else [visible(token) for token in record.keys.tokens],
        "labels": list(record.labels),
        "kept": {"layer": layer, "head": head, "query": query},
        "answered": answered,
        "layers": n_layers,
        "heads": n_heads,
        "n_queries": n_queries,
        "n_keys": n_keys,
        "unit": unit_of(record),
        "is_whole": own is None,
        "own_layer": own_layer,
        "own_head": own_head,
        "tops": None if tops is None else np.where(tops > 0, tops, 1).ravel().tolist(),
        "title": title[0],
        "title_colour": title[1],
        "title_room": title[2],
        "partners": [partner and list(partner) for partner in partners],
        "colours": list(WEIGHTS),
        "hidden": hidden,
        "coloured_by": coloured_by,
        **weight_numbers(record, own or (0, 0), is_whole=own is None),
    }


def unit_of(record: "AttentionRecord") -> float:
    """The value that travels as `TOP`: 1 for weights, the largest value of the maps where a lens goes beyond 1.

    It is 1 again for values beyond `_MOST_UNIT`: one of them would leave the others without digits.
    """
    largest = float(record.pattern.max(initial=0))
    if not math.isfinite(largest):  # looked at first, since this takes a copy of all weights
        largest = float(np.nan_to_num(record.pattern, nan=0, posinf=0, neginf=0).max(initial=0))
    return largest if 1 < largest <= _MOST_UNIT else 1.0


def _whole_numbers(weights: np.ndarray, unit: float) -> np.ndarray:
    """Shares of the `unit` as whole numbers from 0 to `TOP`; what is not a number is 0."""
    shares = np.nan_to_num(weights, posinf=unit, neginf=0).astype(np.float64) / unit
    return np.rint(np.clip(shares, 0, 1) * TOP).astype(np.uint16)


def _has_cells(shape: tuple[int, int]) -> bool:
    """Whether the cells of a map [query, key] of this shape are large enough to be pointed at."""
    return max(shape) <= MOST_CELLS


def _cell_frame(shape: tuple[int, int], links: Sequence[MatrixLink] | None) -> dict[str, Any]:
    """What the pointer finds on the large map: its cells or, of a map with too many, its rows and above them the cells of links."""
    queries, keys = np.indices(shape).reshape(2, -1)
    labels = None if links is None else cell_labels(links, shape)
    if _has_cells(shape):
        names = {} if labels is None else {"link": labels.ravel().tolist()}
        return {"position": queries, "key": keys, **names}
    rows = np.arange(shape[0])
    if labels is None:
        return {"position": rows}
    linked = np.argwhere(labels != "")
    return {
        "position": np.concatenate([rows, linked[:, 0]]),
        "key": np.concatenate([np.full(len(rows), np.nan), linked[:, 1]]),
        "link": [""] * len(rows) + labels[tuple(linked.T)].tolist(),
    }


def _tile_urls(pattern: np.ndarray, tops: np.ndarray, *, at_most: int) -> dict[str, list[str]]:
    """Pictures of all maps of a pattern [layer, head, query, key], for a light and a dark page."""
    pictures = tiles(pattern, tops=tops, at_most=at_most, side=1)
    return {
        "on_light": [tile.on_light for tile in pictures],
        "on_dark": [tile.on_dark for tile in pictures],
    }


def _in_words(measures: Mapping[str, np.ndarray]) -> list[str]:
    """For each head, its measures in words; empty without measures."""
    columns = [[f"{name} {value:.3g}" for value in values.ravel()] for name, values in measures.items()]
    return [", ".join(row) for row in zip(*columns, strict=True)]


def _legend() -> dict[str, list[str]]:
    """The colours of weights from left to right, for a light and for a dark page."""
    colours = weight_colours(np.linspace(0, 1, 180)).round().astype(np.uint8)
    return {
        "legend_on_light": [data_uri(colours[None])],
        "legend_on_dark": [data_uri(colours[::-1][None])],
    }


def _patches(
    record: "AttentionRecord", picture: np.ndarray, indices: Sequence[tuple[int, int]], stamp: str
) -> dict[str, Any]:
    """Data frames of the picture, of its patches, and of the patches in each small map."""
    assert record.patch_grid is not None
    rows, columns = record.patch_grid
    positions = np.arange(rows * columns)
    row, column = np.divmod(positions, columns)
    patch = positions + record.first_patch
    patches = {
        "position": patch,
        "row": row,
        "column": column,
        "stamp": [stamp] * len(positions),
    }
    ink = picture_ink(picture, side=_SIDE, opacity=1 if picture.ndim == 3 else 0.55)
    grid = {
        "rows": [rows],
        "columns": [columns],
        "first": [record.first_patch],
        "aspect": [picture.shape[1] / picture.shape[0]],
    }
    frames: dict[str, Any] = {
        "picture": {**{theme: [url] for theme, url in ink.items()}, **grid},
        "patches": patches,
    }
    if indices:
        layer, head = np.array(indices).T.repeat(len(positions), axis=1)
        frames["small_patches"] = {
            "layer": layer,
            "head": head,
            "position": np.tile(patch, len(indices)),
            "row": np.tile(row, len(indices)),
            "column": np.tile(column, len(indices)),
        }
    return frames


def _rows_on_picture(record: "AttentionRecord", query: int, tops: np.ndarray | None) -> dict[str, list[str]]:
    """For each head, pictures of the weights of one query on the patches, a pixel a patch, for a light and a dark page.

    The colours end at `tops` [layer, head], and without them at 1.
    """
    assert record.patch_grid is not None
    weights = record.pattern[:, :, query, record.patches].reshape(-1, *record.patch_grid)
    maxima = np.ones(len(weights)) if tops is None else np.where(tops > 0, tops, 1).ravel()
    levels = np.clip(weights / maxima[:, None, None], 0, 1)
    alpha = (255 * MOST_OPAQUE * levels).round().astype(np.uint8)[..., None]

    def urls(shares: np.ndarray) -> list[str]:
        colours = weight_colours(shares).round().astype(np.uint8)
        return [data_uri(pixels) for pixels in np.concatenate([colours, alpha], axis=-1)]

    return {"row_on_light": urls(levels), "row_on_dark": urls(1 - levels)}


def _parameters(channel: str, is_picture: bool, compact: bool) -> list[dict[str, Any]]:
    """The chart's parameters, Vega expressions; each may use those before it."""
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
    of_width = "0.255 * width" if compact else f"({narrow} - keys_width) / 2"
    of_tiles = f"height - {_ABOVE} - below"
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
        "top_weight": f"{_SHOWN_HEAD}.top",
        # Where the parts are.
        "left": f"{_LEFT}",
        "gap": f"{_GAP // 2 if compact else _GAP}",
        "below": f"{_BELOW}",
        "is_stacked": is_stacked,
        "keys_width": "0" if is_picture or compact else f"width >= {_WIDE} ? {_KEYS} : 0",
    }
    if is_picture:
        names |= {
            "top": f"{_ABOVE}",
            "step": f"min(({of_tiles}) / state.n_layers, (state.n_heads > 8 ? 0.4 : {0.33 if compact else 0.28}) * width / state.n_heads, 150)",
            "picture_x": "left + step * state.n_heads + gap",
            "picture_side": f"max(60, min({side}, (width - picture_x - gap - 4) / 2))",
            # As wide and as high as the picture is: only a square fills its place.
            "share_x": f"min(1, {_PICTURE}.aspect)",
            "share_y": f"min(1, 1 / {_PICTURE}.aspect)",
            "map_x": "picture_x + picture_side + gap",
            "map_side": "picture_side",
        }
    else:
        names |= {
            "step": f"min((is_stacked ? 0.35 : 1) * ({of_tiles}) / state.n_layers, (is_stacked ? width - left : {of_width}) / state.n_heads, 170)",
            "top": "22 + state.names_above + (is_stacked ? 18 + step * state.n_layers : 0)",
            "map_x": "is_stacked ? max(left, state.names) : left + step * state.n_heads + gap + state.names",
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
        "keys_y": f"keys_width ? top : {_ABOVE + 8} + step * state.n_layers",
        "keys_right": f"keys_x + max({_KEYS}, min({_KEYS_MOST}, width - keys_x))",
        "keys_shown": "0"
        if compact
        else f"min({N_STRONGEST}, floor((height - below - keys_y - 18) / {_KEY_LINE}))",
    }
    asked = [{"name": "asked", "value": None, "bind": _bound("body", "loupe-ask")}] if channel else []
    return [*asked, *({"name": name, "expr": expression} for name, expression in names.items())]


def _hovered(channel: str) -> dict[str, Any]:
    """The selection of what the pointer is over: the script hears of it field by field, without a script the chart does."""
    fields = ("layer", "head", "position", "key", "stamp")
    over = selection("over", *fields, on="pointerover")
    if channel:
        del over["select"]["clear"]
        return over | {"bind": {field: _bound("html", f"loupe-{channel}-{field}") for field in fields}}
    # Cleared where the pointer is over nothing that has a stamp; at each move it would cost a second pass.
    nothing = {
        "source": "view",
        "type": "pointerover",
        "filter": ["!item() || !item().datum || !isDefined(item().datum.stamp)"],
    }
    # An item that is left makes such an event too, out of a move; this is the pointer leaving the chart.
    out = {"source": "view", "type": "pointerout", "filter": ["event.type == 'pointerout'"]}
    over["select"]["clear"] = {"merge": [nothing, out]}
    return over


def _chosen(name: str, *fields: str) -> dict[str, Any]:
    """The selection `name` of the mark that was clicked last of those that have these fields."""
    has_fields = (
        f"item() && item().datum && isDefined(item().datum.stamp) && isDefined(item().datum.{fields[0]})"
    )
    return selection(name, *fields, on={"source": "scope", "type": "click", "filter": [has_fields]})


def _bound(element: str, event: str) -> dict[str, str]:
    return {"element": element, "event": event}


def _box(x: str, y: str, width: str, height: str) -> tuple[str, str, str, str]:
    """The corners of `box_between`, of a box of this size whose upper left corner is at `x` and `y`."""
    return x, y, f"datum._x + {width}", f"datum._y + {height}"


def _weight(numbers: str) -> str:
    """A weight, of which the whole number `numbers` travels."""
    return f"{numbers} * state.unit / {TOP}"


# Vega expressions about the row of the data: where the small map of its head lies, and whether that head is chosen or shown.
_TILE_X, _TILE_Y = "left + step * datum.head", f"{_ABOVE} + step * datum.layer"
_TILE = _box(_TILE_X, _TILE_Y, "tile", "tile")
_HEAD_INDEX = "state.n_heads * datum.layer + datum.head"
_KEPT = "datum.layer == kept_layer && datum.head == kept_head"
_SHOWN = "datum.layer == layer && datum.head == head"
_FRAMED = f"({_KEPT}) || ({_SHOWN})"
_HAS_KEY = "isNumber(pointed_key)"
_POINTED_KEY = f"({_HAS_KEY} ? pointed_key : 0)"
_SHOWN_HEAD = "data('frame')[state.n_heads * layer + head]"
_PICTURE = "data('picture')[0]"
_SCALE = alt.Scale(
    domain=[0, 1], range=list(WEIGHTS), interpolate="rgb", clamp=True, reverse=alt.expr(ON_DARK)
)
_COLOUR = {"color": alt.Color("weight:Q", scale=_SCALE, legend=None)}
_PAGE = alt.expr("!background || background == 'transparent' ? 'white' : background")


# Marks with these options answer the pointer, where Vega-Lite reports it.
_ANSWERS: Kwargs = {"tooltip": alt.expr("''"), "cursor": "pointer", "fill": "transparent"}


def _small_maps(shows: Shows) -> list[Layer]:
    """A small map of each head. While a query is pointed at, its row alone, and the key that it attends to most.

    On a picture each shows the weights of the shown query on the patches, whether it is pointed at or chosen.
    """
    heads = Rows()
    width = f"{_on_pictures(shows)} ? 0 : tile" if shows.picture else "tile"
    layers = [image_at(heads, _TILE_X, _TILE_Y, width, "tile")]
    if shows.picture:
        layers += _small_pictures(shows)
    else:
        veil: Kwargs = {"fill": _PAGE, "opacity": alt.expr("is_asking ? 0.8 : 0")}
        layers += [
            box_between(heads, *_box(_TILE_X, _TILE_Y, "tile", "unit_y * query"), **veil),
            box_between(
                heads, _TILE_X, f"{_TILE_Y} + unit_y * (query + 1)", _TILE[2], f"{_TILE_Y} + tile", **veil
            ),
        ]
        strongest = heads.calculate(
            key=f"best[best_start + {_HEAD_INDEX}]", weight=_weight(f"most[best_start + {_HEAD_INDEX}]")
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
    cell, is_framed = _box(x, y, "max(unit_x, 3)", "max(unit_y, 3)"), _HAS_KEY
    if shows.picture and shows.whole:  # there a key is a patch
        patch = f"{_POINTED_KEY} - {_PICTURE}.first"
        size_x, size_y = _patch_size("tile")
        x = f"{_TILE_X} + {size_x} * (({patch}) % {_PICTURE}.columns)"
        y = f"{_TILE_Y} + {size_y} * floor(({patch}) / {_PICTURE}.columns)"
        cell = _box(x, y, size_x, size_y)
        is_framed += f" && {patch} >= 0 && {patch} < {_PICTURE}.rows * {_PICTURE}.columns"
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
        **_ANSWERS,
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
            f"{_ABOVE - 9}",
            "state.by_layer || datum.head % names_step ? '' : 'H' + datum.head",
            align="center",
        ),
    ]


def _small_pictures(shows: Shows) -> list[Layer]:
    """In place of each small map the picture, in the colours of the weights of the shown query.

    Where not all weights come along, these are pictures of the chosen query's weights; another query that is pointed at
    shows the matrices.
    """
    size_x, size_y = _patch_size("tile")
    shown = _on_pictures(shows)
    size = f"{shown} ? share_x * tile : 0", "share_y * tile"
    if shows.whole:
        weight = _weight(f"weights[start + state.n_keys * ({_HEAD_INDEX}) + datum.position]")
        patches = Rows("small_patches").calculate(weight=f"{weight} / ({_row_top(_HEAD_INDEX)})")
        x, y = f"{_TILE_X} + {size_x} * datum.column", f"{_TILE_Y} + {size_y} * datum.row"
        opacity = alt.expr(f"{shown} ? {_opacity(shows.photo, 'datum.weight')} : 0")
        coloured = box_between(patches, *_box(x, y, size_x, size_y), _COLOUR, opacity=opacity)
    else:
        url = f"{ON_DARK} ? datum.row_on_dark : datum.row_on_light"
        coloured = image_at(Rows(), _TILE_X, _TILE_Y, *size, url)
    url = f"{ON_DARK} ? {_PICTURE}.on_dark : {_PICTURE}.on_light"
    image = image_at(Rows(), _TILE_X, _TILE_Y, *size, url, smooth=True)
    return [image, coloured] if shows.photo or not shows.whole else [coloured, image]


def _on_pictures(shows: Shows) -> str:
    """Whether the small maps are the picture with the weights of the query, as a Vega expression."""
    if shows.whole:
        return "(query >= 0 && (is_asking || state.on_picture))"
    return "(query >= 0 && query == state.row_query && state.on_picture)"


def _patch_size(side: str) -> tuple[str, str]:
    """Width and height of a patch of a picture whose longer side is `side`, as Vega expressions."""
    return f"share_x * {side} / {_PICTURE}.columns", f"share_y * {side} / {_PICTURE}.rows"


def _row_top(head: str) -> str:
    """The weight at which the colours of patches end: 1, or the largest one of the query in the head with this number."""
    return f"state.own_tops ? max(1e-9, {_weight(f'most[best_start + {head}]')}) : 1"


def _opacity(is_photo: bool, level: str) -> str:
    """The opacity of a patch's colour, by its `level` on the scale: on a photo the more weight, the less shows through."""
    return f"{MOST_OPAQUE} * max(0, {level})" if is_photo else "1"


def _weights_of(frame: str) -> Rows:
    """The rows of the data frame with the `weight` of each from the query that is shown, and `level`, its colour."""
    return Rows(frame).calculate(
        weight=f"has_weights ? {_weight('weights[row_start + datum.position]')} : 0",
        level="datum.weight / top_weight",
    )


def _large_map(shows: Shows, compact: bool) -> list[Layer]:
    """The head that is pointed at or chosen, in large, with the names of its queries and keys."""
    heads, state = Rows(), Rows("state")
    # All of them are there, all but one without a width: a picture that comes new is loaded first, and the map would blink.
    shown = f"{_SHOWN} ? map_width : 0"
    url = f"{ON_DARK} ? datum.exact_on_dark : datum.exact_on_light" if shows.exact else CHOOSE
    layers = [image_at(heads, "map_x", "top", shown, "map_height", url)]
    if shows.mask:
        layers.append(image_at(heads, "map_x", "top", shown, "map_height", "datum.hatched"))
    right = "map_x + map_width"
    border: Kwargs = {"fill": None, "stroke": NEUTRAL, "strokeWidth": 0.5}
    layers.append(box_between(state, "map_x", "top", right, "top + map_height", **border))
    row_box = "map_x", "top + cell * query", right, "top + cell * (query + 1)"
    of_query: Kwargs = {"fill": None, "opacity": alt.expr("query >= 0 ? 1 : 0")}
    row_casing = box_between(state, *row_box, stroke=OTHER_INK, strokeWidth=2.5 + CASING, **of_query)
    row_frame = box_between(state, *row_box, stroke=ACCENT, strokeWidth=2.5, **of_query)
    cell = _box(f"map_x + cell * {_POINTED_KEY}", "top + cell * query", "cell", "cell")
    of_key: Kwargs = {"fill": None, "opacity": alt.expr(f"{_HAS_KEY} ? 1 : 0")}
    cell_frame = box_between(state, *cell, stroke=ACCENT, strokeWidth=3, **of_key)
    # Where it is too long for what is above the large map, it begins further left, but not where the colours of the tokens are
    # explained, above the first small maps.
    beside = (
        "56" if compact else "(56 + (keys_width ? keys_width + 100 : 0))"
    )  # the sign, and the way to a file
    length = f"({beside} + {_LETTER} * length({_SHOWN_HEAD}.about_short))"
    above = "picture_x" if shows.picture else "map_x - state.names"
    left = f"min({above}, max((hidden ? 0.4 : 0.3) * width, width - {length}))"
    name = text_at(state, left, "8", f"{_SHOWN_HEAD}.name", fontWeight="bold")
    # At its right stands what the page says about the map.
    room = f"(width - {left} - {beside})"
    about = text_at(
        state,
        f"{left} + 8 * length({_SHOWN_HEAD}.name) + 6",
        "8",
        f"length({_SHOWN_HEAD}.about) * {_LETTER} < {room} ? {_SHOWN_HEAD}.about : {_SHOWN_HEAD}.about_short",
        limit=alt.expr(room),
    )
    layers += [row_casing, row_frame, *([link_outlines()] if shows.links else []), cell_frame, name, about]
    if shows.picture:
        return [*layers, text_at(state, "map_x", "top - 6", "'rows: queries, columns: keys'", fontSize=SMALL)]
    ink = alt.expr(f"datum.level > {STRONG} ? ({OTHER_FULL_INK}) : ({FULL_INK})")
    written = "datum.weight >= 1.005 ? format(datum.weight, '.2~g') : datum.weight >= 0.995 ? '1' : slice(format(datum.weight, '.2f'), 1)"
    numbers = text_at(
        _weights_of("keys").where("datum.weight >= 0.005"),
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


def _strongest_keys() -> list[Layer]:
    """The keys that the query attends to most, with their weights as bars and numbers."""
    rank = {
        "window": [{"op": "row_number", "as": "rank"}],
        "sort": [{"field": "weight", "order": "descending"}],
    }
    is_strongest = f"has_weights && datum.rank <= keys_shown && datum.weight >= {LEAST}"
    ranked = _weights_of("keys").then(rank).where(is_strongest)
    y, share = f"keys_y + 4 + {_KEY_LINE} * datum.rank", "datum.weight / state.unit"
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


def _picture(is_photo: bool) -> list[Layer]:
    """The picture with the weights of its patches, which can be pointed at: a photo below them, ink above them."""
    patches = _weights_of("patches").calculate(
        level=f"datum.weight / ({_row_top('state.n_heads * layer + head')})", weight="datum.level"
    )
    size_x, size_y = _patch_size("picture_side")
    x, y = f"picture_x + {size_x} * datum.column", f"top + {size_y} * datum.row"
    box = _box(x, y, size_x, size_y)
    weights = box_between(
        patches, *box, _COLOUR, opacity=alt.expr(f"hidden ? 0 : {_opacity(is_photo, 'datum.level')}")
    )
    changes = box_between(
        Rows("patches").calculate(change="hidden ? hidden[datum.position] : 0"),
        *box,
        fill=alt.expr(f"datum.change < 0 ? '{FALLS}' : '{RISES}'"),
        opacity=alt.expr(f"{MOST_OPAQUE if is_photo else 1} * abs(datum.change)"),
    )
    size = "share_x * picture_side", "share_y * picture_side"
    image = image_at(Rows("picture"), "picture_x", "top", *size, smooth=True)
    is_marked = "datum.position == query || datum.position == pointed_key"
    grid = f"{_PICTURE}.columns <= {MOST_GRID_LINES} ? 0.5 : 0"
    frames = box_between(
        Rows("patches"),
        *box,
        stroke=alt.expr(f"{is_marked} ? '{ACCENT}' : '{NEUTRAL}'"),
        strokeWidth=alt.expr(f"{is_marked} ? 4 : {grid}"),
        **_ANSWERS,
    )
    return [image, weights, changes, frames] if is_photo else [weights, changes, image, frames]


def _legend_marks() -> list[Layer]:
    """The colour scale, once for all maps, with the evenly spread weight on it."""
    state = Rows("state")
    y = "height - 14"
    url = f"{ON_DARK} ? datum.legend_on_dark : datum.legend_on_light"
    return [
        text_at(state, "left", y, "'0'", fontSize=SMALL),
        image_at(state, "left + 12", "height - 18", "180", "8", url, smooth=True),
        text_at(
            state,
            "left + 12 + 180 * datum.even",
            "height - 5",
            "datum.even >= 0 ? '▲' : ''",
            fontSize=SMALL,
            align="center",
        ),
        text_at(
            state,
            "left + 198",
            y,
            "datum.reach + '   ' + datum.quantity + (datum.even_text ? '   ' + datum.even_text : '')"
            " + (datum.notes ? '   ' + datum.notes : '')",
            fontSize=SMALL,
            limit=alt.expr("width - left - 200"),
        ),
    ]


def _cells(shows: Shows, channel: str) -> Layer:
    """What the pointer finds on the large map: its cells or, in a map with too many of them, its rows and the cells of links."""
    x, x2 = "map_x", "map_x + map_width"
    if shows.cells:
        x, x2 = "map_x + cell * datum.key", "datum._x + cell"
    elif shows.links:
        x = "isValid(datum.key) ? map_x + cell * datum.key : map_x"
        x2 = "datum._x + (isValid(datum.key) ? cell : map_width)"
    y = "top + cell * datum.position"
    # One for each: who chooses a head keeps the query.
    clicks = [] if channel else [_chosen("chosen_head", "layer", "head"), _chosen("chosen_query", "position")]
    tooltip = {"tooltip": alt.expr("datum.link")} if shows.links else {}
    selections = [_hovered(channel), *clicks]
    return box_between(
        Rows("cells"),
        x,
        y,
        x2,
        "datum._y + cell",
        fillOpacity=0,
        selections=selections,
        **_ANSWERS | tooltip,
    )
