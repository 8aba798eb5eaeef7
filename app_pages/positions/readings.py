"""One input, read twice: the prediction, what was read and the attention, before and after."""

from functools import partial

import streamlit as st

from app_pages import address, state
from app_pages.state import HeadSelection
from app_pages.widgets import contrast
from app_pages.widgets.contrast import NUMBERS, Side
from app_pages.widgets.head_choice import choose_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.prediction import prediction
from app_pages.widgets.show import show
from model.inputs import Picture
from model.measures.changes import largest_change
from model.order import shuffled_picture
from viz.attention.token_heatmaps import attention_heatmap
from viz.numbers import written

SIDE_BY_SIDE, DIFFERENCE = "side by side", "after minus before"
AS_READ, BACK = "as they are read", "put back in order"


def consequence(chosen: HeadSelection, what: str, before: Side, after: Side) -> None:
    """What became of the prediction, and of the chosen head's attention, by `what` was changed. `before` is in order."""
    with chosen.view:
        query = choose_query(before.record)
    contrast.tell(contrast.verdict(what, before.record, after.record))
    head = f"L{chosen.layer} H{chosen.head}"
    for number, side, place in zip(
        NUMBERS, (before, after), contrast.beside("positions_input"), strict=False
    ):
        with place:
            if side.record.has_classes:
                prediction(side.record, side.label, title=side.title)
            else:
                st.caption(side.title)
            _input(chosen, before, side, query, key=f"positions_try_input_{number}")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = address.row(f"All weights of {head}", (SIDE_BY_SIDE, DIFFERENCE), key="positions_try_maps")
        is_back = (
            view == SIDE_BY_SIDE
            and after.order is not None
            and address.row("Rows and columns of the second", (AS_READ, BACK), key="positions_try_rows")
            == BACK
        )
    if view == DIFFERENCE:
        _difference(chosen, before, after)
        return
    for number, side, place in zip(NUMBERS, (before, after), contrast.beside("positions_map"), strict=False):
        with place:
            _map(chosen, before, side, query, is_back, key=f"positions_try_map_{number}")


def _input(chosen: HeadSelection, before: Side, side: Side, query: int, *, key: str) -> None:
    """What was read, in the colours of the query's row; a click takes the same position as the query."""
    record, read, at = side.record, side.given, contrast.same_position(before, side, query)
    if side.order is not None and record.patch_grid is not None:
        read = Picture.of(shuffled_picture(state.loaded(side.checkpoint), read, side.order))
    input_in_colours(
        read,
        record,
        record.pattern[chosen.layer, chosen.head, at],
        query=at,
        scale=chosen.scale,
        key=key,
        take=partial(contrast.take_from_second, before, side),
    )


def _map(chosen: HeadSelection, before: Side, side: Side, query: int, is_back: bool, *, key: str) -> None:
    """All weights of the chosen head; as they were read, or put back in the order of the input."""
    at = chosen.layer, chosen.head
    pattern, mask = side.record.pattern[at], side.record.mask[at]
    tokens, query_here = side.record.tokens, contrast.same_position(before, side, query)
    if is_back:
        pattern, mask = contrast.put_back(side, pattern), contrast.put_back(side, mask)
        tokens, query_here = before.record.tokens, query
    title = f"{side.title}, L{chosen.layer} H{chosen.head}"
    figure = attention_heatmap(pattern, tokens, mask=mask, query=query_here, scale=chosen.scale, title=title)
    show(figure, key=key)


def _difference(chosen: HeadSelection, before: Side, after: Side) -> None:
    """The change of each weight, token by token."""
    head = chosen.layer, chosen.head
    title = f"L{chosen.layer} H{chosen.head}, after minus before"
    figure = contrast.difference(before, after, head, names=("before", "after"), title=title)
    show(figure, key="positions_try_difference")
    largest = written(largest_change(*contrast.head_patterns(before, after, head)), ".2g")
    back = "" if after.order is None else ", with rows and columns put back in order"
    st.caption(f"Largest change of any weight in this head: {largest}{back}.")
