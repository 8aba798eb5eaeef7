"""The heading of a page: title, question, and below it a line that says what is seen.

On a page about an encoder the line begins with what that encoder is for, which is known only once the page reads it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.input_controls import KIND
from app_pages.controls.pages import Page
from app_pages.show.present import draw_present_button
from app_pages.toolkit.gestures import copy_link

_PURPOSE: ContextVar[DeltaGenerator | None] = ContextVar("purpose", default=None)
_GUIDE: ContextVar[DeltaGenerator | None] = ContextVar("guide", default=None)
_SEEN: ContextVar[Callable[[], None] | None] = ContextVar("seen", default=None)


@contextmanager
def heading(page: Page, *, is_described: bool = True) -> Iterator[DeltaGenerator]:
    """Draws the heading; inside the `with`, `say_purpose` writes into its line. Yields the container of that line.

    Without `is_described` the line stays empty: something else takes its place, so that no figure moves.
    """
    with st.container(horizontal=True, vertical_alignment="top", key="heading"):
        with st.container(key="heading_text"):
            with st.container(horizontal=True, vertical_alignment="center", key="heading_title"):
                st.html(
                    f'<div class="title"><h1>{page.title} <span>{page.question}</span></h1></div>',
                    width="content",
                )
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
            draw_seen(lambda: f"<p>{_seen(page)}</p>")
    try:
        yield line
    finally:
        _PURPOSE.reset(tokens[0])
        _GUIDE.reset(tokens[1])
        _SEEN.reset(tokens[2])


def _seen(page: Page) -> str:
    is_picture = KIND.held(st.query_params.get(KIND.key)) in ("Digit", "Picture")
    return (is_picture and page.seen_of_picture) or page.seen


def draw_seen(html: Callable[[], str]) -> None:
    """Draws the HTML of the line's sentence on what is seen, and again at `draw_seen_again`."""
    slot, drawn = st.empty(), html()
    slot.html(drawn)

    def draw_again() -> None:
        if (now := html()) != drawn:
            slot.html(now)

    _SEEN.set(draw_again)


def draw_seen_again() -> None:
    """Draws the sentence on what is seen anew once the kind of input is drawn: only then is it known after Back."""
    if (draw_again := _SEEN.get()) is not None:
        draw_again()


def guide_slot() -> DeltaGenerator | None:
    """Container at the right of the title, for links to what a newcomer may try; None where the line is another guide's."""
    return _GUIDE.get()


def say_purpose(subject: str, purpose: str, answer: str = "") -> bool:
    """Begins the line below the title with a sentence such as “This encoder judges film reviews: positive 98.7 %.”

    `subject` is the encoder as the sentence calls it; `answer` is HTML. Returns whether it is drawn: not outside a page, and not
    where the line is another guide's.
    """
    if (slot := _PURPOSE.get()) is None:
        return False
    end = f": {answer}." if answer else "."
    slot.html(f"<p>{escape(f'{subject} {purpose}')}{end}</p>")
    return True
