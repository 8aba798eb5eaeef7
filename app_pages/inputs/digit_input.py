"""Choosing one of the test digits, by its number or in a gallery."""

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import input_controls as controls
from app_pages.show.show import clickable
from app_pages.subject import encoders, shipped_inputs
from model.measures.predicted_classes import hardest_first, predicted_differently
from viz.inputs.image_gallery import image_gallery

COLUMNS = 5
DIGITS_PER_PAGE = 3 * COLUMNS


def choose_test_digit(number: DeltaGenerator, checkpoint: str | None) -> tuple[np.ndarray | None, int | None]:
    """Draws the box for the number of a test digit into the container `number`, and a gallery; returns (picture, label), both
    None if the files cannot be read.
    """
    if (digits := read_test_digits()) is None:
        return None, None
    images, labels = digits
    with number:
        chosen = controls.DIGIT.choose(most=len(images) - 1)
    _draw_gallery(images, labels, chosen, checkpoint)
    return images[chosen], int(labels[chosen])


def read_test_digits() -> tuple[np.ndarray, np.ndarray] | None:
    """Pictures uint8 [digit, 28, 28] and labels of the test digits; None, and a warning on the page, if the files are missing or
    damaged.
    """
    try:
        return shipped_inputs.test_digits()
    except (OSError, ValueError):
        st.warning("The test digits in `examples/` cannot be read; a digit can still be drawn.")
        return None


def _draw_gallery(images: np.ndarray, labels: np.ndarray, digit: int, checkpoint: str | None) -> None:
    ids, captions, legend = _choose_listed(labels, checkpoint)
    n_pages = max(1, math.ceil(len(ids) / DIGITS_PER_PAGE))
    pages = st.container()  # the thumbnails come first, and need to know which page it is
    page = st.pagination(n_pages, key="gallery_page", max_visible_pages=5)
    with pages:
        if not len(ids):
            st.info("No such digit: both predict the same for every digit of this class.")
            return
        on_page = slice((page - 1) * DIGITS_PER_PAGE, page * DIGITS_PER_PAGE)
        shown = ids[on_page]
        thumbnails = image_gallery(
            images[shown], shown.tolist(), captions[on_page], selected=digit, columns=COLUMNS
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
    """Draws the controls for the gallery's class and order; returns the numbers of its digits, their captions, and a legend of
    the captions.

    Orders that need predictions are offered only if predictions are stored.
    """
    pair = encoders.pair(checkpoint) if checkpoint else None
    names = {controls.AS_THEY_COME: (), controls.HARDEST: (checkpoint,), controls.DISAGREE: pair or (None,)}
    stored = {
        order: [encoders.predictions(name) if name else None for name in of_order]
        for order, of_order in names.items()
    }
    left, right = st.columns((2, 3))
    with left:
        digit_class = controls.DIGIT_CLASS.choose(on_change=_go_to_first_page)
    with right:
        order = controls.DIGIT_ORDER.choose(
            filter(lambda order: all(stored[order]), names), on_change=_go_to_first_page
        )
    predicting = " | ".join(map(str, names[order]))
    legend = f"Below each: its label → what {predicting} said" if predicting else ""
    return *ordered(
        labels, digit_class, order, [answers for answers in stored[order] if answers is not None]
    ), legend


def ordered(
    labels: np.ndarray, digit_class: str, order: str, predictions: list[dict[str, np.ndarray]]
) -> tuple[np.ndarray, list[str]]:
    """Numbers of the digits to show, and their captions: the label and, in orders that need predictions, the predicted classes.

    `predictions` are those of one encoder for "hardest first", of both compared encoders for "disagree".
    """
    ids = np.arange(len(labels)) if digit_class == "all" else np.flatnonzero(labels == int(digit_class))
    if order == controls.AS_THEY_COME:
        return ids, [str(label) for label in labels[ids]]
    if order == controls.DISAGREE:
        ids = predicted_differently(ids, *(stored["predicted"] for stored in predictions))
    ids = hardest_first(ids, [stored["loss"] for stored in predictions])
    answers = zip(*(stored["predicted"][ids].tolist() for stored in predictions), strict=True)
    return ids, [
        f"{label}→{'|'.join(map(str, digits))}" for label, digits in zip(labels[ids], answers, strict=True)
    ]


def _go_to_first_page() -> None:
    st.session_state["gallery_page"] = 1


def take_digit(point: dict) -> None:
    """Callback: chooses the digit whose number is the `id` of the clicked `point`."""
    controls.DIGIT.take(int(point["id"]))
