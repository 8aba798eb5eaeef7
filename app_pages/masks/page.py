"""Masks: forbid queries their keys, and watch the chosen head, every head and the answer change."""

import streamlit as st

from app_pages.controls.head_choice import choose_head, choose_query
from app_pages.controls.masks_controls import PART, STEP_BY_STEP, WAYS, WHAT_FOLLOWS
from app_pages.inputs.row import choose_input
from app_pages.masks.choose_mask import block_at_first, choose_kind, choose_mask
from app_pages.masks.click_target import click_target
from app_pages.masks.consequences import consequences
from app_pages.masks.description import explained
from app_pages.masks.maps import maps
from app_pages.masks.masked_answers import say_answers
from app_pages.masks.methods import methods
from app_pages.masks.worked_example import worked_example
from app_pages.subject import state
from app_pages.subject.two_sides import side_of
from model.capture.intervention import masked

part = PART.choose()
selected = choose_input()
record = state.record(selected.checkpoint, selected.given)
block_at_first(selected, record)
with selected.controls:
    kind = choose_kind(record)
chosen = choose_head(selected)
with chosen.controls:
    query = choose_query(record)
mask = choose_mask(kind, chosen, record, query)

changed = masked(mask)
if changed.n_padding(record.config):
    before = side_of(chosen, "Without padding")
    unmasked = side_of(chosen, "Padding, not masked", masked(mask, "ignored"))
    after = side_of(chosen, "Padding, masked", changed)
else:
    before = unmasked = side_of(chosen, "Without the mask")
    after = side_of(chosen, "With the mask", changed)
say_answers(chosen, before, unmasked, after, mask)
click_target(chosen, unmasked.record, after.record, mask, query, len(record))
st.caption(explained(mask, record))

if part == STEP_BY_STEP:
    maps(chosen, unmasked, after, query)
elif part == WHAT_FOLLOWS:
    consequences(chosen, unmasked.record, after.record, query)
elif part == WAYS:
    methods(chosen, unmasked.record, after.record, mask, query)
else:
    worked_example(chosen)
