"""Figures with one mark for each head, in which a click chooses the head, such as the overview of all attention maps."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from app_pages.controls.head_choice import step, take_head, take_layer
from app_pages.show.show import Size, clickable
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.gestures import arrow_keys
from model.lenses import ATTENTION, LENSES, Lens
from model.measures.head_measures import head_summary
from viz.attention.head_overview import head_overview
from viz.builders.figure import VegaFigure
from viz.builders.palette import ColourScale, WeightScale


def clickable_heads(
    chart: VegaFigure | Expression,
    *,
    key: str,
    chosen: tuple[int, int] | None,
    take: Callable[[int, int], None] = take_head,
    width: Size = "content",
) -> None:
    """Draws a chart with one mark for each head; a click on a mark calls `take` with its layer and head."""

    def clicked(point: dict) -> None:
        take(int(point["layer"]), int(point["head"]))

    clickable(chart, key=key, chosen=chosen, selection="head", take=clicked, width=width)


def draw_heads_overview(
    record: Expression,
    measures: Mapping[str, np.ndarray],
    *,
    selected: tuple[int, int] | None,
    scale: ColourScale,
    key: str,
    notes: Sequence[str] = (),
    lens: Lens = LENSES[ATTENTION],
) -> None:
    """Draws the maps of all heads in small; a tooltip shows each head's `measures` [layer, head], and a click chooses the head.

    `notes` say how the maps were changed, `lens` which quantity they show. With the scale "own" each map's colours end at its own
    maximum.
    """
    chart = call(
        head_overview,
        record,
        selected=selected,
        measures=named("measures", call(head_summary, record), lambda: measures),
        colours=scale,
        notes=notes,
        scale=WeightScale(what=lens.quantity, shares=lens.sums_to_1),
        by_layer=not lens.has_heads,
    )
    clickable_heads(chart, key=key, chosen=selected, take=take_head if lens.has_heads else take_layer)
    arrow_keys(key, step, name="All heads")
