"""Small images to pick one from."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import framed
from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, need_shape, tip
from ..builders.picture_marks import CHOOSE, picture_ink, pixel_x, pixel_y
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
    thumbnails = {
        "id": list(ids),
        "caption": list(captions),
        "left": left,
        "middle": left + _SIDE / 2,
        "right": left + _SIDE,
        "top": top,
        "bottom": top + _SIDE,
        "caption_at": top + _SIDE + _CAPTION / 2 + 1,
        "end": top + _SIDE + _CAPTION,
        "selected": [image_id == selected for image_id in ids],
        **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
    }
    return _chart_form().with_data(
        thumbnails,
        width=columns * (_SIDE + _GAP) - _GAP,
        height=-(-len(images) // columns) * (_SIDE + _CAPTION + _GAP),
        description=f"{len(images)} image{'s' * (len(images) != 1)} to choose from",
    )


@form
def _chart_form() -> alt.TopLevelMixin:
    base = alt.Chart(data()).transform_calculate(url=CHOOSE)
    box: Kwargs = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("top")}
    pictures = base.mark_image(
        width=_SIDE, height=_SIDE, align="left", baseline="top", tooltip=None, aria=False
    ).encode(x=pixel_x("left"), y=pixel_y("top"), url="url:N")
    text = base.mark_text(aria=False, fontSize=SMALL, color=INK, limit=_SIDE).encode(
        x=pixel_x("middle"), y=pixel_y("caption_at"), text="caption:N"
    )
    frames = framed(base.mark_rect(fill=None, cornerRadius=3, aria=False), (3, 0.5)).encode(
        **box, y2="bottom:Q"
    )
    # On top and clear: a click on a stroke or on the caption counts as one on the image.
    cover = base.mark_rect(fill="transparent", cursor="pointer").encode(
        **box, y2="end:Q", description="caption:N", tooltip=tip("caption:N")
    )
    # Streamlit would squeeze what is not an image.
    return alt.layer(pictures, text, frames, cover.add_params(click_on("image", "id"))).properties(
        autosize="pad"
    )
