"""The effect of a mask on the answer: a sentence, and the predictions."""

import streamlit as st

from app_pages.controls.answer_choice import Answer
from app_pages.controls.control_bar import Slots
from app_pages.masks.mask_sentences import NOTHING, has_own_mask, without_or_with
from app_pages.show.prediction import before_and_after
from app_pages.show.side_predictions import predictions, tell
from app_pages.subject.two_sides import Side, verdict
from app_pages.toolkit.markdown import plain
from model.capture.intervention import MaskChoice
from model.measures.attended_kinds import can_depend_on_input
from model.measures.changes import largest_change, prediction_change
from viz.builders.number_format import format_number, percent, share_of


def say_answers(slots: Slots, before: Side, after: Side, choice: MaskChoice, answer: Answer) -> None:
    """Writes the effect on the chosen `answer`, and draws the predictions before and after into the input row.

    `before` is the plain input, `after` is under the mask.
    """
    mask = without_or_with(choice, before.record)
    if mask == NOTHING:
        nothing = f"Nothing is masked{' besides what the encoder masks itself' if has_own_mask(before.record) else ''}"
        sentence = f"{nothing}."
        if answer.is_masked_word:
            sentence = f"{nothing}: {answer.value_sentence(before.subject)}."
        elif before.predicted:
            predicted = f"{before.predicted} ({_predicted_share(before)})"
            sentence = f"{nothing}: the encoder says {predicted}."
    elif answer.is_masked_word:
        sentence = answer.change_sentence(mask, before.subject, after.subject)
    elif can_depend_on_input(after.record):
        sentence = verdict(mask, before.record, after.record)
    else:
        sentence = _independent_sentence(mask, after)
    tell(sentence, is_headline=True)
    if after.record.has_classes:
        with slots.answer:
            before_and_after(before.record, after.record, after.subject.label)


def draw_padded_answers(before: Side, unmasked: Side, after: Side, answer: Answer) -> None:
    """Draws the predictions for a text without padding, with masked padding, and with padding that is not masked."""
    predictions(before, after, unmasked, key="masks_probabilities")
    if answer.is_masked_word:
        quantity = f"Difference of log P({plain(answer.name)}) in nats"
        changes = [
            abs(answer.log_probability(side.subject) - answer.log_probability(before.subject))
            for side in (after, unmasked)
        ]
    elif before.record.has_classes:
        quantity = "Largest difference of a logit"
        changes = [largest_change(before.record.logits, side.record.logits) for side in (after, unmasked)]
    else:
        quantity = "Cosine distance of the pooled state"
        changes = [prediction_change(before.record, side.record).value for side in (after, unmasked)]
    masked_change, unmasked_change = (format_number(value, ".2g") for value in changes)
    st.caption(
        f"{quantity} from the text without padding: {masked_change} where the padding is masked, {unmasked_change} where it is not."
    )


def _predicted_share(side: Side) -> str:
    probabilities = side.record.probabilities
    return percent(share_of(probabilities, int(probabilities.argmax())), 2)


def _independent_sentence(mask: str, after: Side) -> str:
    """Sentence for a mask under which only the class token reaches the answer."""
    unit = "text" if after.is_text else "digit"
    sentence = f"{mask}, the answer no longer depends on the {unit}: nothing else reaches the class token"
    if not after.record.has_classes:
        return f"{sentence}."
    return f"{sentence}, so it is {after.predicted} ({_predicted_share(after)}) for every {unit}."
