"""Activation patching: the answer when one head's activations, one feed-forward's output, or one position's state is replaced by
that of another input.
"""

import operator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.control_bar import Slots
from app_pages.controls.estimated_work import is_wanted
from app_pages.controls.head_choice import HeadChoice, choose_query, take_query
from app_pages.controls.heads_controls import (
    CHANGE,
    EFFECT,
    PAIRS_OF_FILE,
    PATCHED,
    PATCHED_PAIRS,
    SECOND_DIGIT,
    SECOND_PICTURE,
    SECOND_TEXT,
    SHARE,
)
from app_pages.heads import effects
from app_pages.heads.patch_effect import PARTS, Columns, Quantity, quantity
from app_pages.heads.patch_over_pairs import draw_patching_over_pairs
from app_pages.inputs.picture_input import second_picture
from app_pages.inputs.text_input import one_word_changed
from app_pages.show.show import clickable
from app_pages.show.side_predictions import beside, predictions, tell
from app_pages.subject import as_python, encoders
from app_pages.subject.answer import Answer, ClassAnswer, WordAnswer
from app_pages.subject.cache import of
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, similarity_sentence
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain
from app_pages.toolkit.stoppable import until_done
from model.experiments.patching import Pairs, pair_positions, patch_positions
from model.experiments.patching_over_pairs import is_too_small, shares_of_the_way
from model.experiments.probabilities import UNCHANGED, probabilities
from model.inputs import Input, Text
from model.measures.changes import log_odds
from model.record import ForwardRecord
from viz.builders.number_format import format_number
from viz.heads.part_grids import patch_grid, stage_positions

_PAIRING_RULE = (
    "Positions are paired: the same ones where both have the same length, else what both begin and end with, and of what is "
    "between, one by one as far as both have some."
)


def draw_patching(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the tab Patch: the choices of the second input and of the patched part, and the effects on the answer."""
    before = subject.record
    with slots.beside:
        source, label = _choose_second(subject)
    with slots.controls:
        patched_option, normalised = PATCHED.choose(), EFFECT.choose() == SHARE
        kind = encoders.kind_of(subject.checkpoint)  # without a second digit, none can be read
        has_pairs = kind == encoders.TEXT or (kind == encoders.DIGIT and source is not None)
        is_over_pairs = has_pairs and PATCHED_PAIRS.choose() == PAIRS_OF_FILE
        answer = choose_answer(subject)
    if is_over_pairs:
        draw_patching_over_pairs(subject, chosen, answer, patched_option, normalised=normalised)
        return
    with slots.controls:
        query = choose_query(before)
    if source is None:
        st.info("Type a second text above: from it one part at a time is taken.", icon=":material/info:")
        return
    try:
        second = replace(subject, model_input=source, label=label)
        _ = second.record  # raises here where it cannot be read
        pairs = subject.compute(pair_positions, source)
    except ValueError as error:
        st.info(f"The second input cannot be read: {plain(str(error))}.", icon=":material/info:")
        return
    whole = answer.change_to(second)
    tell(_distance_sentence(subject, second, answer, whole), is_headline=True)
    noun = _input_noun(before)
    predictions(Side(subject, f"first {noun}"), Side(second, f"second {noun}"), key="patch_predictions")
    heads, positions = beside("patch")
    if normalised and is_too_small(before.config, whole, answer.word):
        with heads:
            st.info(_too_close_sentence(whole, noun), icon=":material/info:")
        return
    shown = quantity(answer, normalised=normalised)
    patch = _PatchingSetup(subject, source, answer, shown, second if normalised else None)
    with heads:
        _draw_parts(patch, chosen, patched_option)
    with positions:
        _draw_positions(patch, query)
    formula = f"{shown.formula} " if shown.formula else ""
    st.caption(
        f"{formula}A part that carries what tells the two inputs apart moves the answer towards that of the second. "
        f"One pair of inputs is no proof of what a head does in others. {_pairing_sentences(before, second.record, pairs)}"
    )


@dataclass(frozen=True)
class _PatchingSetup:
    """Activation patching of the input of `subject` with activations of the input `source`, and how its effect on the answer is
    measured.
    """

    subject: LiveSubject
    source: Input
    answer: Answer
    quantity: Quantity
    # the subject of the source if effects are shares of the way to its answer; None if they are changes
    second: LiveSubject | None

    def effects(self, answers: Expression) -> Expression:
        """Effects [*patches] from the `answers` [*patches, answer] after each patch."""
        before = as_python.record(self.subject)
        if self.second is None:
            return self.answer.changes_expression(before, answers)
        clean, other = (self._unpatched_answer(subject) for subject in (self.subject, self.second))
        return call(shares_of_the_way, before.config, clean, other, answers, self.answer.word)

    def _unpatched_answer(self, subject: LiveSubject) -> Expression:
        """The answer [answer] to the subject's input."""
        name, measured = subject.checkpoint, self.answer.for_experiments
        read = partial(of, probabilities, name, (subject.model_input,), UNCHANGED, measured)
        inputs = [as_python.model_input(subject)]
        return call(probabilities, as_python.encoder(name), inputs, answer=measured).with_value(read)[0, 0]


def _too_close_sentence(whole: float, noun: str) -> str:
    if np.isnan(whole):
        return f"The second {noun} has no masked token at that position, so there is no answer to be a share of the way to."
    return (
        f"The answers to the two {noun}s differ by {format_number(whole, '+.2g')}, too little to divide by: choose “{CHANGE}”, "
        f"or a second {noun} with another answer."
    )


def _input_noun(record: ForwardRecord) -> str:
    if record.unit == "token":
        return "text"
    return "picture" if record.config.n_channels == 3 else "digit"


def _choose_second(subject: LiveSubject) -> tuple[Input | None, int | None]:
    if isinstance(subject.model_input, Text):
        first_text, session = subject.model_input.text, st.session_state
        # It begins as the first one with one word changed, and again where the first one is another text.
        if session.get("patch_of") != first_text and SECOND_TEXT.held() in (None, session.get("patch_made")):
            session["patch_made"] = one_word_changed(first_text)
            if SECOND_TEXT.key not in st.query_params:
                SECOND_TEXT.take(one_word_changed(first_text))
        session["patch_of"] = first_text
        text = SECOND_TEXT.choose(one_word_changed(first_text))
        return (replace(subject.model_input, text=text) if text.strip() else None), None
    second, label = second_picture(subject.checkpoint, SECOND_DIGIT, SECOND_PICTURE)
    return second, encoders.label_for(subject.checkpoint, label)


def _distance_sentence(subject: LiveSubject, second: LiveSubject, answer: Answer, whole: float) -> str:
    """Sentence, as plain text, with the answers to both inputs. `whole` is the change from the first to the second (nats), the
    effect of a patch that carried over everything; NaN if the second has no such answer.
    """
    if isinstance(answer, WordAnswer):
        if np.isnan(whole):
            return f"{answer.value_clause}; the second has no [MASK] at that position to compare with."
        sentence, first = answer.value_clause, answer.log_probability
    elif isinstance(answer, ClassAnswer):
        first = float(log_odds(answer.record.logits, answer.class_index))
        sentence = f"Log-odds of {answer.class_name}: {format_number(first, '+.3f')} nats for the first"
    else:
        return similarity_sentence(subject.record, second.record)
    return (
        f"{sentence}, {format_number(first + whole, '+.3f')} nats for the second. "
        f"Which part of the encoder carries the difference of {format_number(whole, '+.3f')} nats?"
    )


def _pairing_sentences(before: ForwardRecord, other: ForwardRecord, pairs: Pairs) -> str:
    if len(before) == len(other):
        text = f"Both have {len(before)} positions, paired one by one."
        if before.unit == "token":
            n_different = sum(map(operator.ne, before.tokens, other.tokens))
            text += f" Positions whose tokens differ: {n_different}."
        return text
    return (
        f"{len(before)} tokens and {len(other)}. {_PAIRING_RULE} Of the first without a partner, and left as they are: "
        f"{len(before) - len(pairs.input)}. Behind the edit, partners stand at other positions, which is a difference of its own."
    )


def _draw_parts(patch: _PatchingSetup, chosen: HeadChoice, patched_option: str) -> None:
    """Draws the effect of patching each head and feed-forward; `patched_option` is the option of PATCHED."""
    subject, source, answer = patch.subject, patch.source, patch.answer
    before, part = subject.record, PARTS[patched_option]
    second = f"the second {_input_noun(before)}"
    st.markdown(f"**Each head's {patched_option}, and each feed-forward, taken from {second}**")
    work_key = ("patch heads", subject, source, part, answer.word)
    columns = Columns.of(before.config, part)
    label = f"Patch {before.config.n_layers * len(columns.names)} parts in turn"
    if not is_wanted(subject, work_key, effects.n_forwards_of_heads(before), label, "patch_all"):
        return
    answers = effects.answers_with_each_part_patched(subject, source, part, answer.for_experiments)
    with until_done(work_key):
        answers()
    changes = named("effects", patch.effects(answers))
    head = chosen.layer, chosen.head
    figure = call(
        patch_grid,
        changes,
        columns.names,
        selected=(chosen.layer, columns.of_head(chosen.head)),
        what=patch.quantity.name,
        signed=patch.quantity.signed,
        ends=patch.quantity.end_names,
    )
    clickable(figure, key="patch_heads", chosen=head, selection="head", take=columns.take, width="content")
    largest = patch.quantity.largest_sentence(changes(), columns)
    st.caption(f"{columns.sentence(patched_option, second)} {largest} A click chooses the head.")


def _draw_positions(patch: _PatchingSetup, query: int) -> None:
    """Draws the effect of patching each position's state at each stage."""
    subject, source, answer = patch.subject, patch.source, patch.answer
    before = subject.record
    st.markdown(f"**Each state of the residual stream, taken from the second {_input_noun(before)}**")
    work_key = ("patch positions", subject, source, answer.word)
    label = f"Patch {len(before)} positions at {len(before.stages)} stages"
    if not is_wanted(subject, work_key, effects.n_forwards_of_positions(before), label, "patch_states"):
        return
    read = partial(effects.answers_with_each_position_patched, subject, source, answer.for_experiments)
    arguments = as_python.input_expression(source), answer.for_experiments
    answers = as_python.computed(subject, patch_positions, *arguments).with_value(read)
    with until_done(work_key):
        answers()
    figure = call(
        stage_positions,
        patch.effects(answers),
        before.stages,
        before.tokens,
        query=query,
        what=patch.quantity.name,
        signed=patch.quantity.signed,
        ends=patch.quantity.end_names,
    )
    clickable(
        figure,
        key="patch_positions",
        chosen=query,
        selection="cell",
        take=lambda cell: take_query(cell["position"]),
    )
    st.caption(
        f"Each cell: at one stage, one position has the state that its partner has in the second {_input_noun(before)}."
    )
