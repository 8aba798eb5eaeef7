"""The colours of every figure, and small images as data URIs.

The server cannot know a reader's theme, so each scale is ink on whatever lies below: at zero it is
transparent, and no attention is nothing to see on white and on black alike. Of the opaque scales, viridis,
magma and cividis draw zero as a dark block on a white page, and a dozen nearly empty heads as a dark wall.
"""

import base64
import io
import math
from functools import lru_cache
from typing import Literal

import numpy as np
from PIL import Image, ImageColor

# Red, green, blue, opacity at evenly spaced weights from 0 to 1. The hue turns while the ink thickens: over a
# single hue that lengthens the way through OKLab by more than half. The values come from a search there: steps
# about equally wide, lightness strictly falling on white and rising on near-black, so that grey print keeps it.
_ATTENTION = ((0, 159, 158, 0.0), (32, 142, 198, 0.55), (160, 72, 246, 0.78), (216, 42, 83, 1.0))
# Blue for what the first has more of, orange for the second: apart for every common kind of colour blindness.
_DIFFERENCE = (
    (38, 118, 224, 1.0),
    (38, 118, 224, 0.5),
    (128, 128, 128, 0.0),
    (217, 100, 8, 0.5),
    (217, 100, 8, 1.0),
)

# Evenly spaced CSS colours, as `alt.Scale(range=...)` and Plotly's `colorscale` take them.
ATTENTION = tuple(f"rgba{stop}" for stop in _ATTENTION)  # weights 0 to the maximum
DIFFERENCE = tuple(f"rgba{stop}" for stop in _DIFFERENCE)  # -maximum over 0 to maximum
# Its ends: two sides compared; where placements of the norm are all there is to compare, pre-LN comes first.
FIRST, SECOND = "#2676e0", "#d96408"
ACCENT = "#16a34a"  # frames what is chosen: far from every colour of both scales
EMPHASIS = "#2f8ac8"  # what stands out without being chosen: the largest class
NEUTRAL = "#787d87"  # frames, lines and what is not emphasised
# A handful of kinds: apart from each other on white and on black, and none of them `ACCENT`.
CATEGORIES = (EMPHASIS, SECOND, "#a048f6", "#0d9f9e", "#d82a53", "#8a7d1c")
# Shapes of points beside the colours of curves, for whoever cannot tell the colours apart.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MASKED = "#8b909a"  # what the mask forbids; hatched as well, since no weight may look like it

ROUNDING = 1e-6  # a largest difference below it is rounding, and not drawn as a difference

_HATCHED = 800  # pixels of the longer side

ColourScale = Literal["fixed", "own"]  # from 0 to 1, or from 0 to the maximum of what is drawn


def top(weights: np.ndarray, scale: ColourScale) -> float:
    """The weight at the top end of the colour scale: 1, or the largest weight (1 where there is none)."""
    if scale == "fixed":
        return 1.0
    if scale == "own":
        return float(weights.max(initial=0)) or 1.0
    raise ValueError(f"scale must be 'fixed' or 'own', got {scale!r}")


def largest(values: np.ndarray, *, at_least: float = 0.0) -> float:
    """The end of a scale that is symmetric about 0: the largest size of a value; 1 where none is above `at_least`."""
    found = float(np.abs(values).max(initial=0))
    return found if found > at_least else 1.0


def tiles(
    patterns: np.ndarray, *, scale: ColourScale = "fixed", at_most: int = 64, side: int = 192
) -> list[str]:
    """Patterns [..., query, key] as small PNGs in the colours of `ATTENTION`, as data URIs, in their order.

    With the `scale` "own" each reaches to its own maximum. Beyond `at_most` rows or columns neighbours are pooled to
    their maximum, so that a lone strong weight stays visible. A picture is about `side` pixels wide: enlarged in
    whole steps, or the browser blurs it. Raises ValueError where a pattern is empty.
    """
    *many, n_queries, n_keys = patterns.shape
    if (n := math.prod(many)) and not n_queries * n_keys:
        raise ValueError(f"a tile needs at least one query and one key, got shape {patterns.shape}")
    pooled = max_pool(patterns.reshape(n, n_queries, n_keys), at_most)
    maximum = np.array([top(each, scale) for each in pooled], patterns.dtype)
    levels = (np.clip(pooled / maximum[:, None, None], 0, 1) * 255).round().astype(np.uint8)
    return [_tile(each.tobytes(), each.shape, side) for each in levels]


@lru_cache(maxsize=1024)
def _tile(levels: bytes, shape: tuple[int, int], side: int) -> str:
    """Of levels 0 to 255. Kept: most of the tiles of an overview stay as they are from one run to the next."""
    image = Image.fromarray(_enlarged(np.frombuffer(levels, np.uint8).reshape(shape), side))
    image.putpalette(_PALETTE)
    return _png(image, transparency=_OPACITY)


def _fine_colours() -> tuple[bytes, bytes]:
    """The 256 colours of `ATTENTION`, and their opacities."""
    positions, fine = np.linspace(0, 1, len(_ATTENTION)), np.linspace(0, 1, 256)
    *rgb, opacity = (np.interp(fine, positions, channel) for channel in np.transpose(_ATTENTION))
    return (
        np.stack(rgb, axis=1).round().astype(np.uint8).tobytes(),
        (opacity * 255).round().astype(np.uint8).tobytes(),
    )


_PALETTE, _OPACITY = _fine_colours()


def max_pool(matrix: np.ndarray, at_most: int) -> np.ndarray:
    """At most `at_most` rows and columns, each the maximum of a run of neighbours; [..., row, column]."""
    for axis in (-2, -1):
        n = matrix.shape[axis]
        if n > at_most:
            matrix = np.maximum.reduceat(matrix, np.arange(at_most) * n // at_most, axis=axis)
    return matrix


def hatching(mask: np.ndarray) -> str:
    """Diagonal grey lines over the cells that `mask` [row, column] forbids (False), as a picture.

    Plotly and Vega cannot hatch a cell.
    """
    return _hatching(np.packbits(mask).tobytes(), mask.shape)


@lru_cache(maxsize=64)
def _hatching(bits: bytes, shape: tuple[int, int]) -> str:
    """Kept: a mask stays the same while one looks at its heads and queries."""
    times = max(1, _HATCHED // max(shape))
    mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=shape[0] * shape[1]).reshape(shape)
    rows, columns = (np.arange(n * times) for n in shape)
    lines = (rows[:, None] + columns) % 12 < 3
    image = Image.fromarray((lines > _enlarged(mask, max(shape) * times)).astype(np.uint8))
    image.putpalette((0, 0, 0, *ImageColor.getrgb(MASKED)))
    return _png(image, transparency=0, bits=1)


def data_uri(pixels: np.ndarray, *, side: int = 1) -> str:
    """uint8 pixels [height, width], or with 3 or 4 channels behind, as a PNG; enlarged to about `side`."""
    return _png(Image.fromarray(_enlarged(pixels, side)))


def _enlarged(pixels: np.ndarray, side: int) -> np.ndarray:
    times = max(1, round(side / max(pixels.shape[:2])))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)


def _png(image: Image.Image, **options: bytes | int) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
