"""The colours of every figure, and small images as data URIs.

Altair, Plotly and the small pictures of maps take the colours of weights from one table, `WEIGHTS`, and interpolate
in RGB. The table begins with white and ends almost black. On a dark page it is reversed, so that zero always has the
colour of the page. The server does not know the theme, so the browser reverses the table.
"""

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageColor

# Evenly spaced, from 0 to the end of a scale, on white; on dark in reverse, see `.streamlit/config.toml`. The values come from
# a search in CIELAB: steps of about equal ΔE2000 and lightness, also for colour-blind readers. Ten, since Streamlit's
# themes hold ten.
WEIGHTS = (
    *("#ffffff", "#cfe0db", "#9bc5bf", "#5facac", "#28909a"),
    *("#1a718d", "#215884", "#2b3b60", "#242835", "#171614"),
)
# Where the norm stands. Nothing else has these two hues, and no other order gives them away.
PRE_LN, POST_LN = "#b45309", "#2563eb"
# Below 0 and above it, on every scale with a sign: apart for every common kind of colour blindness. What a token, a patch, a
# head or a part does for an answer has the sign of what it adds: gold speaks for the answer, which is less likely without it.
FALLS, RISES = "#a63cc4", "#9a8200"
# Ink on whatever lies below, so that zero is nothing to see: -maximum over 0 to maximum.
DIFFERENCE = tuple(
    f"rgba{(*ImageColor.getrgb(colour), opacity)}"
    for colour, opacity in ((FALLS, 1.0), (FALLS, 0.5), ("#808080", 0.0), (RISES, 0.5), (RISES, 1.0))
)
ACCENT = "#16a34a"  # what is chosen, and nothing else
EMPHASIS = "#0f8b8d"  # what stands out without being chosen: the largest class
NEUTRAL = "#787d87"  # frames, lines and what is not emphasised
# A handful of kinds: apart from each other, from `ACCENT` and from the two placements, on white and on black. Purple, which
# elsewhere means less, comes fourth: where two or three kinds are compared it is not among them.
CATEGORIES = (EMPHASIS, "#e2325f", "#b48d02", "#ac06c7", "#626935", "#a487ba")
PLACEMENTS = {"pre": PRE_LN, "post": POST_LN, "deepnorm": CATEGORIES[0], "b2t": CATEGORIES[1]}
# Of letters in these colours, on a light and on a dark page: a contrast of 4.5 or more.
LETTERS = {
    PRE_LN: (PRE_LN, "#d9975d"),
    POST_LN: (POST_LN, "#7ba3f3"),
    CATEGORIES[0]: ("#0c7c7e", "#3fb1b3"),
    CATEGORIES[1]: ("#cc2450", "#ee7491"),
}
# Shapes of points beside the colours of curves, for whoever cannot tell the colours apart.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MASKED = "#8b909a"  # what the mask forbids; hatched as well, since no weight may look like it

WEIGHT = "attention weight"  # what colours show, unless something else is said
ROUNDING = 1e-6  # a largest difference below it is rounding, and not drawn as a difference

TILE_SIDE = 192  # pixels of a tile's picture, unless said
_HATCHED = 800  # pixels of the longer side

# what a reader chooses: from 0 to 1, or to the maximum of what is drawn
ColourScale = Literal["fixed", "own"]


@dataclass(frozen=True, slots=True)
class WeightScale:
    """The colour range of attention weights, and what its legend says; figures that are compared share one."""

    largest: float = 1.0
    reach: str = "0 to 1"  # what the legend says
    what: str = WEIGHT
    shares: bool = True  # whether the weights of a row sum to 1, so that they could be spread evenly
    all_zero: bool = False  # whether there is no weight, and so no largest one


TO_ONE = WeightScale()


def weight_scale(
    choice: ColourScale, maximum: str, *weights: np.ndarray, what: str = WEIGHT, shares: bool = True
) -> WeightScale:
    """The colour scale of these `weights` (arrays of any shape): from 0 to 1 for the `choice` "fixed", from 0 to the
    largest of them for "own".

    `maximum` is the legend's name for that largest weight; `what` and `shares` are those of `WeightScale`. Raises
    ValueError for another `choice`.
    """
    if choice == "fixed":
        return WeightScale(what=what, shares=shares)
    if choice != "own":
        raise ValueError(f"a scale is 'fixed' or 'own', got {choice!r}")
    largest = max(float(pattern.max(initial=0)) for pattern in weights)
    if not largest:
        return WeightScale(1.0, "all of them 0", what, shares, all_zero=True)
    return WeightScale(largest, f"0 to {maximum}", what, shares)


def side_colours(placements: Sequence[str]) -> tuple[str, ...]:
    """A colour for each of the encoders side by side: that of its norm placement if all `placements` differ,
    otherwise the first of `CATEGORIES`.
    """
    if len(set(placements)) == len(placements):
        return tuple(PLACEMENTS[placement] for placement in placements)
    return CATEGORIES[: len(placements)]


def largest_absolute(values: np.ndarray, *, at_least: float = 0.0) -> float:
    """The largest absolute value, as the end of a colour scale that is symmetric about 0; 1 if it is not above
    `at_least`.
    """
    maximum = float(np.abs(values).max(initial=0))
    return maximum if maximum > at_least else 1.0


def map_pictures(
    patterns: np.ndarray, *, tops: np.ndarray | None = None, max_size: int = 64, side: int = TILE_SIDE
) -> dict[str, list[str]]:
    """Small pictures (PNG) of `patterns` [..., query, key] in the colours of `WEIGHTS`, one for each pattern in C
    order, as data URIs: "on_light" has those for a light page, "on_dark" those for a dark one.

    The colours end at 1, or at each pattern's entry in `tops` [...]. Patterns with more than `max_size` rows or
    columns are max-pooled, so that a single strong weight stays visible. A picture is about `side` pixels wide: it is
    enlarged by a whole factor, since the browser would blur it. Raises ValueError if a pattern is empty.
    """
    *leading, n_queries, n_keys = patterns.shape
    if (n_patterns := math.prod(leading)) and not n_queries * n_keys:
        raise ValueError(f"a tile needs at least one query and one key, got shape {patterns.shape}")
    pooled = max_pool(patterns.reshape(n_patterns, n_queries, n_keys), max_size)
    maximum = np.ones(n_patterns) if tops is None else np.reshape(tops, n_patterns)
    levels_0_to_1 = pooled / np.where(maximum > 0, maximum, 1)[:, None, None]
    levels = (np.clip(levels_0_to_1, 0, 1) * 255).round().astype(np.uint8)
    pictures = [_cached_map_picture(level.tobytes(), level.shape, side) for level in levels]
    return {theme: [picture[theme] for picture in pictures] for theme in ("on_light", "on_dark")}


@lru_cache(maxsize=1024)
def _cached_map_picture(levels: bytes, shape: tuple[int, int], side: int) -> dict[str, str]:
    """The picture "on_light" and "on_dark" of a map of this `shape`, whose colours from 0 to 255 are the bytes
    `levels`; cached, as most maps of an overview stay the same on a rerun of the page.
    """
    # Only the colours that occur: with all 256 the palette would be the larger part of a small picture.
    used_levels, indices = np.unique(np.frombuffer(levels, np.uint8), return_inverse=True)
    image = Image.fromarray(_enlarge(indices.astype(np.uint8).reshape(shape), side))
    picture = {}
    for theme, colours in (("on_light", _FINE), ("on_dark", _FINE[::-1])):
        image.putpalette(colours[used_levels].tobytes())
        picture[theme] = png_uri(image)
    return picture


def weight_colours(shares: np.ndarray) -> np.ndarray:
    """RGB colours [..., 3] from 0 to 255 of weights `shares` [...] on the colour scale of a white page, which goes
    from 0 to 1.
    """
    table = np.array([ImageColor.getrgb(colour) for colour in WEIGHTS], float)
    stops = np.linspace(0, 1, len(table))
    return np.stack([np.interp(shares, stops, channel) for channel in table.T], axis=-1)


_FINE = weight_colours(np.linspace(0, 1, 256)).round().astype(np.uint8)


def colour_bar_pictures() -> dict[str, list[str]]:
    """A picture of the colour scale of weights, from small to large, as data URIs for a light and a dark page."""
    colours = weight_colours(np.linspace(0, 1, 180)).round().astype(np.uint8)
    return {
        "legend_on_light": [data_uri(colours[None])],
        "legend_on_dark": [data_uri(colours[::-1][None])],
    }


def max_pool(matrix: np.ndarray, max_size: int) -> np.ndarray:
    """A `matrix` [..., row, column], max-pooled to at most `max_size` rows and columns."""
    for axis in (-2, -1):
        n_cells = matrix.shape[axis]
        if n_cells > max_size:
            matrix = np.maximum.reduceat(matrix, np.arange(max_size) * n_cells // max_size, axis=axis)
    return matrix


def hatching(mask: np.ndarray) -> str:
    """A PNG of diagonal grey lines over the cells that `mask` [row, column] forbids (False), as a data URI.

    Plotly and Vega cannot hatch a cell.
    """
    return _cached_hatching(np.packbits(mask).tobytes(), mask.shape)


@lru_cache(maxsize=64)
def _cached_hatching(bits: bytes, shape: tuple[int, int]) -> str:
    """The hatching of a mask of this `shape`, given as packed `bits`; cached, as the mask stays the same while heads
    and queries change.
    """
    pixels_per_cell = max(1, _HATCHED // max(shape))
    mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=shape[0] * shape[1]).reshape(shape)
    rows, columns = (np.arange(n_cells * pixels_per_cell) for n_cells in shape)
    diagonals = (rows[:, None] + columns) % 12 < 3
    image = Image.fromarray((diagonals > _enlarge(mask, max(shape) * pixels_per_cell)).astype(np.uint8))
    image.putpalette((0, 0, 0, *ImageColor.getrgb(MASKED)))
    return png_uri(image, transparency=0, bits=1)


def data_uri(pixels: np.ndarray, *, side: int = 1) -> str:
    """A PNG of uint8 pixels [height, width] or [height, width, 3 or 4] as a data URI, about `side` pixels wide."""
    return png_uri(Image.fromarray(_enlarge(pixels, side)))


def _enlarge(pixels: np.ndarray, side: int) -> np.ndarray:
    """The `pixels` [height, width, ...] repeated by a whole factor, so that they are about `side` wide."""
    factor = max(1, round(side / max(pixels.shape[:2])))
    return pixels.repeat(factor, axis=0).repeat(factor, axis=1)


def png_uri(image: Image.Image, **options: bytes | int) -> str:
    """The image as PNG in a data URI; `options` are those of Pillow."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def with_token_colours(script: Path) -> str:
    """The text of `script` with that of `token_colours.js`, whose functions it calls, before it: Streamlit's
    components and offline pages take a single script.
    """
    shared = Path(__file__).with_name("token_colours.js")
    return "".join(path.read_text(encoding="utf-8") for path in (shared, script))
