"""One head as lines from the queries on the left to the keys on the right, as in the head view of BertViz."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import ACCENT, TO_ONE, WeightScale
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import FIT, INK, MIDDLE, SMALL, lines_above
from ..builders.token_label import FONT, label, visible
from ..builders.token_label import width as label_width
from ..builders.vega_colours import attention_colour, weight_legend

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord

_WIDTH = 640  # pixels, where the page gives none
_WIDEST = 900  # lines across more than that are too flat to be followed
_HEIGHT = 1000  # aimed at; rows stay legible, and close enough together
_LOWEST_ROW, _HIGHEST_ROW = 13, 26
_LONGEST_TOKEN = 16  # cells
_GAP = 8  # between a token and its lines
_FAINT = 0.04  # what is left of all other lines while the pointer is at a token


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadView:
    """A figure of one head, and how many of its weights the figure shows."""

    chart: VegaFigure
    n_lines: int  # drawn
    n_all: int  # weights above zero: each could be a line
    share: float  # what the lines drawn hold of the sum of those weights; 1 where there is none


def weight_lines(
    record: "AttentionRecord",
    weights: np.ndarray,
    *,
    query: int | None,
    at_most: int = 2000,
    scale: WeightScale = TO_ONE,
    notes: Sequence[str] = (),
) -> HeadView:
    """Lines for `weights` [query, key] between the tokens of the record, for all queries or only for one `query`.

    If there are more than `at_most` lines, the strongest are drawn. While the pointer is on a token, only its lines
    are shown; a click on a token sets the point selection `token`, field `position`. Name only `token` as the
    selection mode in Streamlit: with `hover`, each move of the pointer would rerun the page. `notes` are lines of text
    above the figure. Raises ValueError if `weights` has another shape.
    """
    n_queries, n_keys = len(record), len(record.attended)
    need_shape((n_queries, n_keys), weights=weights)
    drawn_weights = weights if query is None else np.where(np.arange(n_queries)[:, None] == query, weights, 0)
    queries, keys = np.nonzero(drawn_weights)
    values = drawn_weights[queries, keys].astype(float)
    strongest_indices = np.argsort(values, kind="stable")[-at_most:]  # the last lies on top
    queries, keys = queries[strongest_indices], keys[strongest_indices]
    query_numbers = np.array([record.number(index) for index in range(n_queries)], int)
    key_numbers = query_numbers if record.keys is None else np.arange(len(record.keys))
    lines = {
        "query": query_numbers[queries],
        "key": key_numbers[keys],
        "query token": [visible(record.tokens[index]) for index in queries],
        "key token": [visible(record.attended.tokens[index]) for index in keys],
        "weight": values[strongest_indices],
    }
    n_rows = max(n_queries, n_keys)
    row_height = float(np.clip(_HEIGHT / max(n_rows, 1), _LOWEST_ROW, _HIGHEST_ROW))
    font_size = MIDDLE if row_height > MIDDLE + 2 else SMALL

    def middle(index: np.ndarray) -> np.ndarray:
        return (index + 1.5) * row_height  # the headings fill the first row

    columns = [
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
    rows = pd.concat(map(pd.DataFrame, columns), ignore_index=True)
    source_name = "every token"
    if query is not None:
        source_name = f"token {query_numbers[query]}, {visible(record.tokens[query])},"
    legend = weight_legend(scale, n_keys)
    chart = _chart_form(legend.title, scale.what).with_data(
        lines | {"start": middle(queries), "end": middle(keys)},
        frames={"rows": rows},
        values={
            **legend.values,
            "column": max(label_width(text, font_size) for text in rows["label"]) + 2 * _GAP,
            "row": row_height,
            "font_size": font_size,
        },
        height=row_height * (n_rows + 1),
        **lines_above(notes),
        description=f"Lines from {source_name} to the tokens that it attends to, the stronger the more attention",
    )
    return HeadView(
        chart=chart,
        n_lines=len(strongest_indices),
        n_all=len(values),
        share=float(values[strongest_indices].sum() / values.sum()) if len(values) else 1.0,
    )


@form
def _chart_form(legend: tuple[str, ...], what: str) -> alt.TopLevelMixin:
    keys_left = f"(min(width, {_WIDEST}) - column)"  # the width is known in the browser alone
    rules = alt.Chart(data()).transform_calculate(left="column", right=keys_left)
    is_hovered = "!isValid(hover.position) || datum[hover.column[0]] == hover.position[0]"
    rules = rules.mark_rule(strokeWidth=2, strokeCap="round", aria=False).encode(
        x=pixel_x("left"),
        x2="right:Q",
        y=pixel_y("start"),
        y2="end:Q",
        color=attention_colour(legend),
        opacity=either(is_hovered, 1, _FAINT),
        tooltip=[tip("query token:N"), tip("key token:N"), tip("weight:Q", ".4f", what)],
    )
    base = alt.Chart(data("rows")).transform_calculate(
        left=f"datum.column == 'query' ? 0 : {keys_left}",
        right="datum.left + column",
        edge=f"datum.column == 'query' ? datum.right - {_GAP} : datum.left + {_GAP}",
        top="datum.middle - row / 2",
        bottom="datum.middle + row / 2",
    )
    text = base.mark_text(
        aria=False,
        font=FONT,
        fontSize=value("font_size"),
        fontStyle=alt.expr("datum.position < 0 ? 'italic' : 'normal'"),
        fontWeight=alt.expr("datum.selected ? 'bold' : 'normal'"),
        align=alt.expr("datum.column == 'query' ? 'right' : 'left'"),
        color=INK,
        limit=value("column"),
    ).encode(x=pixel_x("edge"), y=pixel_y("middle"), text="label:N")
    # On top and clear: a click on a letter counts as one on its row.
    click_area = base.transform_filter("datum.position >= 0")
    click_area = click_area.mark_rect(
        fill="transparent", cursor="pointer", cornerRadius=4, strokeWidth=2.5
    ).encode(
        x=pixel_x("left"),
        x2="right:Q",
        y=pixel_y("top"),
        y2="bottom:Q",
        stroke=either("datum.selected", ACCENT, "transparent"),
        description="token:N",
        tooltip=[tip("token:N"), tip("position:Q"), tip("column:N", title="as")],
    )
    hover = alt.selection_point(
        name="hover", fields=["column", "position"], on="pointerover", clear="pointerout"
    )
    click_area = click_area.add_params(click_on("token", "position"), hover)
    return alt.layer(rules, text, click_area).properties(width=_WIDTH, autosize=FIT)  # rows keep their height
