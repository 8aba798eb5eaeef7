"""What stands around every page: the navigation, and what the page answers."""

from html import escape
from pathlib import Path
from runpy import run_module
from threading import Event
from typing import NamedTuple

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app_pages.controls import address
from app_pages.shell import start_options
from app_pages.shell.former_links import rename_options
from app_pages.toolkit import navigation
from app_pages.toolkit.callbacks import only_of_this_page
from app_pages.toolkit.gestures import copy_link, every_page, keep_figures


class Title(NamedTuple):
    """What a page is called in the navigation, what it answers, and what is seen on it; HTML."""

    name: str
    question: str
    seen: str


def _term(word: str, meaning: str) -> str:
    """A word of the trade, explained under the pointer."""
    return f'<abbr title="{escape(meaning)}">{word}</abbr>'


_HEADS = _term("heads", "A head decides for each token which others it reads from, and how much from each.")
_QUERIES = _term("queries", "A query is the token that looks: a row of a map.")
_KEYS = _term("keys", "A key is a token that is looked at: a column of a map.")
_LAYER_NORM = _term(
    "LayerNorm",
    "It brings the numbers of every vector to mean 0 and spread 1, and then applies a learned gain and shift. Pre-LN: "
    "before attention and feed-forward; post-LN: after each addition.",
)
# By the groups of the navigation; the name of a page's folder is its address.
GROUPS = {
    "look": {
        "attention": Title(
            "Attention",
            "What does each head look at?",
            f"A small Transformer has read your input. Each square is one of its {_HEADS}: rows are the tokens that "
            f"look ({_QUERIES}), columns the tokens that they look at ({_KEYS}).",
        ),
        "inside_a_head": Title(
            "Inside a head",
            "Where does this number come from?",
            "One token's path through one layer of the encoder, number by number, and why the layer is built so.",
        ),
        "heads": Title(
            "Heads",
            "What does each head do, and does it matter?",
            f"All {_HEADS} in numbers: where they look, on this input and over a data set, and what becomes of the answer "
            "without them.",
        ),
    },
    "try": {
        "masks": Title(
            "Masks",
            "What if it could not see a word?",
            f"Hide tokens from the {_HEADS}: see what they attend to instead, and whether the prediction changes.",
        ),
        "positions": Title(
            "Positions",
            "How does it know the order?",
            "Attention alone ignores order. A vector for each position, added to the token there, supplies it.",
        ),
    },
    "compare": {
        "norm_placement": Title(
            "Norm placement",
            f"What does the place of the {_LAYER_NORM} change?",
            "What papers claim about pre-LN and post-LN, beside what was measured here, with several seeds.",
        ),
        "compare": Title(
            "Side by side",
            "Where do two encoders differ?",
            f"One input in two encoders, for example with the {_LAYER_NORM} in different places; or two "
            "inputs in one encoder.",
        ),
    },
    "learn": {
        "theory": Title(
            "Theory",
            f"Why should the place of the {_LAYER_NORM} matter?",
            "Gradients and lengths before any training and in its first steps, computed while you wait, beside what "
            "papers prove.",
        ),
        "training": Title(
            "Training",
            "How did the heads form?",
            "The training runs of the encoders, replayed step by step from their recordings.",
        ),
        "cost": Title(
            "Cost",
            "What does an encoder cost?",
            "Parameters and multiply-adds of an encoder of any size, and four kinds of layer timed on this machine.",
        ),
        "reading": Title(
            "Reading",
            "Where do I begin, and where is this in the papers?",
            "Two guided tours of about an hour, and then the papers section by section: each step has a link to the page "
            "that shows it on real numbers.",
        ),
    },
    "your own": {
        "your_own": Title(
            "Your own",
            "What does my encoder look at?",
            "Open an encoder in Hugging Face format to see its attention heads. From then on it is in the list of encoders on "
            "every page, and a copied link opens it again.",
        ),
        "many_inputs": Title(
            "Many inputs",
            "Where does my encoder go wrong?",
            "A list of your texts or pictures, with the encoder's prediction for each: open any of them, and step to the next.",
        ),
    },
}
FIRST = "attention"
DRAWN = Event()  # a page has been drawn since the server started


def draw() -> None:
    """The page that the address names, inside its frame."""
    st.set_page_config("Attention Loupe", "🔍", layout="wide")
    pages = {
        name: st.Page(f"app_pages/{name}/page.py", title=title.name, url_path=name, default=name == FIRST)
        for group in GROUPS.values()
        for name, title in group.items()
    }
    page = st.navigation(list(pages.values()), position="hidden")
    for style in sorted((Path(__file__).parent / "styles").glob("*.css")):
        st.html(style)
    keep_figures()
    address.opened_bare()
    _navigation(pages, page)
    if (to := st.session_state.pop(navigation.PAGE, None)) is not None:
        st.switch_page(pages[to], query_params=st.session_state.pop(navigation.QUERY, {}))
    here = next(name for name, each in pages.items() if each == page)
    address.arrive(here)
    rename_options()
    every_page(here)
    if (notice := st.session_state.pop(navigation.NOTICE, None)) is not None:
        st.toast(notice, icon=":material/info:")
    _heading(next(group[here] for group in GROUPS.values() if here in group))
    for problem in start_options.OPTIONS.problems:
        st.warning(problem, icon=":material/terminal:")
    from app_pages.inputs.text_input import keep_text
    from app_pages.subject import (
        session_encoders,  # here, for it imports torch: meanwhile the frame already stands
    )

    session_encoders.arrive()
    keep_text()
    try:
        # Not `page.run()`: the widgets of a page that runs itself begin anew on the next one, and what was chosen is lost.
        with only_of_this_page():
            run_module(f"app_pages.{here}.page")
    finally:
        address.leave()
        DRAWN.set()


def _navigation(pages: dict[str, StreamlitPage], here: StreamlitPage) -> None:
    """All pages on one line, in groups; in a narrow window on two."""
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        st.html('<span class="wordmark">Attention <b>Loupe</b></span>', width="content")
        for group, titles in GROUPS.items():
            with st.container(
                horizontal=True, width="content", gap=None, key=f"navigation_{group.replace(' ', '_')}"
            ):
                for name in titles:
                    is_here = pages[name] == here
                    with st.container(width="content", key="here" if is_here else f"to_{name}"):
                        st.page_link(pages[name])


def _heading(title: Title) -> None:
    with st.container(horizontal=True, vertical_alignment="top", key="heading"):
        st.html(
            f'<div class="title"><h1>{title.name} <span>{title.question}</span></h1><p>{title.seen}</p></div>'
        )
        copy_link()
