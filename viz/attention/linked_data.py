"""The data of the linked chart of all heads: attention weights as integers, patterns as small pictures, and data
frames.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..builders.palette import WEIGHTS, data_uri, weight_colours
from ..builders.picture_marks import picture_ink
from ..builders.token_label import visible
from .matrix_links import MatrixLink, cell_labels

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

# More weights than these are too much for one message: of a head that is not chosen, the strongest keys alone are sent.
MOST_WEIGHTS = 1_500_000
MOST_CELLS = 64  # positions; in a larger map a cell is too small to point at, and its whole row answers
_MOST_HASHED = 10_000_000
TOP = (1 << 16) - 1  # weights travel as whole numbers from 0 to this, which stands for `value_of_top`
_MOST_UNIT = 1000
_SIDE = 400  # pixels of the picture
MOST_OPAQUE = 0.85  # of a colour on a photo, which stays visible; it is clear where the weight is 0


class ChartContent(NamedTuple):
    """What a linked chart of all heads contains; its layers of marks are built accordingly."""

    picture: bool  # the positions are patches of a picture
    photo: bool  # that picture is in colours, not grey
    whole: bool  # the weights of all heads are sent to the browser
    cells: bool  # the large map is small enough to point at its cells
    mask: bool  # cells that the mask forbids are hatched
    exact: bool  # the large map has its own, unpooled pictures; those of the small maps are max-pooled
    links: bool  # links between words are outlined in the large map, which may have none at the moment


def stamp_of(record: "AttentionRecord") -> str:
    """A short hash of the record's tokens and weights, which identifies the input and the encoder of a chart.

    A choice that the browser reports with another hash was made on another chart, and is ignored. Of more than
    `_MOST_HASHED` weights only those of every n-th query are hashed, since a gigabyte would take seconds.
    """
    every = 1 + record.pattern.size // _MOST_HASHED
    digest = hashlib.blake2b(np.ascontiguousarray(record.pattern[:, :, ::every]).data, digest_size=6)
    digest.update("\0".join(record.tokens).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def sends_all(record: "AttentionRecord") -> bool:
    """Whether the weights of all heads are few enough (`MOST_WEIGHTS`) to be sent to the browser with the chart."""
    return record.pattern.size <= MOST_WEIGHTS


def weights_as_integers(
    record: "AttentionRecord", selected: tuple[int, int], *, is_whole: bool | None = None
) -> dict[str, np.ndarray]:
    """Attention weights as uint16 arrays for the browser: integers from 0 to `TOP`, which stands for
    `value_of_largest_integer(record)`.

    `weights` [query, layer, head, key] are those of all heads or, unless `is_whole` (default: `sends_all(record)`),
    only those of the `selected` (layer, head). `best` [query, layer, head] is the key with the largest weight, and
    `most` [query, layer, head] that weight.
    """
    pattern = record.pattern
    if is_whole is None:
        is_whole = sends_all(record)
    unit = value_of_largest_integer(record)
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
    partners: Sequence[tuple[int, int] | None] = (),
    hidden: Mapping[str, Any] | None = None,
    coloured_by: str = "attention",
    answered: int = 0,
) -> dict[str, Any]:
    """The data that the script `linked_heads.js` needs for the token buttons of one chart.

    `channel` is the name that the chart and the script share, and the CSS selector `chart_selector` finds the chart's
    element. `kept` is the chosen (layer, head, query). `own` is the only (layer, head) whose weights are sent; None
    sends those of all heads. `has_picture` says that the patches are pointed at in a picture, so they get no buttons.
    `tops` [layer, head] are the weights at which the colours of each head end. `shares_query` is the name under which
    several charts share the chosen query. `partners` has, for each head in the order of layers, the (layer, head) of
    its partner in another encoder. `coloured_by` says by what the tokens are coloured: "attention", or "answer",
    which needs `hidden`. `answered` is the number of the last choice of the reader that the server has processed.

    All values can be written as JSON except the arrays of `weights_as_integers`, which the script takes as Uint16Array or
    as base64 of little-endian integers.
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
        "unit": value_of_largest_integer(record),
        "is_whole": own is None,
        "own_layer": own_layer,
        "own_head": own_head,
        "tops": None if tops is None else np.where(tops > 0, tops, 1).ravel().tolist(),
        "partners": [partner and list(partner) for partner in partners],
        "colours": list(WEIGHTS),
        "hidden": hidden,
        "coloured_by": coloured_by,
        **weights_as_integers(record, own or (0, 0), is_whole=own is None),
    }


def value_of_largest_integer(record: "AttentionRecord") -> float:
    """The value for which the integer `TOP` stands: 1, or the largest value of the record's maps if a lens goes
    beyond 1.

    It is 1, too, if that largest value is above `_MOST_UNIT`: a single such value would leave the others no digits.
    """
    largest = float(record.pattern.max(initial=0))
    if not math.isfinite(largest):  # looked at first, since this takes a copy of all weights
        largest = float(np.nan_to_num(record.pattern, nan=0, posinf=0, neginf=0).max(initial=0))
    return largest if 1 < largest <= _MOST_UNIT else 1.0


def _whole_numbers(weights: np.ndarray, unit: float) -> np.ndarray:
    """`weights` (any shape) as uint16 from 0 (weights up to 0, and NaN) to `TOP` (weights of `unit` and more)."""
    shares = np.nan_to_num(weights, posinf=unit, neginf=0).astype(np.float64) / unit
    return np.rint(np.clip(shares, 0, 1) * TOP).astype(np.uint16)


def has_cells(shape: tuple[int, int]) -> bool:
    """Whether the cells of a map of the shape (queries, keys) are large enough to be pointed at."""
    return max(shape) <= MOST_CELLS


def cell_frame(shape: tuple[int, int], links: Sequence[MatrixLink] | None) -> dict[str, Any]:
    """The columns of the transparent marks on the large map, of the `shape` (queries, keys), that take the pointer: one
    for each cell or, if there are too many cells, one for each row, and on top of them those for the cells of `links`.
    """
    queries, keys = np.indices(shape).reshape(2, -1)
    labels = None if links is None else cell_labels(links, *map(range, shape))
    if has_cells(shape):
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


def measures_in_words(measures: Mapping[str, np.ndarray]) -> list[str]:
    """For each head in the order of layers, one text with its `measures` [layer, head], by name; [] without measures."""
    columns = [[f"{name} {value:.3g}" for value in values.ravel()] for name, values in measures.items()]
    return [", ".join(row) for row in zip(*columns, strict=True)]


def patch_frames(
    record: "AttentionRecord", picture: np.ndarray, indices: Sequence[tuple[int, int]], stamp: str
) -> dict[str, Any]:
    """Data frames of the picture, of its patches, and of the patches in the small map of each head, whose (layer,
    head) are `indices`.
    """
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


def query_row_pictures(
    record: "AttentionRecord", query: int, tops: np.ndarray | None
) -> dict[str, list[str]]:
    """For each head, the weights of one query on the patches as a picture with one pixel for each patch, as data URIs
    for a light and a dark page.

    The colours end at each head's entry in `tops` [layer, head]; without `tops` at 1.
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
