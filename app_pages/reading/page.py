"""Reading: the papers section by section, with links to where the app shows each of them on real numbers."""

import streamlit as st

from app_pages import address
from app_pages.reading.guide import GUIDE, opening_here, papers

WIDTH = 820  # pixels, in which a line of text can be read

guide = papers(GUIDE.read_text(encoding="utf-8"))
paper = guide[address.box("Paper", guide, key="reading_paper", width=WIDTH)]
place = address.row("Place in it", paper.places, key="reading_place")
with st.container(width=WIDTH):
    st.markdown(paper.about)
    st.subheader(place)
    st.markdown(opening_here(paper.places[place]), unsafe_allow_html=True)
