"""Browser components for what Streamlit has no widget for.

Copying the address, arrow keys on head maps, clicks on rows of a matrix and on marks that are on or off, figures that follow a slider. On every page: steps of the browser's history, links and downloads that are pressed while the server is at work, the
Enter key in text boxes, pasted texts that are too long, figures in full screen, colour bars that keep their colours, names and landmarks for screen readers, and figures that stay visible until the next ones are drawn.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from app_pages.toolkit.callbacks import callback
from viz.builders.palette import with_token_colours


def _component(
    name: str, html: str | None = None, css: str | None = None, script: str | None = None
) -> Callable[..., Any]:
    script = script or (HERE / f"{name}.js").read_text(encoding="utf-8")
    return st.components.v2.component(name, js=script, html=html, css=css)


HERE = Path(__file__).parent
# Stands before scripts that call `maskedRow`.
MASKED_ROW = (HERE / "masked_row.js").read_text(encoding="utf-8")
_link = _component(
    "copy_link",
    html='<button type="button" title="Copies a link that opens this view">Copy link</button>',
    css=(HERE / "copy_link.css").read_text(encoding="utf-8"),
)
_blinking = _component(
    "blink",
    html='<button type="button" title="While it is held, or the key B, the two figures alternate in one place">'
    "Hold to blink (B)</button>",
    css=(HERE / "blink.css").read_text(encoding="utf-8"),
)
_arrows, _rows, _slider = (_component(name) for name in ("arrow_keys", "row_clicks", "slider_moves"))
_toggles = _component("toggles", script=MASKED_ROW + with_token_colours(HERE / "toggles.js"))
_kept, _scrolling = _component("kept_figures"), _component("scrolling")
_address = _component("add_to_address")
_on_every_page = {
    name: _component(name)
    for name in (
        *("history", "held_downloads", "gradients", "full_screen"),
        *("enter_applies", "long_paste", "landmarks"),
    )
}
_ANSWERED = "toggles_answered"  # in the session: by figure, how many clicks of the browser were taken
STEPS = {"ArrowLeft": (0, -1), "ArrowRight": (0, 1), "ArrowUp": (-1, 0), "ArrowDown": (1, 0)}


def copy_link() -> None:
    """Draws a button that copies the page's address to the clipboard."""
    with st.container(width="content", key="copy_link"):
        _link(key="copy_link_button")


def every_page(page: str) -> None:
    """Adds the components that every page has, and scrolls `page` to its top or to the figure that the address names.

    `?figure=key` names a figure by the beginning of the key of its container, or of its heading.
    """
    for name, component in _on_every_page.items():
        component(key=f"gesture_{name}")
    _scrolling(key="gesture_scrolling", data={"page": page, "figure": st.query_params.get("figure", "")})


def add_to_address(values: Mapping[str, list[str]]) -> None:
    """Adds parameters that the address lacks, without a step of the browser's history."""
    _address(key="gesture_address", data={"values": [*values.items()]})


def arrow_keys(figure: str, take: Callable[[int, int], None], *, name: str) -> None:
    """While the container with the key `figure` has the focus, arrow keys call `take` with steps (down, right).

    Elsewhere on the page arrow keys scroll as usual. A screen reader reads the container out as `name`, and that it takes
    arrow keys.
    """
    key = f"gesture_{figure}_arrows"

    def pressed() -> None:
        if (step := STEPS.get(st.session_state[key].step)) is not None:
            take(*step)

    _arrows(
        key=key,
        data={"figure": figure, "name": f"{name}. Arrow keys step through the heads."},
        on_step_change=callback(key, pressed),
    )


class Blinking(NamedTuple):
    """A figure that can blink: the key of its container, its name, and the colour of that name ("" for the page's text
    colour).
    """

    key: str
    name: str
    colour: str


def blink(first: Blinking, second: Blinking) -> None:
    """Draws a button; while it, or the key B, is held, the two figures alternate in the position of the first, under their names.

    Such a blink comparator shows differences that are overlooked in figures side by side. If the user prefers reduced motion, the
    second figure stays visible until the button is released.
    """
    with st.container(width="content", key="blink"):
        _blinking(key="blink_button", data={"figures": [figure._asdict() for figure in (first, second)]})


def row_clicks(figure: str, n: int, take: Callable[[int], None]) -> None:
    """Calls `take` with a row's index when that row, or its label, is clicked in the Plotly heatmap in the container `figure`.

    `n` is the number of rows. Plotly reports only clicks on points, so the row is computed from its axis.
    """
    key = f"gesture_{figure}_rows"

    def clicked() -> None:
        row = st.session_state[key].row
        if isinstance(row, int | float) and 0 <= row < n:
            take(int(row))

    _rows(key=key, data={"figure": figure, "n": n}, on_row_change=callback(key, clicked))


def toggles(
    figure: str,
    on: Collection[int],
    n: int,
    take: Callable[[set[int]], None],
    *,
    stamp: str,
    rows: Mapping[str, Any] | None = None,
) -> None:
    """Turns the `n` marks of the Vega-Lite chart in the container `figure` on or off by clicks, and calls `take` with the indices
    of all that are on.

    Marks are numbered in reading order; `on` are those that are on now. The browser keeps the set, so that no click is lost while
    the server is busy; clicks made under another `stamp` are ignored. A clicked mark is hatched or outlined until the figure is
    redrawn. A board [query, key] passes `rows`, so that the browser redraws the whole row with the remaining weights: `scores`
    [query, key], `allowed` [query, key] (the cells that may be attended to when none is on), `largest` (the maximum of the colour
    scale), `colours`, and `exact` (whether such a row equals the encoder's).
    """
    key = f"gesture_{figure}_toggles"
    answered: dict[str, int] = st.session_state.setdefault(_ANSWERED, {})

    def clicked() -> None:
        message = st.session_state[key].on
        if not isinstance(message, Mapping) or not {"stamp", "number", "on"} <= message.keys():
            return
        marks, number = message["on"], message["number"]
        if not isinstance(marks, list) or not all(type(value) is int for value in (*marks, number)):
            return
        if message["stamp"] == stamp and all(0 <= mark < n for mark in marks):
            answered[figure] = number
            take(set(marks))

    data = {
        "figure": figure,
        "on": sorted(on),
        "stamp": stamp,
        "answered": answered.get(figure, 0),
        "rows": rows,
    }
    _toggles(key=key, data=data, on_on_change=callback(key, clicked))


def slider_moves(slider: str, heatmap: str, position: int) -> str:
    """Makes figures follow the slider with the key `slider` while it is dragged: the frame around the row `position` of the
    Plotly heatmap `heatmap`, and figures drawn later that bind a parameter to the returned CSS selector.
    """
    key = f"gesture_{slider}"
    _slider(key=key, data={"slider": slider, "heatmap": heatmap, "position": position})
    return f".st-key-{key}"


def keep_figures() -> None:
    """Adds the component that keeps the page from jumping: each figure stays visible while it is drawn again. Once a page."""
    _kept(key="gesture_kept_figures")
