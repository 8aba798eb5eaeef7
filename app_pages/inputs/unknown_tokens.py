"""What of a text the tokenizer does not know, and the button that separates the characters for an encoder that needs that."""

import streamlit as st

from app_pages.controls import address
from app_pages.inputs.text_input import LONGEST
from app_pages.subject import state
from app_pages.subject.cache import Checkpoint
from model.inputs import Input, Text


def say_unknown(name: Checkpoint, given: Input, *, where: str = "", key: str = "text") -> None:
    """A sentence where tokens are unknown, with `where` before it; `key` is that of the box with the text."""
    if not (unknown := state.unknown(name, given)):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"unknown_{key}"):
        st.caption(f"{where}{unknown}.", width="content")
        if (separated := state.with_spaces_between(name, given)) is not None:
            st.button(
                "Separate the characters",
                key=f"separate_{key}",
                on_click=_take,
                args=(separated, key),
                help="Puts a space between the characters: this tokenizer knows single characters alone.",
            )


def _take(separated: Text, key: str) -> None:
    """For callbacks; both parts in one step."""
    address.take(key, separated.text[:LONGEST])
    if separated.second is not None:
        address.take("second", separated.second[:LONGEST])
