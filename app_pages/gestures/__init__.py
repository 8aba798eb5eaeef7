"""What Streamlit has no widget for: copying the address, arrow keys on head maps, a click on a row of a matrix, and figures
that stay in sight until the next ones are drawn."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from app_pages.callbacks import callback

HERE = Path(__file__).parent
_link = st.components.v2.component(
    "copy_link",
    html='<button type="button" title="Copies a link that opens this view">Copy link</button>',
    css=(HERE / "copy_link.css").read_text(encoding="utf-8"),
    js=(HERE / "copy_link.js").read_text(encoding="utf-8"),
)
_arrows = st.components.v2.component("arrow_keys", js=(HERE / "arrow_keys.js").read_text(encoding="utf-8"))
_rows = st.components.v2.component("row_clicks", js=(HERE / "row_clicks.js").read_text(encoding="utf-8"))
_kept = st.components.v2.component("kept_figures", js=(HERE / "kept_figures.js").read_text(encoding="utf-8"))
STEPS = {"ArrowLeft": (0, -1), "ArrowRight": (0, 1), "ArrowUp": (-1, 0), "ArrowDown": (1, 0)}


def copy_link() -> None:
    """A button that puts the page's address into the clipboard."""
    with st.container(width="content", key="copy_link"):
        _link(key="copy_link_button")


def arrow_keys(place: str, take: Callable[[int, int], None]) -> None:
    """While the container with the key `place` has the focus, arrow keys call `take` with steps down and to the right.

    Everywhere else they scroll, as they do on any page.
    """
    key = f"{place}_arrows"

    def pressed() -> None:
        if (step := STEPS.get(st.session_state[key].step)) is not None:
            take(*step)

    with st.container(key=f"gesture_{key}"):
        _arrows(key=key, data={"place": place}, on_step_change=callback(key, pressed))


def row_clicks(place: str, n: int, take: Callable[[int], None]) -> None:
    """A click on a row of the Plotly heatmap in the container with the key `place`, or on its label, calls `take`.

    `n` is the number of rows. Plotly reports clicks on points alone, so the row is read off its axis.
    """
    key = f"{place}_rows"

    def clicked() -> None:
        row = st.session_state[key].row
        if isinstance(row, int | float) and 0 <= row < n:
            take(int(row))

    with st.container(key=f"gesture_{key}"):
        _rows(key=key, data={"place": place, "n": n}, on_row_change=callback(key, clicked))


def keep_figures() -> None:
    """Once a page: what stands below a figure stays where it is while the figure is drawn anew, and the figure in sight."""
    with st.container(key="gesture_kept_figures"):
        _kept(key="kept_figures")
