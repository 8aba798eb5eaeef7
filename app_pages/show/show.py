"""Draws figures on a page, and calls callbacks on clicks in them."""

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, Literal, TypeAlias

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.show.download import download
from app_pages.show.heading import shows_figure_alone
from app_pages.toolkit.callbacks import callback
from app_pages.toolkit.expression import Expression
from app_pages.toolkit.gestures import toggles
from viz.builders.chart import skip_altair_checks
from viz.builders.figure import Figure, VegaFigure
from viz.builders.heatmap_figure import Heatmap
from viz.builders.theme import in_theme, page_config

skip_altair_checks()
BY_CLICK = "by a click"
Size: TypeAlias = Literal["stretch", "content"] | int


def heading(text: str, *, key: str) -> None:
    """Draws the heading of a figure; a link with `?figure=key` scrolls the page to that heading."""
    with st.container(key=key):
        st.markdown(f"**{text}**")


def show(
    figure: Figure | Expression,
    *,
    key: str | None,
    width: Size = "stretch",
    height: Size = "content",
    in_file: Figure | Callable[[], Figure] | None = None,
) -> None:
    """Draws a figure (or an expression of one) in the current container; with `height="stretch"` it fills that container's height.

    `in_file` is the figure for the downloaded file, or a function that makes it, if the file needs more than the page's figure,
    such as a legend. With `key` None the figure has no download menu, since it will be drawn again within this run.
    """
    drawn = _drawn(figure)
    with st.container(key=key and f"shown_{key}", width=width, height=height, gap=None):
        if isinstance(drawn, Heatmap):
            themed = in_theme(drawn.specification)
            if shows_figure_alone():  # it fills the window
                height = "stretch"
            if height == "stretch":
                themed.layout.height = None
            st.plotly_chart(
                themed,
                key=key,
                width=width,
                height=height,
                alt=drawn.description,
            )
        else:
            st.vega_lite_chart(_with_data(drawn), key=key, width=width, height=height)
        if key:
            download(in_file or figure, key, full_screen=True)


class Redrawn:
    """A figure that is drawn several times within one run, at the position where this object was created.

    The first drawing replaces the previous run's figure, which stays visible until then; `st.empty` would remove it at once.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._frame = st.container(key=f"shown_{key}", gap=None)
        self._place: DeltaGenerator = self._frame

    def draw(self, figure: VegaFigure | Expression, *, done: bool) -> None:
        """Draws the figure in place of its last version; if it is `done`, also its download menu."""
        self._place = self._place.vega_lite_chart(_with_data(_drawn(figure)), width="stretch")
        if done:
            with self._frame:
                download(figure, self._key, full_screen=True)


def clickable(
    figure: VegaFigure | Expression,
    *,
    key: str,
    chosen: Hashable,
    selection: str,
    take: Callable[[dict], None],
    width: Size = "stretch",
    height: Size = "content",
    is_figure: bool = True,
    in_file: Callable[[], Figure] | None = None,
) -> None:
    """Draws a figure; a click on a mark calls `take` with the fields of its Vega point selection `selection`.

    Streamlit reports a click only if the chart's selection changes: a second click on the same mark would be lost if another
    control has changed the `chosen` value meanwhile. The chart is then created again with an empty selection; after a click on
    the chart itself it stays, with its scroll position. `height` and `in_file` are as in `show`; with `is_figure` False the chart is a mere
    control without a download menu.
    """
    state_key = f"{key}_memory"
    last_chosen, version = st.session_state.get(state_key, (chosen, 0))
    if last_chosen not in (chosen, BY_CLICK):
        version += 1
    st.session_state[state_key] = (chosen, version)
    chart_key = f"{key}_{version}"

    def clicked() -> None:
        if points := st.session_state[chart_key].selection.get(selection):
            st.session_state[state_key] = (BY_CLICK, version)
            take(points[0])

    with st.container(key=key):
        st.vega_lite_chart(
            _with_data(_drawn(figure)),
            on_select=callback(chart_key, clicked),
            key=chart_key,
            selection_mode=selection,
            width=width,
            height=height,
        )
        if is_figure:
            download(in_file or figure, key, full_screen=True)


def toggled(
    figure: VegaFigure | Expression,
    *,
    key: str,
    on: Collection[int],
    n: int,
    take: Callable[[set[int]], None],
    stamp: str,
    width: Size = "stretch",
    in_file: Callable[[], Figure] | None = None,
    rows: Mapping[str, Any] | None = None,
) -> None:
    """Draws a figure of `n` marks that a click turns on or off; `take` is called with the indices of all marks that are on.

    Marks are numbered in reading order, as in `gestures.toggles`, which also explains `stamp` and `rows`. `in_file` is as in
    `show`.
    """
    toggles(key, on, n, take, stamp=stamp, rows=rows)  # before the figure: no click on it is too early
    with st.container(key=key):
        st.vega_lite_chart(_with_data(_drawn(figure)), key=f"{key}_chart", width=width)
        download(in_file or figure, key, full_screen=True)


def _drawn(figure: Figure | Expression) -> Any:
    return figure() if isinstance(figure, Expression) else figure


def _with_data(figure: VegaFigure) -> dict:
    """The Vega-Lite specification with its data sets, as a new dict, because Streamlit changes the dict it gets."""
    return {**figure.specification, "datasets": figure.frames, "config": page_config()}
