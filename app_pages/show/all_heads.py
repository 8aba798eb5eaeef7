"""Figures with a mark a head, on which a click chooses it: the overview of all maps first of all."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from app_pages.controls.head_choice import step, take_head, take_layer
from app_pages.show.show import Size, clickable
from app_pages.toolkit.gestures import arrow_keys
from model.lenses import ATTENTION, LENSES, Lens
from model.record import AttentionRecord
from viz.attention.head_overview import head_overview
from viz.builders.figure import VegaFigure
from viz.builders.palette import ColourScale, WeightScale


def clickable_heads(
    chart: VegaFigure,
    *,
    key: str,
    chosen: tuple[int, int] | None,
    take: Callable[[int, int], None] = take_head,
    width: Size = "content",
) -> None:
    """A chart with a mark a head: a click on one hands its layer and head to `take`."""

    def clicked(point: dict) -> None:
        take(int(point["layer"]), int(point["head"]))

    clickable(chart, key=key, chosen=chosen, selection="head", take=clicked, width=width)


def overview_of(
    record: AttentionRecord,
    measures: Mapping[str, np.ndarray],
    *,
    selected: tuple[int, int] | None,
    scale: ColourScale,
    key: str,
    take: Callable[[int, int], None] | None = None,
    beside: np.ndarray | None = None,
    small: bool = False,
    notes: Sequence[str] = (),
    lens: Lens = LENSES[ATTENTION],
) -> None:
    """All heads of a record, with the `measures` [layer, head] under the pointer; a click on one hands layer and head to
    `take`, or chooses it. `notes` say what was done to the patterns, which are seen through `lens`.

    With the scale "own" each reaches to its own maximum, or to that of the head `beside` it, where that is larger:
    maxima [layer, head], -inf where there is none.
    """
    chart = head_overview(
        record,
        selected=selected,
        measures=measures,
        colours=scale,
        paired_maxima=beside,
        small=small,
        notes=notes,
        scale=WeightScale(what=lens.quantity, shares=lens.sums_to_1),
        by_layer=not lens.has_heads,
    )
    clickable_heads(
        chart, key=key, chosen=selected, take=take or (take_head if lens.has_heads else take_layer)
    )
    arrow_keys(key, step)
