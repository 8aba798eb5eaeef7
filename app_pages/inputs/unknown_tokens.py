"""What of a text the tokenizer does not know, and the button that separates the characters for an encoder that needs that."""

import streamlit as st

from app_pages.controls.input_controls import LONGEST, SECOND_PART, TEXT, TextBox
from app_pages.subject import state
from app_pages.subject.cache import Checkpoint
from model.inputs import Input, Text


def say_unknown(name: Checkpoint, given: Input, *, where: str = "", box: TextBox = TEXT) -> None:
    """A sentence where tokens are unknown, with `where` before it; `box` holds the text."""
    if not (unknown := state.unknown(name, given)):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"unknown_{box.key}"):
        st.caption(f"{where}{unknown}.", width="content")
        if (separated := state.with_spaces_between(name, given)) is not None:
            st.button(
                "Separate the characters",
                key=f"separate_{box.key}",
                on_click=_take,
                args=(separated, box),
                help="Puts a space between the characters: this tokenizer knows single characters alone.",
            )


def _take(separated: Text, box: TextBox) -> None:
    """For callbacks; both parts in one step."""
    box.take(separated.text[:LONGEST])
    if separated.second is not None:
        SECOND_PART.take(separated.second[:LONGEST])
