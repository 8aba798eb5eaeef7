"""Widget callbacks that do not keep records of old inputs in memory.

Streamlit keeps the callback of every widget that a session has ever drawn, with everything it refers to. Callbacks of figures
refer to records: each new text of 384 tokens cost 23 MB until the session ended. So Streamlit gets callbacks that refer only to a
key; the functions they call are kept in the session, and dropped when a page is drawn without their widgets.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

_FUNCTIONS, _DRAWN_KEYS = "callbacks", "callbacks_drawn"  # in the session: functions by key; keys of this run


def callback(key: str, function: Callable[[], None]) -> Callable[[], None]:
    """Returns a callback for the widget `key`, which calls the `function` that was last given for this key."""
    st.session_state.setdefault(_FUNCTIONS, {})[key] = function
    st.session_state.setdefault(_DRAWN_KEYS, set()).add(key)
    return partial(_call, key)


def _call(key: str) -> None:
    if (function := st.session_state[_FUNCTIONS].get(key)) is not None:
        function()


@contextmanager
def only_of_this_page() -> Iterator[None]:
    """Context for drawing a page; on exit it drops the functions of widgets that this run has not drawn.

    A run that ends early drops none, since the rest of the screen still shows the previous run's widgets.
    """
    st.session_state[_DRAWN_KEYS] = set()
    yield
    functions, drawn_keys = st.session_state.setdefault(_FUNCTIONS, {}), st.session_state[_DRAWN_KEYS]
    for key in functions.keys() - drawn_keys:
        del functions[key]
