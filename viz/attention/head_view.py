"""One head as lines from the queries on the left to the keys on the right, after BertViz' head view."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from ..colours import attention_colour, evenly, weight_values
from ..figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..palette import ACCENT, TO_ONE, WeightScale
from ..pictures import pixel_x, pixel_y
from ..theme import FIT, INK
from .token_label import FONT, label, visible
from .token_label import width as label_width

_WIDTH = 640  # pixels, where the page gives none
_WIDEST = 900  # lines across more than that are too flat to be followed
_HEIGHT = 1000  # aimed at; rows stay legible, and close enough together
_LOWEST_ROW, _HIGHEST_ROW = 13, 26
_LONGEST_TOKEN = 16  # cells
_GAP = 8  # between a token and its lines
_FAINT = 0.04  # what is left of all other lines while the pointer is at a token


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadView:
    """The figure, and how much of the head it shows."""

    chart: VegaFigure
    n_lines: int  # drawn
    n_all: int  # weights above zero: each could be a line
    share: float  # what the lines drawn hold of the sum of those weights; 1 where there is none


def head_view(
    pattern: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int | None,
    at_most: int = 2000,
    scale: WeightScale = TO_ONE,
) -> HeadView:
    """A line for each weight of pattern [query, key]; with a `query` chosen, for those of its row.

    Of more than `at_most` lines the strongest are drawn. A token under the pointer shows its lines alone, a
    click on it sets the point selection `token`, field `position`. Name `token` as the selection mode: were
    `hover` one as well, each move of the pointer would rerun the page.
    Raises ValueError where the pattern is not tokens × tokens.
    """
    n = len(tokens)
    need_shape((n, n), pattern=pattern)
    shown = pattern if query is None else np.where(np.arange(n)[:, None] == query, pattern, 0)
    queries, keys = np.nonzero(shown)
    weights = shown[queries, keys].astype(float)
    strongest = np.argsort(weights, kind="stable")[-at_most:]  # the last lies on top
    names = np.array([visible(token) for token in tokens], dtype=object)
    lines = {
        "query": queries[strongest],
        "key": keys[strongest],
        "query token": names[queries[strongest]],
        "key token": names[keys[strongest]],
        "weight": weights[strongest],
    }
    return HeadView(
        chart=_chart(lines, tokens, query, scale),
        n_lines=len(strongest),
        n_all=len(weights),
        share=float(lines["weight"].sum() / weights.sum()) if len(weights) else 1.0,
    )


def _chart(
    lines: dict[str, np.ndarray], tokens: Sequence[str], query: int | None, scale: WeightScale
) -> VegaFigure:
    n = len(tokens)
    row = float(np.clip(_HEIGHT / max(n, 1), _LOWEST_ROW, _HIGHEST_ROW))
    font_size = min(14, row - 2)
    labels = [label(token, _LONGEST_TOKEN) for token in tokens]
    names = [visible(token) for token in tokens]
    position = np.tile(np.arange(-1, n), 2)
    column = np.repeat(["query", "key"], n + 1)

    def middle(position: np.ndarray) -> np.ndarray:
        return (position + 1.5) * row  # the headings fill the first row

    rows = {
        "column": column,
        "position": position,
        "label": ["queries", *labels, "keys", *labels],
        "token": ["", *names] * 2,
        "middle": middle(position),
        "selected": (column == "query") & (position == query),
    }
    of = "every token" if query is None else f"token {query}, {names[query]},"
    return _form(scale.reach, evenly(n)).of(
        pd.DataFrame(lines | {"start": middle(lines["query"]), "end": middle(lines["key"])}),
        frames={"rows": pd.DataFrame(rows)},
        values={
            **weight_values(scale, n),
            "column": max(label_width(text, font_size) for text in ("queries", *labels)) + 2 * _GAP,
            "row": row,
            "font_size": font_size,
        },
        height=row * (n + 1),
        description=f"Lines from {of} to the tokens that it attends to, the stronger the more attention",
    )


@form
def _form(reach: str, even: str) -> alt.LayerChart:
    keys_from = f"(min(width, {_WIDEST}) - column)"  # the width is known in the browser alone
    rules = alt.Chart(data()).transform_calculate(left="column", right=keys_from)
    at_pointer = "!isValid(hover.position) || datum[hover.column[0]] == hover.position[0]"
    said = [tip("query token:N"), tip("key token:N"), tip("weight:Q", ".4f", "attention weight")]
    rules = rules.mark_rule(strokeWidth=2, strokeCap="round", aria=False).encode(
        x=pixel_x("left"),
        x2="right:Q",
        y=pixel_y("start"),
        y2="end:Q",
        color=attention_colour(reach, even),
        opacity=either(at_pointer, 1, _FAINT),
        tooltip=said,
    )
    base = alt.Chart(data("rows")).transform_calculate(
        left=f"datum.column == 'query' ? 0 : {keys_from}",
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
    cover = base.transform_filter("datum.position >= 0")
    cover = cover.mark_rect(fill="transparent", cursor="pointer", cornerRadius=4, strokeWidth=2.5).encode(
        x=pixel_x("left"),
        x2="right:Q",
        y=pixel_y("top"),
        y2="bottom:Q",
        stroke=either("datum.selected", ACCENT, "transparent"),
        description="token:N",
        tooltip=[tip("token:N"), tip("position:Q"), tip("column:N", title="as")],
    )
    at = {"fields": ["column", "position"], "on": "pointerover", "clear": "pointerout"}
    cover = cover.add_params(click_on("token", "position"), alt.selection_point(name="hover", **at))
    return alt.layer(rules, text, cover).properties(width=_WIDTH, autosize=FIT)  # rows keep their height
