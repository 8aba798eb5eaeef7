"""The best head for each relation: its share of links beside that of the best fixed offset, a row for each relation."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.number_format import THIN_PERCENT, head_name, told_apart
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
from ..builders.theme import INK, MIDDLE, heading

ROW = 22  # pixels
_RIGHT = 190  # pixels for the names of the heads
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
        Column("name", [f"{head_name(head.layer, head.head)}, {head.direction}" for head in heads], "head"),
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
