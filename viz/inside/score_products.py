"""The score of one query and key as a sum of products, each of one part of the query's vector and one part of the
key's.
"""

import re

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import INK_ON_SIGNED, is_strong
from ..builders.chart import Column, chart, layer
from ..builders.figure import Columns, Kwargs, VegaFigure, tip, value
from ..builders.number_format import cell_numbers, format_number
from ..builders.palette import CATEGORIES, FALLS, LETTERS, NEUTRAL, RISES, largest_absolute
from ..builders.picture_marks import pixel_y
from ..builders.theme import DARK_INK, INK, LIGHT_INK, MIDDLE, ON_DARK, heading
from ..builders.token_label import shortened
from ..builders.vega_colours import colour
from .vector_rows import bar_ends

ALL = "all parts"  # of the other side, where a bar is pointed at
# Where columns end, in widths of a cell: names of the query's parts, bars of their sums, and these in numbers; then come the cells.
_NAMES, _BARS, _SUMS = 3.5, 4.7, 5.8
_LINE, _BAR, _ROW = 18, 40, 26  # pixels: a name of a part of the key, the longest bar below, a row of cells
_FEWEST = 9  # columns that there is room for, in layer 0 too
_LONGEST_TOKEN = 14  # letters
_POINTED = 5  # widths of a cell: how far the name of a column can be pointed at
_HEAD = re.compile(r"L\d+ H\d+")  # what the name of a head's part begins with
# Names of heads, which can be opened, have the colour of links.
_OPENS = "indexof(datum.text, '→') > 0"
_ON_LIGHT, _ON_DARK = LETTERS[CATEGORIES[0]]
_NAME_INK = alt.expr(
    f"{ON_DARK} ? ({_OPENS} ? '{_ON_DARK}' : '{LIGHT_INK}') : {_OPENS} ? '{_ON_LIGHT}' : '{DARK_INK}'"
)
_READING = "a cell: what a part of the query and a part of the key add; a bar: the sum of its row or column"


def score_products(products: pd.DataFrame, *, query: str, key: str) -> VegaFigure:
    """The `products` of parts of the query (rows) and parts of the key (columns), with bars for the sums of rows and
    of columns.

    `products` is what `ScoreParts.strongest` returns; its sum is the score of the two positions, whose tokens are
    `query` and `key`. A click on a cell or bar of a head sets the point selection `part`, fields `query_part` and
    `key_part`, each the name of a part or `ALL`. Raises ValueError if there is no product.

    >>> from loupe import load, score_parts, score_products
    >>> parts = score_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.", layer=1, head=0, query=3, key=2)
    >>> len(score_products(parts.strongest(4), query="film", key="gripping").frame)  # others in a fifth row and column
    25
    """
    if products.empty:
        raise ValueError(f"a score has at least one product, got shape {products.shape}")
    cells = products.to_numpy()
    by_row, by_column = cells.sum(axis=1), cells.sum(axis=0)
    numbers = np.concatenate([cells.ravel(), by_row, by_column, [cells.sum()]])
    texts = cell_numbers(numbers, largest_absolute(numbers), signed=True, detail=largest_absolute(cells))
    row, column = np.indices(cells.shape).reshape(2, -1)
    rows, columns = (np.array([*names], object) for names in (products.index, products.columns))
    # Of the parts of the key the largest stands lowest, so that no line to a column crosses a name.
    name_y = _LINE * (len(columns) + 0.5 - np.arange(len(columns)))
    bars_top = _LINE * (len(columns) + 1.5)
    cells_top = bars_top + _BAR + _LINE
    top, left = cells_top + _ROW * np.arange(len(rows)), _SUMS + np.arange(len(columns))
    zero, tips = bar_ends(np.concatenate([by_row, by_column]))
    ends = np.sort([np.full(len(tips), zero), tips], axis=0)  # start and end [2, bar]
    across = _NAMES + (_BARS - _NAMES) * ends[:, : len(rows)]
    down = bars_top + _BAR * (1 - ends[:, len(rows) :])
    colours = np.where(numbers < 0, FALLS, RISES)[cells.size : -1]
    middle, centre = top + _ROW / 2, left + 0.5
    cell_box = {"left": left[column], "right": left[column] + 1, "top": top[row], "bottom": top[row] + _ROW}
    of_column = {"query_part": ALL, "key_part": columns}
    covers = _stacked_frames(
        cell_box | {"query_part": rows[row], "key_part": columns[column]},
        {"left": 0.0, "right": _SUMS, "top": top, "bottom": top + _ROW, "query_part": rows, "key_part": ALL},
        of_column | {"left": left, "right": left + 1, "top": bars_top, "bottom": cells_top},
        of_column
        | {
            "left": np.maximum(centre - _POINTED, 0),
            "right": centre,
            "top": name_y - _LINE / 2,
            "bottom": name_y + _LINE / 2,
        },
    ).assign(sum=texts.exact[:-1] + texts.exact[-1 - len(columns) : -1])
    opens = covers[["query_part", "key_part"]].map(_is_head).any(axis=1)
    sums = np.array(texts.written[cells.size : -1], object)
    written = _stacked_frames(
        {"x": 0.0, "y": middle, "text": _drawn_names(rows), "align": "left", "room": _NAMES - 0.1},
        {"x": _SUMS - 0.15, "y": middle, "text": sums[: len(rows)], "align": "right", "room": _SUMS},
        {
            "x": centre - 0.1,
            "y": name_y,
            "text": _drawn_names(columns),
            "align": "right",
            "room": centre - 0.1,
        },
        {
            "x": centre,
            "y": cells_top - _LINE / 2,
            "text": sums[len(rows) :],
            "align": "center",
            "room": _SUMS,
        },
    )
    x: Kwargs = {"axis": None, "scale": alt.Scale(domain=[0, value("across")], nice=False)}
    box = {"x": alt.X("left:Q", **x), "x2": "right:Q", "y": pixel_y("top"), "y2": "bottom:Q"}
    text = {"x": alt.X("x:Q", **x), "y": pixel_y("y"), "text": "text:N"}
    style: Kwargs = {"fontSize": MIDDLE, "baseline": "middle", "color": INK, "aria": False}
    cover = box | {
        "description": "description:N",
        "tooltip": [
            tip("query_part:N", title="in the query"),
            tip("key_part:N", title="in the key"),
            tip("sum:N", title="adds to the score"),
        ],
    }
    description = {"description": "datum.query_part + ' × ' + datum.key_part + ': ' + datum.sum"}
    limit = alt.expr("datum.room * width / across")
    leader = {"x": alt.X("x:Q", **x), "y": pixel_y("y"), "y2": "bar:Q"}
    return chart(
        [Column("query part", rows[row]), Column("key part", columns[column]), Column("product", cells)],
        layer("rule", leader, "leaders", color=NEUTRAL, aria=False),
        layer("rect", box | {"color": colour("product", signed=True)}, aria=False),
        layer("text", text | {"x": alt.X("middle:Q", **x)}, **style | {"color": INK_ON_SIGNED}),
        layer("rect", box | {"fill": alt.Fill("colour:N", scale=None)}, "bars", aria=False),
        layer(
            "text", text, "texts", align=alt.expr("datum.align"), limit=limit, **style | {"color": _NAME_INK}
        ),
        layer("text", text, "sides", align=alt.expr("datum.align"), fontWeight="bold", **style),
        layer("rect", cover, "covers", calculate=description, fill="transparent"),
        layer(
            "rect",
            cover,
            "opens",
            calculate=description,
            click=("part", "query_part", "key_part"),
            fill="transparent",
            cursor="pointer",
        ),
        drawing=cell_box
        | {"middle": left[column] + 0.5, "y": top[row] + _ROW / 2}
        | {"text": [text if text.strip("0.") else "" for text in texts.written[: cells.size]]}
        | {"strong": is_strong(cells.ravel(), largest_absolute(cells), signed=True)},
        frames={
            "bars": _stacked_frames(
                {"left": across[0], "right": across[1], "top": top + 6, "bottom": top + _ROW - 6},
                {"left": left + 0.25, "right": left + 0.75, "top": down[1], "bottom": down[0]},
            ).assign(colour=colours),
            "leaders": {"x": centre, "y": name_y, "bar": down[1]},
            "texts": written,
            "sides": {
                "x": [0.0, _SUMS + len(columns)],
                "y": [cells_top - _LINE / 2, _LINE / 2],
                "text": [
                    f"in the {name} {shortened(token, _LONGEST_TOKEN)}"
                    for name, token in (("query", query), ("key", key))
                ],
                "align": ["left", "right"],
            },
            "covers": covers[~opens],
            "opens": covers[opens],
        },
        values={"largest": largest_absolute(cells), "across": _SUMS + max(_FEWEST, len(columns))},
        height=cells_top + _ROW * len(rows),
        title=heading(
            f"Score {format_number(numbers[-1], '.4g')} of {key} for {query}, as a sum",
            *filter(None, [_READING, texts.unit]),
        ),
        description=f"The score of {key} for {query} as the sum of {cells.size} products of parts",
    )


def _is_head(name: str) -> bool:
    """Whether a part is the output of a head, by its name."""
    return _HEAD.match(name) is not None


def _drawn_names(names: np.ndarray) -> list[str]:
    """The names as they are drawn: heads, whose parts can be opened by a click, get an arrow."""
    return [f"{name} →" if _is_head(name) else name for name in names]


def _stacked_frames(*columns: Columns) -> pd.DataFrame:
    """One data frame with the rows of all these columns."""
    return pd.concat(map(pd.DataFrame, columns), ignore_index=True)
