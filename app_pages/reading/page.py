"""Reading: the papers section by section, with links to where the app shows each of them on real numbers."""

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.input_controls import TEXT
from app_pages.controls.reading_controls import OWN_TEXT, PAPER, SECTION, WIDTH
from app_pages.inputs.text_input import FIRST
from app_pages.reading.guide import GUIDE, opening_here, papers
from app_pages.subject import shipped_inputs


def own_text() -> str:
    """The user's sentence; "" if it is the app's first example.

    It is kept in the page's address too, since links of the guide and the Back button load the app anew.
    """
    default_text = next(iter(shipped_inputs.sentences().values()), FIRST)
    if text := TEXT.held():
        OWN_TEXT.take("" if text == default_text else text)
    elif text := OWN_TEXT.read():
        TEXT.take(text)
    return OWN_TEXT.read()


guide = papers(GUIDE.read_text(encoding="utf-8"))
with bar("reading")[0]:
    paper = guide[PAPER.choose(guide)]
section = SECTION.choose(paper.sections)
with st.container(width=WIDTH):
    st.markdown(paper.about)
    st.subheader(section)
    st.markdown(opening_here(paper.sections[section], own_text()), unsafe_allow_html=True)
