"""Several texts ranked by their similarity to a query: a dot for each text on one axis, beside its words."""

from collections.abc import Collection, Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, dots, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.palette import NEUTRAL
from ..builders.theme import INK, MIDDLE
from ..builders.token_label import shortened

_ROW = 22  # pixels, as the other lengths here
_NUMBER, _VALUE, _GAP = 30, 62, 12  # of the rank, of the cosine in digits, and between texts and axis
_TEXTS = 0.58  # of the width: rank and text
_LONGEST = 300  # letters of a text in the tooltip


def text_ranking(texts: Sequence[str], cosines: np.ndarray, *, selected: Collection[int] = ()) -> VegaFigure:
    """The `texts` in the order of their `cosines` [text] with a query, the most similar first; texts whose rank (from
    1) is in `selected` are green.

    Texts with equal cosines keep the order of `texts`. A text that is too long for its line is cut; the tooltip has
    more of it. The axis goes from the smallest to the largest cosine. A click on a line sets the point selection
    `text`, field `rank`.

    >>> from loupe import load, rank_texts, text_ranking
    >>> texts = ["A dull film.", "A gripping story."]
    >>> ranked = rank_texts(load("checkpoints/imdb-pre-ln"), "A gripping film.", texts)
    >>> text_ranking(texts, ranked.cosines).frame["text"].tolist()
    ['A gripping story.', 'A dull film.']
    """
    order = np.argsort(-cosines, kind="stable")
    lines = [" ".join(texts[index].split()) for index in order]
    ranks = np.arange(1, len(order) + 1)
    columns = [
        Column("rank", ranks),
        Column("text", [shortened(line, _LONGEST) for line in lines]),
        Column("cosine", cosines[order], "cosine similarity", ".4f", "cosine similarity"),
    ]
    y: Kwargs = {"y": alt.Y("rank:O", axis=None, scale=alt.Scale(padding=0))}
    start, end = f"width * {_TEXTS} + {_GAP}", f"width - {_VALUE}"
    x = alt.X(
        "cosine:Q",
        title="cosine similarity with the first text",
        scale=alt.Scale(range=[alt.ExprRef(start), alt.ExprRef(end)], zero=False, nice=False, padding=0),
        axis=alt.Axis(
            orient="top", tickCount=4, format=".2~f", gridOpacity=0.4, titleAnchor="end", domain=False
        ),
    )
    weight = alt.expr("datum.selected ? 'bold' : 'normal'")
    letters: Kwargs = {
        "baseline": "middle",
        "fontSize": MIDDLE,
        "color": INK,
        "aria": False,
        "fontWeight": weight,
    }
    return chart(
        columns,
        layer(
            "rule",
            y | {"x": alt.value(alt.expr(start)), "x2": alt.value(alt.expr(end))},
            color=NEUTRAL,
            opacity=0.25,
            aria=False,
        ),
        layer("text", y | {"x": alt.value(_NUMBER - 10), "text": "rank:O"}, align="right", **letters),
        layer(
            "text",
            y | {"x": alt.value(_NUMBER), "text": "text:N"},
            align="left",
            limit=alt.expr(f"width * {_TEXTS} - {_NUMBER}"),
            **letters,
        ),
        dots(y | {"x": x}, columns, (), sizes=(150, 90), opacity=1),
        layer(
            "text",
            y | {"x": alt.value(alt.expr("width - 4")), "text": alt.Text("cosine:Q", format=".4f")},
            align="right",
            **letters,
        ),
        layer(
            "rect",
            y
            | {
                "x": alt.value(0),
                "x2": alt.value(alt.expr("width")),
                "description": "text:N",
                "tooltip": columns,
            },
            click=("text", "rank"),
            fill="transparent",
            cursor="pointer",
        ),
        drawing={"selected": np.isin(ranks, [*selected]), "name": lines},
        height={"step": _ROW},
        description=f"Texts by their cosine similarity with the first text, the most similar one of {len(lines)} first",
    )
