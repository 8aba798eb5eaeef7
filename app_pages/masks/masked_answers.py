"""The effect of a mask on the answer: a sentence, and the predictions."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.masks.mask_sentences import NOTHING, has_own_mask, without_or_with
from app_pages.show.prediction import before_and_after
from app_pages.show.side_predictions import predictions, tell
from app_pages.subject.answer import Answer, whole_answer
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import plain
from model.capture.intervention import MaskChoice
from model.measures.head_statistics import can_depend_on_input
from viz.builders.number_format import format_number


def say_answers(slots: Slots, before: Side, after: Side, choice: MaskChoice, answer: Answer) -> None:
    """Writes the effect on the chosen `answer`, and draws the predictions before and after into the input row.

    `before` is the plain input, `after` is under the mask.
    """
    mask = without_or_with(choice, before.record)
    if mask == NOTHING:
        own = " besides what the encoder masks itself" if has_own_mask(before.record) else ""
        clause = answer.value_clause and f": {answer.value_clause}"
        sentence = f"Nothing is masked{own}{clause}."
    elif answer.word or can_depend_on_input(after.record):
        sentence = answer.change_sentence(mask, after.subject)
    else:
        sentence = _independent_sentence(mask, after)
    tell(sentence, is_headline=True)
    if after.record.has_classes:
        with slots.answer:
            before_and_after(before.record, after.record, after.subject.label)


def draw_padded_answers(before: Side, unmasked: Side, after: Side, answer: Answer) -> None:
    """Draws the predictions for a text without padding, with masked padding, and with padding that is not masked."""
    predictions(before, after, unmasked, key="masks_probabilities")
    masked_change, unmasked_change = (
        format_number(answer.change_to(side.subject), "+.2g" if answer.signed else ".2g")
        for side in (after, unmasked)
    )
    change = plain(answer.change)
    st.caption(
        f"{change[0].upper()}{change[1:]}, from the text without padding: {masked_change} where the padding is masked, {unmasked_change} where it is not."
    )


def _independent_sentence(mask: str, after: Side) -> str:
    """Sentence for a mask under which only the class token reaches the answer."""
    unit = "text" if after.is_text else "digit"
    clause = whole_answer(after.record).value_clause
    so = clause and f", so {clause} for every {unit}"
    return f"{mask}, the answer no longer depends on the {unit}: nothing else reaches the class token{so}."
