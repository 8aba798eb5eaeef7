"""Pictures in figures, and channels of marks whose columns hold pixels, counted from the upper left corner.

A grey picture [height, width] is drawn as ink: dark strokes on a light page, light ones on a dark page, through which
the colours below are seen. A picture in colours [height, width, 3] looks the same on both. If a figure shows maps as
pictures, its exported files hold a table of their weights.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .chart import Channels, Layer, Rows, layer
from .figure import Kwargs
from .palette import data_uri
from .theme import INK, MIDDLE, ON_DARK

_GREYS = {"on_light": 28, "on_dark": 250}  # next to the theme's text colours
CHOOSE = f"{ON_DARK} ? datum.on_dark : datum.on_light"  # the url, of a row with both of `picture_ink`
_CORNER: Kwargs = {"align": "left", "baseline": "top", "tooltip": None, "aria": False}


def picture_ink(image: np.ndarray, *, side: int, opacity: float = 1.0) -> dict[str, str]:
    """A picture `image`, uint8 [height, width] or [height, width, 3], as data URIs "on_light" and "on_dark", about
    `side` pixels wide.

    Bright pixels of a grey image become ink, with this `opacity` where they are brightest; an image in colours has
    this opacity everywhere.
    """
    return _cached_ink(image.tobytes(), image.shape, side, opacity)


@lru_cache(maxsize=256)
def _cached_ink(content: bytes, shape: tuple[int, ...], side: int, opacity: float) -> dict[str, str]:
    """`picture_ink` of the bytes `content` of an image of this `shape`; cached, as the picture stays the same while
    heads and queries change.
    """
    image = np.frombuffer(content, np.uint8).reshape(shape)
    if image.ndim == 3:
        alpha = np.full(shape[:2], round(255 * opacity), np.uint8)
        return dict.fromkeys(_GREYS, data_uri(np.dstack([image, alpha]), side=side))
    alpha = (image * opacity).round().astype(np.uint8)
    inks = {theme: np.dstack([np.full_like(alpha, grey), alpha]) for theme, grey in _GREYS.items()}
    return {theme: data_uri(ink, side=side) for theme, ink in inks.items()}


def whole_picture(frame: str, **options: Any) -> Layer:
    """A layer with the picture in the column `url` of the data frame `frame`, over the whole chart; `options` are
    those of `layer`.
    """
    size: Kwargs = {"width": alt.expr("width"), "height": alt.expr("height")}
    return layer("image", {"url": "url:N"}, frame, x=0, y=0, **size, **_CORNER, **options)


def pixel_x(field: str) -> Kwargs:
    """The x channel of the column `field`, which holds pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


pixel_y = pixel_x  # the y channel


def box_between(
    rows: Rows, x: str, y: str, x2: str, y2: str, channels: Channels | None = None, **mark: Any
) -> Layer:
    """A layer of rectangles from (`x`, `y`) to (`x2`, `y2`), Vega expressions in pixels; those of `x2` and `y2` may
    use `datum._x` and `datum._y`, the values of the first corner. `channels` are further channels.
    """
    corners = {"x": pixel_x("_x"), "x2": "_x2:Q", "y": pixel_y("_y"), "y2": "_y2:Q"}
    rows = rows.calculate(_x=x, _y=y, _x2=x2, _y2=y2)
    return layer("rect", {**corners, **(channels or {})}, rows, aria=False, **mark)


def text_at(rows: Rows, x: str, y: str, text: str, **mark: Any) -> Layer:
    """A layer of texts that start at (`x`, `y`), in pixels, and are vertically centred there; `x`, `y` and `text` are
    Vega expressions.
    """
    options: Kwargs = {"color": INK, "baseline": "middle", "align": "left", "fontSize": MIDDLE, "aria": False}
    channels = {"x": pixel_x("_x"), "y": pixel_y("_y"), "text": "_text:N"}
    return layer("text", channels, rows.calculate(_x=x, _y=y, _text=text), **options | mark)


def image_at(
    rows: Rows,
    x: str,
    y: str,
    width: str,
    height: str,
    url: str = CHOOSE,
    *,
    channels: Channels | None = None,
    smooth: bool = False,
) -> Layer:
    """A layer of images with the address `url`, stretched to a box of `width` × `height` pixels at (`x`, `y`), all
    Vega expressions; `channels` are further channels.
    """
    channels = {"x": pixel_x("_x"), "y": pixel_y("_y"), "url": "_url:N", **(channels or {})}
    size: Kwargs = {"width": alt.expr(width), "height": alt.expr(height), "aspect": False, "smooth": smooth}
    return layer("image", channels, rows.calculate(_x=x, _y=y, _url=url), **size, **_CORNER)


# Between the columns of `box_edges`.
PIXEL_BOX = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("top"), "y2": "bottom:Q"}


def box_edges(left: Any, top: Any, width: float, height: float) -> Kwargs:
    """The columns left, right, top and bottom of boxes of this `width` and `height`, whose upper left corners are at
    `left` and `top` [box]; all in pixels.
    """
    return {"left": left, "right": left + width, "top": top, "bottom": top + height}


def weight_table(
    weights: np.ndarray, rows: Mapping[str, Sequence | None], columns: Sequence[str]
) -> pd.DataFrame:
    """A table of `weights` [..., key] for exported files: a row for each index of the leading axes, and a column for
    each key, named by `columns`.

    `rows` maps the name of each leading axis, in order, to a name for each of its indices, or to None to use the
    index itself.
    """
    *leading, n_keys = weights.shape
    indices = np.indices(leading).reshape(len(leading), -1)
    names = {
        name: index if labels is None else np.asarray(labels, object)[index]
        for (name, labels), index in zip(rows.items(), indices, strict=True)
    }
    numbers = pd.DataFrame(weights.reshape(-1, n_keys), columns=list(columns), copy=False)
    return pd.concat([pd.DataFrame(names), numbers], axis=1)
