"""Reading: the papers section by section, with links to where the app shows each of them on real numbers."""

import streamlit as st

from app_pages.controls import address
from app_pages.controls.control_bar import bar
from app_pages.inputs.text_input import FIRST
from app_pages.reading.guide import GUIDE, opening_here, papers
from app_pages.subject import state

WIDTH = 820  # pixels, in which a line of text can be read
TEXT = "reading_text"


def own_text() -> str:
    """The reader's sentence, "" for the one that the app begins with.

    A link opens the app anew, and Back opens this page anew: so the sentence stands in its address, too.
    """
    first = next(iter(state.sentences().values()), FIRST)
    if address.held("text"):
        address.take_code(TEXT, "" if address.held("text") == first else address.held("text"))
    elif text := address.code(TEXT):
        address.take("text", text)
    return address.code(TEXT)


guide = papers(GUIDE.read_text(encoding="utf-8"))
with bar("reading")[0]:
    paper = guide[address.box("Paper", guide, key="reading_paper", width=WIDTH // 2)]
place = address.row("Place in it", paper.places, key="reading_place", label_visibility="collapsed")
with st.container(width=WIDTH):
    st.markdown(paper.about)
    st.subheader(place)
    st.markdown(opening_here(paper.places[place], own_text()), unsafe_allow_html=True)
