"""A scatter plot of vectors in two dimensions, with lines from one of them to its nearest neighbours."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Channels, Column, Layer, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip, value
from ..builders.label_placement import PLACED, LabelPlacement, placement_columns
from ..builders.palette import ACCENT, NEUTRAL
from ..builders.picture_marks import CHOOSE, picture_ink
from ..builders.theme import INK, MIDDLE, SMALL
from ..builders.token_label import FONT, label, visible, width
from ..builders.vega_colours import colour_legend

# Of middling lightness all along, so that the first and the last position read on white and on black.
_POSITION_COLOURS = ("#0f8b8d", "#878088", "#b042d6")
_MIN_HEIGHT, _MAX_HEIGHT = 420, 600  # pixels, as all lengths here
_TYPICAL_WIDTH = 700
_MARGIN = 40  # on each side, for labels
_MOST_LABELS = 60
_THUMBNAIL_SIDE = 24
_LABEL_PLACEMENTS = (
    LabelPlacement("center", 0, -16),
    LabelPlacement("center", 0, 16),
    LabelPlacement("left", 10, 0),
    LabelPlacement("right", -10, 0),
    LabelPlacement("left", 6, -14),
    LabelPlacement("right", -6, 14),
)


def embedding_scatter(
    points: np.ndarray,
    tokens: Sequence[str],
    *,
    selected: int,
    neighbours: Sequence[int] = (),
    axes: tuple[str, str] = ("first axis", "second axis"),
    background: Sequence[str] = (),
    thumbnails: np.ndarray | None = None,
) -> VegaFigure:
    """A scatter plot of `points` [vector, 2]: first the vectors of `tokens`, coloured by position, then those of the
    words in `background`.

    Lines join the vector `selected` to its `neighbours`, both indices into the points. `thumbnails`, uint8 [patch,
    height, width] or [patch, height, width, 3], are drawn in place of the last tokens. `axes` are the titles of the
    axes, which have the same unit. A click on a token sets the point selection `token`, field `position`.
    """
    names = [*tokens, *background]
    n_tokens, n_pictures = len(tokens), 0 if thumbnails is None else len(thumbnails)
    # The selected one comes last: no other mark lies on its own.
    order = [index for index in range(len(names)) if index != selected] + [selected]
    frame: dict[str, Any] = {
        "position": order,
        "token": [visible(names[index]) for index in order],
        "label": [label(names[index], 14) for index in order],
        "x": points[order, 0].astype(float),
        "y": points[order, 1].astype(float),
        "selected": [index == selected for index in order],
        "neighbour": [index in neighbours for index in order],
        "word": [index >= n_tokens for index in order],
        "picture": [n_tokens - n_pictures <= index < n_tokens for index in order],
    }
    frame["labelled"] = _has_label(frame, alone=n_tokens - n_pictures > _MOST_LABELS)
    lowest, highest = points.min(axis=0), points.max(axis=0)
    x_extent, y_extent = (float(extent) for extent in np.maximum(highest - lowest, 1e-9))
    inks = [
        picture_ink(thumbnail, side=_THUMBNAIL_SIDE)
        for thumbnail in ([] if thumbnails is None else thumbnails)
    ]
    pictured = points[n_tokens - n_pictures : n_tokens]
    pictures = pd.DataFrame({"x": pictured[:, 0], "y": pictured[:, 1]}).join(pd.DataFrame(inks))
    height = int(
        np.clip(y_extent / x_extent * (_TYPICAL_WIDTH - 2 * _MARGIN) + 2 * _MARGIN, _MIN_HEIGHT, _MAX_HEIGHT)
    )
    frame |= _name_placements(frame, x_extent, y_extent, height)
    point: Kwargs = {"x": alt.X("x:Q", **_axis(0, axes[0])), "y": alt.Y("y:Q", **_axis(1, axes[1]))}
    word = {"text": "label:N", "tooltip": tip("token:N", title="word")}
    neighbour = {"x2": alt.X2Datum(alt.ExprRef("from[0]")), "y2": alt.Y2Datum(alt.ExprRef("from[1]"))}
    thumbnail: Kwargs = {"width": _THUMBNAIL_SIDE, "height": _THUMBNAIL_SIDE, "tooltip": None, "aria": False}
    columns = [Column("position", frame.pop("position")), Column("token", frame.pop("token"))]
    columns += [
        Column(axis, frame.pop(axis), title, in_file=title) for axis, title in zip("xy", axes, strict=True)
    ]
    columns.append(Column("neighbour", frame.pop("neighbour"), None))
    return chart(
        columns,
        layer(
            "text",
            point | word,
            where="datum.word",
            font=FONT,
            fontSize=SMALL,
            color=NEUTRAL,
            opacity=0.85,
            aria=False,
        ),
        layer("rule", point | neighbour, where="datum.neighbour", color=ACCENT, opacity=0.7, aria=False),
        # What each patch looks like; an empty one is its frame alone.
        layer("image", point | {"url": "url:N"}, "pictures", calculate={"url": CHOOSE}, **thumbnail)
        if n_pictures
        else None,
        _token_marks(point, axes),
        layer(
            "text",
            point | {"text": "label:N"},
            where="datum.labelled",
            **PLACED,
            font=FONT,
            fontSize=MIDDLE,
            color=INK,
            fontWeight=alt.expr("datum.selected ? 'bold' : 'normal'"),
            aria=False,
        ),
        drawing=frame,
        frames={"pictures": pictures} if n_pictures else {},
        values={
            "last": max(n_tokens - 1, 1),
            "from": points[selected].tolist(),
            "middle": ((lowest + highest) / 2).tolist(),
            "extent": [x_extent, y_extent],
        },
        height=height,
        description=f"{len(names)} vectors in two dimensions; {visible(names[selected])} is chosen.",
    )


def _has_label(frame: Mapping[str, Sequence], *, alone: bool) -> list[bool]:
    """Whether each vector has its label: all tokens, or with `alone` only the selected vector and its neighbours.

    Tokens at the same point share one label, or it would look bold.
    """
    table = pd.DataFrame(frame)
    has_label = ~table["word"] & ~table["picture"] & (table["selected"] | table["neighbour"] | (not alone))
    # The last of a spot keeps its label, such as the selected vector.
    is_repeated = table[has_label].round({"x": 6, "y": 6}).duplicated(["label", "x", "y"], keep="last")
    return (has_label & ~is_repeated.reindex(table.index, fill_value=False)).tolist()


def _name_placements(
    frame: Mapping[str, Sequence], x_extent: float, y_extent: float, height: int
) -> dict[str, list]:
    """Columns that place the name of each vector, computed for a plot of typical width, with axes of the lengths
    `x_extent` and `y_extent` in data units; the selected vector's name is placed first.
    """
    per_pixel = max(x_extent / (_TYPICAL_WIDTH - 2 * _MARGIN), y_extent / (height - 2 * _MARGIN))
    pixels = np.array([[x, -y] for x, y in zip(frame["x"], frame["y"], strict=True)]) / per_pixel
    widths = [
        width(name, MIDDLE) if is_named else 0.0
        for name, is_named in zip(frame["label"], frame["labelled"], strict=True)
    ]
    columns = placement_columns(pixels[::-1], widths[::-1], MIDDLE, _LABEL_PLACEMENTS)
    return {name: column[::-1] for name, column in columns.items()}


def _axis(number: int, title: str) -> Kwargs:
    """Options of the x axis (`number` 0) or the y axis (1), centred on all points, with the same unit on both axes at
    any width.
    """
    unit = f"max(extent[0] / (width - {2 * _MARGIN}), extent[1] / (height - {2 * _MARGIN}))"  # per pixel
    centre, half_extent = f"middle[{number}]", f"{unit} * {('width', 'height')[number]} / 2"
    scale = alt.Scale(
        domainMin=alt.expr(f"{centre} - {half_extent}"),
        domainMax=alt.expr(f"{centre} + {half_extent}"),
        zero=False,
        nice=False,
    )
    return {"title": title, "scale": scale, "axis": alt.Axis(tickCount=6, grid=True, labelBound=number == 0)}


def _token_marks(point: Channels, axes: tuple[str, str]) -> Layer:
    """The marks of tokens, dots and frames around thumbnails: they show the position by their colour and take the
    clicks.
    """
    along = alt.Scale(domain=[0, value("last")], range=list(_POSITION_COLOURS))
    legend = colour_legend("position", alt.ExprRef("[0, last]"), type="gradient", format="d")
    # As an encoding of its own, the colour of the lines would make the legend one of dots.
    stroke = alt.expr(f"datum.selected ? '{ACCENT}' : scale('fill', datum.position)")
    size = alt.when("datum.picture").then(alt.value(_THUMBNAIL_SIDE**2))
    own: Kwargs = {
        "fill": alt.Fill("position:Q", scale=along, legend=legend),
        "fillOpacity": conditional_value("datum.picture", 0, 1),
        "strokeWidth": conditional_value("datum.selected", 4, 1.5),
        "shape": conditional_value("datum.picture", "square", "circle"),
        "size": size.when("datum.selected").then(alt.value(180)).otherwise(alt.value(80)),
        "description": "token:N",
        "tooltip": [
            tip("token:N"),
            tip("position:Q"),
            *(tip(f"{axis}:Q", ".4f", title) for axis, title in zip("xy", axes, strict=True)),
        ],
    }
    click = ("token", "position")
    return layer("point", {**point, **own}, where="!datum.word", cursor="pointer", stroke=stroke, click=click)
