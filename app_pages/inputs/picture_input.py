"""Choosing a picture: for encoders of digits a digit, for encoders of colour pictures an example, an upload or a digit."""

import numpy as np
import streamlit as st

from app_pages.controls import input_controls as controls
from app_pages.controls.address import Row
from app_pages.inputs import drawing
from app_pages.inputs.digit_input import choose_test_digit, read_test_digits
from app_pages.inputs.drawing.code import BLANK
from app_pages.inputs.own_picture import own_picture
from app_pages.subject import encoders, shipped_inputs
from model.inputs import Picture

SIDE = 44  # pixels of the picture in the row
EXAMPLE_SIDE = 132  # pixels of an example in the list of examples
_DIGIT_SOURCES = (controls.TEST_DIGITS, controls.DRAW)
_PICTURE_SOURCES = (controls.EXAMPLE, controls.OWN_PICTURE, *_DIGIT_SOURCES)


def picture_input(kind: str, checkpoint: str | None) -> tuple[Picture | None, int | None]:
    """Draws the picture and a button to choose another one; returns (picture, label).

    `kind` is "Digit" or "Picture"; the gallery can list the digits that the encoder `checkpoint` gets wrong. The picture is None
    if nothing is drawn or uploaded yet, the label if none is known.
    """
    shown = st.container(width="content", key="picture")
    number = st.container(width="content")
    is_digit = kind == encoders.DIGIT
    with st.popover("Choose or draw" if is_digit else "Choose a picture", key="digits"):
        source = controls.SOURCE.choose(
            _DIGIT_SOURCES if is_digit else _PICTURE_SOURCES, on_change=drawing.leave
        )
        image, label = None, None
        if source == controls.EXAMPLE:
            image = _choose_example()
        elif source == controls.OWN_PICTURE:
            image = own_picture()
        elif source == controls.DRAW:
            image = drawing.drawn_digit()
        else:
            image, label = choose_test_digit(number, checkpoint)
    drawn = image if image is not None and image.any() else None
    with shown:  # black until something is drawn: it takes the same room, and the row stays where it is
        st.image(
            BLANK if drawn is None else drawn, width=SIDE, output_format="PNG", alt="The picture that is read"
        )
    return (None, None) if drawn is None else (Picture.of(drawn), label)


def second_picture(
    checkpoint: str, digit: controls.DigitNumber, example: Row[str]
) -> tuple[Picture | None, int | None]:
    """Draws the choice of a second picture, with the control that fits the encoder: a test `digit` or an `example`.

    Returns (picture, label); (None, None) if the files cannot be read.
    """
    control = digit if encoders.kind_of(checkpoint) == encoders.DIGIT else example
    shown = st.container(width="content", key=f"{control.key}_thumbnail")
    label = None
    if control is example:
        image = _read_example(example.choose())
    elif (digits := read_test_digits()) is None:
        image = None
    else:
        number = digit.choose(most=len(digits[0]) - 1)
        image, label = digits[0][number], int(digits[1][number])
    if image is None:
        return None, None
    with shown:
        st.image(image, width=SIDE, output_format="PNG", alt="The second picture")
    return Picture.of(image), label


def _read_example(name: str) -> np.ndarray | None:
    """The example picture; None, and a warning on the page, where its file is missing or damaged."""
    try:
        return shipped_inputs.example_picture(name)
    except ValueError:
        st.warning(f"The example `examples/{name}.jpg` cannot be read; a picture can still be uploaded.")
        return None


def _choose_example() -> np.ndarray | None:
    """Draws the example pictures, and below them the upload; returns the chosen one, None if its file is damaged."""
    name = controls.EXAMPLE_PICTURE.choose()
    if (image := _read_example(name)) is not None:
        st.image(image, width=EXAMPLE_SIDE, output_format="PNG", alt=f"The example: {name}")
    own_picture()
    return image
