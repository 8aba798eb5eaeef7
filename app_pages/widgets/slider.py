"""A slider whose upper end moves with the input."""

from typing import TypeVar

import streamlit as st

Value = TypeVar("Value", int, tuple[int, int])


def slider_up_to(
    label: str, most: int, first: Value, *, key: str, help: str | None = None, width: int | str = "stretch"
) -> Value:
    """From 0 to `most`, to begin with `first`: one number or a range.

    Where `most` changes, what was chosen is kept as far as it reaches. Left alone, Streamlit would forget it, or
    refuse it where it is too large now.
    """
    held, reached = st.session_state.get(key), f"{key}_reached"
    if held is not None and (st.session_state.get(reached, most) != most or _end(held) > most):
        st.session_state[key] = (
            tuple(min(end, most) for end in held) if isinstance(held, tuple) else min(held, most)
        )
        first = None  # Streamlit takes either a first value or one from the session state
    st.session_state[reached] = most
    return st.slider(
        label, 0, most, first, key=key, bind="query-params", persist_state="session", help=help, width=width
    )


def _end(held: int | tuple[int, int]) -> int:
    return max(held) if isinstance(held, tuple) else held
