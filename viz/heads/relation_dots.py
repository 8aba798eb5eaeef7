"""The best head for each relation: its share of links beside that of the best fixed offset, a row for each relation."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, tip
from ..builders.number_format import THIN_PERCENT, head_name, told_apart
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
from ..builders.theme import FIT, INK, MIDDLE, heading

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
    columns = {
        **{name: [getattr(head, name) for head in heads] for name in BestHead._fields},
        "name": [f"{head_name(head.layer, head.head)}, {head.direction}" for head in heads],
        "label": [_shortened(head.relation) for head in heads],
        "shown": [_mark(head, relation, selected) for head in heads],
        "chosen": [head.relation == relation for head in heads],
        "result": [("yes" if head.beyond else "no") if head.tested else "not tested" for head in heads],
    }
    described = "; ".join(map(_described, heads))
    return _chart_form().with_data(
        columns,
        in_file={
            "label": None,
            "shown": None,
            "chosen": None,
            "beyond": None,
            "tested": None,
            "result": "beyond",
        },
        height=ROW * max(len(heads), 1),
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


@form
def _chart_form() -> alt.TopLevelMixin:
    order = alt.Y("relation:N", sort=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    share = alt.Scale(
        domain=[0, 1], nice=False, rangeMin=_LEFT, rangeMax=alt.expr(f"max(width - {_RIGHT}, {_LEFT + 60})")
    )
    axis = alt.Axis(
        format=".0%", labelExpr=THIN_PERCENT, values=[0, 0.25, 0.5, 0.75, 1], title="share of the links"
    )
    x: Kwargs = {"scale": share, "axis": axis}
    colours = alt.Scale(domain=["chosen", "beyond", "within"], range=[ACCENT, EMPHASIS, NEUTRAL])
    colour = alt.Color("shown:N", scale=colours, legend=None)
    base = alt.Chart(data()).encode(
        y=order,
        tooltip=[
            tip("relation:N"),
            tip("name:N", title="head"),
            tip("share:Q", ".1%"),
            tip("low:Q", ".1%", "interval from"),
            tip("high:Q", ".1%", "to"),
            tip("baseline:Q", ".1%", "best offset hits"),
            tip("offset:Q", "+d", "offset, words"),
            tip("n:Q", ",d", "links"),
            tip("result:N", title="beyond the offset"),
        ],
    )
    baselines = base.mark_tick(color=NEUTRAL, thickness=4, size=16, opacity=0.75).encode(
        x=alt.X("baseline:Q", **x)
    )
    intervals = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", **x), x2="high:Q", color=colour)
    dots = base.mark_point(size=80, strokeWidth=2, opacity=1, cursor="pointer", filled=True).encode(
        x=alt.X("share:Q", **x),
        color=colour,
        fillOpacity=alt.condition("datum.beyond", alt.value(1), alt.value(0)),
        stroke=colour,
    )
    text: Kwargs = {"fontSize": MIDDLE, "color": INK, "baseline": "middle", "cursor": "pointer"}
    names = base.transform_filter("!datum.chosen").mark_text(align="left", **text)
    chosen = base.transform_filter("datum.chosen").mark_text(align="left", fontWeight="bold", **text)
    names, chosen = (layer.encode(x=alt.value(0), text="label:N") for layer in (names, chosen))
    numbers = base.mark_text(align="right", **text, aria=False).encode(
        x=alt.value(_LEFT - 10), text=alt.Text("n:Q", format=",d")
    )
    heads = base.mark_text(align="left", **text).encode(
        x=alt.value(alt.expr(f"max(width - {_RIGHT - 12}, {_LEFT + 72})")), text="name:N"
    )
    click = click_on("relation", "relation", "layer", "head", "direction")
    return alt.layer(baselines, intervals, names, chosen, numbers, heads, dots.add_params(click)).properties(
        autosize=FIT, view=alt.ViewBackground(stroke=None)
    )
