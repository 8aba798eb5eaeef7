"""The pages of the app, and links to them."""

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import streamlit as st

from app_pages.controls.address import Choice, Control

# In an address: at which figure the page opens, and whether it shows its figure alone.
FIGURE, PRESENT = "figure", "present"
GO_TO, NOTICE = "go_to", "notice"  # in the session, see `go_to` and `notify`


class Page(NamedTuple):
    """A page: its folder in `app_pages`, which is also its address; its title, its question, and a description as HTML,
    with others for pictures if needed.
    """

    name: str
    title: str
    question: str
    description: str
    description_of_picture: str = ""
    question_of_picture: str = ""

    @property
    def script(self) -> str:
        """File that draws the page, as a path for Streamlit."""
        return f"app_pages/{self.name}/page.py"


class Link(NamedTuple):
    """A page, and the parameters of its address."""

    page: Page
    query: Mapping[str, str | list[str]]


def link(page: Page, *choices: Choice) -> Link:
    """Link to a page with these values of its controls. Raises ValueError if the page lacks one of the controls."""
    return read_link(page.name, {choice.control.key: choice.address_value for choice in choices})


def read_link(name: str, query: Mapping[str, str | list[str]]) -> Link:
    """Link from the name of a page and its parameters. Raises ValueError if the page, a control or an option does not exist."""
    if name not in PAGES:
        raise ValueError(f"there is no page {name}, but {', '.join(PAGES)}")
    controls = controls_of(name)
    for key, written in query.items():
        if key in (FIGURE, PRESENT):
            continue
        if key not in controls:
            raise ValueError(f"the page {name} has no control {key}")
        controls[key].check(written)
    return Link(PAGES[name], query)


@cache
def controls_of(name: str) -> dict[str, Control[Any]]:
    """Controls of a page by key: its own, in `<page>_controls.py`, and those that several pages share."""
    controls: dict[str, Control[Any]] = {}
    for kind in ("input", "map", "tour", name):
        module = f"app_pages.controls.{kind}_controls"
        if find_spec(module) is None:  # a page without controls of its own
            continue
        for value in vars(import_module(module)).values():
            members = value.values() if isinstance(value, dict) else (value,)
            controls |= {control.key: control for control in members if isinstance(control, Control)}
    return controls


def go_to(page: Page, *choices: Choice) -> None:
    """Callback: opens `page` next with these `choices`; all other controls keep their values.

    A control that was not drawn yet takes its value from the address, so its value must be among `choices`.
    """
    st.session_state[GO_TO] = link(page, *choices)


def notify(sentence: str) -> None:
    """Callback: shows the sentence once, as a short notice on the next page."""
    st.session_state[NOTICE] = sentence


def _term_html(word: str, meaning: str) -> str:
    """HTML of a technical term with its meaning as a tooltip."""
    return f'<abbr title="{escape(meaning)}">{word}</abbr>'


_HEADS = _term_html(
    "heads",
    "A head decides for each token which others it reads from, and how much from each. The heads of a layer work side by "
    "side. Layers follow one another: layer 0 reads the input, each later one what the layer before it has made of it.",
)
_QUERIES = _term_html("queries", "A query is the token that looks: a row of a map.")
_KEYS = _term_html("keys", "A key is a token that is looked at: a column of a map.")
_Q = _term_html("q", "The query: a vector that says what a token looks for.")
_K = _term_html("k", "The key: a vector that says what a token offers to those that look for it.")
_V = _term_html("v", "The value: a vector that a token hands on to those that look at it.")
_SOFTMAX = _term_html(
    "softmax",
    "It turns scores into weights from 0 to 1 that sum to 1: the larger the score, the larger the weight.",
)
_W_O = _term_html(
    "W_O", "The matrix that turns the outputs of all heads into one vector as wide as a token's."
)
_RESIDUAL = _term_html(
    "residual",
    "The vector of a token, which goes on from layer to layer: each layer adds to it (“+ residual”).",
)
_LAYER_NORM = _term_html(
    "LayerNorm",
    "It brings the numbers of every vector to mean 0 and spread 1, and then applies a learned gain and shift. Pre-LN: "
    "before attention and feed-forward; post-LN: after each addition.",
)
ATTENTION = Page(
    "attention",
    "Attention",
    "What does each head look at?",
    f"Each square is one of its {_HEADS}; in its map, rows are tokens that look ({_QUERIES}), columns what they look "
    f"at ({_KEYS}).",
    f"Squares show where its {_HEADS} look; at the right, rows are patches that look (queries), columns what they look at (keys).",
)
INSIDE_A_HEAD = Page(
    "inside_a_head",
    "Inside a head",
    "Where does this number come from?",
    f"One token's path through one layer, number by number: from {_Q}, {_K} and {_V} over {_SOFTMAX} and {_W_O} to the "
    f"{_RESIDUAL} stream.",
)
HEADS = Page(
    "heads",
    "Heads",
    "What does each head do, and does it matter?",
    f"All {_HEADS} in numbers: where they look, and what becomes of the answer without them.",
)
MASKS = Page(
    "masks",
    "Masks",
    "What if it could not see a word?",
    f"Hide tokens from the {_HEADS}: see what they attend to instead, and whether the prediction changes.",
    f"Hide patches from the {_HEADS}: see what they attend to instead, and whether the prediction changes.",
    "What if it could not see a patch?",
)
POSITIONS = Page(
    "positions",
    "Positions",
    "How does it know the order?",
    "Attention alone ignores order. Positions, added to each token or put into the scores, supply it.",
)
NORM_PLACEMENT = Page(
    "norm_placement",
    "Norm placement",
    f"What does the place of the {_LAYER_NORM} change?",
    "What papers claim, and what encoders here show. Gradient: how hard a training step pulls at the weights. Seed: a "
    "random start.",
)
COMPARE = Page(
    "compare",
    "Side by side",
    "Where do two encoders, or two inputs, differ?",
    f"One input in two encoders, with like {_HEADS} side by side; two inputs in one encoder; in CLIP, a picture and texts.",
)
THEORY = Page(
    "theory",
    "Theory",
    f"Why should the place of the {_LAYER_NORM} matter?",
    "A gradient says how hard a training step pulls at the weights: measured here before any training, and in its first steps.",
)
TRAINING = Page(
    "training",
    "Training",
    "How did the heads form?",
    "Recording: each small map is one head at one step of training; Play is below them. Training history: all steps as curves.",
)
COST = Page(
    "cost",
    "Cost",
    "What does an encoder cost?",
    "How many numbers it learns (parameters), and how many products one input takes (multiply-adds). M: million; G: billion; T: "
    "trillion.",
)
READING = Page(
    "reading",
    "Start here",
    "Where do I begin?",
    "Press Start the tour: ten stops show, step by step, how an encoder reads a sentence. Lectures and Papers go deeper.",
)
YOUR_OWN = Page(
    "your_own",
    "Your own",
    "What does my encoder look at?",
    "Open one that is already here, or add one: by its files, or by its name on the Hugging Face Hub. Then every page has it in "
    "its list of encoders.",
)
MANY_INPUTS = Page(
    "many_inputs",
    "Many inputs",
    "Where does my encoder go wrong?",
    "Inputs with the encoder's answer and the right one (label). Take ours, or your own; a click on a row opens it.",
)
# As the navigation shows them.
GROUPS = {
    "begin": (READING,),
    "look": (ATTENTION, INSIDE_A_HEAD, HEADS),
    "try": (MASKS, POSITIONS),
    "compare": (NORM_PLACEMENT, COMPARE),
    "learn": (THEORY, TRAINING, COST),
    "your own": (YOUR_OWN, MANY_INPUTS),
}
PAGES = {page.name: page for group in GROUPS.values() for page in group}
FIRST = ATTENTION
PRESENTED = tuple(page for page in PAGES.values() if page not in (READING, YOUR_OWN))  # by their figures
