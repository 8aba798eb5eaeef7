"""The stops of the tour with the reader's own input and encoder: the line below a page's title, and callbacks that open a
stop.
"""

from html import escape

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.chosen_word import take_word
from app_pages.controls.input_controls import CHECKPOINT, KIND, TEXT
from app_pages.controls.map_controls import HEAD, LAYER, QUERY
from app_pages.controls.masks_controls import BLOCKED_KEYS, block_in
from app_pages.controls.pages import ATTENTION, MASKS, READING, Page, controls_of, go_to
from app_pages.controls.tour_controls import STOPS, TOUR
from app_pages.inputs.text_input import first_text
from app_pages.show.heading import draw_in_heading
from app_pages.subject import encoders, session_encoders
from app_pages.subject.answer import most_influential_position
from app_pages.subject.cache import loaded
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import without_keys
from model.inputs import Text

# At the last stop: labels of the ways back to the reader's own input.
_AFTER = {"your input, all heads →": ATTENTION, "hide parts of it →": MASKS}
SENTENCE = "The film is not good."  # of readers without one of their own: without “not” the answer turns


def why_left_out(number: int) -> str:
    """End of a sentence on why the stop cannot be shown with the reader's encoder; "" if it can."""
    name = _encoder()
    if not STOPS[number - 1].is_of_training or name not in session_encoders.opened_encoders():
        return ""
    try:
        return "" if loaded(name).history else "your encoder brings no recording of its training"
    except (ValueError, OSError):  # the page says what is wrong
        return ""


def next_stop(number: int, step: int) -> int | None:
    """The nearest stop that can be shown after (`step` 1) or before (`step` -1) stop `number`; None if there is none."""
    others = range(number + step, len(STOPS) + 1 if step > 0 else 0, step)
    return next((other for other in others if not why_left_out(other)), None)


def seen_at(number: int) -> str:
    """Sentence on what to look at on this stop, for the reader's encoder and input."""
    stop = STOPS[number - 1]
    if why := why_left_out(number):
        return f"This stop cannot be shown: {why}."
    blocked = BLOCKED_KEYS.held(st.query_params.get(BLOCKED_KEYS.key))
    is_text = KIND.held(st.query_params.get(KIND.key, encoders.TEXT)) == encoders.TEXT
    is_other = not is_text or (stop.hides_a_word and not blocked)
    if not (is_other and stop.otherwise):
        return stop.seen
    return stop.otherwise.format(part="a word" if is_text else "a part of the picture")


def left_out_before(number: int) -> str:
    """Sentence on the stop before this one, if that is left out; else ""."""
    why = why_left_out(number - 1) if number > 1 else ""
    return f"(Stop {number - 1} is left out: {why}.)" if why else ""


def own_sentence() -> str:
    """The text that the reader chose; "" while it is the app's first example."""
    text = TEXT.held() or ""
    return "" if text == first_text() else text


def open_stop(number: int) -> None:
    """Callback: opens a stop by its number, from 1. A text that the reader did not choose is replaced by `SENTENCE`."""
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


def _encoder() -> str | None:
    """The reader's encoder; None if none was chosen yet."""
    return CHECKPOINT.held(st.query_params.get(CHECKPOINT.key))


def leave_tour() -> None:
    """Callback: ends the tour and stays on the page."""
    TOUR.take("")


def _end_tour(page: Page) -> None:
    """Callback: ends the tour, and opens a page with the reader's input."""
    leave_tour()
    go_to(page)


def _hide_deciding_word() -> None:
    """Blocks the word on which the answer to the reader's text depends most, and chooses the query whose weights in the chosen
    head that changes most.

    Does nothing for other inputs and for long texts.
    """
    name, text = _encoder() or next(iter(encoders.checkpoints(encoders.TEXT)), None), TEXT.held()
    if not text or name is None or encoders.kind_of(name) != encoders.TEXT:
        return
    try:
        subject = LiveSubject(name, Text(text))
        influential = most_influential_position(subject)
    except (ValueError, OSError):  # the page says what is wrong
        return
    if influential is None:
        return
    record, hidden = subject.record, influential.position
    block_in(record, hidden)
    n_layers, n_heads = record.pattern.shape[:2]
    head = min(LAYER.held(0), n_layers - 1), min(HEAD.held(0), n_heads - 1)
    after = subject.under(without_keys(hidden)).record
    changes = np.abs(after.pattern[head] - record.pattern[head]).sum(axis=-1)
    changes[hidden] = 0  # the row of the struck-out word itself
    LAYER.take(head[0])
    HEAD.take(head[1])
    take_word(QUERY, int(changes.argmax()))


def draw_line(number: int, container: DeltaGenerator) -> None:
    """Draws the tour's line for the stop `number`, from 1, into `container`."""
    before, after = next_stop(number, -1), next_stop(number, 1)
    with container, st.container(horizontal=True, vertical_alignment="center", gap="small", key="tour"):
        # First the buttons, which so stand in the same container at every stop.
        st.html(f'<p class="tour_number"><b>Tour, {number} of {len(STOPS)}</b></p>', width="content")
        st.button(
            "← back",
            type="tertiary",
            key="tour_back",
            on_click=open_stop,
            args=(before,),
            disabled=before is None,
        )
        if after is not None:
            st.button("next →", type="tertiary", key="tour_next", on_click=open_stop, args=(after,))
        else:
            for label, page in _AFTER.items():
                st.button(
                    label, type="tertiary", key=f"tour_to_{page.name}", on_click=_end_tour, args=(page,)
                )
        st.button(
            "all stops",
            type="tertiary",
            key="tour_stops",
            on_click=go_to,
            args=(READING, TOUR.to(str(number))),
        )
        st.button("leave", type="tertiary", key="tour_close", on_click=leave_tour)
        draw_in_heading(lambda: _sentences_html(number))


def _sentences_html(number: int) -> str:
    sentences = f"{seen_at(number)} {left_out_before(number)}".strip()
    return f"<p><b>{escape(STOPS[number - 1].title)}.</b> {escape(sentences)}</p>"
