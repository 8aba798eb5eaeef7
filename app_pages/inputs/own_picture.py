"""An uploaded picture for encoders of colour pictures, kept until the session ends."""

import numpy as np
import streamlit as st

from app_pages.controls.input_controls import OWN_PICTURE, SOURCE
from app_pages.inputs.drawing import LARGEST, PICTURES
from app_pages.inputs.drawing.picture import in_colour

HELD = "own_picture"  # in the session
_first_picture: np.ndarray | None = None


def set_first_picture(picture: np.ndarray) -> None:
    """Sets the picture uint8 [height, width, 3] that each session shows until its user uploads another one."""
    global _first_picture
    _first_picture = picture


def own_picture() -> np.ndarray | None:
    """Draws the upload; returns the picture uint8 [height, width, 3], None if there is none yet."""
    st.file_uploader(
        "Upload a picture",
        PICTURES,
        key="own_picture_upload",
        max_upload_size=LARGEST,
        on_change=_take_upload,
    )
    if problem := st.session_state.get("own_picture_problem"):
        st.warning(problem)
    st.caption(
        "It is resized and cropped as this encoder expects. A link to this page does not contain the picture."
    )
    return st.session_state.get(HELD, _first_picture)


def _take_upload() -> None:
    if (file := st.session_state["own_picture_upload"]) is None:
        return
    try:
        st.session_state[HELD] = in_colour(file.getvalue())
        st.session_state["own_picture_problem"] = None
        SOURCE.take(OWN_PICTURE)
    except ValueError as error:
        st.session_state["own_picture_problem"] = str(error)
