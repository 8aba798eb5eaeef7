"""One input, read twice: the prediction, what was read and the attention, before and after."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import address, state
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import choose_query, take_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.prediction import prediction
from app_pages.widgets.show import show
from model.inputs import Picture
from model.order import restored, shuffled_picture
from model.record import ForwardRecord
from viz.attention.token_heatmaps import attention_heatmap, difference_heatmap
from viz.numbers import percent, written

SIDE_BY_SIDE, DIFFERENCE = "side by side", "after minus before"
AS_READ, BACK = "as they are read", "put back in order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the encoder did with the input once."""

    side: str  # "before" or "after"
    name: str
    record: ForwardRecord
    order: tuple[int, ...]  # order[i] is the token, counted as the input has them, that is read at place i

    def place(self, token: int) -> int:
        return self.order.index(token)

    @property
    def in_order(self) -> bool:
        return self.order == tuple(sorted(self.order))


def consequence(chosen: HeadSelection, before: Reading, after: Reading) -> None:
    """What became of the prediction, and of the chosen head's attention. `before` is in order."""
    st.markdown(_verdict(before.record, after.record))
    for reading, place in zip((before, after), _beside("prediction"), strict=True):
        with place:
            key = f"positions_try_prediction_{reading.side}"
            prediction(reading.record, chosen.label, key=key, title=reading.name)
    query = choose_query(before.record)
    head = f"L{chosen.layer} H{chosen.head}"
    st.markdown(f"**What the encoder reads**, in the colours of what the query attends to in {head}")
    for reading, place in zip((before, after), _beside("input"), strict=True):
        with place:
            st.caption(reading.name)
            _input(chosen, reading, query)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = address.row(f"All weights of {head}", (SIDE_BY_SIDE, DIFFERENCE), key="positions_try_maps")
        put_back = view == SIDE_BY_SIDE and not after.in_order and _put_back()
    if view == DIFFERENCE:
        _difference(chosen, before, after)
    else:
        _maps(chosen, before, after, query, put_back)


def _verdict(before: ForwardRecord, after: ForwardRecord) -> str:
    """The consequence, in one sentence."""
    first, second = before.probabilities, after.probabilities
    was, now = int(first.argmax()), int(second.argmax())
    names = before.class_names
    if was == now:
        return f"The prediction stays **{names[was]}**: {percent(first[was], 2)} before, {percent(second[was], 2)} after."
    return (
        f"The prediction turns from **{names[was]}** ({percent(first[was], 2)}) to **{names[now]}** ({percent(second[now], 2)}); "
        f"{names[was]} is left with {percent(second[was], 2)}."
    )


def _beside(row: str) -> list[DeltaGenerator]:
    """A place for before and after; where the window is narrow, the second is below the first."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_positions_{row}_{side}") for side in ("before", "after")]


def _put_back() -> bool:
    return address.row("Rows and columns of the second", (AS_READ, BACK), key="positions_try_rows") == BACK


def _input(chosen: HeadSelection, reading: Reading, query: int) -> None:
    record, at, read = reading.record, reading.place(query), chosen.given
    if record.patch_grid is not None:
        read = Picture.of(shuffled_picture(state.loaded(chosen.checkpoint), read, reading.order))
    input_in_colours(
        read,
        record,
        record.pattern[chosen.layer, chosen.head, at],
        query=at,
        scale=chosen.scale,
        key=f"positions_try_input_{reading.side}",
        take=lambda place: take_query(reading.order[place]),
    )


def _maps(chosen: HeadSelection, before: Reading, after: Reading, query: int, put_back: bool) -> None:
    """All weights of the chosen head, either time."""
    layer, head = chosen.layer, chosen.head
    for reading, place in zip((before, after), _beside("map"), strict=True):
        pattern, mask = reading.record.pattern[layer, head], reading.record.mask[layer, head]
        tokens, at = reading.record.tokens, reading.place(query)
        if put_back:
            pattern, mask = restored(pattern, reading.order), restored(mask, reading.order)
            tokens, at = before.record.tokens, query
        title = f"{reading.name}, L{layer} H{head}"
        figure = attention_heatmap(pattern, tokens, mask=mask, query=at, scale=chosen.scale, title=title)
        with place:
            show(figure, key=f"positions_try_map_{reading.side}")


def _difference(chosen: HeadSelection, before: Reading, after: Reading) -> None:
    """The change of each weight, token by token."""
    layer, head = chosen.layer, chosen.head
    first = before.record.pattern[layer, head]
    second = restored(after.record.pattern[layer, head], after.order)
    title = f"L{layer} H{head}, after minus before"
    figure = difference_heatmap(first, second, before.record.tokens, names=("before", "after"), title=title)
    show(figure, key="positions_try_difference")
    back = "" if after.in_order else ", with rows and columns put back in order"
    st.caption(
        f"Largest change of any weight in this head: {written(np.abs(second - first).max(), '.2g')}{back}."
    )
