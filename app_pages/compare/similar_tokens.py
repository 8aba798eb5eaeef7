"""How similar two texts are beyond neutral reference texts, as a sum over pairs of their input tokens (integrated Jacobians)."""

from functools import partial

import streamlit as st

from app_pages.compare.similar_pairs import draw_cells, is_view_wanted, sums_of_cells
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
    "padding": "that text with padding in place of each word",
    "zeros": "that text with zeros in place of the embedding of each word, since the encoder has no padding",
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
    st.markdown(_sum_sentence(parts))
    st.caption(
        f"Both texts are filled in, in {parts.steps} small steps, from a reference to their words: a cell is how far this pair of words moves "
        f"the two pooled states towards each other (integrated Jacobians, Moeller et al. 2023). A text's reference is "
        f"{_REFERENCES[parts.reference]}; special tokens stay and add nothing. Gold: the pair makes the texts more alike; purple: less."
    )
    draw_cells(
        first,
        second,
        source,
        sums_of_cells(source, parts),
        effect="part beyond the references",
        what="adds beyond the references",
    )


@cached
def _integrated_jacobians(subject: LiveSubject, other: Input) -> IntegratedJacobians:
    """The parts of the pairs of input tokens of `subject`'s text and `other`, under a progress bar; cached."""
    with progress(_TEXT, (_TEXT, subject, other)) as step:
        return integrated_jacobians(subject.loaded, subject.model_input, other, progress=step)


def _sum_sentence(parts: IntegratedJacobians) -> str:
    """Sentence that compares the sum of the cells with the cosines of the texts and their references, to which it should be
    equal.
    """
    total, recorded, *terms = (
        format_number(number, ".4f") for number in (parts.total, parts.recorded, *parts.terms)
    )
    names = ("both texts", "− first as reference", "− second as reference", "+ both as references")
    sides = " ".join(f"{name} {term}" for name, term in zip(names, terms, strict=True))
    gap = format_number(parts.gap, ".1g").replace(" ", "\N{NO-BREAK SPACE}")
    text = f"**The cells add up to {total}.** The encoder's own cosine similarities: {sides} = {recorded} (difference {gap})."
    if parts.gap > min(_LARGE_GAP, max(abs(parts.recorded) / 20, 0.001)):
        text += f" {parts.steps} steps are too few here: take more with `integrated_jacobians(..., steps={4 * parts.steps})`."
    return text
