"""A canvas of 28×28 pixels for drawing a digit; the drawing is kept in the address, as `?drawing=...`."""

from pathlib import Path

import numpy as np
import streamlit as st

from app_pages.controls.input_controls import DRAWING
from app_pages.inputs.drawing.code import BLANK, from_code, to_code
from app_pages.inputs.drawing.picture import centred, from_file

HERE = Path(__file__).parent
LARGEST = 10  # MB of an upload
PICTURES = ("png", "jpg", "jpeg", "webp", "bmp")  # how names of pictures end
canvas = st.components.v2.component(
    "drawing",
    html='<canvas width="28" height="28" role="img" aria-label="Draw a digit here with mouse, pen or finger"></canvas>'
    '<span aria-hidden="true">Draw a digit here</span>',
    css=(HERE / "canvas.css").read_text(encoding="utf-8"),
    js=(HERE / "canvas.js").read_text(encoding="utf-8"),
)


def drawn_digit() -> np.ndarray:
    """Draws the canvas with its buttons; returns the drawing, uint8 [28, 28]."""
    try:
        image = from_code(DRAWING.read())
    except ValueError as error:
        st.warning(str(error))
        image = BLANK
    canvas(key="canvas", data={"pixels": to_hex(image)}, on_drawn_change=take_drawing)
    blank = not image.any()
    with st.container(horizontal=True):
        st.button("Clear", key="clear", on_click=_keep, args=(BLANK,), disabled=blank)
        help_text = "Moves the drawing to the middle and gives it the size that the training digits have."
        args = (centred(image),)
        st.button("Centre and scale", key="centre", disabled=blank, help=help_text, on_click=_keep, args=args)
    st.file_uploader(
        "Or upload a picture of a digit",
        PICTURES,
        key="upload",
        max_upload_size=LARGEST,
        on_change=take_upload,
    )
    if problem := st.session_state.get("upload_problem"):
        st.warning(problem)
    return image


def leave() -> None:
    """Callback: removes the drawing from the address; it is kept in the session."""
    DRAWING.leave()
    st.session_state["upload_problem"] = None


def to_hex(image: np.ndarray) -> str:
    """The image as one hexadecimal digit per pixel, row by row: the 16 grey levels that the canvas uses."""
    return "".join(f"{level:x}" for level in np.round(image.ravel() / 17).astype(int))


def from_hex(pixels: object) -> np.ndarray:
    """Image uint8 [28, 28] from one hexadecimal digit per pixel. Raises ValueError unless `pixels` is a text of 784 such
    digits.
    """
    if not isinstance(pixels, str) or len(pixels) != BLANK.size:
        raise ValueError(f"a drawing is {BLANK.size} hexadecimal digits")
    return np.array([int(level, 16) * 17 for level in pixels], np.uint8).reshape(BLANK.shape)


def _keep(image: np.ndarray) -> None:
    st.session_state["upload_problem"] = None
    DRAWING.take(to_code(image))


def take_drawing() -> None:
    try:
        _keep(from_hex(st.session_state["canvas"].drawn))
    except ValueError:  # sent by something else than the canvas
        st.session_state["upload_problem"] = "What was drawn could not be read, so the drawing is as it was."


def take_upload() -> None:
    if (file := st.session_state["upload"]) is None:
        st.session_state["upload_problem"] = None
        return
    try:
        _keep(from_file(file.getvalue()))
    except ValueError as error:
        st.session_state["upload_problem"] = str(error)
