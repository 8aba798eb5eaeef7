"""What stands below the prediction: the controls, all heads or the chosen one, and what is said about them."""

import streamlit as st

from app_pages.attention.all_heads_view import draw_all_heads, link_to_steps
from app_pages.attention.detail import download_tokens, draw_one_map
from app_pages.attention.save_buttons import save_buttons
from app_pages.attention.sentence_links import choose_links, outlines
from app_pages.attention.shown_head import ShownHead, choose_view
from app_pages.attention.token_predictions import (
    draw_guesses_by_layer,
    draw_masked_token_guesses,
    draw_token_classes,
)
from app_pages.attention.try_links import try_links
from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.attention_controls import (
    BY_LAYER,
    COLOURED_BY,
    HEAD,
    MATRIX,
    OVER_HEADS,
    SMALL_MAPS,
    VIEW,
)
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_head, choose_query, draw_head_name
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.controls.lens import about_lens, choose_lens
from app_pages.show.measures_note import measures_note
from app_pages.subject.answer import Answer, whole_answer
from app_pages.subject.subject import LiveSubject, Subject
from model.lenses import ATTENTION


def draw_below_prediction(subject: Subject, slots: Slots) -> None:
    """Draws the controls into their `slots`, and below them the maps of the `subject`."""
    through = choose_lens(subject, slots)
    chosen = choose_head(subject, slots, with_roles=False, lens=through.lens)
    part, kind = HEAD, None
    with slots.view:
        if through.lens.has_heads:
            part = OVER_HEADS.choose()
        if isinstance(subject, LiveSubject):
            kind = choose_kind(subject)
        if subject.record.unit == "patch":
            SMALL_MAPS.choose()
    view = choose_view(subject, slots, through)
    with slots.controls:
        query = choose_query(view.record)
        form = VIEW.choose(VIEW.options if view.record.unit == "token" else (MATRIX, BY_LAYER))
    answer: Answer = whole_answer(subject.record)
    if isinstance(subject, LiveSubject):
        with slots.view:
            answer = choose_answer(subject)
        try_links(subject)
        draw_masked_token_guesses(subject)
        draw_token_classes(subject.record)
    if through.lens.name != ATTENTION:
        about_lens(subject, through.lens)
    shown = ShownHead(
        subject=subject, chosen=chosen, through=through, view=view, query=query, kind=kind, answer=answer
    )
    outlined = None
    COLOURED_BY.read()  # other figures keep it in the address
    if part == HEAD and form == MATRIX:
        if through.lens.name == ATTENTION:
            outlined = outlines(choose_links(subject, chosen), view.record)
        draw_all_heads(shown, outlined)
    else:
        draw_one_map(shown, part, form, slots.view)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="below"):
        if part == HEAD and form == MATRIX:
            if isinstance(subject, LiveSubject):
                link_to_steps(shown)
            if through.lens.name == ATTENTION:
                draw_head_name(subject, chosen.layer, chosen.head)
        elif part == HEAD:
            download_tokens(shown)
        save_buttons(shown, outlined)
    if isinstance(subject, LiveSubject):
        draw_guesses_by_layer(subject)
    if through.lens.name == ATTENTION:
        about_lens(subject, through.lens)
    measures_note(view.record.units, view.measures, through.lens)
