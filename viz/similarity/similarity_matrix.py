"""The cosine similarity of two inputs as a sum over pairs of tokens: a matrix with a cell for each token of one input
and each token of the other.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column
from ..builders.figure import VegaFigure
from ..builders.label_placement import name_axis
from ..builders.number_format import cell_numbers, format_number
from ..builders.palette import ROUNDING, largest_absolute
from ..builders.theme import SMALL, heading
from ..builders.token_label import FONT, shortened, visible
from ..builders.vega_colours import SIGNED_ENDS, colour_legend, number_at_end

MOST_CELLS = 70_000  # a browser draws them within seconds
_WIDTH, _NARROWEST, _WIDEST, _LOWEST, _HIGHEST = 640, 5, 52, 5, 24  # pixels, of all columns and of a cell
_NUMBERED = 38  # pixels: cells from this width on have numbers
_LONGEST = 18  # letters


def similarity_matrix(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    others: tuple[int, int] = (0, 0),
    effect: str = "",
) -> VegaFigure:
    """A matrix of `values` [row, column], coloured symmetrically about 0: what each pair of a row and a column adds to
    the cosine similarity, or another `effect` of the pairs, whose sum is not the cosine similarity.

    `values`, `rows`, `columns` and `others` are those that `similarity_parts` returns: the last `others[0]` rows and
    `others[1]` columns belong to no token. Their cells may be far larger than all others, so the colours end at the
    largest absolute cell of two tokens. The tooltip has the sums of the cell's row and column, too. Raises ValueError
    for more than `MOST_CELLS` cells.

    >>> from loupe import load, similarity_matrix, similarity_parts
    >>> parts = similarity_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.", "A dull film.").by_word()
    >>> len(similarity_matrix(parts.values, parts.rows, parts.columns, others=parts.others).frame)
    49
    """
    if values.size > MOST_CELLS:
        size = " × ".join(f"{n:,}" for n in values.shape)
        raise ValueError(f"a matrix of {size} cells is too large to be drawn: at most {MOST_CELLS:,}")
    row, column = np.indices(values.shape).reshape(2, -1)
    n_rows, n_columns = (n - n_others for n, n_others in zip(values.shape, others, strict=True))
    end = largest_absolute(values[:n_rows, :n_columns], at_least=ROUNDING)
    width = int(np.clip(_WIDTH // max(len(columns), 1), _NARROWEST, _WIDEST))
    height = int(np.clip(_WIDTH // max(len(rows), 1), _LOWEST, _HIGHEST))
    names = [[shortened(_visible_name(name), _LONGEST) for name in side] for side in (rows, columns)]
    numbers = cell_numbers(values, end, signed=True)
    is_numbered = width >= _NUMBERED
    total = f"cosine similarity {format_number(float(values.sum()), '.4f')}"
    return grid(
        [
            Column("row", [_visible_name(rows[index]) for index in row], "of the first"),
            Column("column", [_visible_name(columns[index]) for index in column], "of the second"),
            Column("value", values, None, in_file="cosine similarity"),
            Column("exact", numbers.exact, "the pair", in_file=None),
            Column("row_sum", values.sum(axis=1)[row], "sum of its row", "+.4f", None),
            Column("column_sum", values.sum(axis=0)[column], "sum of its column", "+.4f", None),
        ],
        alt.X(
            "column_name:N",
            sort=names[1],
            title=None,
            axis=name_axis(orient="top", domain=False, grid=False),
        ),
        alt.Y(
            "row_name:N",
            sort=names[0],
            title=None,
            axis=alt.Axis(labelFont=FONT, labelLimit=0, labelOverlap="greedy", **BARE_AXIS),
        ),
        largest=end,
        signed=True,
        written=[_without_zero(text) for text in numbers.written] if is_numbered else None,
        font_size=SMALL,
        legend=colour_legend(
            effect or "adds to the cosine similarity", SIGNED_ENDS, labelExpr=number_at_end("+")
        ),
        drawing={
            "row_name": [names[0][index] for index in row],
            "column_name": [names[1][index] for index in column],
            "name": [f"{rows[i]} and {columns[j]}" for i, j in zip(row, column, strict=True)],
        },
        values={"first": -1},
        width=width * len(columns),
        height=height * len(rows),
        title=heading(f"{effect or total}, by pairs", *filter(None, [numbers.unit if is_numbered else ""])),
        description=f"What each of {len(rows)} × {len(columns)} pairs {'has as ' + effect if effect else 'adds to the ' + total}",
    )


def _visible_name(name: str) -> str:
    """The name of a token with its position, such as "3 film", with signs in place of invisible letters; other names
    as they are.
    """
    number, _, token = name.partition(" ")
    return f"{number} {visible(token)}" if number.isdigit() else name


def _without_zero(text: str) -> str:
    """The number's text without the zero before its point."""
    return text if text.strip("+−0.") else ""
