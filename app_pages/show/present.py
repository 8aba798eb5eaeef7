"""A page for an audience: the figure alone, with large letters; pointing and keys stay as they are.

The address says it, `?present=1`, and so does a copied link. The style sheet hides the rest of the page: its controls are
there, and keep what they hold.
"""

from pathlib import Path

import streamlit as st

from app_pages.controls import pages

_STYLE = Path(__file__).with_suffix(".css")


def presents() -> bool:
    """Whether the address asks for the figure alone, on a page whose figure can stand alone."""
    is_presented = st.session_state.get("page") in {page.name for page in pages.PRESENTED}
    return is_presented and st.query_params.get(pages.PRESENT) == "1"


def draw_present_button(page: pages.Page) -> None:
    """Draws the way there, on pages whose figure can stand alone, or the way back: a button, and the key Escape."""
    if presents():
        st.html(_STYLE)
        st.button(
            "Back to the page",
            key="present_leave",
            icon=":material/close:",
            on_click=_leave,
            shortcut="Esc",
            help="Back to the page",
        )
    elif page in pages.PRESENTED:
        st.button(
            "Present",
            key="present",
            type="tertiary",
            on_click=_enter,
            help="The figure alone, in large letters, for an audience. Escape leads back.",
        )


def _enter() -> None:
    st.query_params[pages.PRESENT] = "1"


def _leave() -> None:
    st.query_params.pop(pages.PRESENT, None)
