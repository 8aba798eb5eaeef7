"""Pictures in figures, and channels for figures that lay themselves out in pixels from the upper left corner.

A grey picture [height, width] is ink on nothing: dark strokes on a light page, light ones on a dark page, colours
showing through. A picture in colours [height, width, 3] looks alike on both.
"""

from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np

from .figure import data
from .palette import data_uri
from .theme import ON_DARK

_GREYS = {"on_light": 28, "on_dark": 250}  # next to the theme's text colours
CHOOSE = f"{ON_DARK} ? datum.on_dark : datum.on_light"  # the url, of a row with both of `picture_ink`


def picture_ink(image: np.ndarray, *, side: int, opacity: float = 1.0) -> dict[str, str]:
    """A uint8 image [height, width] or [height, width, 3] for either theme, as data URIs about `side` pixels wide.

    What is bright in a grey image becomes ink, of that `opacity` where it is brightest; one in colours has it all over.
    """
    return _inks(image.tobytes(), image.shape, side, opacity)


@lru_cache(maxsize=256)
def _inks(content: bytes, shape: tuple[int, ...], side: int, opacity: float) -> dict[str, str]:
    """Kept: a picture stays the same while one looks at its heads and queries."""
    image = np.frombuffer(content, np.uint8).reshape(shape)
    if image.ndim == 3:
        alpha = np.full(shape[:2], round(255 * opacity), np.uint8)
        return dict.fromkeys(_GREYS, data_uri(np.dstack([image, alpha]), side=side))
    alpha = (image * opacity).round().astype(np.uint8)
    inks = {theme: np.dstack([np.full_like(alpha, grey), alpha]) for theme, grey in _GREYS.items()}
    return {theme: data_uri(ink, side=side) for theme, ink in inks.items()}


def whole_picture(frame: str, **mark: Any) -> alt.Chart:
    """For forms: the picture `url` of that frame, over all of the chart."""
    return (
        alt.Chart(data(frame))
        .mark_image(
            x=0,
            y=0,
            width=alt.expr("width"),
            height=alt.expr("height"),
            align="left",
            baseline="top",
            tooltip=None,
            aria=False,
            **mark,
        )
        .encode(url="url:N")
    )


def pixel_x(field: str) -> alt.X:
    return alt.X(f"{field}:Q", scale=None, axis=None)


def pixel_y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)
