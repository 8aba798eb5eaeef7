"""How the cosine similarity of two texts changes when a word of the first, a word of the second, or both are hidden."""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.compare.similar_pairs import draw_cells, is_view_wanted, parts_expression
from app_pages.controls.control_bar import Slots
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import progress, until_done
from model.inputs import Input
from model.similarity.hidden_words import HiddenWords, hidden_words
from viz.builders.number_format import format_number

_TEXT = "Hiding one word after the other …"


def draw_hidden_words(_slots: Slots, first: Side, second: Side) -> None:
    """Draws a matrix [word of the first text, word of the second] with the effect of each two words beyond their single effects,
    and both texts coloured by the effect of hiding each word alone.
    """
    work_key = ("hidden words", first.subject, second.model_input)
    n_forwards = len(first.record) + len(second.record)
    if not is_view_wanted(first, second, work_key, n_forwards, "Hide each word in turn"):
        return
    other = second.model_input
    source = as_python.computed(first.subject, hidden_words, as_python.input_expression(other))
    source = source.with_value(partial(_hidden_words, first.subject, other))
    try:
        with until_done(work_key):
            effects: HiddenWords = source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return
    st.markdown(
        f"**Cosine similarity {format_number(effects.recorded, '.4f')}.** {_agreement(first, second, effects)}"
    )
    st.caption(
        "Each word is hidden alone, and each pair together. A cell is the fall of the cosine similarity without the first word, plus that "
        "without the second, minus that without both: what only the pair does. Gold: the pair makes the texts more alike; purple: less; "
        "no colour: each word does its part alone. No token attends to a hidden word, and pooling leaves it out."
    )
    draw_cells(
        first,
        second,
        source,
        (source.falls[0], source.falls[1]),
        by=("what each word does alone",) * 2,
        what="fall of the cosine similarity without it",
        effect="effect of the pair beyond each word",
    )


@cached
def _hidden_words(subject: LiveSubject, other: Input) -> HiddenWords:
    """The effects of hiding the words of `subject`'s text and of `other`, under a progress bar; cached."""
    with progress(_TEXT, (_TEXT, subject, other)) as step:
        return hidden_words(subject.loaded, subject.model_input, other, progress=step)


def _agreement(first: Side, second: Side, effects: HiddenWords) -> str:
    """Sentence with the rank correlation between the pairs' effects and their exact parts of the cosine."""
    parts = parts_expression(first, second.model_input)()
    spearman = effects.spearman(parts)
    number = "is not defined" if np.isnan(spearman) else format_number(spearman, ".2f")
    return f"Agreement of the cells with the pairs of {plain(parts.divided)}: Spearman {number} (n = {effects.values.size:,} pairs)."
