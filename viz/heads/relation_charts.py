"""Relations between words that heads follow: the best head for each, and examples of their links."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.number_format import THIN_PERCENT, head_name, told_apart
from ..builders.palette import ACCENT, CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE, heading
from ..builders.token_label import FONT, visible, width

# By the name of the relation: the word that depends, and the word that it depends on.
_WORDS = {
    "acl": ("clause", "noun"),
    "advcl": ("side clause", "verb"),
    "advmod": ("adverb", "verb"),
    "amod": ("adjective", "noun"),
    "appos": ("apposition", "noun"),
    "aux": ("auxiliary", "verb"),
    "case": ("preposition", "noun"),
    "cc": ("“and” or “or”", "joined word"),
    "ccomp": ("object clause", "verb"),
    "compound": ("part of a compound", "its noun"),
    "conj": ("joined word", "first word"),
    "cop": ("“is” or “was”", "what is said"),
    "csubj": ("subject clause", "verb"),
    "det": ("determiner", "noun"),
    "expl": ("“it” or “there”", "verb"),
    "fixed": ("next word of a phrase", "first word"),
    "flat": ("next word of a name", "first word"),
    "iobj": ("indirect object", "verb"),
    "mark": ("“that”, “if” or “to”", "verb"),
    "nmod": ("noun", "noun that it describes"),
    "nsubj": ("subject", "verb"),
    "nummod": ("number", "noun"),
    "obj": ("object", "verb"),
    "obl": ("noun", "verb that it describes"),
    "parataxis": ("inserted clause", "verb"),
    "punct": ("punctuation", "word"),
    "vocative": ("person addressed", "verb"),
    "xcomp": ("open clause", "verb"),
}

ROW = 22  # pixels
_RIGHT = 290  # pixels for the names of the heads
_LEFT = 150  # pixels for the names of the relations
_LONGEST = 13  # letters of a relation's name


class BestHead(NamedTuple):
    """The head with the largest share of a relation's links."""

    relation: str
    layer: int
    head: int
    direction: str  # such as "to head"
    share: float  # from 0 to 1, as are its interval and the baseline
    low: float
    high: float
    baseline: float  # share of the links that the best fixed offset hits
    offset: int  # which that is, in words from query to key
    n: int  # links
    beyond: bool  # whether the head is beyond the baseline after correction
    tested: bool = True  # False where there are too few links


def best_heads(rows: pd.DataFrame) -> list[BestHead]:
    """The head with the largest share for each relation of a stored table, the most frequent relation first."""
    largest_first = rows.sort_values("share", ascending=False, kind="stable")
    best = largest_first.groupby("relation", sort=True).head(1)
    best = best.sort_values(["n", "relation"], ascending=[False, True])
    return [
        BestHead(
            relation=row["relation"],
            layer=int(row["layer"]),
            head=int(row["head"]),
            direction=row["direction"],
            **{name: float(row[name]) for name in ("share", "low", "high", "baseline")},
            offset=int(row["offset"]),
            n=int(row["n"]),
            beyond=bool(row["beyond"]),
            tested=not pd.isna(row["p"]),
        )
        for row in best.to_dict("records")
    ]


def relation_dots(
    heads: Sequence[BestHead], *, relation: str, selected: tuple[int, int], source: str
) -> VegaFigure:
    """A row for each of the heads, in the given order: a dot with its interval, filled where it is beyond the baseline, and a
    bar at the baseline. The name of the chosen `relation` is bold, and its dot green if the head is the `selected` (layer,
    head). `source` says what was measured.

    A click sets the point selection `relation`, fields `relation`, `layer`, `head` and `direction`.
    """
    numbers = {name: [getattr(head, name) for head in heads] for name in BestHead._fields}
    results = [("yes" if head.beyond else "no") if head.tested else "not tested" for head in heads]
    columns = [
        Column("relation", numbers["relation"]),
        Column("layer", numbers["layer"], None),
        Column("head", numbers["head"], None),
        Column("direction", numbers["direction"], None),
        Column(
            "name",
            [
                f"{head_name(head.layer, head.head)}: {linked_words(head.relation, head.direction)}"
                for head in heads
            ],
            "head",
        ),
        Column("share", numbers["share"], "", ".1%"),
        Column("low", numbers["low"], "interval from", ".1%"),
        Column("high", numbers["high"], "to", ".1%"),
        Column("baseline", numbers["baseline"], "best offset hits", ".1%"),
        Column("offset", numbers["offset"], "offset, words", "+d"),
        Column("n", numbers["n"], "links", ",d"),
        Column("result", results, "beyond the offset", "", "beyond"),
    ]
    share = alt.Scale(
        domain=[0, 1], nice=False, rangeMin=_LEFT, rangeMax=alt.expr(f"max(width - {_RIGHT}, {_LEFT + 60})")
    )
    axis = alt.Axis(
        format=".0%", labelExpr=THIN_PERCENT, values=[0, 0.25, 0.5, 0.75, 1], title="share of the links"
    )
    x: Kwargs = {"scale": share, "axis": axis}
    colours = alt.Scale(domain=["chosen", "beyond", "within"], range=[ACCENT, EMPHASIS, NEUTRAL])
    colour = alt.Color("shown:N", scale=colours, legend=None)
    row = {
        "y": alt.Y("relation:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0)),
        "tooltip": columns,
    }
    interval = {"x": alt.X("low:Q", **x), "x2": "high:Q", "color": colour}
    dot = {
        "x": alt.X("share:Q", **x),
        "color": colour,
        "fillOpacity": alt.condition("datum.beyond", alt.value(1), alt.value(0)),
        "stroke": colour,
    }
    text: Kwargs = {"fontSize": MIDDLE, "color": INK, "baseline": "middle", "cursor": "pointer"}
    name = row | {"x": alt.value(0), "text": "label:N"}
    number = {"x": alt.value(_LEFT - 10), "text": alt.Text("n:Q", format=",d")}
    head_x = alt.value(alt.expr(f"max(width - {_RIGHT - 12}, {_LEFT + 72})"))
    described = "; ".join(map(_described, heads))
    return chart(
        columns,
        layer(
            "tick", row | {"x": alt.X("baseline:Q", **x)}, color=NEUTRAL, thickness=4, size=16, opacity=0.75
        ),
        layer("rule", row | interval, strokeWidth=2),
        layer("text", name, where="!datum.chosen", align="left", **text),
        layer("text", name, where="datum.chosen", align="left", fontWeight="bold", **text),
        layer("text", row | number, align="right", aria=False, **text),
        layer("text", row | {"x": head_x, "text": "name:N"}, align="left", **text),
        layer(
            "point",
            row | dot,
            size=80,
            strokeWidth=2,
            opacity=1,
            cursor="pointer",
            filled=True,
            click=("relation", "relation", "layer", "head", "direction"),
        ),
        drawing={
            "beyond": numbers["beyond"],
            "tested": numbers["tested"],
            "label": [_shortened(head.relation) for head in heads],
            "shown": [_mark(head, relation, selected) for head in heads],
            "chosen": [head.relation == relation for head in heads],
        },
        height=ROW * max(len(heads), 1),
        view={"stroke": None},
        title=heading(
            f"The best head for each relation, {source}",
            "Dot: how often the head looks most at the linked word, with a 95 % interval. Grey bar: always the same number of words "
            "away. Filled: clearly more.",
        ),
        description=f"The best head for each relation, {source}. {described or 'There is none.'}",
    )


def _described(head: BestHead) -> str:
    share, baseline = told_apart(head.share, head.baseline, ".0%")
    beyond = ", beyond it" if head.beyond else ""
    return f"{head.relation}: {head_name(head.layer, head.head)} {head.direction} {share} of {head.n:,}, the best offset {baseline}{beyond}"


def _shortened(relation: str) -> str:
    return relation if len(relation) <= _LONGEST else f"{relation[: _LONGEST - 1]}…"


def _mark(head: BestHead, relation: str, selected: tuple[int, int]) -> str:
    if head.relation == relation and (head.layer, head.head) == selected:
        return "chosen"
    return "beyond" if head.beyond else "within"


_ROW, _BASE = 88, 44  # pixels: of a sentence, and from its top to the middle of its words
_GAP = 9  # pixels between two words
_WIDEST = 700  # pixels of words in a line, which with ellipses fit into a narrow window
_MORE = "…"  # in place of the words that are left out
_POINTS = 25  # of an arc
_ELSEWHERE = CATEGORIES[1]


class LinkExample(NamedTuple):
    """A link in a sentence: the indices of the words that are the query, the other end of the link, and the strongest key."""

    words: tuple[str, ...]
    query: int
    other_end: int
    strongest: int


def fits_into_line(example: LinkExample) -> bool:
    """Whether the words from the first to the last end of both arcs are short enough to be drawn side by side."""
    first, last = _ends(example)
    return sum(_word_widths(example)[first : last + 1]) <= _WIDEST


def link_arcs(examples: Sequence[LinkExample], *, title: str) -> VegaFigure:
    """The sentences below each other, each with both arcs, which start at the query; the upper one is of another colour where the
    head looks elsewhere. Words far from both arcs are left out.

    Raises ValueError for an example that does not fit into a line (`fits_into_line`).
    """
    words: dict[str, list] = {name: [] for name in ("x", "y", "word", "is_query")}
    arcs: dict[str, list] = {name: [] for name in ("arc", "x", "y", "kind")}
    tips: dict[str, list] = {name: [] for name in ("x", "y", "kind", "upper")}
    for row, example in enumerate(examples):
        if not fits_into_line(example):
            raise ValueError(f"a line has no room for the words {' '.join(example.words)[:50]!r}")
        middles, left_out = _places(example)
        y = row * _ROW + _BASE
        for index, x in middles.items():
            words["word"].append(visible(example.words[index]))
            words["x"].append(x)
            words["y"].append(y)
            words["is_query"].append(index == example.query)
        for x in left_out:
            words["word"].append(_MORE)
            words["x"].append(x)
            words["y"].append(y)
            words["is_query"].append(False)
        is_hit = example.strongest == example.other_end
        for name, end, upper in (("head", example.strongest, True), ("link", example.other_end, False)):
            kind = "link" if name == "link" else ("hit" if is_hit else "elsewhere")
            start_x, end_x = middles[example.query], middles[end]
            points_x, points_y = _arc(start_x, end_x, y, upper=upper)
            arcs["arc"] += [f"{row} {name}"] * _POINTS
            arcs["x"] += points_x
            arcs["y"] += points_y
            arcs["kind"] += [kind] * _POINTS
            tips["x"].append(end_x)
            tips["y"].append(points_y[-1])
            tips["kind"].append(kind)
            tips["upper"].append(upper)
    columns = [
        Column("sentence", [" ".join(example.words) for example in examples]),
        Column("query", [example.words[example.query] for example in examples]),
        Column("other end", [example.words[example.other_end] for example in examples]),
        Column("strongest key", [example.words[example.strongest] for example in examples]),
        Column("hit", [example.strongest == example.other_end for example in examples]),
    ]
    described = "; ".join(
        f"from {example.words[example.query]} to {example.words[example.strongest]}"
        f"{'' if example.strongest == example.other_end else f' instead of {example.words[example.other_end]}'}"
        for example in examples
    )
    position = {"x": pixel_x("x"), "y": pixel_y("y")}
    kinds = alt.Scale(domain=["hit", "elsewhere", "link"], range=[EMPHASIS, _ELSEWHERE, NEUTRAL])
    colour = {"color": alt.Color("kind:N", scale=kinds, legend=None)}
    shapes = alt.Scale(domain=[True, False], range=["triangle-down", "triangle-up"])
    word = position | {"text": "word:N", "tooltip": ["word:N"]}
    text: Kwargs = {"font": FONT, "fontSize": MIDDLE, "color": INK, "baseline": "middle"}
    return chart(
        columns,
        layer(
            "line",
            position | colour | {"detail": "arc:N", "order": "index:Q"},
            Rows("arcs").then({"window": [{"op": "row_number", "as": "index"}]}),
            strokeWidth=2,
            aria=False,
        ),
        layer(
            "point",
            position | colour | {"shape": alt.Shape("upper:N", scale=shapes, legend=None)},
            "tips",
            filled=True,
            size=70,
            opacity=1,
            aria=False,
        ),
        layer("text", word, "words", where="datum.is_query", fontWeight="bold", **text),
        layer("text", word, "words", where="!datum.is_query", **text),
        frames={"words": words, "arcs": arcs, "tips": tips},
        width=_WIDEST + round(2 * (width(_MORE, MIDDLE) + _GAP)),
        height=_ROW * max(len(examples), 1),
        # Streamlit would take the height of the title away from that of the rows, which are in pixels.
        autosize="pad",
        view={"stroke": None},
        title=heading(
            title,
            "Above the words: where the head looks most from the bold word, red where that is not the other end. Below: the link.",
        ),
        description=f"{title}: {described or 'no example'}",
    )


def _ends(example: LinkExample) -> tuple[int, int]:
    indices = example.query, example.other_end, example.strongest
    return min(indices), max(indices)


def _word_widths(example: LinkExample) -> list[float]:
    return [width(visible(word), MIDDLE) + _GAP for word in example.words]


def _places(example: LinkExample) -> tuple[dict[int, float], list[float]]:
    """The middle of each word that is shown, in pixels, by its index: those below both arcs, and on each side as many as there is
    room for, in turns; and the middles of the ellipses.
    """
    widths, margin = _word_widths(example), width(_MORE, MIDDLE) + _GAP
    first, last = _ends(example)
    room = _WIDEST - sum(widths[first : last + 1])
    has_grown = True
    while has_grown:
        has_grown = False
        if first > 0 and widths[first - 1] <= room:
            first, room, has_grown = first - 1, room - widths[first - 1], True
        if last < len(widths) - 1 and widths[last + 1] <= room:
            last, room, has_grown = last + 1, room - widths[last + 1], True
    ends = margin + np.cumsum(widths[first : last + 1])
    middles = dict(enumerate((ends - np.array(widths[first : last + 1]) / 2).tolist(), first))
    ellipses = [margin / 2] if first > 0 else []
    ellipses += [float(ends[-1]) + margin / 2] if last < len(widths) - 1 else []
    return middles, ellipses


def _arc(start: float, end: float, y: float, *, upper: bool) -> tuple[list[float], list[float]]:
    """Points of half an ellipse above or below the line of the words, from above or below the first word to the other."""
    sign = -1 if upper else 1
    height = min(26.0, 10 + 0.08 * abs(end - start))
    angles = np.linspace(0, np.pi, _POINTS)
    x = (start + end) / 2 - (end - start) / 2 * np.cos(angles)
    return x.tolist(), (y + sign * (11 + height * np.sin(angles))).tolist()


def linked_words(relation: str, direction: str) -> str:
    """From the word that looks to the word that it looks at: "noun → determiner" for `det` and "to dependent".

    A relation that is not known here, and its kinds after a colon, keep their names.
    """
    words = _WORDS.get(relation.partition(":")[0])
    if words is None:
        return f"{relation}, {direction}"
    return " → ".join(words if direction == "to head" else words[::-1])
