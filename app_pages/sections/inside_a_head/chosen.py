"""What is chosen, as the model takes it."""

import numpy as np
import streamlit as st

from app_pages.state import DIGIT_SHAPE, Given
from model.record import ForwardRecord


def chosen_query(record: ForwardRecord) -> int:
    """The position that the query box holds."""
    return min(int(st.session_state.get("query", 0)), len(record.tokens) - 1)


def as_input(given: Given) -> str | np.ndarray:
    """A text, or the grey levels of a digit [row, column]."""
    return given if isinstance(given, str) else np.frombuffer(given, np.uint8).reshape(DIGIT_SHAPE)
