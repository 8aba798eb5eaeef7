"""The controls that several parts about sinusoids share: the size of the table, and a position in it."""

import streamlit as st

from app_pages.widgets.slider import slider_up_to

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
    return slider_up_to("Position t", n - 1, 10, key="positions_t")
