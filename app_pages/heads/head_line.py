"""The chosen head by its name and roles, with ways to what it does."""

import streamlit as st

from app_pages.show.head_name import named
from app_pages.subject import state
from app_pages.toolkit.navigation import go_to
from model.measures.head_roles import too_few
from viz.builders.number_format import head_name

PLACES = {"attention": "Open in Attention", "inside_a_head": "Step by step"}


def say_head(chosen: state.HeadSelection) -> None:
    called = named(chosen)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head_line"):
        name = f"**{head_name(chosen.layer, chosen.head)}**"
        name += f" · {called.whole}" if called.whole else f" :gray[{_nameless(chosen)}]"
        st.markdown(name, help=called.help, width="content")
        places = ["attention"] if chosen.opened is not None else PLACES
        for place in places:
            st.button(
                f"{PLACES[place]} →", type="tertiary", key=f"heads_to_{place}", on_click=go_to, args=(place,)
            )


def _nameless(chosen: state.HeadSelection) -> str:
    read = chosen.record.attended
    return f"has no role: {len(read)} {read.units} are too few" if too_few(read) else "has none of the roles"
