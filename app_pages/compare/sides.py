"""The two sides of a comparison: two encoders on one input, or one encoder on two inputs."""

import re
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
from app_pages.controls.input_controls import TEXT
from app_pages.inputs.digit_input import second_digit
from app_pages.subject import state
from app_pages.subject.two_sides import Side, side_of
from model.inputs import Text

_PAIRS = (
    *(("not", "very"), ("never", "always"), ("good", "bad"), ("great", "awful"), ("beautifully", "badly")),
    *(
        ("wonderful", "dreadful"),
        ("best", "worst"),
        ("funny", "boring"),
        ("dull", "gripping"),
        ("hardly", "really"),
    ),
)
OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
TITLES = {state.TEXT: ("first text", "second text"), state.DIGIT: ("first digit", "second digit")}


def choose_what() -> str:
    """Whether two encoders or two inputs are compared."""
    return COMPARED.choose(on_change=_one_word_changed)


def _one_word_changed() -> None:
    """The second text begins as the first with one word changed, so that the two line up."""
    if COMPARED.held() == INPUTS and SECOND_TEXT.held() is None:
        SECOND_TEXT.take(one_word_changed(TEXT.held("")))


def one_word_changed(text: str) -> str:
    """The first word of `text` that has an opposite here is that; where none has, its longest word is hidden."""
    words = re.findall(r"\w+", text)
    for word in words:
        if (other := OPPOSITES.get(word.lower())) is not None:
            return re.sub(rf"\b{word}\b", other, text, count=1)
    return text.replace(max(words, key=len), "[MASK]", 1) if words else text


def choose_sides(chosen: state.Selection, what: str) -> tuple[Side, Side] | str:
    """The sides, the first as the input row has it; or why there are none, in one sentence."""
    kind = state.TEXT if isinstance(chosen.given, Text) else state.DIGIT
    if what == ENCODERS:
        with chosen.answer:
            titles = chosen.checkpoint, _other_checkpoint(chosen.checkpoint, kind)
        second = replace(chosen, checkpoint=titles[1])
        if titles[1] is not None and chosen.label is not None:
            with chosen.beside:
                next_disagreement(*titles)
    else:
        titles = TITLES[kind]
        with chosen.beside:
            given, label = _second_text() if kind == state.TEXT else second_digit(SECOND_DIGIT)
        second = replace(chosen, given=given, label=state.label_for(chosen.checkpoint, label))
    if titles[1] is None:
        return f"No other encoder reads a {kind.lower()}; two inputs can be compared in {chosen.checkpoint}."
    if second.given is None:
        return "Type a second text above to compare it with the first."
    try:
        return side_of(chosen, titles[0]), side_of(second, titles[1])
    except (ValueError, OSError) as error:
        return f"{titles[0]} and {titles[1]} cannot be compared: {error}."


def _other_checkpoint(name: str, kind: str) -> str | None:
    """Any other that takes this input; to begin with the one of other norm placement, if there is a pair."""
    others = [other for other in state.checkpoints(kind) if other != name]
    others.sort(key=lambda other: other not in (state.pair(name) or ()))
    return OTHER_ENCODER.choose(others)


def _second_text() -> tuple[Text | None, None]:
    text = SECOND_TEXT.choose()
    return (Text(text) if text.strip() else None), None
