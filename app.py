"""Attention Loupe: look inside a trained Transformer encoder.

streamlit run app.py
"""

from pathlib import Path

import streamlit as st

from app_pages import state
from app_pages.inputs.sidebar import sidebar
from app_pages.widgets.head_choice import choose_head, choose_scale

st.set_page_config("Attention Loupe", "🔍", layout="wide", initial_sidebar_state=310)
on_an_input = [
    st.Page("app_pages/attention.py", title="Attention", default=True),
    st.Page("app_pages/masks.py", title="Masks"),
    st.Page("app_pages/positions.py", title="Positions"),
    st.Page("app_pages/inside_a_head.py", title="Inside a head"),
    st.Page("app_pages/compare.py", title="Compare"),
]
by_themselves = [
    st.Page("app_pages/theory.py", title="Theory"),
    st.Page("app_pages/training.py", title="Training"),
    st.Page("app_pages/cost.py", title="Cost"),
]
page = st.navigation([*on_an_input, *by_themselves], position="top")
st.html(Path(__file__).parent / "app_pages" / "style.css")
with st.sidebar:
    chosen = sidebar()
if page in by_themselves:
    page.run()
elif isinstance(chosen, str):
    st.info(chosen, icon=":material/info:")
else:
    checkpoint, given, label = chosen
    top = st.container()
    if left_out := state.left_out(checkpoint, given):
        st.caption(f"The text is longer than the encoder reads: it leaves out the {left_out}.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        layer, head = choose_head(state.loaded(checkpoint).config)
        scale = choose_scale()
    state.select(
        state.Selection(
            checkpoint=checkpoint, given=given, label=label, layer=layer, head=head, scale=scale, top=top
        )
    )
    page.run()
