"""The frame of every page: navigation, heading, notices."""

from importlib import import_module
from pathlib import Path
from threading import Event

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from app_pages.controls import address
from app_pages.controls.pages import FIRST, GO_TO, GROUPS, NOTICE, PAGES, Link, Page
from app_pages.controls.tour_controls import STOPS, current_stop
from app_pages.shell import start_options
from app_pages.show.heading import heading
from app_pages.toolkit.callbacks import only_of_this_page
from app_pages.toolkit.gestures import every_page, keep_figures

DRAWN = Event()  # a page has been drawn since the server started
_IS_SECOND = "page_is_second"  # in the session: whether the page is at the second of its two places


def draw_page() -> None:
    """Draws the page that the address names, inside its frame."""
    scripts = {
        page: st.Page(page.script, title=page.title, url_path=page.name, default=page == FIRST)
        for page in PAGES.values()
    }
    script = st.navigation(list(scripts.values()), position="hidden")
    page = next(page for page in scripts if scripts[page] == script)
    st.set_page_config(f"{page.title} · Attention Loupe", "🔍", layout="wide")
    for style in sorted((Path(__file__).parent / "styles").glob("*.css")):
        st.html(style)
    keep_figures()
    address.began_without_parameters()
    _draw_navigation(scripts, page)
    link: Link | None = st.session_state.pop(GO_TO, None)
    if link is not None:
        st.switch_page(scripts[link.page], query_params=link.query)
    address.begin_run(page.name)
    every_page(page.name)
    if (notice := st.session_state.pop(NOTICE, None)) is not None:
        st.toast(notice, icon=":material/info:")
    number = current_stop()
    if number is not None and STOPS[number - 1].page != page:
        number = None
    with _empty_at_first(page), heading(page, is_described=number is None) as line:
        for problem in start_options.OPTIONS.problems:
            st.warning(problem, icon=":material/terminal:")
        # Here, for they import torch: meanwhile the frame already stands.
        from app_pages.inputs import linked_encoders
        from app_pages.inputs.text_input import keep_text
        from app_pages.subject.cache import one_run
        from app_pages.tour.open_stop import draw_line

        linked_encoders.open_linked_encoders()
        keep_text()
        if number is not None:
            draw_line(number, line)
        try:
            # Not `page.run()`: the widgets of a page that runs itself begin anew on the next one, and what was chosen
            # is lost.
            with only_of_this_page(), one_run(), address.kept_for_next_run():
                import_module(f"app_pages.{page.name}.page").draw()
        except MemoryError as error:
            st.error(f"This page needs more memory than there is: {error}.", icon=":material/memory:")
        finally:
            DRAWN.set()


def _empty_at_first(page: Page) -> DeltaGenerator:
    """Container for all that `page` draws, in which nothing of the page before it is seen.

    Streamlit keeps what stood at a place until something else takes it. So two places take turns: when a page is opened, its
    container is put at one of them, and the other one is emptied.
    """
    if st.session_state["arrived"]:
        st.session_state[_IS_SECOND] = not st.session_state.get(_IS_SECOND, True)
    if st.session_state[_IS_SECOND]:
        st.empty()
    container = st.container(key=f"page_{page.name}")
    if not st.session_state[_IS_SECOND]:
        st.empty()
    return container


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
