"""The residual-stream vectors of patches as pictures: their first three principal components as colours, and their
norms; for one layer in large, and for all layers in small.
"""

from collections.abc import Sequence
from functools import partial

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import CASING
from ..builders.chart import Column, Layer, Rows, chart
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.layer_tiles import layer_tiles
from ..builders.number_format import format_number, percent
from ..builders.palette import WEIGHTS, data_uri, weight_colours
from ..builders.picture_marks import image_at
from ..builders.theme import INK, ON_DARK, OTHER_INK
from ..builders.vega_colours import colour_legend
from .pictures_beside import LEGEND_ABOVE, Grids, names_of_pictures, patch_names, place_pictures

COLOURS = ("red", "green", "blue")
_SIDE, _BETWEEN, _GAP, _NAME = (
    72,
    3,
    12,
    18,
)  # pixels: of a small picture, between a pair, between layers, a name
_IN_ROW = 4  # small pictures


def patch_colour_map(
    colours: np.ndarray,
    explained_variance: Sequence[float],
    pictures: Sequence[np.ndarray],
    patch_grids: Grids,
) -> VegaFigure:
    """The patches of one or two pictures in their `colours` [patch, 3]: red, green and blue, from 0 to 1.

    `colours` and `explained_variance` are those that `patch_colours` returns. `pictures` are uint8 [height, width] or [height,
    width, 3]. Raises ValueError for colours that do not fit the `patch_grids` (rows, columns).

    >>> import numpy as np
    >>> from loupe import capture, load, patch_colour_map, patch_colours
    >>> digit = np.eye(28, dtype=np.uint8) * 255
    >>> record = capture(load("checkpoints/mnist-pre-ln"), digit)
    >>> result = patch_colours(record, layer=0)
    >>> len(patch_colour_map(result.colours, result.explained_variance, [digit], [record.patch_grid]).frame)
    49
    """
    names = _patch_columns(patch_grids, colours)
    shares = ", ".join(
        f"{colour} {percent(share)}" for colour, share in zip(COLOURS, explained_variance, strict=True)
    )
    lines = [f"{shares} of the variance", ""][: len(pictures)]
    layout = place_pictures(pictures, patch_grids, lines=1, line=lines)
    columns = [
        Column(name, colours[:, index].astype(float), format=".2f") for index, name in enumerate(COLOURS)
    ]
    shown: Kwargs = {
        "fill": {"field": "colour", "type": "nominal", "scale": None},
        "tooltip": [names[-1], *columns],
    }
    return chart(
        [*names, *columns],
        layout.boxes(Rows(), shown),
        layout.images(),
        layout.line(),
        drawing=dict(layout.patches) | {"colour": _hexadecimal(colours)},
        frames={"pictures": layout.pictures},
        params=layout.params,
        height=layout.height,
        description=f"The first three principal components of the states of {len(colours)} patches as colours: {shares} of the variance",
    )


def patch_norm_map(
    norms: Sequence[np.ndarray],
    outliers: Sequence[Sequence[int]],
    pictures: Sequence[np.ndarray],
    patch_grids: Grids,
    *,
    registers: Sequence[np.ndarray] = (),
) -> VegaFigure:
    """One or two `pictures`, drawn over the norms of their patches' vectors, `norms` [patch] for each picture; the
    patches with the indices `outliers` are framed.

    `norms`, `outliers` and `registers` are those that `patch_norms` returns, for each picture; the norms of the
    registers are written above. Colours go from the smallest norm of all patches to the largest. Raises ValueError
    for norms that do not fit the `patch_grids` (rows, columns).

    >>> import numpy as np
    >>> from loupe import capture, load, patch_norm_map, patch_norms
    >>> digit = np.eye(28, dtype=np.uint8) * 255
    >>> record = capture(load("checkpoints/mnist-pre-ln"), digit)
    >>> result = patch_norms(record, layer=0)
    >>> len(patch_norm_map([result.patches], [result.outliers], [digit], [record.patch_grid]).frame)
    49
    """
    lengths = np.concatenate([*norms])
    names = _patch_columns(patch_grids, lengths)
    framed = np.concatenate(
        [np.isin(np.arange(len(side)), [*chosen]) for side, chosen in zip(norms, outliers, strict=True)]
    )
    has_registers = any(len(side) for side in registers)
    counts = [
        f"{len(chosen)} of {len(side)} patches framed" for side, chosen in zip(norms, outliers, strict=True)
    ]
    layout = place_pictures(
        pictures,
        patch_grids,
        lines=1 + has_registers,
        has_legend=True,
        line=counts,
        registers=[_registers_text(side) for side in registers] if has_registers else [""] * len(pictures),
    )
    smallest, largest = float(lengths.min()), float(lengths.max())
    scale = alt.Scale(
        domain=[value("smallest"), value("largest")],
        range=list(WEIGHTS),
        interpolate="rgb",
        clamp=True,
        reverse=alt.expr(ON_DARK),
    )
    legend = colour_legend(
        "length of the state",
        alt.ExprRef("[smallest, largest]"),
        labelExpr="format(datum.value, '.3~g')",
        **LEGEND_ABOVE,
    )
    numbers = Column("norm", lengths, "length of the state", ".4~g", "length of the state")
    outlier = Column("outlier", framed, None)
    tooltip = {"tooltip": [names[-1], numbers]}
    frame: Kwargs = {"fill": None, "tooltip": None}
    of_outliers = Rows().where("datum.outlier")
    return chart(
        [*names, numbers, outlier],
        layout.boxes(Rows(), {"color": alt.Color("norm:Q", scale=scale, legend=legend)}),
        layout.images(),
        layout.boxes(of_outliers, stroke=OTHER_INK, strokeWidth=2 + CASING, **frame),
        layout.boxes(of_outliers, stroke=INK, strokeWidth=2, **frame),
        layout.boxes(Rows(), tooltip, fill="transparent"),
        layout.line(),
        layout.line("datum.registers", 1) if has_registers else None,
        drawing=dict(layout.patches),
        frames={"pictures": layout.pictures},
        params=layout.params,
        values={"smallest": smallest, "largest": largest if largest > smallest else smallest + 1},
        height=layout.height,
        description=f"The lengths of the states of {len(lengths)} patches; framed: {', '.join(counts)}",
    )


def layer_patches(values: np.ndarray, patch_grids: Grids, notes: Sequence[str], *, layer: int) -> VegaFigure:
    """For each layer one small picture, or two side by side, made of norms, `values` [layer, patch], or of RGB colours
    [layer, patch, 3] from 0 to 1.

    Norms have the colours of weights, from the smallest of a layer to its largest. `notes` [layer] are texts beside
    the names of the layers. The pictures of `layer` are framed; a click sets the point selection `layer`, field
    `layer`. The exported file has a row for each patch of each layer. Raises ValueError for values that do not fit the
    `patch_grids` (rows, columns).
    """
    _patch_columns(patch_grids, values[0])
    names = [f"L{index}{' · ' * bool(note)}{note}" for index, note in enumerate(notes)]
    images: list[Layer] = []
    drawing: Kwargs = {}
    parts = np.cumsum([rows * columns for rows, columns in patch_grids])[:-1]
    shades = [_layer_pixels(of_layer) for of_layer in values]
    for picture, (rows, columns) in enumerate(patch_grids):
        for theme in ("on_light", "on_dark"):
            pixels = [np.split(of_layer[theme], parts)[picture] for of_layer in shades]
            drawing[f"{theme}_{picture}"] = [data_uri(part.reshape(rows, columns, 3)) for part in pixels]
        width, height = (f"{_SIDE * share / max(rows, columns)}" for share in (columns, rows))
        url = f"{ON_DARK} ? datum.on_dark_{picture} : datum.on_light_{picture}"
        left = f"datum.left + {picture * (_SIDE + _BETWEEN)}"
        images.append(image_at(Rows(), left, "datum.top", width, height, url))
    return layer_tiles(
        [
            Column("layer", np.arange(len(values)), None),
            Column("name", names, "layer"),
            Column("note", [*notes], None),
        ],
        *images,
        size=(len(images) * (_SIDE + _BETWEEN) - _BETWEEN, _SIDE),
        gap=_GAP,
        name_height=_NAME,
        in_row=_IN_ROW // len(images),
        chosen=layer,
        drawing=drawing,
        table=partial(_layer_table, values, patch_grids),
        description=f"The patches in each of {len(values)} layers",
    )


def _layer_table(values: np.ndarray, patch_grids: Grids) -> pd.DataFrame:
    """A row for each patch of each layer, with its norm or the three parts of its colour, from `layer_patches`'
    `values`.
    """
    n_layers, n_patches = values.shape[:2]
    names = {
        column.in_file or column.name: column.values for column in _patch_columns(patch_grids, values[0])
    }
    frame = pd.DataFrame({"layer": np.repeat(np.arange(n_layers), n_patches)})
    frame[[*names]] = np.tile(np.transpose([*names.values()]), (n_layers, 1))
    frame[[*(COLOURS if values.ndim == 3 else ["norm"])]] = values.reshape(len(frame), -1)
    return frame


def _patch_columns(patch_grids: Grids, values: np.ndarray) -> list[Column]:
    """The columns with the picture and the name of each patch. Raises ValueError unless there is one of the `values`
    for each patch.
    """
    names = patch_names(patch_grids)
    if len(values) != len(names):
        grids = " and ".join(f"{rows} × {columns}" for rows, columns in patch_grids)
        raise ValueError(f"grids of {grids} patches have {len(names)} values, got {len(values)}")
    return [Column("of", names_of_pictures(patch_grids), in_file="picture"), Column("patch", names)]


def _registers_text(norms: np.ndarray) -> str:
    """The norms of registers as a line of text."""
    return "registers: " + " · ".join(format_number(float(norm), ".3g") for norm in norms)


def _hexadecimal(colours: np.ndarray) -> list[str]:
    """RGB colours [patch, 3] from 0 to 1 as CSS colours."""
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in np.rint(255 * colours).astype(int)]


def _layer_pixels(values: np.ndarray) -> dict[str, np.ndarray]:
    """The pixels, uint8 [patch, 3], of one layer's patches for a light and a dark page, from their `values` [patch] or
    RGB colours [patch, 3].
    """
    if values.ndim == 2:
        return dict.fromkeys(("on_light", "on_dark"), np.rint(255 * values).astype(np.uint8))
    span = np.ptp(values)
    levels = (values - values.min()) / (span if span > 0 else 1)
    themes = {"on_light": levels, "on_dark": 1 - levels}
    return {theme: weight_colours(shares).round().astype(np.uint8) for theme, shares in themes.items()}
