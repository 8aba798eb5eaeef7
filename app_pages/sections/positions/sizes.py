"""The controls that several parts about sinusoids share: the size of the table, and a position in it."""

import streamlit as st

WIDTHS = (8, 16, 32, 64, 128, 256, 512)
LENGTHS = (32, 64, 128, 256, 512)


def choose_width() -> int:
    return st.select_slider(
        "Width d_model",
        WIDTHS,
        value=64,
        key="positions_d_model",
        bind="query-params",
        persist_state="session",
        help="Dimensions of a position: a sine and a cosine for each of half as many frequencies.",
    )


def choose_length() -> int:
    return st.select_slider(
        "Length in positions",
        LENGTHS,
        value=128,
        key="positions_length",
        bind="query-params",
        persist_state="session",
    )


def choose_position(n: int) -> int:
    """One of the positions 0 ... n - 1."""
    return choose_below(n, "Position t", first=10, key="positions_t")


def choose_below(n: int, label: str, *, first: int, key: str) -> int:
    """One of 0 ... n - 1, to begin with `first`; what was chosen is kept where `n` changes, or is the last then."""
    held = st.session_state.get(key)
    too_large = held is not None and held >= n
    if too_large:
        st.session_state[key] = n - 1
    # Streamlit takes either a first value or one from the session state.
    value = None if too_large else first
    return st.slider(label, 0, n - 1, value, key=key, bind="query-params", persist_state="session")
