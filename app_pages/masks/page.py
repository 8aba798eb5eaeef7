"""Masks: forbid queries their keys, and watch the chosen head, every head and the answer change."""

import streamlit as st

from app_pages.controls.control_bar import parts
from app_pages.controls.head_choice import choose_head, choose_query
from app_pages.inputs.row import choose_input
from app_pages.masks.consequences import consequences
from app_pages.masks.controls import choose_kind, choose_mask, open_masked
from app_pages.masks.description import NOTHING, explained, without_or_with
from app_pages.masks.maps import maps
from app_pages.masks.methods import methods
from app_pages.masks.target import click_target
from app_pages.masks.worked_example import worked_example
from app_pages.show.prediction import prediction
from app_pages.subject import state
from app_pages.subject.two_sides import Side, predictions, share, side_of, tell, verdict
from model.capture.intervention import MaskChoice, masked
from model.measures.attended_kinds import depends_on_input
from model.measures.changes import change, largest_change
from viz.builders.number_format import written


def answers(before: Side, unmasked: Side, after: Side, choice: MaskChoice) -> None:
    """The verdict, and the predictions; for a padded text also the one that ignores its mask."""
    what = without_or_with(choice, before.record)
    said = verdict(what, before.record, after.record)
    if what == NOTHING:
        said = "Nothing is masked" + (
            f": the encoder says {before.said} ({share(before.record.probabilities.max())})."
            if before.said
            else "."
        )
    elif not depends_on_input(after.record):
        said = of_no_input(what, after)
    tell(said, "1.1rem")
    if unmasked is before:
        with selected.answer:
            if after.record.has_classes:
                prediction(after.record, after.label)
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


def of_no_input(what: str, after: Side) -> str:
    """The answer where nothing but the class token reaches it."""
    inputs = "text" if after.is_text else "digit"
    said = f"{what}, the answer no longer depends on the {inputs}: nothing else reaches the class token"
    if not after.record.has_classes:
        return f"{said}."
    return f"{said}, so it is {after.said} ({share(after.record.probabilities.max())}) for every {inputs}."


PARTS = {
    "Step by step": lambda: maps(chosen, unmasked, after, query),
    "What follows": lambda: consequences(chosen, unmasked.record, after.record, query),
    "Ways of masking": lambda: methods(chosen, unmasked.record, after.record, mask, query),
    "4 × 4 by hand": lambda: worked_example(chosen),
}
part = parts(PARTS, key="masks_part")
selected = choose_input()
record = state.record(selected.checkpoint, selected.given)
open_masked(selected, record)
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
answers(before, unmasked, after, mask)
click_target(chosen, unmasked.record, after.record, mask, query, len(record))
st.caption(explained(mask, record))

PARTS[part]()
