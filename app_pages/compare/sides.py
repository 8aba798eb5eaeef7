"""The two sides of a comparison: two encoders on one input, or one encoder on two inputs."""

from dataclasses import replace

import streamlit as st

from app_pages.controls import compare_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.input_controls import CHECKPOINT, DIGIT, DISAGREE, KIND, TEXT
from app_pages.inputs.digit_input import ordered, take_digit
from app_pages.inputs.picture_input import second_picture
from app_pages.inputs.text_input import one_word_changed
from app_pages.subject import encoders, session_encoders, shipped_inputs
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, shared_words
from app_pages.toolkit.markdown import as_code, counted, plain
from model.inputs import Input, Picture, Text
from model.measures.word_view import AlignedWords

WEIGHTS = "the weights that go to the pieces of a word are added up, those that come from them averaged"
ENTROPIES = f"{WEIGHTS}; entropies of these rows"
KNOCKED_OUT = "the pieces of a word knocked out together"
STATES = "the states of the pieces of a word averaged"
# What is done with words without a counterpart.
_MISSING = {
    WEIGHTS: "left out of differences of maps; for distances of heads their weights are added up as one more key",
    ENTROPIES: "part of the entropy on their own side only",
    KNOCKED_OUT: "knocked out on their side alone",
    STATES: "left out of what is compared",
}
DIFFERS = "The tokens differ: compared by words"
LISTED = 6  # words of one side, by name


TITLES = {
    encoders.TEXT: ("first text", "second text"),
    encoders.DIGIT: ("first digit", "second digit"),
    encoders.PICTURE: ("first picture", "second picture"),
}


def offered_tabs() -> list[str]:
    """The tabs that the page has for the chosen comparison: cross-attention and similarity need two inputs, and a picture with
    texts has similarity alone.
    """
    if _compared() == controls.TEXTS_ON_PICTURE and _picture_and_texts():
        return [controls.SIMILARITY]
    has_two_inputs = _compared() == controls.INPUTS
    return [
        part for part in controls.PART.options or () if has_two_inputs or part not in controls.OF_TWO_INPUTS
    ]


def choose_comparison() -> str:
    """Draws the control for what is compared, and returns the choice. A picture with texts is offered if the encoder's folder
    holds an encoder for each.
    """
    offered = [controls.ENCODERS, controls.INPUTS]
    if _picture_and_texts():
        offered.append(controls.TEXTS_ON_PICTURE)
    return controls.COMPARED.choose(offered, on_change=_begin_with_two_inputs)


def take_encoder_of_pictures() -> None:
    """If a picture is to be compared with texts but the folder's text encoder is chosen, chooses the folder's picture encoder
    instead. Called before the list of encoders is drawn.
    """
    names = _picture_and_texts() if _compared() == controls.TEXTS_ON_PICTURE else None
    if names is not None and KIND.held(encoders.TEXT) == encoders.TEXT:
        KIND.take(encoders.PICTURE)
        CHECKPOINT.take(names[0])
        if names[0] not in encoders.checkpoints(encoders.PICTURE):
            session_encoders.add_opened(names[0])


def _compared() -> str | None:
    """What is compared, from the session or the address, before the control is drawn; None if neither has it."""
    return controls.COMPARED.held(st.query_params.get(controls.COMPARED.key))


def _picture_and_texts() -> tuple[str, str] | None:
    """Names of the picture encoder and the text encoder in the chosen encoder's folder, before the control is drawn; None if the
    folder lacks one of them, or the chosen encoder reads another kind of input than the chosen kind.
    """
    kind = KIND.held(st.query_params.get(KIND.key, encoders.TEXT))
    name = CHECKPOINT.held(st.query_params.get(CHECKPOINT.key)) or next(
        iter(encoders.checkpoints(kind)), None
    )
    names = encoders.picture_and_texts(name)
    return names if name and encoders.kind_of(name) == kind else None


def _begin_with_two_inputs() -> None:
    """Callback: fills the box of the second text with the first text, one word of it changed, so that positions correspond.

    If the encoder has no classes, also chooses the tab Similarity.
    """
    if controls.COMPARED.held() != controls.INPUTS:
        return
    if controls.SECOND_TEXT.held() is None:
        controls.SECOND_TEXT.take(one_word_changed(TEXT.held("")))
    config = encoders.config_of(CHECKPOINT.held())
    if config is not None and not config.n_classes:
        controls.PART.take(controls.SIMILARITY)


def choose_sides(subject: LiveSubject, slots: Slots, what: str) -> tuple[Side, Side] | str:
    """Draws the controls of the second side for the comparison `what`; returns both sides, or a sentence on why they cannot be
    compared.
    """
    kind = encoders.kind_of(subject.checkpoint) or encoders.TEXT
    if what == controls.ENCODERS:
        with slots.answer:
            name = _choose_other_encoder(subject, kind)
        if name is None:
            return (
                f"No other encoder in the list reads a {kind.lower()}: open one on the page Your own, or compare two inputs in "
                f"{subject.checkpoint}."
            )
        if subject.label is not None:
            with slots.beside:
                _draw_next_disagreement(subject.checkpoint, name)
        titles, other = (subject.checkpoint, name), replace(subject, checkpoint=name)
    else:
        with slots.beside:
            if kind == encoders.TEXT:
                text, label = controls.SECOND_TEXT.choose(), None
                second: Input | None = Text(text) if text.strip() else None
            else:
                second, label = second_picture(
                    subject.checkpoint, controls.SECOND_DIGIT, controls.SECOND_PICTURE
                )
        if second is None:
            return "Type a second text above to compare it with the first."
        label = encoders.label_for(subject.checkpoint, label)
        titles, other = TITLES[kind], replace(subject, model_input=second, label=label)
    try:
        first_words, second_words = _aligned_words(subject, other)
    except (ValueError, OSError) as error:
        return f"{titles[0]} and {titles[1]} cannot be compared: {error}."
    return Side(subject, titles[0], words=first_words), Side(other, titles[1], words=second_words)


def _aligned_words(
    first: LiveSubject, second: LiveSubject
) -> tuple[AlignedWords, AlignedWords] | tuple[None, None]:
    """The words of each side, aligned, for two encoders whose tokenizers cut the text differently. (None, None) if the tokens are
    the same, if there are two inputs, or if no word is in both.
    """
    text = first.model_input
    has_same_tokens = second.record.tokens == first.record.tokens
    if has_same_tokens or not isinstance(text, Text) or first.checkpoint == second.checkpoint:
        return None, None
    words = shared_words(first.checkpoint, second.checkpoint, text)
    return words if words[0].matched else (None, None)


def _choose_other_encoder(subject: LiveSubject, kind: str) -> str | None:
    """Draws the list of other encoders for this kind of input; returns the chosen name, None if there is none. It begins with the
    encoder of the other norm placement, if the two are a pair, or beside an encoder opened in this session with the one opened
    last.

    A digit that a picture encoder reads can also be compared in digit encoders.
    """
    names = encoders.checkpoints(kind)
    if (
        kind == encoders.PICTURE
        and isinstance(subject.model_input, Picture)
        and subject.model_input.array.ndim == 2
    ):
        names += encoders.checkpoints(encoders.DIGIT)
    others = [other for other in names if other != subject.checkpoint]
    opened = session_encoders.opened_encoders()
    own = [other for other in others if other in opened] if subject.checkpoint in opened else []
    first = own[-1:] or encoders.pair(subject.checkpoint) or ()
    others.sort(key=lambda other: other not in first)
    return controls.OTHER_ENCODER.choose(others)


def _draw_next_disagreement(first: str, second: str) -> None:
    """Draws a button that chooses the next test digit which the two encoders classify differently; nothing if no predictions are
    stored.
    """
    stored = [answers for name in (first, second) if (answers := encoders.predictions(name)) is not None]
    if len(stored) < 2:
        return
    numbers = ordered(shipped_inputs.test_digits()[1], "all", DISAGREE, stored)[0].tolist()
    if not numbers:
        st.caption("Both predict the same for every test digit.")
        return
    current = DIGIT.held()
    next_number = numbers[(numbers.index(current) + 1) % len(numbers)] if current in numbers else numbers[0]
    st.button(
        "Next disagreement",
        key="next_disagreement",
        icon=":material/arrow_forward:",
        on_click=take_digit,
        args=({"id": next_number},),
        help=f"{counted(len(numbers), 'test digit')} with different predictions of the two encoders.",
    )


def say_rule(first: Side, second: Side, rule: str) -> None:
    """Writes the `rule` by which the words of the two sides are compared, and how many words have a counterpart. Writes nothing
    if tokens or patches are compared.
    """
    if first.words is None or second.words is None:
        return
    st.caption(
        rule_sentence(first, second, rule),
        help="Words correspond by their letters in the text, class tokens and separators by their role. Words that "
        "one tokenizer splits where the other does not are joined.",
    )


def rule_sentence(first: Side, second: Side, rule: str) -> str:
    """The `rule`, how many words have a counterpart on the other side, and how words without one are treated."""
    assert first.words is not None
    assert second.words is not None
    n = len(first.words.matched)
    counterparts = f"{n} words and special tokens" if n != 1 else "one word or special token"
    if first.words.unmatched or second.words.unmatched:
        missing = " and ".join(filter(None, map(_unmatched_words_text, (first, second))))
        n_missing = len(first.words.unmatched) + len(second.words.unmatched)
        counterparts += f"; {n_missing} without a counterpart, {_MISSING[rule]}: {missing}"
    return f"{DIFFERS} — {rule}; {counterparts}."


def _unmatched_words_text(side: Side) -> str:
    """The words of one side without a counterpart, such as "`warm`, `film` of my-bert"; only their number if there are many."""
    assert side.words is not None
    words = side.words.unmatched
    if not words:
        return ""
    names = ", ".join(as_code(side.compared_record.tokens[word]) for word in words)
    return f"{names if len(words) <= LISTED else len(words)} of {plain(side.title)}"
