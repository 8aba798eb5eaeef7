"""A note on tokens that the vocabulary lacks, and a button that separates characters for encoders that need it."""

import streamlit as st

from app_pages.controls.address import LONGEST, TextBox
from app_pages.controls.input_controls import SECOND_PART, TEXT
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.subject import LiveSubject, encoded_text
from model.inputs import Text
from model.inputs.text import has_character_vocabulary, space_out_characters


def say_unknown(
    subject: LiveSubject, *, before: str = "", box: TextBox = TEXT, is_said: bool = False
) -> None:
    """Writes how many tokens are unknown, after the words `before`, unless it `is_said` elsewhere, and draws the button that
    separates characters where that helps; `box` is the control of the text.
    """
    if not subject.unknown or not isinstance(subject.model_input, Text):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"unknown_{box.key}"):
        if not is_said:
            st.caption(f"{before}{subject.unknown}.", width="content")
        if (separated := _with_spaces_between(subject.checkpoint, subject.model_input)) is not None:
            st.button(
                "Separate the characters",
                key=f"separate_{box.key}",
                on_click=_take_separated,
                args=(separated, box),
                help="Puts a space between the characters: this tokenizer knows single characters alone.",
            )


def _take_separated(separated: Text, box: TextBox) -> None:
    """Callback: puts both separated parts into their boxes."""
    box.take(separated.text[:LONGEST])
    if separated.second is not None:
        SECOND_PART.take(separated.second[:LONGEST])


def _with_spaces_between(name: Checkpoint, model_input: Text) -> Text | None:
    """The text with spaces between its characters, if the encoder then knows more of it; else None."""
    if not _has_single_character_vocabulary(name):
        return None
    tokenizer = loaded(name).tokenizer
    assert tokenizer is not None, name
    second = model_input.second and space_out_characters(tokenizer, model_input.second)
    separated = Text(space_out_characters(tokenizer, model_input.text), second)
    old, new = (encoded_text(name, text) for text in (model_input, separated))
    is_better = new.n_unknown * old.n_read < old.n_unknown * new.n_read
    return separated if is_better else None


@cached
def _has_single_character_vocabulary(name: Checkpoint) -> bool:
    tokenizer = loaded(name).tokenizer
    return tokenizer is not None and has_character_vocabulary(tokenizer)
