"""How similar two texts are beyond neutral reference texts, as a sum over pairs of their input tokens (integrated Jacobians)."""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.compare.similar_pairs import draw_cells, is_view_wanted, pair_name, sums_of_cells
from app_pages.controls.control_bar import Slots
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import progress, until_done
from model.inputs import Input
from model.similarity.integrated_jacobians import STEPS, IntegratedJacobians, integrated_jacobians
from viz.builders.number_format import format_number

_TEXT = "Integrating along the line from the references …"
_LARGE_GAP = 0.01  # or a twentieth of the sum, if that is less
_REFERENCES = {
    "padding": "padding in place of each word",
    "zeros": "zeros in place of the embedding of each word, since the encoder has no padding",
}


def draw_input_tokens(_slots: Slots, first: Side, second: Side) -> None:
    """Draws what each two words add to the cosine beyond the references, as a matrix, and both texts coloured by its row and
    column sums.
    """
    other = second.model_input
    work_key = ("input tokens", first.subject, other)
    n_forwards = STEPS * (len(first.record) + len(second.record))
    if not is_view_wanted(first, second, work_key, n_forwards, f"Integrate in {STEPS} steps"):
        return
    result = as_python.computed(first.subject, integrated_jacobians, as_python.input_expression(other))
    parts_by_token = named("inputs", result, partial(_integrated_jacobians, first.subject, other))
    source = named("by_word", call(parts_by_token.by_word))
    try:
        with until_done(work_key):
            parts: IntegratedJacobians = source()
    except ValueError as error:
        st.info(plain(sentence(error)))
        return
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


@cached
def _integrated_jacobians(subject: LiveSubject, other: Input) -> IntegratedJacobians:
    """The parts of the pairs of input tokens of `subject`'s text and `other`, under a progress bar; cached."""
    with progress(_TEXT, (_TEXT, subject, other)) as step:
        return integrated_jacobians(subject.loaded, subject.model_input, other, progress=step)


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
