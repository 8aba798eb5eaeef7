"""One head as lines from the queries on the left to the keys on the right, after BertViz' head view."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.palette import ACCENT, TO_ONE, WeightScale
from ..builders.pictures import pixel_x, pixel_y
from ..builders.theme import FIT, INK, lines_above
from ..builders.token_label import FONT, label, visible
from ..builders.token_label import width as label_width
from ..builders.vega_colours import attention_colour, evenly, weight_values

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
    keys: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    notes: Sequence[str] = (),
) -> HeadView:
    """A line for each weight of pattern [query, key]; with a `query` chosen, for those of its row.

    `keys` are the tokens on the right where they are not those on the left, and `numbers` the positions of the tokens
    where these are not counted from 0. `notes` are lines above it: what was done to the weights.

    Of more than `at_most` lines the strongest are drawn. A token under the pointer shows its lines alone, a
    click on it sets the point selection `token`, field `position`. Name `token` as the selection mode: were
    `hover` one as well, each move of the pointer would rerun the page.
    Raises ValueError where the pattern is not tokens × tokens, or × keys.
    """
    n, attended = len(tokens), tokens if keys is None else keys
    need_shape((n, len(attended)), pattern=pattern)
    shown = pattern if query is None else np.where(np.arange(n)[:, None] == query, pattern, 0)
    of, to = np.nonzero(shown)
    weights = shown[of, to].astype(float)
    strongest = np.argsort(weights, kind="stable")[-at_most:]  # the last lies on top
    of, to = of[strongest], to[strongest]
    names, key_names = (np.array([visible(token) for token in each], object) for each in (tokens, attended))
    positions = np.arange(n) if numbers is None else np.asarray(numbers)
    at_keys = positions if keys is None else np.arange(len(keys))
    lines = {
        "query": positions[of],
        "key": at_keys[to],
        "query token": names[of],
        "key token": key_names[to],
        "weight": weights[strongest],
        "start": of,
        "end": to,
    }
    sides = {"query": (tokens, positions), "key": (attended, at_keys)}
    return HeadView(
        chart=_chart(lines, sides, None if query is None else int(positions[query]), scale, notes),
        n_lines=len(strongest),
        n_all=len(weights),
        share=float(lines["weight"].sum() / weights.sum()) if len(weights) else 1.0,
    )


def _chart(
    lines: dict[str, np.ndarray],
    sides: Mapping[str, tuple[Sequence[str], np.ndarray]],
    query: int | None,
    scale: WeightScale,
    notes: Sequence[str],
) -> VegaFigure:
    """Tokens and positions of both `sides`; `query` is the position of the chosen one."""
    n, n_keys = max(len(tokens) for tokens, _ in sides.values()), len(sides["key"][0])
    row = float(np.clip(_HEIGHT / max(n, 1), _LOWEST_ROW, _HIGHEST_ROW))
    font_size = min(14, row - 2)

    def middle(at: np.ndarray) -> np.ndarray:
        return (at + 1.5) * row  # the headings fill the first row

    columns = []
    for column, heading in (("query", "queries"), ("key", "keys")):
        tokens, positions = sides[column]
        columns.append(
            pd.DataFrame(
                {
                    "column": column,
                    "position": [-1, *positions],
                    "label": [heading, *(label(token, _LONGEST_TOKEN) for token in tokens)],
                    "token": ["", *map(visible, tokens)],
                    "middle": middle(np.arange(-1, len(tokens))),
                    "selected": [False, *(column == "query" and at == query for at in positions)],
                }
            )
        )
    rows = pd.concat(columns, ignore_index=True)
    chosen = rows["token"][rows["selected"]]
    of = "every token" if query is None else f"token {query}, {chosen.iloc[0]},"
    return _form(scale.reach, evenly(n_keys, shares=scale.shares), scale.what).of(
        pd.DataFrame(lines | {"start": middle(lines["start"]), "end": middle(lines["end"])}),
        frames={"rows": rows},
        values={
            **weight_values(scale, n_keys),
            "column": max(label_width(text, font_size) for text in rows["label"]) + 2 * _GAP,
            "row": row,
            "font_size": font_size,
        },
        height=row * (n + 1),
        **lines_above(notes),
        description=f"Lines from {of} to the tokens that it attends to, the stronger the more attention",
    )


@form
def _form(reach: str, even: str, what: str) -> alt.LayerChart:
    keys_from = f"(min(width, {_WIDEST}) - column)"  # the width is known in the browser alone
    rules = alt.Chart(data()).transform_calculate(left="column", right=keys_from)
    at_pointer = "!isValid(hover.position) || datum[hover.column[0]] == hover.position[0]"
    said = [tip("query token:N"), tip("key token:N"), tip("weight:Q", ".4f", what)]
    rules = rules.mark_rule(strokeWidth=2, strokeCap="round", aria=False).encode(
        x=pixel_x("left"),
        x2="right:Q",
        y=pixel_y("start"),
        y2="end:Q",
        color=attention_colour(reach, even, what=what),
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
