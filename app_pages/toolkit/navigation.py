"""Going to another page from a callback; `app_pages.shell.frame` carries it out in the next run."""

import streamlit as st

PAGE, QUERY, NOTICE = "go_to", "go_to_query", "notice"  # in the session


def go_to(name: str, **query: str) -> None:
    """For callbacks: the page of that folder comes next; what is chosen stays.

    A control that was never drawn yet takes its value from `query` into the address, and not from the session.
    """
    st.session_state[PAGE], st.session_state[QUERY] = name, query


def notify(sentence: str) -> None:
    """For callbacks: the page that comes next says this once, for a moment."""
    st.session_state[NOTICE] = sentence
