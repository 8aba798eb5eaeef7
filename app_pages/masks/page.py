"""Masks: hide keys from queries, and see how the chosen head, every head and the answer change."""

import streamlit as st

from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.head_choice import choose_head, choose_query
from app_pages.controls.masks_controls import PART, STEP_BY_STEP, WAYS
from app_pages.inputs.row import choose_input
from app_pages.masks.choose_mask import block_at_first, choose_kind, choose_mask
from app_pages.masks.click_target import draw_click_target, has_board
from app_pages.masks.consequences import draw_consequences
from app_pages.masks.maps import draw_maps
from app_pages.masks.mask_sentences import explained
from app_pages.masks.masked_answers import draw_padded_answers, say_answers
from app_pages.masks.methods import draw_methods, draw_worked_example
from app_pages.subject.head_name import head_names
from app_pages.subject.two_sides import Side
from model.capture.intervention import masked


def draw() -> None:
    part = PART.choose()
    subject, slots = choose_input(with_answer=part == WAYS)
    record = subject.record
    block_at_first(subject, record)
    mask_place = slots.view if part == WAYS else slots.controls
    with mask_place:
        kind = choose_kind(record)
    chosen = choose_head(subject, slots, with_colours=part != WAYS, with_roles=False)
    with slots.controls:
        query = choose_query(record)
    mask = choose_mask(kind, record, query, controls_in=mask_place, more_in=slots.view)
    with slots.controls:
        answer = choose_answer(subject)

    changed = masked(mask)
    if changed.n_padding(record.config):
        before = Side(subject, "Without padding")
        unmasked = Side(subject.under(masked(mask, "ignored")), "Padding, not masked")
        after = Side(subject.under(changed), "Padding, masked")
    else:
        before = unmasked = Side(subject, "Without the mask")
        after = Side(subject.under(changed), "With the mask")
    if part == WAYS:
        draw_worked_example(subject, chosen)
        draw_methods(subject, chosen, unmasked.record, after.record, mask, query, answer, slots)
        st.stop()
    is_board = has_board(mask.kind, len(record))
    is_beside = part == STEP_BY_STEP and (is_board or record.unit != "token")
    layout = "beside" if is_beside else "above"
    with st.container(horizontal=True, key="masks_body"):
        target = st.container(
            key=f"masks_target_{layout}",
            width="content" if is_beside or record.unit == "token" else "stretch",
        )
        effect = None if is_beside else st.container(key="masks_effect")
        result = st.container(key=f"masks_result_{layout}")
    with target:
        draw_click_target(subject, chosen, unmasked.record, after.record, mask, query, len(record))
    with effect or result:
        say_answers(slots, before, after, mask, answer)
    with result:
        if part == STEP_BY_STEP:
            role = head_names(subject, chosen.layer, chosen.head).short
            draw_maps(chosen, role, unmasked, after, query, with_pattern=not is_board)
        else:
            draw_consequences(chosen, unmasked.record, after.record, query)
        if unmasked is not before:
            draw_padded_answers(before, unmasked, after, answer)
    st.caption(explained(mask, record))
