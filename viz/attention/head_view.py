"""Heads as lines from the queries on the left to the keys on the right, as in the head view of BertViz."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, Rows, chart, layer, point_selection
from ..builders.figure import VegaFigure, check_shapes, conditional_value, tip, value
from ..builders.palette import ACCENT, CATEGORIES, TO_ONE, WeightScale
from ..builders.picture_marks import PIXEL_BOX, pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE, SMALL, lines_above
from ..builders.token_label import FONT, label, visible
from ..builders.token_label import width as label_width
from ..builders.vega_colours import attention_colour, weight_legend

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

_WIDTH = 640  # pixels, where the page gives none
_WIDEST = 900  # lines across more than that are too flat to be followed
_HEIGHT = 1000  # aimed at; rows stay legible, and close enough together
_LOWEST_ROW, _HIGHEST_ROW = 13, 22
_LONGEST_TOKEN = 16  # cells
_GAP = 8  # between a token and its lines
_FAINT = 0.04  # what is left of all other lines while the pointer is at a token
# Lines of several heads between the same two tokens lie beside each other: pixels apart, and at most this share of a row.
_LANE, _LANES = 3.0, 0.6
MOST_LINES = 2000
MOST_HEADS = len(CATEGORIES)  # more colours could not be told apart


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadView:
    """A figure with attention weights as lines, and how many of the weights it draws."""

    chart: VegaFigure
    n_lines: int  # lines that are drawn
    n_all: int  # weights above 0, each of which could be a line
    share: float  # sum of the drawn weights divided by the sum of all; 1 if there are none


def weight_lines(
    record: "AttentionRecord",
    weights: Mapping[str, np.ndarray],
    *,
    query: int | None,
    scale: WeightScale = TO_ONE,
    notes: Sequence[str] = (),
) -> HeadView:
    """A figure with attention weights as lines from queries (left) to keys (right), both the tokens of the record.

    `weights` maps the name of each head to its pattern [query, key]. Lines are drawn for all queries, or only for one
    `query`. The lines of a single head have the colours of weights; of several heads each has a colour of its own,
    which is the more opaque the larger the weight is. If there are more than `MOST_LINES` weights above 0, the
    largest are drawn. While the pointer is on a token, only the lines of this token are shown; a click on a token
    sets the point selection `token`, field `position`. In Streamlit, name only `token` as the selection mode: with
    `hover`, each move of the pointer would rerun the page. `notes` are lines of text above the figure. Raises
    ValueError if a pattern has another shape, or if there are no heads or more than `MOST_HEADS`.
    """
    if not 1 <= len(weights) <= MOST_HEADS:
        raise ValueError(f"lines are drawn for 1 to {MOST_HEADS} heads, got {len(weights)}")
    n_queries, n_keys = len(record), len(record.attended)
    check_shapes((n_queries, n_keys), **weights)
    names, patterns = tuple(weights), np.stack(list(weights.values()))
    is_drawn = np.ones(n_queries, bool) if query is None else np.arange(n_queries) == query
    drawn_weights = np.where(is_drawn[:, None], patterns, 0)
    heads, queries, keys = np.nonzero(drawn_weights)
    values = drawn_weights[heads, queries, keys].astype(float)
    strongest_indices = np.argsort(values, kind="stable")[-MOST_LINES:]  # the last lies on top
    heads, queries, keys = (indices[strongest_indices] for indices in (heads, queries, keys))
    query_numbers = np.array([record.number(index) for index in range(n_queries)], int)
    key_numbers = query_numbers if record.keys is None else np.arange(len(record.keys))
    columns = [
        Column("head", [names[head] for head in heads]),
        Column("query", query_numbers[queries], None),
        Column("key", key_numbers[keys], None),
        Column("query token", [visible(record.tokens[index]) for index in queries]),
        Column("key token", [visible(record.attended.tokens[index]) for index in keys]),
        Column("weight", values[strongest_indices], scale.what, ".4f"),
    ]
    n_rows = max(n_queries, n_keys)
    row_height = float(np.clip(_HEIGHT / max(n_rows, 1), _LOWEST_ROW, _HIGHEST_ROW))
    font_size = MIDDLE if row_height > MIDDLE + 2 else SMALL

    lane = min(_LANE, _LANES * row_height / len(names))
    beside = (heads - (len(names) - 1) / 2) * lane

    def middle(index: np.ndarray) -> np.ndarray:
        return (index + 1.5) * row_height  # the headings fill the first row

    tokens_of = [
        {
            "column": column,
            "position": [-1, *numbers],
            "label": [heading, *(label(token, _LONGEST_TOKEN) for token in tokens)],
            "token": ["", *map(visible, tokens)],
            "middle": middle(np.arange(-1, len(tokens))),
            "selected": [False, *(np.arange(len(tokens)) == chosen)],
        }
        for column, heading, tokens, numbers, chosen in (
            ("query", "queries", record.tokens, query_numbers, query),
            ("key", "keys", record.attended.tokens, key_numbers, None),
        )
    ]
    rows = pd.concat(map(pd.DataFrame, tokens_of), ignore_index=True)
    source_name = "every token"
    if query is not None:
        source_name = f"token {query_numbers[query]}, {visible(record.tokens[query])},"
    legend = weight_legend(scale, n_keys)
    in_colours = len(names) > 1
    title = (f"opacity: {legend.title[0]}",) if in_colours else legend.title
    keys_left = f"(min(width, {_WIDEST}) - column)"  # the width is known in the browser alone
    is_hovered = "!isValid(hover.position) || datum[hover.column[0]] == hover.position[0]"
    opacity = f"({is_hovered} ? 1 : {_FAINT})"
    if in_colours:
        opacity += " * clamp(datum.weight / largest, 0, 1)"
    rules = {
        "x": pixel_x("left"),
        "x2": "right:Q",
        "y": pixel_y("start"),
        "y2": "end:Q",
        "color": _head_colour(title) if in_colours else attention_colour(title),
        "tooltip": columns,
    }
    cells = Rows("rows").calculate(
        left=f"datum.column == 'query' ? 0 : {keys_left}",
        right="datum.left + column",
        edge=f"datum.column == 'query' ? datum.right - {_GAP} : datum.left + {_GAP}",
        top="datum.middle - row / 2",
        bottom="datum.middle + row / 2",
    )
    cover = PIXEL_BOX | {
        "stroke": conditional_value("datum.selected", ACCENT, "transparent"),
        "description": "token:N",
        "tooltip": ["token:N", "position:Q", tip("column:N", title="as")],
    }
    hover = point_selection("hover", "column", "position", on="pointerover", clear="pointerout")
    del hover["select"]["toggle"]
    figure = chart(
        columns,
        layer(
            "rule",
            rules,
            calculate={"left": "column", "right": keys_left},
            strokeWidth=2,
            strokeCap="round",
            aria=False,
            opacity=alt.expr(opacity),
        ),
        layer(
            "text",
            {"x": pixel_x("edge"), "y": pixel_y("middle"), "text": "label:N"},
            cells,
            aria=False,
            font=FONT,
            fontSize=value("font_size"),
            fontStyle=alt.expr("datum.position < 0 ? 'italic' : 'normal'"),
            fontWeight=alt.expr("datum.selected ? 'bold' : 'normal'"),
            align=alt.expr("datum.column == 'query' ? 'right' : 'left'"),
            color=INK,
            limit=value("column"),
        ),
        # On top and clear: a click on a letter counts as one on its row.
        layer(
            "rect",
            cover,
            cells.where("datum.position >= 0"),
            fill="transparent",
            cursor="pointer",
            cornerRadius=4,
            strokeWidth=2.5,
            click=("token", "position"),
            selections=[hover],
        ),
        drawing={"start": middle(queries) + beside, "end": middle(keys) + beside},
        frames={"rows": rows},
        values={
            **legend.values,
            "heads": names,
            "column": max(label_width(text, font_size) for text in rows["label"]) + 2 * _GAP,
            "row": row_height,
            "font_size": font_size,
        },
        width=_WIDTH,
        height=row_height * (n_rows + 1),  # rows keep their height
        **lines_above(notes),
        description=f"Lines of {', '.join(names)} from {source_name} to the tokens that it attends to, the stronger the more attention",
    )
    return HeadView(
        chart=figure,
        n_lines=len(strongest_indices),
        n_all=len(values),
        share=float(values[strongest_indices].sum() / values.sum()) if len(values) else 1.0,
    )


def _head_colour(legend: tuple[str, ...]) -> alt.Color:
    """The colour channel of the field `head`, with a legend of the heads' names."""
    return alt.Color(
        "head:N",
        scale=alt.Scale(domain=value("heads"), range=list(CATEGORIES)),
        legend=alt.Legend(
            title=list(legend),
            titleLimit=0,
            orient="bottom",
            direction="horizontal",
            symbolType="stroke",
            symbolStrokeWidth=4,
            symbolOpacity=1,
        ),
    )
