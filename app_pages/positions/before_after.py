"""One input read twice: prediction, input and attention before and after a change."""

from functools import partial

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query, take_position_from_second
from app_pages.controls.positions_controls import BACK, DIFFERENCE, MAPS, ROWS, SIDE_BY_SIDE
from app_pages.show.drawn_part import drawn_part, say_part
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.prediction import prediction
from app_pages.show.show import show
from app_pages.show.side_predictions import NUMBERS, beside, tell
from app_pages.subject import two_sides
from app_pages.subject.answer import whole_answer
from app_pages.subject.two_sides import Side
from model.experiments.shuffling import shuffled_picture
from model.inputs import Picture
from model.measures.changes import largest_change
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.heatmap import compact
from viz.builders.number_format import format_number, head_name
from viz.builders.palette import WeightScale

_HEIGHT = 440  # pixels of a map


def draw_consequence(slots: Slots, chosen: HeadChoice, what: str, before: Side, after: Side) -> None:
    """Draws prediction and attention of the chosen head before and after; `what` names the change, `before` is not reordered."""
    with slots.view:
        query = choose_query(before.record)
    tell(whole_answer(before.record).change_sentence(what, after.subject))
    scale = chosen.of_head(before.record, after.record)
    for ordinal, side, column in zip(NUMBERS, (before, after), beside("positions_input"), strict=False):
        with column:
            if side.record.has_classes:
                prediction(side.record, side.subject.label, title=side.title)
            else:
                st.caption(side.title)
            _draw_input(chosen, before, side, query, scale, key=f"positions_try_input_{ordinal}")
    with slots.view:
        view = MAPS.choose()
        is_order_restored = view == SIDE_BY_SIDE and after.order is not None and ROWS.choose() == BACK
    if view == DIFFERENCE:
        _draw_difference(chosen, before, after, query)
        return
    for ordinal, side, column in zip(NUMBERS, (before, after), beside("positions_map"), strict=False):
        with column:
            _draw_map(
                chosen, before, side, query, scale, is_order_restored, key=f"positions_try_map_{ordinal}"
            )


def _draw_input(
    chosen: HeadChoice, before: Side, side: Side, query: int, scale: WeightScale, *, key: str
) -> None:
    """Draws the input in the colours of the query's row; a click chooses the corresponding position."""
    record, shown_input = side.record, side.model_input
    position = two_sides.same_position(before, side, query)
    assert position is not None  # both sides read the same tokens
    if side.order is not None and record.patch_grid is not None:
        shown_input = Picture.of(shuffled_picture(side.subject.loaded, shown_input, side.order))
    input_in_colours(
        shown_input,
        record,
        record.pattern[chosen.layer, chosen.head, position],
        query=position,
        scale=scale,
        key=key,
        take=partial(take_position_from_second, before, side),
        legend=False,
    )


def _draw_map(
    chosen: HeadChoice,
    before: Side,
    side: Side,
    query: int,
    scale: WeightScale,
    is_order_restored: bool,
    *,
    key: str,
) -> None:
    """Draws all weights of the chosen head, as they were read or put back in the order of the input."""
    head = chosen.layer, chosen.head
    pattern, mask = side.record.pattern[head], side.record.mask[head]
    tokens, own_query = side.record.tokens, two_sides.same_position(before, side, query)
    if is_order_restored:
        pattern, mask = two_sides.put_back(side, pattern), two_sides.put_back(side, mask)
        tokens, own_query = before.record.tokens, query
    name = head_name(chosen.layer, chosen.head)
    part = drawn_part(len(tokens), own_query or 0)
    figure = weight_heatmap(
        pattern,
        tokens,
        mask=mask,
        query=own_query,
        scale=scale,
        title=f"{side.title}, {name}",
        window=part,
        beside=True,
    )
    show(compact(figure, f"<b>{side.title}</b>, {name}", height=_HEIGHT), key=key)
    say_part(part, len(tokens))


def _draw_difference(chosen: HeadChoice, before: Side, after: Side, query: int) -> None:
    """Draws a heatmap [query, key] of the chosen head's weights after minus before, both in the order of the input."""
    head = chosen.layer, chosen.head
    title = f"{head_name(chosen.layer, chosen.head)}, after minus before"
    part = drawn_part(len(before.record), query)
    figure = two_sides.difference(
        before, after, head, names=("before", "after"), title=title, window=part, beside=True
    )
    show(compact(figure, f"<b>{title}</b>", height=_HEIGHT), key="positions_try_difference")
    say_part(part, len(before.record))
    largest = format_number(largest_change(*two_sides.head_patterns(before, after, head)), ".2g")
    remark = "" if after.order is None else ", with rows and columns put back in order"
    st.caption(f"Largest change of any weight in this head: {largest}{remark}.")
