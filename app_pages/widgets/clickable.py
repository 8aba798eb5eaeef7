"""Charts on which a click chooses something."""

from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

BY_CLICK = "by a click"


def clickable(
    chart: Any,
    *,
    key: str,
    chosen: Hashable,
    selection: str,
    take: Callable[[dict], None],
    width: str = "stretch",
) -> None:
    """Draws an Altair chart; a click on a mark calls `take` with the fields of its point selection `selection`.

    Streamlit reports a click only where it changes the chart's selection: once something else was `chosen`
    elsewhere, a second click on the same mark would be lost. The chart is then put up anew, with an empty
    selection; after a click of its own it stays, and so does what is scrolled around it.
    """
    memory = f"{key}_memory"
    before, number = st.session_state.get(memory, (chosen, 0))
    if before not in (chosen, BY_CLICK):
        number += 1
    st.session_state[memory] = (chosen, number)
    chart_key = f"{key}_{number}"

    def clicked() -> None:
        if points := st.session_state[chart_key].selection.get(selection):
            st.session_state[memory] = (BY_CLICK, number)
            take(points[0])

    with st.container(key=key):
        st.altair_chart(chart, key=chart_key, on_select=clicked, selection_mode=selection, width=width)
