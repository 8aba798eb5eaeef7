"""Small images to pick one from."""

from collections.abc import Sequence

import numpy as np

from ..builders.cells import frame_channels
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape
from ..builders.picture_marks import CHOOSE, PIXEL_BOX, picture_ink, pixel_x, pixel_y
from ..builders.theme import INK, SMALL

_SIDE = 56  # pixels: an MNIST digit, doubled
_CAPTION = 18
_GAP = 5


def image_gallery(
    images: np.ndarray,
    ids: Sequence[int],
    captions: Sequence[str],
    *,
    selected: int | None,
    columns: int,
) -> VegaFigure:
    """Captioned images, `columns` in a row, from uint8 [image, height, width] or [image, height, width, 3].

    The image with the id `selected` is framed. A click on an image or its caption sets the point selection `image`,
    field `id`. The pixels are sharp only at the chart's own width, 61 for each column. Raises ValueError where images,
    ids and captions differ in number.
    """
    need_shape((len(ids), ...), images=images, captions=captions)
    row, column = np.divmod(np.arange(len(images)), columns)
    left, top = column * (_SIDE + _GAP), row * (_SIDE + _CAPTION + _GAP)
    inks = [picture_ink(image, side=_SIDE) for image in images]
    image = {"x": pixel_x("left"), "y": pixel_y("top"), "url": "url:N"}
    caption = {"x": pixel_x("middle"), "y": pixel_y("caption_at"), "text": "caption:N"}
    cover = PIXEL_BOX | {"y2": "end:Q", "description": "caption:N", "tooltip": "caption:N"}
    url: Kwargs = {"calculate": {"url": CHOOSE}}
    size: Kwargs = {"width": _SIDE, "height": _SIDE, "align": "left", "baseline": "top", "tooltip": None}
    return chart(
        [Column("id", list(ids)), Column("caption", list(captions))],
        layer("image", image, aria=False, **url, **size),
        layer("text", caption, aria=False, fontSize=SMALL, color=INK, limit=_SIDE, **url),
        layer("rect", PIXEL_BOX | frame_channels((3, 0.5)), fill=None, cornerRadius=3, aria=False, **url),
        # On top and clear: a click on a stroke or on the caption counts as one on the image.
        layer("rect", cover, fill="transparent", cursor="pointer", click=("image", "id"), **url),
        drawing={
            "left": left,
            "middle": left + _SIDE / 2,
            "right": left + _SIDE,
            "top": top,
            "bottom": top + _SIDE,
            "caption_at": top + _SIDE + _CAPTION / 2 + 1,
            "end": top + _SIDE + _CAPTION,
            "selected": [image_id == selected for image_id in ids],
            **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
        },
        width=columns * (_SIDE + _GAP) - _GAP,
        height=-(-len(images) // columns) * (_SIDE + _CAPTION + _GAP),
        autosize="pad",  # Streamlit would squeeze what is not an image
        description=f"{len(images)} image{'s' * (len(images) != 1)} to choose from",
    )
