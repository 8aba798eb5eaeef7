"""One head before and after a change: the input coloured by a query's weights, and the maps with their difference."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import streamlit as st

from app_pages.controls.head_choice import take_position_from_second
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.show import show
from app_pages.show.side_predictions import beside
from app_pages.subject.as_python import encoder, model_input, record
from app_pages.subject.two_sides import (
    Side,
    corresponding_position,
    difference,
    head_patterns,
    in_input_order,
)
from app_pages.toolkit.expression import call
from model.inputs import Picture, preprocessed_picture
from model.measures.changes import largest_change
from model.theory.permutation_equivariance import shuffled_picture
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.heatmap import compact_heatmap
from viz.builders.number_format import format_number, head_name
from viz.builders.palette import WeightScale

MOST_DRAWN = 512  # positions
DRAWN = 128  # of more positions


MapKind = Literal["before", "after", "difference"]
BOTH: tuple[MapKind, ...] = ("before", "after")
CHANGE: tuple[MapKind, ...] = ("difference",)
_HEIGHT = 440  # pixels of a map


def draw_changed_input(
    before: Side,
    side: Side,
    head: tuple[int, int],
    *,
    query: int,
    scale: WeightScale,
    key: str,
    legend: bool = False,
) -> None:
    """Draws the input of `side` coloured by the head's weights for one query, which is given as a position of `before`; a click
    chooses another query.
    """
    position = corresponding_position(before, side, query)
    assert position is not None  # both sides read the same tokens
    source, picture = record(side.subject), None
    if not side.is_text:
        pixels = model_input(side.subject)
        if side.order is not None:
            pixels = call(Picture.of, call(shuffled_picture, encoder(side.checkpoint), pixels, side.order))
        picture = call(preprocessed_picture, pixels.array, source)
    input_in_colours(
        picture,
        source,
        source.pattern[head][position],
        query=position,
        scale=scale,
        key=key,
        take=partial(take_position_from_second, before, side),
        legend=legend,
    )


def draw_changed_maps(
    before: Side,
    after: Side,
    head: tuple[int, int],
    kinds: Sequence[MapKind] = (*BOTH, *CHANGE),
    *,
    query: int,
    scale: WeightScale,
    key: str,
    is_order_restored: bool = False,
) -> None:
    """Draws these `kinds` of maps of a head next to each other; each figure's key is `key` followed by its kind.

    The difference is in the input's order, and with `is_order_restored` so are both maps. `before` is not reordered.
    """
    n, name = len(before.record), head_name(*head)
    part = visible_window(n, query)
    for kind, column in zip(kinds, beside(f"{key}s", len(kinds)), strict=True):
        if kind == "difference":
            heading = title = f"{name}, after minus before"
            figure = difference(
                before, after, head, names=BOTH, query=query, title=title, window=part, beside=True
            )
        else:
            side = before if kind == "before" else after
            heading = f"{side.title}, {name}"
            source, own_query = record(side.subject), corresponding_position(before, side, query)
            pattern, mask, tokens = source.pattern[head], source.mask[head], source.tokens
            if is_order_restored:
                pattern, mask = in_input_order(side, pattern), in_input_order(side, mask)
                tokens, own_query = record(before.subject).tokens, query
            figure = call(
                weight_heatmap,
                pattern,
                tokens,
                mask=mask,
                query=own_query,
                scale=scale,
                title=heading,
                window=visible_window(n, own_query or 0),
                beside=True,
            )
        with column:
            show(call(compact_heatmap, figure, f"<b>{heading}</b>", height=_HEIGHT), key=f"{key}_{kind}")
    say_visible_window(part, n)
    if "difference" in kinds:
        one, other = head_patterns(before, after, head)
        largest = format_number(largest_change(one(), other()), ".2g")
        remark = "" if after.order is None else ", with rows and columns put back in order"
        st.caption(f"Largest change of any weight in this head: {largest}{remark}.")


def visible_window(n: int, query: int) -> tuple[range, range] | None:
    """Ranges of the queries and keys that a map of `n` positions shows, around `query`; None if it shows all."""
    if n <= MOST_DRAWN:
        return None
    start = min(max(query - DRAWN // 2, 0), n - DRAWN)
    return (range(start, start + DRAWN),) * 2


def say_visible_window(part: tuple[range, range] | None, n: int, around: str = ", around the query") -> None:
    """Writes which of `n` positions a map shows, unless it shows all."""
    if part is not None:
        st.caption(f"Of {n:,} positions, {part[0].start} to {part[0].stop - 1} are drawn{around}.")
