"""Grammatical relations that heads follow: the best head for each relation, and sentences with the links of one
relation.
"""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.number_format import THIN_PERCENT, format_distinct, head_name
from ..builders.palette import ACCENT, CATEGORIES, EMPHASIS, NEUTRAL
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE, heading
from ..builders.token_label import FONT, shortened, visible, width

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
    """The head that follows the largest share of a relation's links: those for which its largest weight from one word
    goes to the other.
    """

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
    """For each relation in the stored table `rows`, the head with the largest share, the most frequent relation
    first.
    """
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
    """A row for each of the `heads`, in this order: a dot at its share with its interval, filled if the share is
    beyond the baseline, and a bar at the baseline.

    The name of the chosen `relation` is bold, and its dot is green if its head is the `selected` (layer, head).
    `source` says what was measured. A click sets the point selection `relation`, fields `relation`, `layer`, `head`
    and `direction`.
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
    described = "; ".join(map(_head_sentence, heads))
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
            "label": [shortened(head.relation, _LONGEST) for head in heads],
            "shown": [_dot_state(head, relation, selected) for head in heads],
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


def _head_sentence(head: BestHead) -> str:
    """One row of the figure in words, for screen readers."""
    share, baseline = format_distinct(head.share, head.baseline, ".0%")
    beyond = ", beyond it" if head.beyond else ""
    return f"{head.relation}: {head_name(head.layer, head.head)} {head.direction} {share} of {head.n:,}, the best offset {baseline}{beyond}"


def _dot_state(head: BestHead, relation: str, selected: tuple[int, int]) -> str:
    """Which of three looks a dot has: "chosen", "beyond" the baseline, or "within" it."""
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
    """A link in a sentence: the indices of the query word, of the word to which the link leads, and of the word with
    the largest attention weight.
    """

    words: tuple[str, ...]
    query: int
    other_end: int
    strongest: int


def fits_into_line(example: LinkExample) -> bool:
    """Whether all words that the two arcs of the example span fit side by side into one line."""
    first, last = _arc_span(example)
    return sum(_word_widths(example)[first : last + 1]) <= _WIDEST


def link_arcs(examples: Sequence[LinkExample], *, title: str) -> VegaFigure:
    """The sentences below each other, each with two arcs that start at the query word: the upper one to the word with
    the largest weight, the lower one to the word to which the link leads. If these differ, the upper arc has another
    colour. Words far from both arcs are left out.

    Raises ValueError for an example that does not fit into a line (`fits_into_line`).
    """
    words: list[tuple] = []
    arcs: list[tuple] = []
    tips: list[tuple] = []
    for row, example in enumerate(examples):
        if not fits_into_line(example):
            raise ValueError(f"a line has no room for the words {' '.join(example.words)[:50]!r}")
        middles, left_out = _word_centres(example)
        y = row * _ROW + _BASE
        words += [
            (x, y, visible(example.words[index]), index == example.query) for index, x in middles.items()
        ]
        words += [(x, y, _MORE, False) for x in left_out]
        is_hit = example.strongest == example.other_end
        for name, end, upper in (("head", example.strongest, True), ("link", example.other_end, False)):
            kind = "link" if name == "link" else ("hit" if is_hit else "elsewhere")
            points = _arc(middles[example.query], middles[end], y, upper=upper)
            arcs += [(f"{row} {name}", *point, kind) for point in points]
            tips.append((middles[end], points[-1][1], kind, upper))
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
        frames={
            "words": pd.DataFrame(words, columns=["x", "y", "word", "is_query"]),
            "arcs": pd.DataFrame(arcs, columns=["arc", "x", "y", "kind"]),
            "tips": pd.DataFrame(tips, columns=["x", "y", "kind", "upper"]),
        },
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


def _arc_span(example: LinkExample) -> tuple[int, int]:
    """The first and the last word index that the two arcs of the example touch."""
    indices = example.query, example.other_end, example.strongest
    return min(indices), max(indices)


def _word_widths(example: LinkExample) -> list[float]:
    """The width of each word in pixels, including the gap after it."""
    return [width(visible(word), MIDDLE) + _GAP for word in example.words]


def _word_centres(example: LinkExample) -> tuple[dict[int, float], list[float]]:
    """The x of the centre of each word that is shown, in pixels, by its index, and the x of each ellipsis in place of
    other words. Shown are the words that the arcs span and as many neighbours on both sides, in turns, as have room.
    """
    widths, margin = _word_widths(example), width(_MORE, MIDDLE) + _GAP
    first, last = _arc_span(example)
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


def _arc(start: float, end: float, y: float, *, upper: bool) -> list[tuple[float, float]]:
    """The points (x, y) of half an ellipse between the words at `start` and `end`, above (`upper`) or below the text
    line at `y`; all in pixels.
    """
    sign = -1 if upper else 1
    height = min(26.0, 10 + 0.08 * abs(end - start))
    angles = np.linspace(0, np.pi, _POINTS)
    x = (start + end) / 2 - (end - start) / 2 * np.cos(angles)
    return [*zip(x.tolist(), (y + sign * (11 + height * np.sin(angles))).tolist(), strict=True)]


def linked_words(relation: str, direction: str) -> str:
    """The two kinds of words of a link, query first, such as "noun → determiner" for the relation `det` and the
    direction "to dependent".

    A relation without known names is given as its own name and the direction.
    """
    words = _WORDS.get(relation.partition(":")[0])
    if words is None:
        return f"{relation}, {direction}"
    return " → ".join(words if direction == "to head" else words[::-1])
