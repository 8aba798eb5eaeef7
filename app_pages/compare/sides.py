"""The two sides of a comparison: two encoders on one input, or one encoder on two inputs."""

from dataclasses import replace

from app_pages.compare.disagreement import next_disagreement
from app_pages.controls.compare_controls import (
    COMPARED,
    ENCODERS,
    INPUTS,
    OTHER_ENCODER,
    SECOND_DIGIT,
    SECOND_TEXT,
)
from app_pages.controls.control_bar import Slots
from app_pages.controls.input_controls import TEXT
from app_pages.inputs.digit_input import second_digit
from app_pages.inputs.one_word_changed import one_word_changed
from app_pages.subject import encoders
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from model.inputs import Text

TITLES = {encoders.TEXT: ("first text", "second text"), encoders.DIGIT: ("first digit", "second digit")}


def choose_what() -> str:
    """Whether two encoders or two inputs are compared."""
    return COMPARED.choose(on_change=_one_word_changed)


def _one_word_changed() -> None:
    """The second text begins as the first with one word changed, so that the two line up."""
    if COMPARED.held() == INPUTS and SECOND_TEXT.held() is None:
        SECOND_TEXT.take(one_word_changed(TEXT.held("")))


def choose_sides(subject: LiveSubject, slots: Slots, what: str) -> tuple[Side, Side] | str:
    """The sides, the first as the input row has it; or why there are none, in one sentence."""
    kind = encoders.TEXT if isinstance(subject.given, Text) else encoders.DIGIT
    if what == ENCODERS:
        with slots.answer:
            name = _other_checkpoint(subject.checkpoint, kind)
        if name is None:
            return f"No other encoder reads a {kind.lower()}; two inputs can be compared in {subject.checkpoint}."
        if subject.label is not None:
            with slots.beside:
                next_disagreement(subject.checkpoint, name)
        titles, other = (subject.checkpoint, name), replace(subject, checkpoint=name)
    else:
        with slots.beside:
            given, label = _second_text() if kind == encoders.TEXT else second_digit(SECOND_DIGIT)
        if given is None:
            return "Type a second text above to compare it with the first."
        label = encoders.label_for(subject.checkpoint, label)
        titles, other = TITLES[kind], replace(subject, given=given, label=label)
    sides = Side(subject, titles[0]), Side(other, titles[1])
    try:
        _ = other.record
    except (ValueError, OSError) as error:
        return f"{titles[0]} and {titles[1]} cannot be compared: {error}."
    return sides


def _other_checkpoint(name: str, kind: str) -> str | None:
    """Any other that takes this input; to begin with the one of other norm placement, if there is a pair."""
    others = [other for other in encoders.checkpoints(kind) if other != name]
    others.sort(key=lambda other: other not in (encoders.pair(name) or ()))
    return OTHER_ENCODER.choose(others)


def _second_text() -> tuple[Text | None, None]:
    text = SECOND_TEXT.choose()
    return (Text(text) if text.strip() else None), None
