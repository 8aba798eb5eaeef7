"""Choice of what counts as the answer: what the encoder says of the whole input, or one word in place of [MASK]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages.controls.address import INDEX, Box, Row, TextLine
from app_pages.subject.cache import of
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import POOLED
from app_pages.toolkit.markdown import plain
from model.capture.intervention import Intervention
from model.experiments.knock_out import changes, falls
from model.experiments.masked_word import (
    LOGITS,
    AnswerRead,
    MaskedWord,
    guesses,
    log_probability_changes,
    masked_word,
)
from model.experiments.probabilities import probabilities
from model.measures.changes import ROUNDING
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent, told_apart
from viz.builders.token_label import visible

WHOLE, MASKED = "whole input", "masked word"
ANSWER = Row(
    "answer_of",
    "Answer",
    (WHOLE, MASKED),
    help="Which answer is explained: what the encoder says of the whole input, or how probable it finds a word in place of [MASK].",
)
MASK_NUMBER = Box[int]("answer_mask", "Masked token", pattern=INDEX, width=90)
WORD = TextLine(
    "answer_word", "Its word", label_visibility="collapsed", placeholder="word: the first guess", width=170
)


@dataclass(frozen=True)
class Answer:
    """What experiments measure: log P of the masked `word`, or, where that is None, the predicted class or the pooled state."""

    word: MaskedWord | None = None
    name: str = ""  # of the word, such as "“very” at [MASK]"

    @property
    def is_masked_word(self) -> bool:
        """Whether log P of a masked word is measured."""
        return self.word is not None

    @property
    def measured(self) -> AnswerRead:
        """What experiments take as their `answer`: the masked word, or the logits, of which log-odds are made."""
        return self.word or LOGITS

    def is_signed(self, record: ForwardRecord) -> bool:
        """Whether changes rise and fall; a cosine distance does not."""
        return self.is_masked_word or record.predicted_class is not None

    def changed_quantity(self, record: ForwardRecord) -> str:
        """What changes, and its unit, as a title."""
        if self.is_masked_word:
            return f"change of log P({self.name}) in nats"
        predicted = record.predicted_class
        return POOLED if predicted is None else f"change of the log-odds of {record.class_names[predicted]}"

    def changes(self, subject: LiveSubject, answers: np.ndarray) -> np.ndarray:
        """Changes from the subject's answer to `answers` [*interventions, answer], as `measured`, in nats or as cosine distances."""
        if self.is_masked_word:
            return log_probability_changes(self.log_probability(subject), answers)
        return changes(subject.record, answers)

    def falls(self, subject: LiveSubject, answers: np.ndarray) -> np.ndarray:
        """Falls of the subject's answer to `answers` [*interventions, answer], as `measured`, in nats, below 0 where it rises; or
        cosine distances.
        """
        return -self.changes(subject, answers) if self.is_masked_word else falls(subject.record, answers)

    def quantity(self, record: ForwardRecord) -> str:
        """What the answer is, as a noun in Markdown: "prediction", "pooled state", or log P of the masked word."""
        if self.is_masked_word:
            return plain(f"log P({self.name})")
        return "prediction" if record.has_classes else "pooled state"

    def fall(self, record: ForwardRecord) -> str:
        """What is measured as the answer falls, and its unit, as plain text, such as "fall of the log-odds of positive, nats"."""
        if self.is_masked_word:
            return f"fall of log P({self.name}), nats"
        predicted = record.predicted_class
        return (
            "cosine distance"
            if predicted is None
            else f"fall of the log-odds of {record.class_names[predicted]}, nats"
        )

    def log_probability(self, subject: LiveSubject) -> float:
        """log P of the masked word in nats, under the subject's intervention."""
        interventions: tuple[Intervention, ...] = (subject.changed,)
        answers = of(probabilities, subject.checkpoint, (subject.model_input,), interventions, self.word)
        return float(answers[0, 0, 0])

    def change_sentence(self, what: str, before: LiveSubject, after: LiveSubject) -> str:
        """Sentence on how log P of the masked word changed, as plain text; `what` is its beginning and names the change."""
        return change_sentence(what, self.name, self.log_probability(before), self.log_probability(after))

    def value_sentence(self, subject: LiveSubject) -> str:
        """log P and P of the masked word, as plain text."""
        value = self.log_probability(subject)
        return (
            f"log P({self.name}) is {format_number(value, '+.3f')} nats, P {percent(float(np.exp(value)), 2)}"
        )


def change_sentence(what: str, name: str, old: float, new: float) -> str:
    """Sentence on how log P of the masked word called `name` changed from `old` to `new`, in nats, as plain text; a change below
    `ROUNDING` is none.
    """
    if abs(new - old) <= ROUNDING:
        return f"{what}, log P({name}) stays as it is: {format_number(old, '+.3f')} nats, P {percent(float(np.exp(old)), 2)}."
    direction = "falls" if new < old else "rises"
    numbers = " to ".join(told_apart(old, new, "+.3f"))
    shares = f"P {percent(float(np.exp(old)), 2)} before, {percent(float(np.exp(new)), 2)} after"
    return f"{what}, log P({name}) {direction}: from {numbers} nats, {format_number(new - old, '+.3f' if abs(new - old) >= 0.0005 else '+.2g')} nats. {shares}."


def choose_answer(subject: LiveSubject) -> Answer:
    """Draws the choice where the text has [MASK] and the encoder predicts masked tokens; returns the chosen answer.

    An encoder without classes begins with the masked word, which it was trained to predict. A word that is no single token
    of the vocabulary is replaced by the first guess, with a sentence that says so.
    """
    return choose_answers({"": subject})[0]


def choose_answers(subjects: Mapping[str, LiveSubject]) -> list[Answer]:
    """One choice of a word for several subjects, by their titles: each subject is asked for this word at its masked token of the
    same number.

    Where no word is typed, it is the first guess of the first of them. Captions say where another word, or the whole input, is
    asked.
    """
    positions = {title: _predicted_positions(subject) for title, subject in subjects.items()}
    whole = [Answer()] * len(subjects)
    if not any(positions.values()):
        return whole
    has_classes = any(
        subject.record.predicted_class is not None for title, subject in subjects.items() if positions[title]
    )
    if ANSWER.choose((WHOLE, MASKED) if has_classes else (MASKED, WHOLE)) == WHOLE:
        return whole
    n_masked = max(map(len, positions.values()))
    number = MASK_NUMBER.choose(range(1, n_masked + 1)) if n_masked > 1 else 1
    answers: list[Answer] = []
    words: Sequence[str] | None = None
    for title, subject in subjects.items():
        name = f"{plain(title)}: " if title else ""
        if number > len(positions[title]):
            st.caption(
                f"{name}there is no such masked word to predict, so the answer is that of the whole input."
            )
            answers.append(Answer())
            continue
        position = positions[title][number - 1]
        if not subject.compute(guesses)[position]:
            st.caption(
                f"{name}The first guesses of this encoder are numbers for which its tokenizer has no token."
            )
            answers.append(Answer())
            continue
        if words is None:
            typed = WORD.choose().strip()
            words = (typed,) if typed else ()
        masked, problem = _masked_word(subject, words, position)
        if problem:
            st.caption(f"{name}{plain(problem)}. The first guess is taken instead.")
        if problem or not words:
            words = _spellings(subject, masked)
        answers.append(Answer(masked, _name(subject, masked, len(positions[title]))))
    return answers


def _masked_word(subject: LiveSubject, words: Sequence[str], position: int) -> tuple[MaskedWord, str]:
    """The first of the `words` that is one token of the encoder, with ""; if none is, its first guess, with the reason."""
    problem = ""
    for word in words:
        try:
            return subject.compute(masked_word, word, position), ""
        except ValueError as error:
            problem = str(error)
    return subject.compute(masked_word, None, position), problem


def _predicted_positions(subject: LiveSubject) -> tuple[int, ...]:
    """Positions of the masked tokens that the encoder predicts."""
    record = subject.record
    return tuple(record.positions_with_role("mask")) if record.config.masked_token_output else ()


def _spellings(subject: LiveSubject, answer: MaskedWord) -> tuple[str, ...]:
    """The word as the vocabulary of its encoder spells it, and as one would type it."""
    tokenizer = subject.loaded.tokenizer
    if tokenizer is None:
        return ()
    spellings = tokenizer.id_to_token(answer.token_id) or "", tokenizer.decode([answer.token_id]).strip()
    return tuple(dict.fromkeys(filter(None, spellings)))


def _name(subject: LiveSubject, answer: MaskedWord, n_masked: int) -> str:
    """Name of the word and its place, such as "“very” at [MASK]"; of several masked tokens with the position."""
    tokenizer, record = subject.loaded.tokenizer, subject.record
    token = None if tokenizer is None else tokenizer.id_to_token(answer.token_id)
    label = record.labels[answer.position] if n_masked > 1 else record.tokens[answer.position]
    return f"“{visible(token or str(answer.token_id))}” at {label}"
