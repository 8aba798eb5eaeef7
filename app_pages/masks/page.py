"""Masks: forbid queries their keys, and watch the chosen head, every head and the answer change."""

import streamlit as st

from app_pages import address, state
from app_pages.masks.answers import answers
from app_pages.masks.consequences import consequences
from app_pages.masks.controls import choose_kind, choose_mask
from app_pages.masks.maps import maps
from app_pages.masks.results import results
from app_pages.masks.target import click_target, has_board
from app_pages.masks.ways import ways
from app_pages.masks.words import explained
from app_pages.masks.worked_example import worked_example
from app_pages.widgets.head_choice import choose_head, choose_query
from app_pages.widgets.prediction import NO_CLASSES

MAPS, CONSEQUENCES, WAYS, EXAMPLE = "Step by step", "What follows", "Ways of masking", "4 × 4 by hand"

chosen = choose_head(state.selection())
record = state.record(chosen.checkpoint, chosen.given)
is_text = record.patch_grid is None
if not record.has_classes:
    st.info(NO_CLASSES)
    st.stop()

with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = choose_kind()
    query = choose_query(record)
beside = not is_text or has_board(kind, len(record.tokens))  # a text alone takes the whole width
with st.container(horizontal=True, gap="medium") if beside else st.container():
    place = st.container(width="content") if beside else None
    with st.container(key="side_mask") if beside else st.container():
        mask = choose_mask(kind, record, query)
        st.caption(explained(mask, record))
found = results(chosen.checkpoint, chosen.given, mask)
with chosen.top:
    answers(found, mask, chosen.label)
with place or st.container():
    click_target(chosen, found, mask, query)

part = address.row(
    "Show", (MAPS, CONSEQUENCES, WAYS, EXAMPLE), key="masks_part", label_visibility="collapsed"
)
if part == MAPS:
    maps(chosen, found, query)
elif part == CONSEQUENCES:
    consequences(chosen, found, query)
elif part == WAYS:
    ways(chosen, found, mask, query)
else:
    worked_example(chosen)
