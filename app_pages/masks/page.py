"""Masks: forbid queries their keys, and watch the chosen head, every head and the answer change."""

import streamlit as st

from app_pages import address, state
from app_pages.masks.consequences import consequences
from app_pages.masks.controls import choose_kind, choose_mask
from app_pages.masks.description import explained, without_or_with
from app_pages.masks.maps import maps
from app_pages.masks.methods import methods
from app_pages.masks.target import click_target, has_board
from app_pages.masks.worked_example import worked_example
from app_pages.widgets.contrast import Side, predictions, side_of, tell, verdict
from app_pages.widgets.head_choice import choose_head, choose_query
from model.intervention import MaskChoice, masked
from model.measures.changes import change, largest_change
from viz.numbers import written


def answers(before: Side, unmasked: Side, after: Side, choice: MaskChoice) -> None:
    """The verdict, and the predictions; for a padded text also the one that ignores its mask."""
    tell(verdict(without_or_with(choice, before.record), before.record, after.record), "1.25rem")
    if unmasked is before:
        predictions(before, after, key="masks_probabilities")
        return
    predictions(before, after, unmasked, key="masks_probabilities")
    if before.record.has_classes:
        what = "Largest difference of a logit"
        apart = [largest_change(before.record.logits, side.record.logits) for side in (after, unmasked)]
    else:
        what = "Cosine distance of the pooled state"
        apart = [change(before.record, side.record).value for side in (after, unmasked)]
    is_masked, is_not = (written(each, ".2g") for each in apart)
    st.caption(
        f"{what} from the text without padding: {is_masked} where the padding is masked, {is_not} where it is not."
    )


chosen = choose_head(state.selection())
record = state.record(chosen.checkpoint, chosen.given)

with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = choose_kind()
    query = choose_query(record)
beside = record.unit == "patch" or has_board(kind, len(record))  # a text alone takes the whole width
with st.container(horizontal=True, gap="medium") if beside else st.container():
    place = st.container(width="content") if beside else None
    with st.container(key="side_mask") if beside else st.container():
        mask = choose_mask(kind, record, query)
        st.caption(explained(mask, record))

changed = masked(mask)
if changed.n_padding(record.config):
    before = side_of(chosen, "Without padding")
    unmasked = side_of(chosen, "Padding, not masked", masked(mask, "ignored"))
    after = side_of(chosen, "Padding, masked", changed)
else:
    before = unmasked = side_of(chosen, "Without the mask")
    after = side_of(chosen, "With the mask", changed)
with chosen.top:
    answers(before, unmasked, after, mask)
with place or st.container():
    click_target(chosen, unmasked.record, after.record, mask, query, len(record))

PARTS = {
    "Step by step": lambda: maps(chosen, unmasked, after, query),
    "What follows": lambda: consequences(chosen, unmasked.record, after.record, query),
    "Ways of masking": lambda: methods(chosen, unmasked.record, after.record, mask, query),
    "4 × 4 by hand": lambda: worked_example(chosen),
}
PARTS[address.row("Show", PARTS, key="masks_part", label_visibility="collapsed")]()
