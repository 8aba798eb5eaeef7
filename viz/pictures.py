"""Pictures in figures, and channels for figures that lay themselves out in pixels from the upper left corner.

A grey picture [height, width] is ink on nothing: dark strokes on a light page, light ones on a dark page, colours
showing through. A picture in colours [height, width, 3] looks alike on both.
"""

from functools import lru_cache

import altair as alt
import numpy as np

from viz.figure import data
from viz.palette import data_uri
from viz.theme import ON_DARK

_GREYS = {"on_light": 28, "on_dark": 250}  # next to the theme's text colours
CHOOSE = f"{ON_DARK} ? datum.on_dark : datum.on_light"  # the url, of a row with both of `picture_ink`


def picture_ink(image: np.ndarray, *, side: int, opacity: float = 1.0) -> dict[str, str]:
    """A uint8 image [height, width] or [height, width, 3] for either theme, as data URIs about `side` pixels wide.

    What is bright in a grey image becomes ink, of that `opacity` where it is brightest; one in colours has it all over.
    """
    if image.ndim == 3:
        return dict.fromkeys(_GREYS, _coloured(image.tobytes(), image.shape, round(255 * opacity), side))
    alpha = (image * opacity).round().astype(np.uint8)
    return {theme: _ink(alpha.tobytes(), alpha.shape, grey, side) for theme, grey in _GREYS.items()}


@lru_cache(maxsize=256)
def _ink(alpha: bytes, shape: tuple[int, int], grey: int, side: int) -> str:
    """Kept: a picture stays the same while one looks at its heads and queries."""
    opacity = np.frombuffer(alpha, np.uint8).reshape(shape)
    return data_uri(np.dstack([np.full_like(opacity, grey), opacity]), side=side)


@lru_cache(maxsize=256)
def _coloured(image: bytes, shape: tuple[int, int, int], alpha: int, side: int) -> str:
    colours = np.frombuffer(image, np.uint8).reshape(shape)
    return data_uri(np.dstack([colours, np.full(shape[:2], alpha, np.uint8)]), side=side)


def whole_picture(frame: str, **mark: bool) -> alt.Chart:
    """For forms: the picture `url` of that frame, over all of the chart."""
    size = {"width": alt.expr("width"), "height": alt.expr("height")}
    place = {"x": 0, "y": 0, "align": "left", "baseline": "top"}
    picture = alt.Chart(data(frame)).mark_image(**place, **size, tooltip=None, aria=False, **mark)
    return picture.encode(url="url:N")


def pixel_x(field: str) -> alt.X:
    return alt.X(f"{field}:Q", scale=None, axis=None)


def pixel_y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)
