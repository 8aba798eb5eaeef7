"""What is chosen, as the model takes it."""

import streamlit as st

from model.record import ForwardRecord


def chosen_query(record: ForwardRecord) -> int:
    """The position that the query box holds."""
    return min(int(st.session_state.get("query", 0)), len(record.tokens) - 1)
