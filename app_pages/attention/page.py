"""Attention: every head on one input, and the chosen one in detail."""

from typing import Literal

import streamlit as st

from app_pages.attention.detail import draw_map_detail
from app_pages.attention.head_summary import say_what_it_attends_to
from app_pages.attention.record_view import choose_view
from app_pages.attention.save_buttons import save_buttons
from app_pages.attention.token_predictions import draw_masked_token_guesses, draw_token_classes
from app_pages.attention.try_links import try_links
from app_pages.controls.attention_controls import HEAD, MATRIX, MEAN, OVER_HEADS, VIEW
from app_pages.controls.head_choice import choose_head, choose_query
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.controls.lens import about_lens, choose_lens, number_beside
from app_pages.inputs.row import choose_input_or_record
from app_pages.show.all_heads import overview_of
from app_pages.show.faithfulness.line import faithfulness
from app_pages.show.measures_note import measures_note
from app_pages.show.prediction import prediction
from app_pages.subject.shipped_inputs import correct_class
from app_pages.subject.subject import LiveSubject
from model.measures.head_measures import combine_heads
from model.record import ForwardRecord

subject, slots = choose_input_or_record()
if isinstance(subject.record, ForwardRecord):
    with slots.answer:
        label = subject.label
        if label is None and isinstance(subject, LiveSubject):
            label = correct_class(subject)
        prediction(subject.record, label)
through = choose_lens(subject, slots)
chosen = choose_head(subject, slots, stepped=True, with_roles=False, lens=through.lens)
head = (chosen.layer, chosen.head)
part, kind = HEAD, None
with slots.view:
    if through.lens.has_heads:
        part = OVER_HEADS.choose()
    if isinstance(subject, LiveSubject):
        kind = choose_kind(subject)
shown = choose_view(subject, slots, through)
with slots.controls:
    query = choose_query(shown.record)
    form = VIEW.choose() if shown.record.unit == "token" else MATRIX
if isinstance(subject, LiveSubject):
    try_links(subject)
    draw_masked_token_guesses(subject)
    draw_token_classes(subject.record)
about_lens(subject, through.lens)

with st.container(horizontal=True, gap="medium"):
    with st.container(key="maps"):
        overview_of(
            shown.record,
            shown.measures,
            selected=head,
            scale=chosen.scale,
            key="overview",
            notes=shown.notes,
            lens=through.lens,
        )
        measures_note(shown.record.units, shown.measures, through.lens)
        save_buttons(subject, chosen, shown, query)
    with st.container(key="detail"):
        maps = subject.through(through)
        if part == HEAD:
            pattern, whole = shown.record.pattern[head], maps.pattern[head]
            say_what_it_attends_to(subject, chosen, maps, number_beside(subject, chosen))
        else:
            how: Literal["mean", "maximum"] = "mean" if part == MEAN else "maximum"
            pattern, whole = (
                combine_heads(record.pattern[chosen.layer], how) for record in (shown.record, maps)
            )
            st.markdown(f"**L{chosen.layer}, {part} over its heads**")
        if (why := through.why_unchecked(subject.record)) is None:
            faithfulness(
                subject,
                whole,
                kind,
                lens=through.lens.name,
                head=head if part == HEAD else None,
                query=shown.record.number(query),
            )
        else:
            st.caption(why)
        draw_map_detail(subject, chosen, shown, pattern, query, form)
