"""The consequence that stands above everything: the answer before and after, and a sentence about it."""

from html import escape

import numpy as np
import streamlit as st

from app_pages.masks.results import Results
from app_pages.masks.words import in_words
from app_pages.widgets.prediction import prediction
from model.intervention import MaskChoice
from viz.numbers import written


def answers(found: Results, choice: MaskChoice, label: int | None) -> None:
    """The sentence, and predictions side by side; for a padded text also the one that ignores its mask."""
    st.html(
        f'<p style="font-size: 1.25rem; margin: 0">{escape(in_words(choice, found.before, found.after))}</p>'
    )
    shown = {"Without the mask": found.before, "With the mask": found.after}
    if found.has_padding:
        titles = ("Without padding", "Padding, masked", "Padding, not masked")
        shown = dict(zip(titles, (found.before, found.after, found.unmasked), strict=True))
    with st.container(horizontal=True, gap="medium"):
        for number, (title, record) in enumerate(shown.items()):
            with st.container(key=f"side_answer_{number}"):
                prediction(record, label, title=title, key=f"masks_probabilities_{number}")
    if found.has_padding:
        st.caption(
            f"Largest difference of a logit from the text without padding: {written(_deviation(found, masked=True), '.2g')} "
            f"where the padding is masked, {written(_deviation(found, masked=False), '.2g')} where it is not."
        )


def _deviation(found: Results, *, masked: bool) -> float:
    padded = found.after if masked else found.unmasked
    return float(np.abs(padded.logits - found.before.logits).max())
