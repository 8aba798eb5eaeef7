"""What pages compute for a subject (encoder, input, record, results of the library) as expressions: values with the Python code
that computes them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import WEIGHTS, FileSubject, LensChoice, LiveSubject, Subject
from app_pages.toolkit.expression import Expression, Script, call, named
from model.capture import capture
from model.capture.intervention import Intervention
from model.inputs import Input, Picture, digits, preprocessed_picture
from model.inputs.picture_file import read_picture
from model.lenses import ATTENTION, through
from model.measures.word_view import view
from model.record.record_file import read
from model.sources.names import HUB

_PICTURE_FILE = "picture.png"  # stands in the code for the file of the reader's own picture


def encoder(name: cache.Checkpoint) -> Expression:
    """The loaded encoder of this name, as an expression."""
    public_name = name.removeprefix(HUB) if "@" not in name else name

    def write(script: Script) -> str:
        # With huggingface_hub this takes a quarter of a second, for which the first page does not wait.
        from model.checkpoint.load_or_download import load_or_download

        return script.write(call(load_or_download, public_name))

    return named("loaded", Expression(lambda: cache.loaded(name), write))


def model_input(subject: Subject) -> Expression:
    """The subject's text or picture, as an expression."""
    return input_expression(subject.model_input)


def input_expression(read_input: Input | None) -> Expression:
    """A text or a picture, as an expression."""
    if not isinstance(read_input, Picture):
        return named("text", read_input)
    return named("picture", Expression(lambda: read_input, lambda script: script.write(_picture(read_input))))


def _picture(picture: Picture) -> Expression:
    """A picture as an expression: its number or name if it comes with the project, else its pixels if they are few."""
    array = picture.array
    if array.shape == (28, 28):
        images, _ = shipped_inputs.test_digits()
        numbers = np.flatnonzero((images == array).all(axis=(1, 2)))
        return call(Picture.of, call(digits.examples)[0][int(numbers[0])] if len(numbers) else array)
    for path in sorted(digits.EXAMPLES.glob("*.jpg")):
        if np.array_equal(shipped_inputs.example_picture(path.stem), array):
            folder = Expression(lambda: digits, lambda script: script.write(digits)).EXAMPLES
            return call(Picture.of, call(read_picture, call(folder.joinpath, path.name)))
    return call(Picture.of, call(read_picture, _PICTURE_FILE))


def record(subject: Subject) -> Expression:
    """The subject's record, under its intervention, as an expression."""
    if isinstance(subject, FileSubject):
        return named("record", call(read, subject.file_name), lambda: subject.record)
    interventions = () if subject.intervention == Intervention() else (subject.intervention,)
    captured = call(capture, encoder(subject.checkpoint), model_input(subject), *interventions)
    return named("record", captured, lambda: subject.record)


def computed(subject: LiveSubject, function: Callable[..., Any], *values: Any, **options: Any) -> Expression:
    """The result of `subject.compute(function, *values, **options)`, as an expression."""
    result = call(function, encoder(subject.checkpoint), model_input(subject), *values, **options)
    return named("result", result, lambda: subject.compute(function, *values, **options))


def maps(
    subject: Subject, choice: LensChoice = WEIGHTS, *, merged: bool = False, hidden: bool = False
) -> Expression:
    """The record of `subject.viewed`, as an expression: maps through a lens, with word pieces merged or special tokens hidden."""
    result = record(subject)
    if choice.lens.name != ATTENTION:
        inputs: tuple[Expression | None, Expression | None] = None, None
        class_number = None
        if isinstance(subject, LiveSubject):
            inputs = encoder(subject.checkpoint), model_input(subject)
            class_number = choice.class_number(subject.loaded.config)
        result = named(
            "maps", call(through, choice.lens.name, *inputs, class_number=class_number, record=result)
        )
    if merged or hidden:
        result = named("words", call(view, result, merged=merged, hidden=hidden))
    return result.with_value(lambda: subject.viewed(choice, merged=merged, hidden=hidden).record)


def seen_picture(subject: Subject) -> Expression:
    """The pixels that the encoder cuts into patches, as an expression."""
    return call(preprocessed_picture, model_input(subject).array, record(subject))
