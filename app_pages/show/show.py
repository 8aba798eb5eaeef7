"""Figures on a page, and what a click on one of them chooses."""

from collections.abc import Callable, Hashable
from typing import Literal, TypeAlias

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.show.download import download
from app_pages.toolkit.callbacks import callback
from viz.builders.figure import Figure, PlotlyFigure, VegaFigure
from viz.builders.theme import in_theme

LABEL = 14  # pixels, of the axes of figures that grow with the window: to be read from the last row
BY_CLICK = "by a click"
Size: TypeAlias = Literal["stretch", "content"] | int


def heading(text: str, *, key: str) -> None:
    """Above a figure; a link that says `?figure=key` opens the page here."""
    with st.container(key=key):
        st.markdown(f"**{text}**")


def show(
    figure: Figure,
    *,
    key: str | None,
    width: Size = "stretch",
    height: Size = "content",
    in_file: Callable[[], Figure] | None = None,
) -> None:
    """Places a figure where the page is now; one by Plotly can `height="stretch"` over the container it stands in.

    `in_file` makes what its file shows, where the page says something beside the figure that the file would lack.

    With the `key` None it is one that this run draws anew in a moment, and has no way to a file.
    """
    with st.container(key=key and f"shown_{key}", width=width, height=height, gap=None):
        if isinstance(figure, PlotlyFigure):
            drawn = in_theme(figure.specification)
            if height == "stretch":
                drawn.layout.height = None
                for axis in (drawn.layout.xaxis, drawn.layout.yaxis):
                    axis.tickfont.size = axis.title.font.size = LABEL
            st.plotly_chart(
                drawn,
                key=key,
                width=width,
                height=height,
                alt=figure.description,
                config={"modeBarButtonsToRemove": ["toImage"]},
            )
        else:
            st.vega_lite_chart(_with_data(figure), key=key, width=width)
        if key:
            download(in_file or figure, key)


class Redrawn:
    """A figure that one run draws several times, where this was made. It is first drawn over the one of the run before,
    which so stays in sight until then: an `st.empty` would take it away at once."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._frame = st.container(key=f"shown_{key}", gap=None)
        self._place: DeltaGenerator = self._frame

    def draw(self, figure: VegaFigure, *, done: bool) -> None:
        """When it is `done`, with a way to a file."""
        self._place = self._place.vega_lite_chart(_with_data(figure), width="stretch")
        if done:
            with self._frame:
                download(figure, self._key)


def clickable(
    figure: VegaFigure,
    *,
    key: str,
    chosen: Hashable,
    selection: str,
    take: Callable[[dict], None],
    width: Size = "stretch",
    is_figure: bool = True,
    in_file: Callable[[], Figure] | None = None,
) -> None:
    """As `show`, with `in_file` as there; a click on a mark calls `take` with the fields of its point selection `selection`.

    Streamlit reports a click only where it changes the chart's selection: once something else was `chosen`
    elsewhere, a second click on the same mark would be lost. The chart is then put up anew, with an empty
    selection; after a click of its own it stays, and so does what is scrolled around it.
    What is to be chosen from, and `is_figure` of nothing, has no way to a file.
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
        st.vega_lite_chart(
            _with_data(figure),
            on_select=callback(chart_key, clicked),
            key=chart_key,
            selection_mode=selection,
            width=width,
        )
        if is_figure:
            download(in_file or figure, key)


def _with_data(figure: VegaFigure) -> dict:
    """As Streamlit takes it, which writes into what it is handed; a figure hands out copies."""
    return {**figure.specification, "datasets": figure.frames}
