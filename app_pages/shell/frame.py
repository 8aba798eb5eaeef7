"""The frame of every page: navigation, heading, notices."""

from pathlib import Path
from runpy import run_module
from threading import Event

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app_pages.controls import address
from app_pages.controls.pages import FIRST, GO_TO, GROUPS, NOTICE, PAGES, Link, Page
from app_pages.shell import start_options
from app_pages.toolkit.callbacks import only_of_this_page
from app_pages.toolkit.gestures import copy_link, every_page, keep_figures

DRAWN = Event()  # a page has been drawn since the server started


def draw() -> None:
    """Draws the page that the address names, inside its frame."""
    st.set_page_config("Attention Loupe", "🔍", layout="wide")
    scripts = {
        page: st.Page(page.script, title=page.title, url_path=page.name, default=page == FIRST)
        for page in PAGES.values()
    }
    script = st.navigation(list(scripts.values()), position="hidden")
    page = next(page for page in scripts if scripts[page] == script)
    for style in sorted((Path(__file__).parent / "styles").glob("*.css")):
        st.html(style)
    keep_figures()
    address.opened_bare()
    _draw_navigation(scripts, page)
    link: Link | None = st.session_state.pop(GO_TO, None)
    if link is not None:
        st.switch_page(scripts[link.page], query_params=link.query)
    address.arrive(page.name)
    every_page(page.name)
    if (notice := st.session_state.pop(NOTICE, None)) is not None:
        st.toast(notice, icon=":material/info:")
    _draw_heading(page)
    for problem in start_options.OPTIONS.problems:
        st.warning(problem, icon=":material/terminal:")
    # Here, for they import torch: meanwhile the frame already stands.
    from app_pages.inputs import linked_encoders
    from app_pages.inputs.text_input import keep_text
    from app_pages.subject.cache import one_run

    linked_encoders.arrive()
    keep_text()
    try:
        # Not `page.run()`: the widgets of a page that runs itself begin anew on the next one, and what was chosen is lost.
        with only_of_this_page(), one_run():
            run_module(f"app_pages.{page.name}.page")
    finally:
        address.leave()
        DRAWN.set()


def _draw_navigation(scripts: dict[Page, StreamlitPage], here: Page) -> None:
    """Draws links to all pages on one line, in groups; in a narrow window on two lines."""
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        st.html('<span class="wordmark">Attention <b>Loupe</b></span>', width="content")
        for group, pages in GROUPS.items():
            with st.container(
                horizontal=True, width="content", gap=None, key=f"navigation_{group.replace(' ', '_')}"
            ):
                for page in pages:
                    with st.container(width="content", key="here" if page == here else f"to_{page.name}"):
                        st.page_link(scripts[page])


def _draw_heading(page: Page) -> None:
    with st.container(horizontal=True, vertical_alignment="top", key="heading"):
        st.html(
            f'<div class="title"><h1>{page.title} <span>{page.question}</span></h1><p>{page.seen}</p></div>'
        )
        copy_link()
