"""Name and roles of the chosen head, with buttons that open it on other pages."""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.pages import ATTENTION, INSIDE_A_HEAD, go_to
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import LiveSubject, Subject
from model.measures.head_roles import too_few_positions
from viz.builders.number_format import head_name

LABELS = {ATTENTION: "Open in Attention", INSIDE_A_HEAD: "Step by step"}


def say_head(subject: Subject, chosen: HeadChoice) -> None:
    names = head_names(subject, chosen.layer, chosen.head)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head_line"):
        name = f"**{head_name(chosen.layer, chosen.head)}**"
        name += f" · {names.whole}" if names.whole else f" :gray[{_nameless(subject)}]"
        st.markdown(name, help=names.help, width="content")
        for page in LABELS if isinstance(subject, LiveSubject) else (ATTENTION,):
            st.button(
                f"{LABELS[page]} →",
                type="tertiary",
                key=f"heads_to_{page.name}",
                on_click=go_to,
                args=(page,),
            )


def _nameless(subject: Subject) -> str:
    positions = subject.record.attended
    return (
        f"has no role: {len(positions)} {positions.units} are too few"
        if too_few_positions(positions)
        else "has none of the roles"
    )
