"""Choosing a head and a query: the widgets that hold the choice, and the overview on which a click sets it.

Every widget here is bound to the address, so that a link brings the choice back.
"""

from collections.abc import Sequence

import streamlit as st

from app_pages import state
from app_pages.widgets.choice import choice
from app_pages.widgets.clickable import clickable
from model.config import ModelConfig
from viz.attention.head_overview import head_overview
from viz.palette import ColourScale

ARROWS = (  # key, what it does, steps in layer and head
    ("Left", "previous head", 0, -1),
    ("Right", "next head", 0, 1),
    ("Up", "layer above", -1, 0),
    ("Down", "layer below", 1, 0),
)
SCALES: dict[str, ColourScale] = {"to own maximum": "own", "to 1": "fixed"}


def choose_head(chosen: state.Selection) -> state.HeadSelection:
    """Layer, head and colours, in the place above the page; a part that is about no head leaves them out."""
    with chosen.controls:
        layer, head = _choose_layer_and_head(state.loaded(chosen.checkpoint).config)
        scale = _choose_scale()
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


def choose_query(tokens: Sequence[str], *, numbered: bool) -> int:
    """The position whose row is looked at; tokens that can occur twice are `numbered`."""
    _hold_below("query", len(tokens))
    return st.selectbox(
        "Query",
        range(len(tokens)),
        format_func=lambda at: f"{at} {tokens[at]}" if numbered else tokens[at],
        key="query",
        bind="query-params",
        width=160,
        help="The token or patch that looks. Click one in the figures to choose it.",
        on_change=_show_alone,
        persist_state="session",
    )


def take_query(position: float) -> None:
    """For callbacks: the query from now on. In a head view its lines are shown alone."""
    st.session_state["query"] = int(position)
    _show_alone()


def _show_alone() -> None:
    st.session_state["all_queries"] = False


def overview(
    name: str, given: state.Given, *, selected: tuple[int, int], scale: ColourScale, key: str
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
    """Another checkpoint or a shorter text can have fewer of what was chosen."""
    if st.session_state.get(key, 0) >= n:
        st.session_state[key] = n - 1
