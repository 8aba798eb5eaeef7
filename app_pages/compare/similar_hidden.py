"""How the cosine similarity of two texts changes when a word of the first, a word of the second, or both are hidden."""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.compare.similar_pairs import draw_cells, is_view_wanted, pair_name, parts_expression
from app_pages.controls.control_bar import Slots
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import progress, until_done
from model.inputs import Input
from model.similarity.hidden_words import HiddenWords, hidden_words
from viz.builders.number_format import digits_that_add_up, fall_in_words, format_number

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
    st.markdown(_worked_example(effects))
    st.caption(
        "Gold: as a pair the two words make the texts more alike; purple: less alike; no colour: each does its part alone. Beside: the part "
        "of each word alone.",
        help="Each word is hidden alone, and each pair together: no token attends to a hidden word, and pooling leaves it out. "
        + _agreement(first, second, effects),
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


def _worked_example(effects: HiddenWords) -> str:
    """The question of the view, and how the cell with the largest effect is computed."""
    row, column = np.unravel_index(np.abs(effects.values).argmax(), effects.values.shape)
    first, second, cell = (
        float(number)
        for number in (effects.falls[0][row], effects.falls[1][column], effects.values[row, column])
    )
    both = first + second - cell
    names = pair_name(effects.a, effects.b, (row, column)).split(" × ")
    digits = digits_that_add_up(((first, second, -both), cell))
    spec = f".{digits}f"
    one, two, together, pair = (format_number(number, spec) for number in (first, second, both, cell))
    without = [fall_in_words(fall, spec) for fall in (first, second, both)]
    return (
        f"**Do two words make the texts alike as a pair?** Without {names[0]} the cosine similarity {format_number(effects.recorded, '.4f')} "
        f"{without[0]}, without {names[1]} it {without[1]}, without both it {without[2]}: the pair does {one} + {two} − {together} = **{pair}**."
    )


def _agreement(first: Side, second: Side, effects: HiddenWords) -> str:
    """Sentence with the rank correlation between the pairs' effects and their exact parts of the cosine."""
    parts = parts_expression(first, second.model_input)()
    spearman = effects.spearman(parts)
    number = "is not defined" if np.isnan(spearman) else format_number(spearman, ".2f")
    return f"Agreement of the cells with the pairs of {plain(parts.divided)}: Spearman {number} (n = {effects.values.size:,} pairs)."
