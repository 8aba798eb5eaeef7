"""What stands around every page: navigation, sidebar, and for pages about an input what was chosen there."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app_pages import state
from app_pages.inputs.sidebar import sidebar


def draw() -> None:
    """The page that the address names, inside its frame."""
    st.set_page_config("Attention Loupe", "🔍", layout="wide", initial_sidebar_state=310)
    on_an_input = [_page(name) for name in ("Attention", "Masks", "Positions", "Inside a head", "Compare")]
    by_themselves = [_page(name) for name in ("Norm placement", "Theory", "Training", "Cost", "Reading")]
    page = st.navigation([*on_an_input, *by_themselves], position="top")
    st.html(Path(__file__).parent / "style.css")
    with st.sidebar:
        chosen = sidebar()
    if page in by_themselves:
        page.run()
    elif isinstance(chosen, str):
        st.info(chosen, icon=":material/info:")
    else:
        state.select(_select(*chosen))
        page.run()


def _page(title: str) -> StreamlitPage:
    """The page of that title, from the folder of its name; its address is the folder's name as well."""
    name = title.lower().replace(" ", "_")
    return st.Page(f"app_pages/{name}/page.py", title=title, url_path=name, default=name == "attention")


def _select(checkpoint: str, given: state.Input, label: int | None) -> state.Selection:
    top = st.container()
    if left_out := state.left_out(checkpoint, given):
        st.caption(f"The text is longer than the encoder reads: it leaves out the {left_out}.")
    controls = st.container(horizontal=True, vertical_alignment="bottom", key="controls")
    return state.Selection(checkpoint=checkpoint, given=given, label=label, top=top, controls=controls)
