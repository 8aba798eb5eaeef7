"""Choice of a test digit, or of a digit that the user draws."""

import math

import numpy as np
import streamlit as st

from app_pages.controls.input_controls import (
    AS_THEY_COME,
    DIGIT,
    DIGIT_CLASS,
    DIGIT_ORDER,
    DISAGREE,
    DRAW,
    HARDEST,
    PICTURE,
    SOURCE,
    TEST_DIGITS,
    DigitNumber,
)
from app_pages.inputs import drawing
from app_pages.inputs.drawing.code import BLANK
from app_pages.inputs.own_picture import own_picture
from app_pages.show.show import clickable
from app_pages.subject import encoders, shipped_inputs
from model.inputs import Picture
from model.measures.difficulty import hardest_first, predicted_differently
from viz.inputs.image_gallery import image_gallery

COLUMNS = 5
PAGE = 3 * COLUMNS
SIDE = 44  # pixels of the picture in the row


def digit_input(checkpoint: str | None) -> tuple[Picture | None, int | None]:
    """Draws the controls; returns the picture, None if nothing is drawn, and its label, None if unknown.

    Only the picture and its number are visible; a button opens the other ways to choose one. An encoder of colour pictures
    accepts uploads too.
    """
    picture = st.container(width="content", key="picture")
    number_place = st.container(width="content")
    with st.popover("Choose or draw", key="digits"):
        config = encoders.config_of(checkpoint)
        coloured = config is not None and config.n_channels == 3
        sources = (TEST_DIGITS, DRAW, *((PICTURE,) if coloured else ()))
        source = SOURCE.choose(sources, on_change=drawing.leave)
        if source == PICTURE:
            image, label = own_picture(), None
        elif source == DRAW:
            image, label = drawing.drawn_digit(), None
        elif (digits := _test_digits()) is None:
            image, label = None, None
        else:
            images, labels = digits
            with number_place:
                digit_number = DIGIT.choose(most=len(images) - 1)
            _draw_gallery(images, labels, digit_number, checkpoint)
            image, label = images[digit_number], int(labels[digit_number])
    shown_image = image if image is not None and image.any() else None
    with picture:  # black until something is drawn: it takes the same room, and the row stays where it is
        st.image(BLANK if shown_image is None else shown_image, width=SIDE, output_format="PNG")
    return (None, None) if shown_image is None else (Picture.of(shown_image), label)


def second_digit(control: DigitNumber) -> tuple[Picture | None, int | None]:
    """Draws the box for a second test digit; returns its picture and label, (None, None) if test digits cannot be read."""
    if (digits := _test_digits()) is None:
        return None, None
    images, labels = digits
    picture = st.container(width="content", key=f"{control.key}_picture")
    digit = control.choose(most=len(images) - 1)
    with picture:
        st.image(images[digit], width=SIDE, output_format="PNG")
    return Picture.of(images[digit]), int(labels[digit])


def _test_digits() -> tuple[np.ndarray, np.ndarray] | None:
    """Images and labels of the test digits; None, after a warning, if the files are missing or damaged."""
    try:
        return shipped_inputs.test_digits()
    except (OSError, ValueError):
        st.warning("The test digits in `examples/` cannot be read; a digit can still be drawn.")
        return None


def _draw_gallery(images: np.ndarray, labels: np.ndarray, digit: int, checkpoint: str | None) -> None:
    ids, captions, legend = _choose_listed(labels, checkpoint)
    n_pages = max(1, math.ceil(len(ids) / PAGE))
    pages = st.container()  # the thumbnails come first, and need to know which page it is
    page = st.pagination(n_pages, key="gallery_page", max_visible_pages=5)
    with pages:
        if not len(ids):
            st.info("No such digit: both predict the same for every digit of this class.")
            return
        page_slice = slice((page - 1) * PAGE, page * PAGE)
        shown_ids = ids[page_slice]
        thumbnails = image_gallery(
            images[shown_ids], shown_ids.tolist(), captions[page_slice], selected=digit, columns=COLUMNS
        )
        clickable(
            thumbnails,
            key="gallery",
            width="content",
            is_figure=False,
            chosen=digit,
            selection="image",
            take=take_digit,
        )
        if legend:
            st.caption(legend)


def _choose_listed(labels: np.ndarray, checkpoint: str | None) -> tuple[np.ndarray, list[str], str]:
    """Draws the filters of the gallery; returns the digits' numbers, their captions, and a legend of the captions.

    Orders that need predictions are offered only if predictions are stored.
    """
    own_answers = None if checkpoint is None else encoders.predictions(checkpoint)
    pair = None if checkpoint is None else encoders.pair(checkpoint)
    stored = [answers for name in pair or () if (answers := encoders.predictions(name)) is not None]
    orders = (AS_THEY_COME, *([HARDEST] if own_answers else []), *([DISAGREE] if len(stored) == 2 else []))
    narrow, wide = st.columns((2, 3))
    with narrow:
        digit_class = DIGIT_CLASS.choose(on_change=_go_to_first_page)
    with wide:
        order = DIGIT_ORDER.choose(orders, on_change=_go_to_first_page)
    names = {HARDEST: [checkpoint], DISAGREE: pair}.get(order)
    legend = f"Below each: its label → what {' | '.join(names)} said" if names else ""
    return *ordered(labels, digit_class, order, [own_answers] if order == HARDEST else stored), legend


def ordered(
    labels: np.ndarray, digit_class: str, order: str, predictions: list[dict[str, np.ndarray]]
) -> tuple[np.ndarray, list[str]]:
    """Numbers of the digits to show, and captions with label and, where the order needs them, predictions.

    `predictions` belong to one encoder for "hardest first", and to the two compared ones for "disagree".
    """
    ids = np.arange(len(labels)) if digit_class == "all" else np.flatnonzero(labels == int(digit_class))
    if order == AS_THEY_COME:
        return ids, [str(label) for label in labels[ids]]
    if order == DISAGREE:
        ids = predicted_differently(ids, *(stored["predicted"] for stored in predictions))
    ids = hardest_first(ids, [stored["loss"] for stored in predictions])
    answers = zip(*(stored["predicted"][ids].tolist() for stored in predictions), strict=True)
    return ids, [
        f"{label}→{'|'.join(map(str, pair))}" for label, pair in zip(labels[ids], answers, strict=True)
    ]


def _go_to_first_page() -> None:
    st.session_state["gallery_page"] = 1


def take_digit(point: dict) -> None:
    """Callback: chooses the digit with this `id`."""
    DIGIT.take(int(point["id"]))
