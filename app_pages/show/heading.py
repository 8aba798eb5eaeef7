"""The heading of a page: title, question, and below them a line on what the page shows.

On a page about an encoder that line begins with the encoder's purpose, which is known only once the page reads it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import pages
from app_pages.controls.input_controls import KIND
from app_pages.controls.pages import Page
from app_pages.toolkit.gestures import copy_link

_STYLE = Path(__file__).with_suffix(".css")


_PURPOSE: ContextVar[DeltaGenerator | None] = ContextVar("purpose", default=None)
_GUIDE: ContextVar[DeltaGenerator | None] = ContextVar("guide", default=None)
_SEEN: ContextVar[Callable[[], None] | None] = ContextVar("seen", default=None)


@contextmanager
def heading(page: Page, *, is_described: bool = True) -> Iterator[DeltaGenerator]:
    """Draws the heading; inside the `with`, `say_purpose` writes into its line. Yields the container of that line.

    Without `is_described` the line stays empty; the container then holds something else, so that no figure moves.
    """
    with st.container(horizontal=True, vertical_alignment="top", key="heading"):
        with st.container(key="heading_text"):
            with st.container(horizontal=True, vertical_alignment="center", key="heading_title"):
                draw_title_again = _draw_by_kind(lambda: _title_html(page), width="content")
                guide = st.container(width="content", key="guide") if is_described else None
            line = st.container(key="heading_line")
        copy_link()
        draw_present_button(page)
    purpose = None
    if is_described:
        with line:
            purpose = st.container(key="purpose")
    tokens = _PURPOSE.set(purpose), _GUIDE.set(guide), _SEEN.set(None)
    if is_described:
        with line:
            draw_seen(lambda: f"<p>{_seen_html(page)}</p>", also=draw_title_again)
    try:
        yield line
    finally:
        _PURPOSE.reset(tokens[0])
        _GUIDE.reset(tokens[1])
        _SEEN.reset(tokens[2])


def _title_html(page: Page) -> str:
    question = (_is_of_picture() and page.question_of_picture) or page.question
    return f'<div class="title"><h1>{page.title} <span>{question}</span></h1></div>'


def _seen_html(page: Page) -> str:
    return (_is_of_picture() and page.seen_of_picture) or page.seen


def _is_of_picture() -> bool:
    return KIND.held(st.query_params.get(KIND.key)) in ("Digit", "Picture")


def draw_seen(html: Callable[[], str], also: Callable[[], None] = lambda: None) -> None:
    """Draws the sentence on what the page shows from the HTML that `html` returns; `draw_seen_again` draws it once more, and calls
    `also`.
    """
    draw_again = _draw_by_kind(html)

    def draw_both() -> None:
        also()
        draw_again()

    _SEEN.set(draw_both)


def _draw_by_kind(
    html: Callable[[], str], width: Literal["stretch", "content"] = "stretch"
) -> Callable[[], None]:
    """Draws the HTML that `html` returns; the result draws it once more, if it has changed."""
    slot, drawn = st.empty(), html()
    slot.html(drawn, width=width)

    def draw_again() -> None:
        if (now := html()) != drawn:
            slot.html(now, width=width)

    return draw_again


def draw_seen_again() -> None:
    """Draws title and sentence once more after the kind of input is drawn: after Back it is known only then."""
    if (draw_again := _SEEN.get()) is not None:
        draw_again()


def links_container() -> DeltaGenerator | None:
    """Container at the right of the title for links to what a first-time user may try; None during the tour."""
    return _GUIDE.get()


def say_purpose(subject: str, purpose: str, answer: str = "") -> bool:
    """Begins the line below the title with a sentence such as “This encoder judges film reviews: positive 98.7 %.”

    `subject` is what the sentence calls the encoder; `answer` is HTML. Returns whether it is drawn: not outside a page, and not
    during the tour.
    """
    if (slot := _PURPOSE.get()) is None:
        return False
    end = f": {answer}." if answer else "."
    slot.html(f"<p>{escape(f'{subject} {purpose}')}{end}</p>")
    return True


def shows_figure_alone() -> bool:
    """Whether the address requests the figure without the rest of the page, on a page that offers this."""
    is_presented = st.session_state.get("page") in {page.name for page in pages.PRESENTED}
    return is_presented and st.query_params.get(pages.PRESENT) == "1"


def draw_present_button(page: pages.Page) -> None:
    """Draws, on pages that offer it, the button that shows the figure without the rest of the page, or the button (and the key
    Escape) back.
    """
    if shows_figure_alone():
        st.button(
            "Back to the page",
            key="present_leave",
            icon=":material/close:",
            on_click=_leave_figure_alone,
            shortcut="Esc",
            help="Back to the page",
        )
        st.html(_STYLE)  # behind the button: what hides the page has a way back from the first moment
    elif page in pages.PRESENTED:
        st.button(
            "Present",
            key="present",
            type="tertiary",
            on_click=_show_figure_alone,
            help="The figure alone, in large letters, for an audience. Escape leads back.",
        )


def _leave_figure_alone() -> None:
    st.query_params.pop(pages.PRESENT, None)


def _show_figure_alone() -> None:
    st.query_params[pages.PRESENT] = "1"
