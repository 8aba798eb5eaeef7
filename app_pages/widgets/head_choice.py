"""Choosing a head and a query: the controls that hold the choice, and the overview on which a click sets it."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.cache import Checkpoint
from app_pages.widgets.show import clickable
from model.config import ModelConfig
from model.inputs import Input
from model.record import ForwardRecord, Role
from viz.attention.head_overview import head_overview
from viz.figure import VegaFigure
from viz.palette import ColourScale

ARROWS = (  # key, what it does, steps in layer and head
    ("Left", "previous head", 0, -1),
    ("Right", "next head", 0, 1),
    ("Up", "previous layer", -1, 0),
    ("Down", "next layer", 1, 0),
)
_ROLES: dict[Role, str] = {
    "class": "at the beginning stands for the whole",
    "separator": "at the end marks it",
    "mask": "hides a token, which the encoder is to guess",
    "unknown": "is a token that the vocabulary does not have",
    "padding": "fills up and is masked",
}
SCALES: dict[str, ColourScale] = {"to 1": "fixed", "to own maximum": "own"}


def choose_head(chosen: state.Selection, *, with_colours: bool = True) -> state.HeadSelection:
    """Layer, head and colours, in the place above the page.

    A part that is about no head leaves them out; one that draws no map of weights is `with_colours` False.
    """
    with chosen.controls:
        layer, head = _choose_layer_and_head(state.loaded(chosen.checkpoint).config)
        scale = choose_scale() if with_colours else "fixed"
    return state.HeadSelection(**vars(chosen), layer=layer, head=head, scale=scale)


def _choose_layer_and_head(config: ModelConfig) -> tuple[int, int]:
    """Two boxes, and four buttons that the arrow keys press as well."""
    look = {"vertical_alignment": "bottom", "gap": "xsmall", "width": "content"}
    with st.container(horizontal=True, key="head_choice", **look):
        layer, head = (
            address.box(label, range(n), key=label.lower(), gone=address.nearest, width=80)
            for label, n in (("Layer", config.n_layers), ("Head", config.n_heads))
        )
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


def choose_scale() -> ColourScale:
    """What the colours of every map of attention weights on the page reach to."""
    said = (
        "All maps alike up to 1, so that a colour is a weight; or each up to its own largest weight, so that faint ones "
        "show. What is compared shares one scale in either case."
    )
    return SCALES[address.row("Colours from 0", SCALES, key="scale", help=said)]


def choose_query(record: ForwardRecord) -> int:
    """The position whose row is looked at; tokens of a text, which can occur twice, are numbered."""
    said = ["The token or patch that looks. Click one in the figures to choose it.", *_about(record)]
    return address.box(
        "Query",
        range(len(record)),
        format_func=record.labels.__getitem__,
        key="query",
        gone=address.nearest,
        width=160,
        help=" ".join(said),
        on_change=_show_alone,
    )


def _about(record: ForwardRecord) -> list[str]:
    """What those of the tokens are that are no word and no patch."""
    said = {record.tokens[at]: what for role, what in _ROLES.items() for at in record.at(role)}
    if record.has_class_token and record.has_classes:
        said[record.tokens[0]] += ": the classifier reads its row of the last layer"
    if record.continuing_prefix and record.at("continuation"):
        said[f"{record.continuing_prefix}…"] = "goes on with the word before it"
    return [f"`{token}` {what}." for token, what in said.items()]


def take_query(position: float) -> None:
    """For callbacks: the query from now on. In a head view its lines are shown alone."""
    address.take("query", int(position))
    _show_alone()


def _show_alone() -> None:
    address.take("all_queries", False)


def take_head(layer: int, head: int) -> None:
    """For callbacks: the head from now on."""
    address.take("layer", layer)
    address.take("head", head)


def clickable_heads(
    chart: VegaFigure,
    *,
    key: str,
    chosen: tuple[int, int] | None,
    take: Callable[[int, int], None] = take_head,
    width: str = "content",
) -> None:
    """A chart with a mark a head: a click on one hands its layer and head to `take`."""

    def clicked(point: dict) -> None:
        take(int(point["layer"]), int(point["head"]))

    clickable(chart, key=key, chosen=chosen, selection="head", take=clicked, width=width)


def overview(
    name: Checkpoint,
    given: Input,
    *,
    selected: tuple[int, int] | None,
    scale: ColourScale,
    key: str,
    take: Callable[[int, int], None] = take_head,
    beside: np.ndarray | None = None,
) -> None:
    """All heads of a checkpoint on this input; a click on one hands layer and head to `take`.

    With the scale "own" each reaches to its own maximum, or to that of the head `beside` it, where that is larger:
    maxima [layer, head], -inf where there is none.
    """
    pattern, measures = state.record(name, given).pattern, state.head_measures(name, given)
    look = {}
    if scale == "own":
        look["tops"] = maxima(pattern) if beside is None else np.maximum(maxima(pattern), beside)
        if beside is not None:
            look["whose"] = "the maximum of each pair"
    chart = head_overview(pattern, selected=selected, hover=measures, **look)
    clickable_heads(chart, key=key, chosen=selected, take=take)


def maxima(pattern: np.ndarray) -> np.ndarray:
    """The largest weight [layer, head] of each head of `pattern` [layer, head, query, key]."""
    return pattern.max(axis=(-2, -1))


def _step(config: ModelConfig, layers: int, heads: int) -> None:
    layer, head = address.held("layer") + layers, address.held("head") + heads
    take_head(layer % config.n_layers, head % config.n_heads)
