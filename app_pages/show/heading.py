"""The heading of a page: title, question, and below them a line on what the page shows.

On a page about an encoder that line begins with the encoder's purpose, which is known only once the page reads it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
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


@dataclass
class _Heading:
    """The heading that is being drawn: the containers that a page fills, None where there are none, and functions that draw its
    texts again.
    """

    purpose: DeltaGenerator | None = None
    guide: DeltaGenerator | None = None
    redraw: list[Callable[[], None]] = field(default_factory=list)


_OUTSIDE_A_PAGE = _Heading()
_HEADING: ContextVar[_Heading] = ContextVar("heading", default=_OUTSIDE_A_PAGE)


@contextmanager
def heading(page: Page, *, is_described: bool = True) -> Iterator[DeltaGenerator]:
    """Draws the heading; inside the `with`, `say_purpose` writes into its line. Yields the container of that line.

    Without `is_described` the line stays empty; the container then holds something else, so that no figure moves.
    """
    drawn = _Heading()
    token = _HEADING.set(drawn)
    try:
        with st.container(horizontal=True, vertical_alignment="top", key="heading"):
            with st.container(key="heading_text"):
                with st.container(horizontal=True, vertical_alignment="center", key="heading_title"):
                    draw_in_heading(lambda: _title_html(page), width="content")
                    if is_described:
                        drawn.guide = st.container(width="content", key="guide")
                line = st.container(key="heading_line")
            copy_link()
            draw_present_button(page)
        if is_described:
            with line:
                drawn.purpose = st.container(key="purpose")
                draw_in_heading(lambda: f"<p>{_description_html(page)}</p>")
        yield line
    finally:
        _HEADING.reset(token)


def _title_html(page: Page) -> str:
    question = (_is_of_picture() and page.question_of_picture) or page.question
    return f'<div class="title"><h1>{page.title} <span>{question}</span></h1></div>'


def _description_html(page: Page) -> str:
    return (_is_of_picture() and page.description_of_picture) or page.description


def _is_of_picture() -> bool:
    return KIND.held(st.query_params.get(KIND.key)) in ("Digit", "Picture")


def draw_in_heading(html: Callable[[], str], width: Literal["stretch", "content"] = "stretch") -> None:
    """Draws the HTML that `html` returns; `draw_heading_again` draws it once more, if it has changed."""
    slot, drawn = st.empty(), html()
    slot.html(drawn, width=width)

    def draw_again() -> None:
        if (now := html()) != drawn:
            slot.html(now, width=width)

    _HEADING.get().redraw.append(draw_again)


def draw_heading_again() -> None:
    """Draws the texts of the heading once more after the kind of input is drawn: after Back it is known only then."""
    for draw_again in _HEADING.get().redraw:
        draw_again()


def links_container() -> DeltaGenerator | None:
    """Container at the right of the title for links to what a first-time user may try; None during the tour."""
    return _HEADING.get().guide


def say_purpose(subject: str, purpose: str, answer: str = "") -> bool:
    """Begins the line below the title with a sentence such as “This encoder judges film reviews: positive 98.7 %.”

    `subject` is what the sentence calls the encoder; `answer` is HTML. Returns whether it is drawn: not outside a page, and not
    during the tour.
    """
    if (slot := _HEADING.get().purpose) is None:
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
