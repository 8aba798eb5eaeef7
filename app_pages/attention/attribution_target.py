"""The quantity that is attributed to tokens or patches: log-odds of a class, log P of a masked word, or a cosine similarity with
the pooled state.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.attention_controls import (
    ATTRIBUTION,
    BY_ANSWER,
    COLOURED_BY,
    GRADIENT,
    KNOCKED_OUT,
    SIMILAR_TO,
)
from app_pages.controls.knock_out_choice import NAMES, knock_out_answers
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked
from app_pages.subject.answer import Answer, ClassAnswer, StateAnswer, WordAnswer
from app_pages.subject.subject import LensChoice, LiveSubject
from app_pages.toolkit.markdown import plain
from model.experiments import faithfulness as rule
from model.experiments.attribution import Explained, Similarity, explained_positions, similarity_falls
from model.inputs import Text
from model.record import AttentionRecord

REGISTERS = "the registers"
_LONGEST_NAME = 30  # characters of the other text in a sentence


class Target(NamedTuple):
    """The quantity F that is attributed to tokens or patches, and the words for it in captions."""

    explained: Explained
    name: str  # of F and its unit, in Markdown: "log-odds of “positive”, in nats"
    unit: str  # behind a token's number, as plain text
    gold: str  # what a gold token does, as plain text: "speaks for “positive”"
    purple: str  # what a purple token does


def baseline_clause(record: AttentionRecord, explained: Explained = None) -> str:
    """End of a sentence on the baseline input of integrated gradients, as Markdown: it has no content but that of the named
    tokens, which keep theirs.
    """
    measured = explained_positions(record, explained)
    also_measured = {record.tokens[position] for position in measured}  # another [MASK] than that of the word
    names: dict[str, None] = {}
    for position, token in enumerate(record.tokens):
        if position not in measured:
            name = f"{token} at position {position}" if token in also_measured else token
            names[REGISTERS if record.roles[position] == "register" else name] = None
    if not names:
        return "has no content"
    *others, last = map(plain, names)
    return f"has no content but that of {' and '.join(filter(None, (', '.join(others), last)))}"


def choose_attribution(subject: LiveSubject, answer: Answer) -> None:
    """Draws the choice of the attribution method (knock-out or by gradients) and, if the answer is the pooled state of a text, a
    box for the text to compare with.
    """
    with st.container(key="bar_attribution", width="content"):
        # Who chooses a method wants to see it.
        method = ATTRIBUTION.choose(on_change=COLOURED_BY.take, args=(BY_ANSWER,))
        if method != KNOCKED_OUT and _compares_texts(subject, answer):
            SIMILAR_TO.choose()


def target_of(subject: LiveSubject, through: LensChoice, answer: Answer, method: str) -> Target | None:
    """The quantity to attribute: log P of the masked word, log-odds of the class of the lens (by default the predicted one), or a
    cosine similarity of pooled states.

    Draws a sentence and returns None if `method` cannot attribute that quantity.
    """
    if isinstance(answer, WordAnswer):
        return Target(
            explained=answer.word,
            name=f"{answer.noun}, in nats",
            unit=answer.unit,
            gold=f"speaks for {answer.quoted_answer}",
            purple="against it",
        )
    if isinstance(answer, ClassAnswer):
        number = through.class_number(subject.loaded.config)
        followed = ClassAnswer.of(answer.record, number)
        return Target(
            explained=number,
            name=f"log-odds of “{plain(followed.class_name)}”, in nats",
            unit=followed.unit,
            gold=f"speaks for “{followed.class_name}”",
            purple="against it",
        )
    return _similarity(subject, answer, method)


def say_agreement(
    subject: LiveSubject, checked: Checked, values: np.ndarray, other: Text, method: str
) -> None:
    """Writes the rank correlation between attributions and knock-outs: `values` [position] of the gradient method called `method`,
    against the fall in cosine similarity with the text `other` when each token is hidden.
    """
    sets = [(position,) for position in checked.positions]
    answers = knock_out_answers(subject, sets, checked.kind)
    effects = similarity_falls(
        subject.record.pooled, answers, replace(subject, model_input=other).record.pooled
    )
    effects = rule.rounded_effects(effects, in_nats=False)
    agreement = rule.agreement(values[list(checked.positions)], effects)
    verdict = rule.verdict(agreement, effects)
    line = words.uncertainty_text(verdict) or "no rank correlation, since all are equal."
    st.markdown(
        f"{method.capitalize()}, compared with how far the similarity falls without each {subject.record.unit} "
        f"({NAMES[checked.kind]}): {line}"
    )


def _compares_texts(subject: LiveSubject, answer: Answer) -> bool:
    """Whether the answer is the pooled state of a text, which can be compared with that of another text."""
    return isinstance(answer, StateAnswer) and subject.loaded.config.is_text


def _similarity(subject: LiveSubject, answer: Answer, method: str) -> Target | None:
    """Target for an encoder without classes: cosine similarity with the pooled state of a typed text, else with the input's own.
    Draws a sentence and returns None if the method or the typed text cannot be used.
    """
    text = (SIMILAR_TO.held("") or "").strip() if _compares_texts(subject, answer) else ""
    if not text:
        if method == GRADIENT:
            advice = ": type another text to compare with" if subject.loaded.config.is_text else ""
            st.caption(
                "The similarity with the pooled state itself is largest at the input, so its gradient is 0, and gradient × input "
                f"says nothing{advice}. Integrated gradients are not 0."
            )
            return None
        return Target(
            explained=Similarity(),
            name="cosine similarity of the pooled state with what it is now",
            unit="cosine similarity with the whole",
            gold="brings the pooled state nearer to what it is now",
            purple="takes it away from it",
        )
    other = replace(subject, model_input=Text(text))
    try:
        other.record  # noqa: B018 - read once, so that what is wrong with the text is said here
    except ValueError as error:
        st.caption(plain(f"The text to compare with cannot be read: {error}."))
        return None
    if other.left_out_phrase:
        st.caption(plain(f"Of the text to compare with, not read: {other.left_out_phrase}."))
    shortened = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1].rstrip()}…"
    return Target(
        explained=Similarity(Text(text)),
        name=f"cosine similarity of the pooled state with that of “{plain(shortened)}”",
        unit=f"cosine similarity with “{shortened}”",
        gold=f"makes the text more similar to “{shortened}”",
        purple="less similar",
    )
