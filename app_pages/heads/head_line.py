"""The chosen head by its name and roles, with ways to what it does."""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.pages import ATTENTION, INSIDE_A_HEAD, go_to
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import LiveSubject, Subject
from model.measures.head_roles import too_few_positions
from viz.builders.number_format import head_name

LABELS = {ATTENTION: "Open in Attention", INSIDE_A_HEAD: "Step by step"}


def say_head(subject: Subject, chosen: HeadChoice) -> None:
    called = head_names(subject, chosen.layer, chosen.head)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head_line"):
        name = f"**{head_name(chosen.layer, chosen.head)}**"
        name += f" · {called.whole}" if called.whole else f" :gray[{_nameless(subject)}]"
        st.markdown(name, help=called.help, width="content")
        for page in LABELS if isinstance(subject, LiveSubject) else (ATTENTION,):
            st.button(
                f"{LABELS[page]} →",
                type="tertiary",
                key=f"heads_to_{page.name}",
                on_click=go_to,
                args=(page,),
            )


def _nameless(subject: Subject) -> str:
    read = subject.record.attended
    return (
        f"has no role: {len(read)} {read.units} are too few"
        if too_few_positions(read)
        else "has none of the roles"
    )
