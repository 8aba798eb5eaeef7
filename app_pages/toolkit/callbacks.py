"""Widget callbacks that do not keep records of old inputs in memory.

Streamlit keeps the callback of every widget that a session has ever drawn, with everything it refers to. Callbacks of figures
refer to records: each new text of 384 tokens cost 23 MB until the session ended. So Streamlit gets callbacks that refer only to a
key; the functions they call are kept in the session, and dropped when a page is drawn without their widgets.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

_CALLED, _DRAWN = "callbacks", "callbacks_drawn"  # in the session: functions by key; keys of this run


def callback(key: str, called: Callable[[], None]) -> Callable[[], None]:
    """Returns a callback for the widget `key`; it calls the function that was last passed as `called` for this key."""
    st.session_state.setdefault(_CALLED, {})[key] = called
    st.session_state.setdefault(_DRAWN, set()).add(key)
    return partial(_call, key)


def _call(key: str) -> None:
    if (function := st.session_state[_CALLED].get(key)) is not None:
        function()


@contextmanager
def only_of_this_page() -> Iterator[None]:
    """Context for drawing a page; on exit it drops the functions of widgets that this run has not drawn.

    A run that ends early drops none, since the rest of the screen still shows the previous run's widgets.
    """
    st.session_state[_DRAWN] = set()
    yield
    functions, drawn_keys = st.session_state.setdefault(_CALLED, {}), st.session_state[_DRAWN]
    for key in functions.keys() - drawn_keys:
        del functions[key]
