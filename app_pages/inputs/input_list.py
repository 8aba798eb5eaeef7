"""A list of the user's own inputs, kept only in this session, and buttons that step through it while other choices stay."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from app_pages.controls.address import Choice
from app_pages.controls.input_controls import (
    DIGIT,
    DRAW,
    DRAWING,
    PICTURE,
    SECOND_PART,
    SOURCE,
    TEST_DIGITS,
    TEXT,
)
from app_pages.controls.pages import MANY_INPUTS, go_to
from app_pages.inputs import drawing
from app_pages.inputs.drawing.code import from_code
from app_pages.inputs.own_picture import HELD
from app_pages.subject import encoders, shipped_inputs
from model.config import ModelConfig
from model.evaluate.__main__ import class_of
from model.inputs import Input, Picture, Text

_LISTS, _ORDERS, _AT = (
    "several_lists",
    "several_orders",
    "several_at",
)  # in the session, each by the kind of input


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One input of the list: a text, or a picture in the forms that encoders of digits and of colour pictures read."""

    name: str = ""  # of a picture's file
    label: str = ""  # as it was given, "" where it was not
    text: Text | None = None
    drawing: str = ""  # the code of a digit in the address, "" where no digit is seen in the picture
    digit: int | None = None  # the number of a test digit
    colours: Picture | None = None

    def given(self, config: ModelConfig, *, reads_pairs: bool) -> Input | None:
        """The input for this encoder; None if it cannot read the item."""
        if self.text is not None:
            return self.text if reads_pairs else replace(self.text, second=None)
        if self.digit is not None:
            return Picture.of(shipped_inputs.test_digits()[0][self.digit])
        if config.n_channels == 3:
            return self.colours
        return Picture.of(from_code(self.drawing)) if self.drawing else None

    def choose(self, config: ModelConfig) -> list[Choice]:
        """Callback: puts the item into the controls of the input row; returns these choices for a link."""
        if self.text is not None:
            choices = [TEXT.to(self.text.text), SECOND_PART.to(self.text.second or "")]
        elif self.digit is not None:
            choices = [SOURCE.to(TEST_DIGITS), DIGIT.to(self.digit)]
            drawing.leave()
        elif config.n_channels == 3 and self.colours is not None:
            choices = [SOURCE.to(PICTURE)]
            st.session_state[HELD] = self.colours.array
            drawing.leave()
        else:
            choices = [SOURCE.to(DRAW), DRAWING.to(self.drawing)]
        for choice in choices:
            choice.take()
        return [choice for choice in choices if choice.written]


@dataclass(frozen=True, kw_only=True)
class InputList:
    """A list of inputs, with sentences on what was left out of it."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def held(kind: str) -> InputList | None:
    return st.session_state.get(_LISTS, {}).get(kind)


def hold(kind: str, listed: InputList | None) -> None:
    """Sets the list of this kind of input; None removes it."""
    for state_key, value in ((_LISTS, listed), (_ORDERS, None), (_AT, None)):
        st.session_state[state_key] = {**st.session_state.get(state_key, {}), kind: value}


def set_order(kind: str, order: list[int]) -> None:
    """Sets the order in which the buttons step through the items: that of the table, without hidden rows."""
    st.session_state[_ORDERS] = {**st.session_state.get(_ORDERS, {}), kind: order}


def at(kind: str) -> int | None:
    """Index of the item that was opened last; None if none was."""
    return st.session_state.get(_AT, {}).get(kind)


def open_item(kind: str, number: int, name: str) -> list[Choice]:
    """Callback: makes item `number` the input, read by the encoder `name`.

    Returns the choices that a link to another page needs; kind and encoder are not among them, since every page has them.
    """
    listed, config = held(kind), encoders.config_of(name)
    st.session_state[_AT] = {**st.session_state.get(_AT, {}), kind: number}
    if listed is None or config is None:
        return []
    return listed.items[number].choose(config)


def right_class(kind: str, name: str | None, given: Input | None) -> int | None:
    """Class index of the label of the opened item, as long as `given` is that item; None if unknown."""
    listed, number, config = held(kind), at(kind), encoders.config_of(name)
    if name is None or listed is None or number is None or config is None or not config.chooses_class:
        return None
    item = listed.items[number]
    if not item.label or given is None or given != item.given(config, reads_pairs=encoders.reads_pairs(name)):
        return None
    try:
        return class_of(item.label, config.class_names)
    except ValueError:
        return None


def draw_stepper(kind: str, name: str | None, given: Input | None) -> None:
    """Draws “◂ 3 of 27 ▸” in the input row; nothing if no item of a list was opened."""
    listed, number, config = held(kind), at(kind), encoders.config_of(name)
    order = st.session_state.get(_ORDERS, {}).get(kind) or []
    if name is None or listed is None or config is None or number is None or number not in order:
        return
    position, n = order.index(number), len(order)
    remark = (
        ""
        if given == listed.items[number].given(config, reads_pairs=encoders.reads_pairs(name))
        else ", changed"
    )
    with st.container(horizontal=True, gap=None, vertical_alignment="center", width="content", key="stepper"):
        for key, icon, direction, target in (
            ("previous", "chevron_left", "previous", position - 1),
            ("next", "chevron_right", "next", position + 1),
        ):
            if key == "next":
                label = f"{position + 1:,} of {n:,}{remark}"
                st.button(
                    label, type="tertiary", key="several_back", on_click=_go_back, help="Back to the list"
                )
            st.button(
                "",
                icon=f":material/{icon}:",
                key=f"several_{key}",
                help=f"The {direction} input of the list",
                disabled=not 0 <= target < n,
                args=(kind, order[target % n], name),
                type="tertiary",
                on_click=open_item,
            )


def _go_back() -> None:
    go_to(MANY_INPUTS)


def thumbnail_of(item: Item) -> np.ndarray | None:
    """Picture of the item for the list; None for a text."""
    if item.digit is not None:
        return shipped_inputs.test_digits()[0][item.digit]
    if item.colours is not None:
        return item.colours.array
    return from_code(item.drawing) if item.drawing else None
