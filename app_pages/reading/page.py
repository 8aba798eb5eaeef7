"""Start here: a tour of the app, two lectures, and the papers section by section, with links to where the app shows it."""

import streamlit as st

from app_pages.controls.input_controls import TEXT
from app_pages.controls.reading_controls import (
    LECTURES,
    OWN_TEXT,
    PAPER,
    PART,
    SECTION,
    TOUR,
    WIDTH,
)
from app_pages.reading.guide import GUIDE, Paper, opening_here, papers
from app_pages.reading.stop_cards import draw_stops
from app_pages.tour.open_stop import own_sentence


def own_text() -> str:
    """The user's sentence; "" if it is the app's first example.

    It is kept in the page's address too, since links of the guide and the Back button load the app anew.
    """
    if TEXT.held():
        OWN_TEXT.take(own_sentence())
    elif text := OWN_TEXT.read():
        TEXT.take(text)
    return OWN_TEXT.read()


def draw_section(paper: Paper, text: str) -> None:
    """Draws one section of a paper or of the lectures."""
    section = SECTION.choose(paper.sections)
    with st.container(width=WIDTH):
        st.markdown(paper.about)
        st.header(section)
        st.markdown(opening_here(paper.sections[section], text), unsafe_allow_html=True)


def draw() -> None:
    text = own_text()
    part = PART.choose()
    if part == TOUR:
        draw_stops(text)
    else:
        guide = papers(GUIDE.read_text(encoding="utf-8"))
        lectures = guide.pop(LECTURES)
        draw_section(lectures if part == LECTURES else guide[PAPER.choose(guide)], text)
