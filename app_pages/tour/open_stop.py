"""Opens a stop of the tour, with the reader's own input and encoder."""

import streamlit as st

from app_pages.controls.blocked import block_in
from app_pages.controls.input_controls import CHECKPOINT, KIND, TEXT
from app_pages.controls.pages import READING, controls_of, go_to
from app_pages.controls.tour_controls import STOPS, TOUR
from app_pages.inputs.text_input import first_text
from app_pages.subject import encoders
from app_pages.subject.most_influential_position import most_influential_position
from app_pages.subject.subject import LiveSubject
from model.inputs import Text

SENTENCE = "The film is not good."  # of readers without one of their own: without “not” the answer turns


def own_sentence() -> str:
    """The text that the reader chose; "" while it is the app's first example."""
    text = TEXT.held() or ""
    return "" if text == first_text() else text


def open_stop(number: int) -> None:
    """Callback: opens a stop by its number, from 1. A text without the reader's doing gives way to `SENTENCE`."""
    stop, choices = STOPS[number - 1], []
    if KIND.held(encoders.TEXT) == encoders.TEXT and not own_sentence():
        TEXT.take(SENTENCE)
    if st.session_state["page"] == READING.name and TEXT.held():
        choices.append(TEXT.to(TEXT.held()))
    # The rest not in the link: a control that the page of the last stop has drawn takes nothing from an address.
    controls = controls_of(stop.page.name)
    for key, option in stop.parts.items():
        controls[key].take(option)
    if stop.hides_a_word:
        _hide_deciding_word()
    TOUR.take(str(number))
    go_to(stop.page, *choices, TOUR.to(str(number)))


def leave_tour() -> None:
    """Callback: closes the line of the tour."""
    TOUR.take("")


def _hide_deciding_word() -> None:
    """Blocks the word on which the answer to the reader's text depends most.

    Nothing happens for other inputs and for long texts.
    """
    name, text = CHECKPOINT.held() or next(iter(encoders.checkpoints(encoders.TEXT)), None), TEXT.held()
    if not text or name is None or encoders.kind_of(name) != encoders.TEXT:
        return
    try:
        subject = LiveSubject(name, Text(text))
        influential = most_influential_position(subject)
    except (ValueError, OSError):  # the page says what is wrong
        return
    if influential is not None:
        block_in(subject.record, influential.position)
