"""The callbacks of what the page shows now.

Streamlit keeps the callback of every widget that a session has ever drawn, and with it all that the callback refers to.
Those of the figures refer to records: each new text of 384 tokens left 23 MB behind, for as long as its session lasted.
So Streamlit is given callbacks that refer to a key alone; what they call lies here, until a page is drawn without it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

_CALLED, _DRAWN = "callbacks", "callbacks_drawn"  # in the session: functions by key; keys of this run


def callback(key: str, called: Callable[[], None]) -> Callable[[], None]:
    """For a widget that has the key `key`: calls `called`, or what was given for that key since."""
    st.session_state.setdefault(_CALLED, {})[key] = called
    st.session_state.setdefault(_DRAWN, set()).add(key)
    return partial(_call, key)


def _call(key: str) -> None:
    if (called := st.session_state[_CALLED].get(key)) is not None:
        called()


@contextmanager
def only_of_this_page() -> Iterator[None]:
    """Around the drawing of a page: at its end, callbacks of what it has not drawn are let go.

    A run that ends before lets none go: the rest of what an earlier run drew is still on the screen then.
    """
    st.session_state[_DRAWN] = set()
    yield
    called, drawn = st.session_state.setdefault(_CALLED, {}), st.session_state[_DRAWN]
    for key in called.keys() - drawn:
        del called[key]
