"""Choice of what counts as the answer: what the encoder says of the whole input, or one word in place of [MASK]."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app_pages.controls.address import INDEX, Row, SelectBox, TextLine
from app_pages.subject.answer import Answer, WordAnswer, whole_answer
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import plain
from model.experiments.masked_word import MaskedWord, guesses, masked_word
from viz.builders.token_label import visible

WHOLE, MASKED = "whole input", "masked word"
ANSWER = Row(
    "answer_of",
    "Answer",
    (WHOLE, MASKED),
    help="Which answer is explained: what the encoder says of the whole input, or how probable it finds a word in place of [MASK].",
)
MASK_NUMBER = SelectBox[int]("answer_mask", "Masked token", pattern=INDEX, width=90)
WORD = TextLine(
    "answer_word", "Its word", label_visibility="collapsed", placeholder="word: the first guess", width=170
)


def choose_answer(subject: LiveSubject) -> Answer:
    """Draws the choice of the answer if the text has [MASK] and the encoder predicts masked tokens; returns the chosen answer.

    For an encoder without classes the default is the masked word, which it was trained to predict. A typed word that is no single
    token of the vocabulary is replaced by the encoder's first guess, and a sentence says so.
    """
    return choose_answers({"": subject})[0]


def choose_answers(subjects: Mapping[str, LiveSubject]) -> list[Answer]:
    """Draws one choice of a word for several subjects, given by title; returns the answer of each: that word at the subject's
    n-th masked token, with the same n for all.

    If no word is typed, it is the first subject's first guess. Captions say where another word, or the whole input, is the answer
    instead.
    """
    positions = {title: _predicted_positions(subject) for title, subject in subjects.items()}
    whole: list[Answer] = [whole_answer(subject.record) for subject in subjects.values()]
    if not any(positions.values()):
        return whole
    has_classes = any(
        answer.is_signed for answer, masked in zip(whole, positions.values(), strict=True) if masked
    )
    if ANSWER.choose((WHOLE, MASKED) if has_classes else (MASKED, WHOLE)) == WHOLE:
        return whole
    n_masked = max(map(len, positions.values()))
    number = MASK_NUMBER.choose(range(1, n_masked + 1)) if n_masked > 1 else 1
    answers: list[Answer] = []
    words: Sequence[str] | None = None
    for (title, subject), of_whole in zip(subjects.items(), whole, strict=True):
        name = f"{plain(title)}: " if title else ""
        if number > len(positions[title]):
            st.caption(
                f"{name}there is no such masked word to predict, so the answer is that of the whole input."
            )
            answers.append(of_whole)
            continue
        position = positions[title][number - 1]
        if not subject.compute(guesses)[position]:
            st.caption(
                f"{name}The first guesses of this encoder are numbers for which its tokenizer has no token."
            )
            answers.append(of_whole)
            continue
        if words is None:
            typed = WORD.choose().strip()
            words = (typed,) if typed else ()
        masked, problem = _masked_word(subject, words, position)
        if problem:
            st.caption(f"{name}{plain(problem)}. The first guess is taken instead.")
        if problem or not words:
            words = _spellings(subject, masked)
        answers.append(WordAnswer.of(subject, masked, _name(subject, masked, len(positions[title]))))
    return answers


def _masked_word(subject: LiveSubject, words: Sequence[str], position: int) -> tuple[MaskedWord, str]:
    """The first of `words` that is one token of the encoder's vocabulary, and ""; if none is, the encoder's first guess, and a
    sentence that says why.
    """
    problem = ""
    for word in words:
        try:
            return subject.compute(masked_word, word, position), ""
        except ValueError as error:
            problem = str(error)
    return subject.compute(masked_word, None, position), problem


def _predicted_positions(subject: LiveSubject) -> tuple[int, ...]:
    """Positions of the masked tokens for which the encoder has predictions."""
    record = subject.record
    return tuple(record.positions_with_role("mask")) if record.config.masked_token_output else ()


def _spellings(subject: LiveSubject, answer: MaskedWord) -> tuple[str, ...]:
    """The answer's word as the encoder's vocabulary spells it, and as a user would type it."""
    tokenizer = subject.loaded.tokenizer
    if tokenizer is None:
        return ()
    spellings = tokenizer.id_to_token(answer.token_id) or "", tokenizer.decode([answer.token_id]).strip()
    return tuple(dict.fromkeys(filter(None, spellings)))


def _name(subject: LiveSubject, answer: MaskedWord, n_masked: int) -> str:
    """Name of the word and its position, such as "“very” at [MASK]"; with the position's number if several tokens are masked."""
    tokenizer, record = subject.loaded.tokenizer, subject.record
    token = None if tokenizer is None else tokenizer.id_to_token(answer.token_id)
    label = record.labels[answer.position] if n_masked > 1 else record.tokens[answer.position]
    return f"“{visible(token or str(answer.token_id))}” at {label}"
