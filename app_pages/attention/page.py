"""Attention: every head on one input, and the chosen one in detail."""

import streamlit as st

from app_pages.attention.as_words import choose_view
from app_pages.attention.detail import picture_detail, text_detail
from app_pages.attention.download import downloads
from app_pages.attention.head_summary import say_what_it_looks_at
from app_pages.attention.masked_tokens import masked_tokens
from app_pages.attention.token_answers import token_answers
from app_pages.attention.try_links import try_links
from app_pages.controls.attention_controls import HEAD, MATRIX, OVER_HEADS, VIEW
from app_pages.controls.head_choice import choose_head, choose_query, overview_of
from app_pages.controls.knock_out import choose_kind
from app_pages.controls.lens import about_lens, choose_lens, number_beside
from app_pages.inputs.row import choose_input
from app_pages.show.faithfulness.line import faithfulness
from app_pages.show.measures_note import measures_note
from app_pages.show.prediction import prediction
from app_pages.subject import state
from model.measures.head_measures import over_heads
from model.record import ForwardRecord

chosen = choose_input(records=True)
if isinstance(chosen.record, ForwardRecord):
    with chosen.answer:
        label = chosen.label
        if label is None and chosen.opened is None:
            label = state.correct_class(chosen.checkpoint, chosen.given)
        prediction(chosen.record, label)
through = choose_lens(chosen)
chosen = choose_head(chosen, stepped=True, with_roles=False, lens=through.lens)
layer, head = chosen.layer, chosen.head
part = HEAD
with chosen.view:
    if through.lens.has_heads:
        part = OVER_HEADS.choose()
    kind = None if chosen.opened else choose_kind(chosen.checkpoint)
shown = through.shown(chosen)  # of the layer and head, or of the layer where the lens has no heads
seen = choose_view(chosen, through)
record = seen.record
with chosen.controls:
    query = choose_query(record)
    view = VIEW.choose() if record.unit == "token" else MATRIX
if chosen.opened is None:
    try_links(chosen)
    masked_tokens(chosen)
    token_answers(chosen.record)
about_lens(chosen, through.lens)

with st.container(horizontal=True, gap="medium"):
    with st.container(key="maps"):
        look = {"selected": (layer, head), "scale": chosen.scale, "notes": seen.notes, "lens": through.lens}
        overview_of(record, seen.measures, key="overview", **look)
        measures_note(record.units, seen.measures, through.lens)
        downloads(chosen, seen, query)
    with st.container(key="detail"):
        if part == HEAD:
            pattern = record.pattern[layer, head]
            say_what_it_looks_at(chosen, shown, number_beside(through, chosen))
        else:
            pattern = over_heads(record.pattern[layer], part)
            st.markdown(f"**L{layer}, {part} over its heads**")
        scale = chosen.weights_to("this map's own maximum", pattern)
        whole = shown.pattern[layer, head] if part == HEAD else over_heads(shown.pattern[layer], part)
        which = (layer, head) if part == HEAD else None
        if (why := through.why_unchecked(chosen.record)) is None:
            name = through.lens.name
            faithfulness(chosen, whole, kind, lens=name, head=which, query=record.number(query))
        else:
            st.caption(why)
        look = {"query": query, "scale": scale, "notes": seen.notes_on(pattern)}
        if record.unit == "token":
            text_detail(chosen, record, pattern, view=view, **look)
        else:
            picture_detail(chosen, record, pattern, **look)
