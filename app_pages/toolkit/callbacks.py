"""Callbacks of widgets that do not keep records of old inputs in memory.

Streamlit keeps the callback of every widget that a session has ever drawn, and everything that it refers to. Those of the
figures refer to records: each new text of 384 tokens cost 23 MB until the session ended. So Streamlit gets callbacks that
refer to a key only. The functions that they call lie in the session, and are dropped when a page is drawn without them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

_CALLED, _DRAWN = "callbacks", "callbacks_drawn"  # in the session: functions by key; keys of this run


def callback(key: str, called: Callable[[], None]) -> Callable[[], None]:
    """The callback for the widget `key`: it calls the function that was last given for this key."""
    st.session_state.setdefault(_CALLED, {})[key] = called
    st.session_state.setdefault(_DRAWN, set()).add(key)
    return partial(_call, key)


def _call(key: str) -> None:
    if (called := st.session_state[_CALLED].get(key)) is not None:
        called()


@contextmanager
def only_of_this_page() -> Iterator[None]:
    """Around the drawing of a page: afterwards drops the functions of widgets that this run has not drawn.

    A run that ends early drops none: the rest of the page on the screen is then still from the run before.
    """
    st.session_state[_DRAWN] = set()
    yield
    called, drawn = st.session_state.setdefault(_CALLED, {}), st.session_state[_DRAWN]
    for key in called.keys() - drawn:
        del called[key]
