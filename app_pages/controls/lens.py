"""The lens of a page's maps: the control that chooses it, and its description."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.map_controls import LENS, LENS_CLASS, PREDICTED
from app_pages.subject.cache import cached
from app_pages.subject.subject import FileSubject, LensChoice, LiveSubject, Subject
from model.config import ModelConfig
from model.lenses import ATTENTION, LENSES, NORM_WEIGHTED, RELEVANCE, WITH_RESIDUAL, Lens
from model.lenses.norms import mixing_ratio, summed_norms_by_head, unpadded_positions


class AttentionFormula(NamedTuple):
    """The formula of attention weights or scores, and what its further symbols mean."""

    tex: str
    meanings: str  # sentences; "" where there are no symbols beside those of the paper


def divisor_tex(config: ModelConfig) -> str:
    """LaTeX for the square root that divides the dot products, in this encoder's symbols; "" if they are not divided."""
    if not config.family.parts.scaled:
        return ""
    return r"\sqrt{d_k}" if config.n_score_maps == 1 else rf"\sqrt{{{config.n_score_maps} \, d_k}}"


def attention_formula(config: ModelConfig) -> AttentionFormula:
    """Formula of this encoder's attention weights, with its divisor, rotations, biases and relative-position terms."""
    score, meanings = score_formula(config)
    return AttentionFormula(rf"A_{{ij}} = \mathrm{{softmax}}_j\left({score}\right)", meanings)


def score_formula(config: ModelConfig) -> AttentionFormula:
    """Formula of this encoder's attention scores, before mask and softmax."""
    parts, meanings = config.family.parts, []
    score = r"q_i \cdot k_j"
    if parts.rotary is not None:
        score = r"\tilde q_i \cdot \tilde k_j"
        meanings.append("q̃ and k̃ are rotated by their positions.")
    if parts.disentangled is not None:
        terms = [
            term
            for term, is_there in (
                (r"q_i \cdot k^{\mathrm{r}}_{\delta}", parts.disentangled.content_to_position),
                (r"q^{\mathrm{r}}_{\delta} \cdot k_j", parts.disentangled.position_to_content),
            )
            if is_there
        ]
        score = " + ".join((score, *terms))
        meanings.append("qʳ and kʳ are vectors of the relative position δ.")
        score = rf"({score})" if terms else score
    if divisor := divisor_tex(config):
        score += f" / {divisor}"
    if config.has_distance_bias:
        score += " + B_{ij}"
        meanings.append("B is a learned bias that depends only on where the key stands from the query.")
    return AttentionFormula(score, " ".join(meanings))


_NEED_ENCODER = (
    "The other lenses need the encoder and its input, which a record does not contain: choose Text or Digit."
)


def choose_lens(subject: Subject, slots: Slots, *other_subjects: LiveSubject) -> LensChoice:
    """Draws the control of the lens in the page's bar and returns the choice, which also applies to `other_subjects` on the
    page.
    """
    if len(subject.lenses) == 1:
        return LensChoice()  # nothing but the weights can be shown
    with slots.controls:
        lens = LENSES[LENS.choose(subject.lenses, width=250)]
        if lens.name != RELEVANCE:
            return LensChoice(lens=lens)
        encoders = [other for other in (subject, *other_subjects) if isinstance(other, LiveSubject)]
        names, *rest = (encoder.loaded.config.class_names for encoder in encoders)
        if not names or any(class_names != names for class_names in rest):
            return LensChoice(lens=lens)
        name = LENS_CLASS.choose((PREDICTED, *names))
        return LensChoice(lens=lens, class_name=None if name == PREDICTED else name)


def draw_lens_description(subject: Subject, lens: Lens) -> None:
    """Draws the lens's formula, meaning and source, and its limits as a tooltip."""
    formula, meanings = lens.formula, ""
    if lens.name == ATTENTION and isinstance(subject, LiveSubject):
        formula, meanings = attention_formula(subject.loaded.config)
    sentences = f"${formula}$ :gray[{lens.says} ({lens.source}).{' ' * bool(meanings)}{meanings}]"
    if isinstance(subject, FileSubject):
        sentences += f" :gray[{_NEED_ENCODER}]"
    elif lens.name == RELEVANCE and not subject.loaded.config.n_classes:
        sentences += " :gray[Without classes, the gradient is of $p \\cdot p$ with one $p$ held fixed, $p$ the pooled state.]"
    caution = lens.caution if lens.has_heads else f"{lens.caution} One map for all heads of a layer."
    with st.container(key="about_lens"):
        st.markdown(sentences, help=caution)


def number_sentence_for(subject: Subject, chosen: HeadChoice) -> str:
    """Sentence with a number that describes the chosen map but cannot be read from it; "" if the lens has none."""
    if isinstance(subject, FileSubject):
        return ""
    if chosen.lens.name == NORM_WEIGHTED:
        lengths = _summed_norms(subject)[chosen.layer]
        return (
            f"Before each row is divided by its sum, these sums are {lengths[chosen.head]:.3g}; "
            f"{lengths.max():.3g} in the head of this layer that adds most."
        )
    if chosen.lens.name == WITH_RESIDUAL:
        from_others = _mixing_ratio(subject)[chosen.layer][unpadded_positions(subject.record)].mean()
        return f"Mixing ratio {from_others:.3f}: so much of the new state comes from other tokens, the rest from the token itself."
    return ""


@cached
def _summed_norms(subject: LiveSubject) -> np.ndarray:
    return summed_norms_by_head(subject.loaded.model, subject.record)


@cached
def _mixing_ratio(subject: LiveSubject) -> np.ndarray:
    return mixing_ratio(subject.loaded.model, subject.record)
