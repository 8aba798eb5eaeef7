"""Choosing a head and a query: the widgets that hold the choice, and the overview on which a click sets it.

Every widget here is bound to the address, so that a link brings the choice back.
"""

import streamlit as st

from app_pages import state
from app_pages.widgets.choice import choice
from app_pages.widgets.clickable import clickable
from model.config import ModelConfig
from model.record import ForwardRecord
from model.text import CLASS, MASK, PADDING, SEPARATOR, UNKNOWN
from viz.attention.head_overview import head_overview
from viz.attention.token_strip import CONTINUES
from viz.palette import ColourScale

ARROWS = (  # key, what it does, steps in layer and head
    ("Left", "previous head", 0, -1),
    ("Right", "next head", 0, 1),
    ("Up", "previous layer", -1, 0),
    ("Down", "next layer", 1, 0),
)
_SPECIAL = {
    CLASS: "at the beginning stands for the whole",
    SEPARATOR: "at the end marks it",
    MASK: "hides a token, which the encoder is to guess",
    UNKNOWN: "is a token that the vocabulary does not have",
    PADDING: "fills up and is masked",
}
SCALES: dict[str, ColourScale] = {"to own maximum": "own", "to 1": "fixed"}


def choose_head(chosen: state.Selection, *, with_colours: bool = True) -> state.HeadSelection:
    """Layer, head and colours, in the place above the page.

    A part that is about no head leaves them out; one that draws no map of weights is `with_colours` False.
    """
    with chosen.controls:
        layer, head = _choose_layer_and_head(state.loaded(chosen.checkpoint).config)
        scale = _choose_scale() if with_colours else "own"
    return state.HeadSelection(**vars(chosen), layer=layer, head=head, scale=scale)


def _choose_layer_and_head(config: ModelConfig) -> tuple[int, int]:
    """Two boxes, and four buttons that the arrow keys press as well."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="xsmall", width="content", key="head_choice"
    ):
        layer = _choose_one("Layer", config.n_layers)
        head = _choose_one("Head", config.n_heads)
        for key, what, layers, heads in ARROWS:
            st.button(
                "",  # Streamlit shows the key itself, as an arrow
                key=f"step_{key.lower()}",
                help=f"{what.capitalize()} (the {key.lower()} arrow key does the same)",
                shortcut=key,
                on_click=_step,
                args=(config, layers, heads),
            )
    return layer, head


def _choose_one(label: str, n: int) -> int:
    key = label.lower()
    _hold_below(key, n)
    return st.selectbox(label, range(n), key=key, bind="query-params", persist_state="session", width=80)


def _choose_scale() -> ColourScale:
    """What the colours of every map of attention weights on the page reach to."""
    chosen = choice(
        "Colours from 0",
        SCALES,
        key="scale",
        help="Each map up to its own largest weight, so that faint ones show, or all alike up to 1.",
    )
    return SCALES[chosen]


def choose_query(record: ForwardRecord) -> int:
    """The position whose row is looked at; tokens of a text, which can occur twice, are numbered."""
    tokens, numbered = record.tokens, record.patch_grid is None
    _hold_below("query", len(tokens))
    return st.selectbox(
        "Query",
        range(len(tokens)),
        format_func=lambda at: f"{at} {tokens[at]}" if numbered else tokens[at],
        key="query",
        bind="query-params",
        width=160,
        help=" ".join(
            ["The token or patch that looks. Click one in the figures to choose it.", *_about(record)]
        ),
        on_change=_show_alone,
        persist_state="session",
    )


def _about(record: ForwardRecord) -> list[str]:
    """What those of the tokens are that are no word and no patch."""
    said = {token: what for token, what in _SPECIAL.items() if token in record.tokens}
    if CLASS in said and record.config.pooling == "class":
        said[CLASS] += ": the classifier reads its row of the last layer"
    if record.config.is_text and any(token.startswith(CONTINUES) for token in record.tokens):
        said[f"{CONTINUES}…"] = "goes on with the word before it"
    return [f"`{token}` {what}." for token, what in said.items()]


def take_query(position: float) -> None:
    """For callbacks: the query from now on. In a head view its lines are shown alone."""
    st.session_state["query"] = int(position)
    _show_alone()


def _show_alone() -> None:
    st.session_state["all_queries"] = False


def overview(
    name: str, given: state.Input, *, selected: tuple[int, int], scale: ColourScale, key: str
) -> None:
    """All heads of a checkpoint on this input; a click on one chooses it."""
    chart = head_overview(
        state.record(name, given).pattern,
        selected=selected,
        hover=state.head_measures(name, given),
        scale=scale,
    )
    clickable(chart, key=key, chosen=selected, selection="head", take=take_head, width="content")


def take_head(point: dict) -> None:
    st.session_state["layer"], st.session_state["head"] = int(point["layer"]), int(point["head"])


def _step(config: ModelConfig, layers: int, heads: int) -> None:
    st.session_state["layer"] = (st.session_state["layer"] + layers) % config.n_layers
    st.session_state["head"] = (st.session_state["head"] + heads) % config.n_heads


def _hold_below(key: str, n: int) -> None:
    """Another checkpoint or a shorter text can have fewer of what was chosen.

    What is held is written back in any case: a box knows its options by their labels, and in another text the
    same position has another one. Left alone, browser and address would keep the old label.
    """
    if key in st.session_state:
        held = st.session_state[key]
        st.session_state[key] = min(held, n - 1) if isinstance(held, int) else 0
