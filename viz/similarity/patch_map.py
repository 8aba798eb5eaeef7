"""The cosine similarities of all patches with the patch under the pointer, on one picture or on two.

The cosines of all pairs of patches are sent with the chart, so that the browser alone reacts to the pointer. A click
keeps a patch, and sets the point selection `patch`, field `index`: patches count row by row, and those of the second
picture follow those of the first.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import CASING
from ..builders.chart import Column, Rows, chart, hover_selection, point_selection
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import ACCENT, DIFFERENCE
from ..builders.theme import OTHER_INK
from ..builders.vega_colours import colour_legend
from .pictures_beside import LEGEND_ABOVE, Grids, names_of_pictures, patch_names, place_pictures

MOST_PATCHES = 2 * 37 * 37  # of both pictures; the cosines of more would be too much for one message
# A cosine travels as a letter: the first stands for -1, the last but one for 1, the last for none. A second letter says where between
# two letters it is.
_LETTERS = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\')
_STEPS = len(_LETTERS) - 2


def patch_map(
    cosines: np.ndarray, pictures: Sequence[np.ndarray], patch_grids: Grids, patch: int
) -> VegaFigure:
    """One or two `pictures`, drawn over the cosine similarities of all their patches with one of them, the index
    `patch`.

    `cosines` [patch, patch] are those that `patch_similarity` returns. Pictures are uint8 [height, width] or [height,
    width, 3], and `patch_grids` (rows, columns) of patches. With the pointer on another patch, the cosines with that
    one are shown, and a click keeps it; if there are more than `MOST_PATCHES` patches, only the cosines with `patch`
    are drawn. Raises ValueError for an index `patch` out of range, and for cosines that do not fit the grids.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_map, patch_similarity
    >>> digit = np.eye(28, dtype=np.uint8) * 255
    >>> record = capture(load("checkpoints/mnist-pre-ln"), digit)
    >>> len(patch_map(patch_similarity(record, layer=0), [digit], [record.patch_grid], patch=24).frame)
    49
    """
    names = patch_names(patch_grids)
    n = len(names)
    if cosines.shape != (n, n):
        grids = " and ".join(f"{rows} × {columns}" for rows, columns in patch_grids)
        raise ValueError(f"cosines of grids of {grids} patches have the shape {(n, n)}, got {cosines.shape}")
    if patch not in range(n):
        raise ValueError(f"the patches are 0 to {n - 1}, got {patch}")
    is_linked = n <= MOST_PATCHES
    picture_names = names_of_pictures(patch_grids)
    in_words = (
        names
        if len(pictures) == 1
        else [f"{name} of the {picture}" for name, picture in zip(names, picture_names, strict=True)]
    )
    layout = place_pictures(pictures, patch_grids, lines=1, has_legend=True)
    params = [
        *layout.params,
        {"name": "start", "value": patch},
        {"name": "answers", "value": n if is_linked else 0},  # patches whose cosines are there
        {"name": "kept", "expr": "isArray(patch.index) && patch.index[0] < answers ? patch.index[0] : start"},
        {"name": "shown", "expr": "isArray(over.index) && over.index[0] < answers ? over.index[0] : kept"},
        {"name": "letter", "expr": "answers ? shown : 0"},
    ]
    # The browser's interpreter takes its time with every part of an expression, so there is one for each patch, as short as can be.
    colours = alt.Scale(domain=[*_LETTERS], range=_letter_colours())
    ends = alt.Scale(domain=[-1, 1], range=list(DIFFERENCE), interpolate="rgb")
    legend = colour_legend("cosine similarity", [-1, 0, 1], **LEGEND_ABOVE)
    shown, kept = (f"data('frame')[{index}]" for index in ("shown", "kept"))
    level, between = (f"indexof(letters, {kept}.{name}[letter])" for name in ("cosines", "between"))
    line = (
        f"'Cosine with ' + {shown}.in_words + (shown == kept ? '' : '; with the clicked ' + {kept}.in_words + ': ' + "
        f"({level} > {_STEPS} ? 'none' : format(({level} + {between} / {_STEPS} - 0.5) / {_STEPS} * 2 - 1, '.2f')))"
    )
    frame: Kwargs = {"fill": None, "tooltip": None, "stroke": ACCENT}
    is_pointed = alt.expr("shown == kept ? 0 : 1")
    return chart(
        [
            Column("index", np.arange(n), None, in_file=None),
            Column("picture", layout.patches["picture"], in_file=None),
            Column("of", picture_names, in_file="picture"),
            Column("name", names, in_file="patch"),
            Column("cosine", cosines[patch], format=".4f"),
        ],
        # They answer the pointer below the pictures, which do not: half as many marks as with clear ones on top.
        layout.boxes(
            Rows(),
            {"fill": alt.Fill("shown:N", scale=colours, legend=None)},
            then="datum.cosines[letter]",
            cursor="pointer",
            tooltip=None,
            selections=[hover_selection("index"), point_selection("patch", "index")],
        ),
        layout.images(),
        layout.box_of(kept, **frame | {"stroke": OTHER_INK}, strokeWidth=3 + CASING),
        layout.box_of(kept, strokeWidth=3, **frame),
        # Never seen: the colours as a bar.
        layout.box_of(kept, {"stroke": alt.Stroke("picture:Q", scale=ends, legend=legend)}, opacity=0),
        layout.box_of(shown, strokeWidth=2, strokeDash=[3, 2], strokeOpacity=is_pointed, **frame),
        layout.line(f"datum.picture == 0 ? {line} : ''"),
        drawing={
            **{name: values for name, values in layout.patches.items() if name != "picture"},
            "in_words": in_words,
            **_rows_as_letters(cosines if is_linked else cosines[patch][:, None]),
        },
        frames={"pictures": layout.pictures},
        params=params,
        values={"letters": _LETTERS},
        height=layout.height,
        description=f"Over the picture{'s' * (len(pictures) == 2)}, the cosine similarity of each of {n} patches with {in_words[patch]}.",
        usermeta={"embedOptions": {"renderer": "canvas"}},
    )


def _rows_as_letters(cosines: np.ndarray) -> dict[str, list[str]]:
    """The `cosines` [patch, other_patch] as a compact text for each row, with two letters for each value: in
    "cosines" that of the nearest step of a scale, in "between" that of the distance from this step.
    """
    steps = (np.clip(np.nan_to_num(cosines), -1, 1) + 1) / 2 * _STEPS
    nearest = np.rint(steps).astype(int)
    between = np.rint((steps - nearest + 0.5) * _STEPS).astype(int)
    levels = {"cosines": np.where(np.isnan(cosines), _STEPS + 1, nearest), "between": between}
    letters = np.frombuffer(_LETTERS.encode(), "S1")
    return {name: [row.tobytes().decode() for row in letters[rows]] for name, rows in levels.items()}


def _letter_colours() -> list[str]:
    """The colour of each letter of `_rows_as_letters`: those of the signed colour scale, and "transparent" for a
    missing value.
    """
    table = np.array([[float(part) for part in colour[5:-1].split(",")] for colour in DIFFERENCE])
    ends, steps = np.linspace(0, 1, len(table)), np.linspace(0, 1, _STEPS + 1)
    mixed = zip(*(np.interp(steps, ends, channel) for channel in table.T), strict=True)
    return [*(f"rgba({r:.0f},{g:.0f},{b:.0f},{opacity:.3f})" for r, g, b, opacity in mixed), "transparent"]
