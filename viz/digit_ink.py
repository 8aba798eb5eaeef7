"""Digits as ink on nothing: dark strokes on a light page, light ones on a dark page, colours showing through."""

from functools import lru_cache

import numpy as np

from viz.palette import data_uri
from viz.theme import ON_DARK

_GREYS = {"on_light": 28, "on_dark": 250}  # next to the theme's text colours
CHOOSE = f"{ON_DARK} ? datum.on_dark : datum.on_light"  # the url, of a row with both of `digit_ink`


def digit_ink(image: np.ndarray, *, side: int, opacity: float = 1.0) -> dict[str, str]:
    """A uint8 image [height, width] for either theme, as data URIs about `side` pixels wide.

    What is bright in the image becomes ink, of that `opacity` where it is brightest.
    """
    alpha = (image * opacity).round().astype(np.uint8)
    return {theme: _ink(alpha.tobytes(), alpha.shape, grey, side) for theme, grey in _GREYS.items()}


@lru_cache(maxsize=256)
def _ink(alpha: bytes, shape: tuple[int, int], grey: int, side: int) -> str:
    """Kept: a digit stays the same while one looks at its heads and queries."""
    opacity = np.frombuffer(alpha, np.uint8).reshape(shape)
    return data_uri(np.dstack([np.full_like(opacity, grey), opacity]), side=side)
