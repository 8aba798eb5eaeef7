"""Which words make two texts alike: the effects of hiding them, and their parts of the similarity beyond blank texts (integrated
Jacobians).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app_pages.compare.similar_pairs import (
    draw_cells,
    is_view_wanted,
    pair_name,
    parts_expression,
    sums_of_cells,
)
from app_pages.controls.control_bar import Slots
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import progress, until_done
from model.inputs import Input
from model.similarity.hidden_words import HiddenWords, hidden_words
from model.similarity.integrated_jacobians import STEPS, IntegratedJacobians, integrated_jacobians
from viz.builders.number_format import digits_that_add_up, fall_in_words, format_number

_LARGE_GAP = 0.01  # or a twentieth of the sum, if that is less
_REFERENCES = {
    "padding": "padding in place of each word",
    "zeros": "zeros in place of the embedding of each word, since the encoder has no padding",
}


def draw_hidden_words(_slots: Slots, first: Side, second: Side) -> None:
    """Draws a matrix [word of the first text, word of the second] with the effect of each two words beyond their single effects,
    and both texts coloured by the effect of hiding each word alone.
    """
    n_forwards = len(first.record) + len(second.record)
    label, text = "Hide each word in turn", "Hiding one word after the other …"
    source = _result_if_wanted(first, second, hidden_words, n_forwards, label, text)
    if source is None:
        return
    effects: HiddenWords = source()
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


def draw_input_tokens(_slots: Slots, first: Side, second: Side) -> None:
    """Draws what each two words add to the cosine beyond the references, as a matrix, and both texts coloured by its row and
    column sums.
    """
    n_forwards = STEPS * (len(first.record) + len(second.record))
    label, text = f"Integrate in {STEPS} steps", "Integrating along the line from the references …"
    by_token = _result_if_wanted(first, second, integrated_jacobians, n_forwards, label, text)
    if by_token is None:
        return
    source = named("by_word", call(named("inputs", by_token).by_word))
    parts: IntegratedJacobians = source()
    cell = np.unravel_index(np.abs(parts.values).argmax(), parts.values.shape)
    st.markdown(
        f"**Which pairs of words make the texts more alike than blank texts?** {pair_name(parts.a, parts.b, cell)} adds "
        f"{format_number(float(parts.values[cell]), '+.4f')} of **{format_number(parts.total, '.4f')}**, the sum of all cells."
    )
    st.caption(
        f"Blank: {_REFERENCES[parts.reference]}. From there each text is filled in with its words, in {parts.steps} small steps. Gold: the pair "
        "moves the texts' vectors together; purple: apart.",
        help=_sum_sentence(parts),
    )
    draw_cells(
        first,
        second,
        source,
        sums_of_cells(source, parts),
        effect="part beyond blank texts",
        what="adds beyond blank texts",
    )


def _result_if_wanted(
    first: Side,
    second: Side,
    function: Callable[..., Any],
    n_forwards: int,
    label: str,
    text: str,
) -> Expression | None:
    """The result of `function(encoder, first text, second text)`, which takes about `n_forwards` forward passes, as an
    expression. None as long as a button with this `label` is not pressed, or after a sentence if the texts cannot be compared.

    `text` stands above the progress bar.
    """
    other = second.model_input
    work_key = (text, first.subject, other)
    if not is_view_wanted(first, second, work_key, n_forwards, label):
        return None
    result = as_python.computed(first.subject, function, as_python.input_expression(other))
    source = result.with_value(partial(_computed, function, first.subject, other, text))
    try:
        with until_done(work_key):
            source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return None
    return source


@cached
def _computed(function: Callable[..., Any], subject: LiveSubject, other: Input, text: str) -> Any:
    """The result of `function` for the subject's text and `other`, computed under a progress bar with this `text`."""
    with progress(text, (text, subject, other)) as step:
        return function(subject.loaded, subject.model_input, other, progress=step)


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


def _sum_sentence(parts: IntegratedJacobians) -> str:
    """Text that compares the sum of the cells with the cosines of the texts and their references, to which it should be equal."""
    recorded, *terms = (format_number(number, ".4f") for number in (parts.recorded, *parts.terms))
    names = ("both texts", "− first blank", "− second blank", "+ both blank")
    sides = " ".join(f"{name} {term}" for name, term in zip(names, terms, strict=True))
    gap = format_number(parts.gap, ".1g").replace(" ", "\N{NO-BREAK SPACE}")
    text = (
        f"The encoder's own cosine similarities give the same sum: {sides} = {recorded} (difference {gap}). Special tokens stay, and add "
        "nothing. These are integrated Jacobians (Moeller et al. 2023)."
    )
    if parts.gap > min(_LARGE_GAP, max(abs(parts.recorded) / 20, 0.001)):
        text += f" {parts.steps} steps are too few here: take more with `integrated_jacobians(..., steps={4 * parts.steps})`."
    return text
