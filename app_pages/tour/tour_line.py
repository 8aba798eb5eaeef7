"""The line of the tour below a page's title: which stop this is, what to see there, and the ways to the ones before and after."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.pages import READING, go_to
from app_pages.controls.tour_controls import STOPS, TOUR
from app_pages.tour.open_stop import leave_tour, left_out_before, next_stop, open_stop, seen_at


def draw_line(number: int, container: DeltaGenerator) -> None:
    """Draws the line of the stop `number`, from 1, into `container`."""
    sentences = f"{seen_at(number)} {left_out_before(number)}".strip()
    before, after = next_stop(number, -1), next_stop(number, 1)
    with container, st.container(horizontal=True, vertical_alignment="center", gap="small", key="tour"):
        # First the buttons, which so stand in the same container at every stop.
        st.html(f'<p class="tour_number"><b>Tour, {number} of {len(STOPS)}</b></p>', width="content")
        st.button(
            "← back",
            type="tertiary",
            key="tour_back",
            on_click=open_stop,
            args=(before,),
            disabled=before is None,
        )
        if after is not None:
            st.button("next →", type="tertiary", key="tour_next", on_click=open_stop, args=(after,))
        st.button(
            "all stops",
            type="tertiary",
            key="tour_stops",
            on_click=go_to,
            args=(READING, TOUR.to(str(number))),
        )
        st.button("leave", type="tertiary", key="tour_close", on_click=leave_tour)
        st.html(f"<p><b>{escape(STOPS[number - 1].title)}.</b> {escape(sentences)}</p>")
