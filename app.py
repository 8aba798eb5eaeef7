"""Attention Loupe: look inside a trained Transformer encoder.

streamlit run app.py
"""

from pathlib import Path

import streamlit as st

from app_pages import state
from app_pages.inputs.sidebar import sidebar
from app_pages.widgets.head_choice import choose_head, choose_scale

st.set_page_config("Attention Loupe", "🔍", layout="wide", initial_sidebar_state=310)
page = st.navigation(
    [
        st.Page("app_pages/attention.py", title="Attention", icon=":material/grid_view:", default=True),
        st.Page("app_pages/compare.py", title="Compare", icon=":material/compare:"),
    ],
    position="top",
)
st.html(Path(__file__).parent / "app_pages" / "style.css")
with st.sidebar:
    chosen = sidebar()
if isinstance(chosen, str):
    st.info(chosen, icon=":material/info:")
else:
    checkpoint, given, label = chosen
    top = st.container()
    if left_out := state.n_left_out(checkpoint, given):
        st.caption(f"The text is longer than the encoder reads: its last {left_out:,} tokens were left out.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        layer, head = choose_head(state.loaded(checkpoint).config)
        scale = choose_scale()
    state.select(
        state.Selection(
            checkpoint=checkpoint, given=given, label=label, layer=layer, head=head, scale=scale, top=top
        )
    )
    page.run()
