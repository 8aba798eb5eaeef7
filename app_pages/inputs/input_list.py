"""A list of the user's own inputs, kept for this session alone, and buttons that step through it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from app_pages.controls import input_controls as controls
from app_pages.controls.address import Choice
from app_pages.controls.pages import MANY_INPUTS, go_to
from app_pages.inputs import drawing
from app_pages.inputs.drawing.code import from_code
from app_pages.inputs.own_picture import HELD
from app_pages.subject import encoders, shipped_inputs
from model.config import ModelConfig
from model.inputs import Input, Picture, Text
from model.measures.predicted_classes import class_index_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One input of the list: a text, or a picture in the forms that digit encoders (`drawing`, `digit`) and colour encoders
    (`colours`) read.
    """

    name: str = ""  # of a picture's file
    label: str = ""  # as it was given, "" where it was not
    text: Text | None = None
    drawing: str = ""  # the code of a digit in the address, "" where no digit is seen in the picture
    digit: int | None = None  # the number of a test digit
    colours: Picture | None = None

    def as_input(self, config: ModelConfig, *, reads_pairs: bool) -> Input | None:
        """The input in the form that an encoder with this `config` reads; None if the item cannot be given to it."""
        if self.text is not None:
            return self.text if reads_pairs else replace(self.text, second=None)
        if self.digit is not None:
            return Picture.of(shipped_inputs.test_digits()[0][self.digit])
        if config.n_channels == 3:
            return self.colours
        return Picture.of(from_code(self.drawing)) if self.drawing else None

    def choose(self, config: ModelConfig) -> list[Choice]:
        """Callback: makes this item the input; returns the values of controls that a link to another page needs for it."""
        if self.text is not None:
            choices = [controls.TEXT.to(self.text.text), controls.SECOND_PART.to(self.text.second or "")]
        elif self.digit is not None:
            choices = [controls.SOURCE.to(controls.TEST_DIGITS), controls.DIGIT.to(self.digit)]
            drawing.leave()
        elif config.n_channels == 3 and self.colours is not None:
            choices = [controls.SOURCE.to(controls.OWN_PICTURE)]
            st.session_state[HELD] = self.colours.array
            drawing.leave()
        else:
            choices = [controls.SOURCE.to(controls.DRAW), controls.DRAWING.to(self.drawing)]
        for choice in choices:
            choice.take()
        return [choice for choice in choices if choice.address_value]


@dataclass(frozen=True, kw_only=True)
class InputList:
    """A list of inputs, sentences (`notes`) on what was left out of it, and whether it holds the app's own examples."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    is_ours: bool = False


@dataclass
class EnteredList:
    """The list of texts, or of pictures, that the user entered in this session, with the table's order and the opened item."""

    listed: InputList | None = None
    order: Sequence[int] = ()  # of the table, without the rows that it hides
    opened: int | None = None  # the number of the item that was opened last

    @property
    def item(self) -> Item | None:
        """The item that was opened last."""
        return None if self.listed is None or self.opened is None else self.listed.items[self.opened]


def entered(kind: str) -> EnteredList:
    """The list that was entered for this `kind` of input, a mutable object of the session; empty if none was entered."""
    return st.session_state.setdefault("entered_lists", {}).setdefault(kind, EnteredList())


def keep_list(kind: str, listed: InputList | None) -> None:
    """Keeps `listed` as the session's list of this kind of input; None removes it."""
    st.session_state.setdefault("entered_lists", {})[kind] = EnteredList(listed)


def open_item(kind: str, number: int, name: str) -> list[Choice]:
    """Callback: makes item `number` of the list of this `kind` the input, in the form that the encoder `name` reads.

    Returns the values of controls that a link to another page needs, without kind and encoder, which every address already has.
    """
    entered(kind).opened = number
    item, config = entered(kind).item, encoders.config_of(name)
    return [] if item is None or config is None else item.choose(config)


def right_class(kind: str, name: str | None, model_input: Input | None) -> int | None:
    """Class index with which the opened item is labelled; None if it has no known label, or `model_input` is no longer that
    item.
    """
    item, config = entered(kind).item, encoders.config_of(name)
    if name is None or item is None or not item.label or config is None or not config.chooses_class:
        return None
    if model_input is None or model_input != item.as_input(config, reads_pairs=encoders.reads_pairs(name)):
        return None
    try:
        return class_index_of(item.label, config.class_names)
    except ValueError:
        return None


def draw_stepper(kind: str, name: str | None, model_input: Input | None) -> None:
    """Draws “◂ 3 of 27 ▸”, buttons that step through the list; draws nothing if no item of a list was opened."""
    order, number = entered(kind).order, entered(kind).opened
    item, config = entered(kind).item, encoders.config_of(name)
    if name is None or item is None or number is None or config is None or number not in order:
        return
    index = order.index(number)
    is_changed = model_input != item.as_input(config, reads_pairs=encoders.reads_pairs(name))
    count = f"{index + 1:,} of {len(order):,}{', changed' if is_changed else ''}"

    def draw_button(which: str, sign: str, to: int) -> None:
        st.button(
            f"{which.capitalize()} input",
            icon=f":material/{sign}:",
            key=f"several_{which}",
            help=f"The {which} input of the list",
            disabled=not 0 <= to < len(order),
            args=(kind, order[to % len(order)], name),
            type="tertiary",
            on_click=_take_item,
        )

    with st.container(horizontal=True, gap=None, vertical_alignment="center", width="content", key="stepper"):
        draw_button("previous", "chevron_left", index - 1)
        to_list = "Back to the list"
        st.button(
            count, type="tertiary", key="several_back", on_click=go_to, args=(MANY_INPUTS,), help=to_list
        )
        draw_button("next", "chevron_right", index + 1)


def _take_item(kind: str, number: int, name: str) -> None:
    open_item(kind, number, name)


def thumbnail_of(item: Item) -> np.ndarray | None:
    """The picture of an item, uint8 [height, width] or [height, width, 3]; None for a text."""
    if item.digit is not None:
        return shipped_inputs.test_digits()[0][item.digit]
    if item.colours is not None:
        return item.colours.array
    return from_code(item.drawing) if item.drawing else None
