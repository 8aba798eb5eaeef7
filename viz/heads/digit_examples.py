"""Digits in which a head attends strongly from one patch to another: the query is framed, the key filled."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, need_shape, tip
from ..builders.palette import EMPHASIS
from ..builders.picture_marks import CHOOSE, picture_ink, pixel_x, pixel_y
from ..builders.theme import INK, SMALL

_SIDE = 112  # pixels: an MNIST digit, four times as large
_CAPTION, _GAP = 20, 14


def digit_examples(
    images: np.ndarray,
    queries: Sequence[int | None],
    keys: Sequence[int | None],
    weights: Sequence[float],
    *,
    numbers: Sequence[int],
    patch_grid: tuple[int, int],
    columns: int,
) -> VegaFigure:
    """Captioned uint8 images [example, height, width], `columns` in a row; queries and keys are patches, None for the
    class token.

    The caption has the weight. A click sets the point selection `example`, field `number`. Raises ValueError where the
    lists differ in length.
    """
    n_examples = len(images)
    need_shape((n_examples, ...), images=images)
    need_shape((n_examples,), queries=queries, keys=keys, weights=weights, numbers=numbers)
    row, column = np.divmod(np.arange(n_examples), columns)
    left, top = column * (_SIDE + _GAP), row * (_SIDE + _CAPTION + _GAP)
    inks = [picture_ink(image, side=_SIDE) for image in images]
    names = [
        (_patch_name(query, patch_grid), _patch_name(key, patch_grid))
        for query, key in zip(queries, keys, strict=True)
    ]
    examples = {
        "number": list(numbers),
        "weight": list(map(float, weights)),
        "caption": [
            f"{weight:.2f}, digit {digit_number}"
            for weight, digit_number in zip(weights, numbers, strict=True)
        ],
        "query": [query for query, _ in names],
        "key": [key for _, key in names],
        "left": left,
        "right": left + _SIDE,
        "top": top,
        "bottom": top + _SIDE,
        "middle": left + _SIDE / 2,
        "caption_at": top + _SIDE + _CAPTION / 2 + 2,
        **{theme: [ink[theme] for ink in inks] for theme in ("on_light", "on_dark")},
    }
    marks = {"query": queries, "key": keys}
    return _chart_form().with_data(
        examples,
        in_file={"number": "digit number", "caption": None},
        frames={name: _patch_boxes(patches, left, top, patch_grid) for name, patches in marks.items()},
        width=columns * (_SIDE + _GAP) - _GAP,
        height=-(-n_examples // columns) * (_SIDE + _CAPTION + _GAP),
        description=f"{n_examples} digits; in each the framed patch looks at the filled one. "
        + "; ".join(
            f"digit {digit_number}: {query} looks at {key}, weight {weight:.2f}"
            for digit_number, (query, key), weight in zip(numbers, names, weights, strict=True)
        ),
    )


@form
def _chart_form() -> alt.TopLevelMixin:
    base = alt.Chart(data()).transform_calculate(url=CHOOSE)
    box: Kwargs = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("top"), "y2": "bottom:Q"}
    page = base.mark_rect(fill=INK, fillOpacity=0.06, aria=False).encode(**box)
    keys = alt.Chart(data("key")).mark_rect(fill=EMPHASIS, fillOpacity=0.75, aria=False).encode(**box)
    pictures = base.mark_image(
        width=_SIDE, height=_SIDE, align="left", baseline="top", tooltip=None, aria=False
    ).encode(x=pixel_x("left"), y=pixel_y("top"), url="url:N")
    queries = alt.Chart(data("query")).mark_rect(
        fill=None, stroke=EMPHASIS, strokeWidth=3, strokeDash=[4, 2], aria=False
    )
    text = base.mark_text(aria=False, fontSize=SMALL, color=INK, limit=_SIDE).encode(
        x=pixel_x("middle"), y=pixel_y("caption_at"), text="caption:N"
    )
    tooltip = [tip("number:Q", title="digit"), tip("query:N"), tip("key:N"), tip("weight:Q", ".4f")]
    cover = base.mark_rect(fill="transparent", cursor="pointer").encode(
        **box, description="caption:N", tooltip=tooltip
    )
    return alt.layer(
        page, keys, pictures, queries.encode(**box), text, cover.add_params(click_on("example", "number"))
    ).properties(autosize="pad")  # Streamlit would squeeze what is not an image


def _patch_name(patch: int | None, patch_grid: tuple[int, int]) -> str:
    return "the class token" if patch is None else "row {}, column {}".format(*divmod(patch, patch_grid[1]))


def _patch_boxes(
    patches: Sequence[int | None], left: np.ndarray, top: np.ndarray, patch_grid: tuple[int, int]
) -> dict[str, list[float]]:
    """The edges in pixels of each patch's box in its picture; None (the class token) has no box."""
    patch_height, patch_width = (_SIDE / n_patches for n_patches in patch_grid)
    cells = [
        (example, *divmod(patch, patch_grid[1])) for example, patch in enumerate(patches) if patch is not None
    ]
    return {
        "left": [float(left[example] + column * patch_width) for example, _, column in cells],
        "right": [float(left[example] + (column + 1) * patch_width) for example, _, column in cells],
        "top": [float(top[example] + row * patch_height) for example, row, _ in cells],
        "bottom": [float(top[example] + (row + 1) * patch_height) for example, row, _ in cells],
    }
