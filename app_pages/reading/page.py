"""Reading: the papers section by section, with links to where the app shows each of them on real numbers."""

import streamlit as st

from app_pages import address
from app_pages.reading.guide import GUIDE, opening_here, papers
from app_pages.widgets.bar import bar

WIDTH = 820  # pixels, in which a line of text can be read

guide = papers(GUIDE.read_text(encoding="utf-8"))
with bar("reading")[0]:
    paper = guide[address.box("Paper", guide, key="reading_paper", width=WIDTH // 2)]
place = address.row("Place in it", paper.places, key="reading_place", label_visibility="collapsed")
with st.container(width=WIDTH):
    st.markdown(paper.about)
    st.subheader(place)
    st.markdown(opening_here(paper.places[place]), unsafe_allow_html=True)
