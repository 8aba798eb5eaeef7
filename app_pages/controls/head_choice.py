"""Choosing a head and a query: the controls that hold the choice, and the overview on which a click sets it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages.controls.address import opened_bare
from app_pages.controls.control_bar import Slots
from app_pages.controls.map_controls import ALL_QUERIES, HEAD, LAYER, QUERY, SCALE, SCALES
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import Subject
from app_pages.subject.two_sides import Side, same_position
from app_pages.toolkit.markdown import as_code
from model.lenses import ATTENTION, LENSES, Lens
from model.measures.attended_kinds import clearest_head
from model.record import AttentionRecord, Role
from viz.builders.palette import ColourScale, WeightScale, weight_scale

OTHER_KIND = "other_kind"  # in the session: the kind of input was changed
ARROWS = (  # key, its sign, what it does, steps in layer and head
    ("left", "chevron_left", "previous head", 0, -1),
    ("right", "chevron_right", "next head", 0, 1),
    ("up", "keyboard_arrow_up", "previous layer", -1, 0),
    ("down", "keyboard_arrow_down", "next layer", 1, 0),
)
_ROLES: dict[Role, str] = {
    "class": "at the beginning stands for the whole",
    "separator": "at the end marks it",
    "mask": "hides a token, which the encoder is to guess",
    "unknown": "is a token that the vocabulary does not have",
    "padding": "fills up and is masked",
}
_NO_HEADS = "This lens has one map for the whole layer, all its heads together."


@dataclass(frozen=True, kw_only=True)
class HeadChoice:
    """The head that a page, or a part of it, is about, and how its weights are coloured."""

    layer: int
    head: int
    scale: ColourScale = "fixed"
    lens: Lens = LENSES[ATTENTION]  # of one without heads there is head 0 alone

    def weights_to(self, maximum: str, *weights: np.ndarray) -> WeightScale:
        """The colour scale of figures of these weights, which all that are compared share; `maximum` says whose it is."""
        lens = self.lens
        return weight_scale(self.scale, maximum, *weights, what=lens.quantity, shares=lens.sums_to_1)

    def of_head(self, *records: AttentionRecord) -> WeightScale:
        """The same, of the chosen head in one record, or in all that are compared."""
        maximum = "this head's own maximum" if len(records) == 1 else "this head's maximum on all sides"
        return self.weights_to(maximum, *(record.pattern[self.layer, self.head] for record in records))


def choose_head(
    subject: Subject,
    slots: Slots,
    *,
    with_colours: bool = True,
    stepped: bool = False,
    with_roles: bool = True,
    lens: Lens = LENSES[ATTENTION],
) -> HeadChoice:
    """Layer, head and colours, in the bar of the page; where it is `stepped`, with buttons to the heads next to it.

    Through a `lens` without heads no head can be chosen; the one that was stays chosen for the others.

    A part that is about no head leaves them out; one that draws no map of weights is `with_colours` False, and one that
    says elsewhere what the head is called is `with_roles` False.
    """
    _open_on_a_telling_head(subject.record)
    with slots.controls:
        layer, head = _choose_layer_and_head(subject.record, stepped, lens.has_heads)
    scale: ColourScale = "fixed"
    if with_colours:
        with slots.view:
            scale = choose_scale()
    if with_roles and lens.has_heads:
        names = head_names(subject, layer, head)
        if names.short:
            with slots.controls:
                st.markdown(f":gray[{names.short}]", help=names.help, width="content")
    return HeadChoice(layer=layer, head=head, scale=scale, lens=lens)


def _open_on_a_telling_head(record: AttentionRecord) -> None:
    """Where nothing was chosen yet, neither in the address nor in this session, and after a change to the other kind of
    input, of whose encoder nobody has chosen a head."""
    nothing = opened_bare() and not any(
        held is not None for held in (LAYER.held(), HEAD.held(), QUERY.held(), st.session_state.get("opened"))
    )
    if st.session_state.pop(OTHER_KIND, False) or nothing:
        take_head(*clearest_head(record))
        if record.unit == "token":
            QUERY.take(len(record) // 2)
    st.session_state["opened"] = True


def _choose_layer_and_head(record: AttentionRecord, stepped: bool, has_heads: bool) -> tuple[int, int]:
    n_layers, n_heads = record.pattern.shape[:2]
    is_back = has_heads and st.session_state.get("n_heads", (1, 1))[1] == 0
    if is_back and (head := HEAD.held()) is not None:
        HEAD.take(head)  # a box that was away has left the address
    st.session_state["n_heads"] = n_layers, n_heads if has_heads else 0
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="head_choice"
    ):
        layer, head = LAYER.choose(range(n_layers)), 0
        if has_heads:
            head = HEAD.choose(range(n_heads))
        else:
            st.selectbox("Head", ["all"], key="no_head", disabled=True, width=120, help=_NO_HEADS)
        for key, sign, what, layers, heads in ARROWS if stepped else ():
            if heads and not has_heads:
                continue
            st.button(
                "",
                icon=f":material/{sign}:",
                key=f"step_{key}",
                help=f"{what.capitalize()} (the {key} arrow key does the same while a head map has the focus)",
                on_click=step,
                args=(layers, heads),
            )
    return layer, head


def choose_scale() -> ColourScale:
    """What the colours of every map of attention weights on the page reach to."""
    return SCALES[SCALE.choose()]


def choose_query(record: AttentionRecord) -> int:
    """The position in `record` whose row is looked at; tokens of a text, which can occur twice, are numbered.

    What is held, and stands in the address, is the position in the input: where a view has merged pieces or hidden
    tokens, the word that holds it is chosen.
    """
    help = [
        "The token or patch whose attention is shown. Click one in the figures to choose it.",
        *_about(record),
    ]

    def holding(held: int, _options: Sequence[int]) -> int:
        return record.number(record.position_of(held if isinstance(held, int) else 0))

    labels = {record.number(position): label for position, label in enumerate(record.labels)}
    number = QUERY.choose(
        labels,
        format_func=labels.__getitem__,
        gone=holding,
        help=" ".join(help),
        on_change=_show_alone,
    )
    return record.position_of(number)


def _about(record: AttentionRecord) -> list[str]:
    """A sentence for each token that is no word and no patch."""
    meanings = {
        record.tokens[position]: what for role, what in _ROLES.items() for position in record.at(role)
    }
    if record.has_class_token and record.has_classes:
        meanings[record.tokens[0]] += ": the classifier reads its row of the last layer"
    if record.continuing_prefix and record.at("continuation"):
        meanings[f"{record.continuing_prefix}…"] = "goes on with the word before it"
    about = [f"{as_code(token)} {what}." for token, what in meanings.items()]
    if record.patch_grid is not None:
        about.append("`r3c4` is the patch in row 3 and column 4 of the grid, counted from 0.")
    return about


def take_query(position: float) -> None:
    """For callbacks: the query from now on, by its position in the input. In a head view its lines are shown alone."""
    QUERY.take(int(position))
    _show_alone()


def take_from_second(first: Side, second: Side, position: int) -> None:
    """For callbacks on the second side: the same position of the first becomes the query, where it has one."""
    if (same := same_position(second, first, position)) is not None:
        take_query(same)


def _show_alone() -> None:
    ALL_QUERIES.take(False)


def take_head(layer: int, head: int) -> None:
    """For callbacks: the head from now on."""
    LAYER.take(layer)
    HEAD.take(head)


def take_layer(layer: int, _head: int = 0) -> None:
    """For callbacks: the layer from now on, where it has one map for all its heads."""
    LAYER.take(layer)


def step(layers: int, heads: int) -> None:
    """For callbacks: so many layers down and heads to the right, where there are heads; at an edge it goes on at the other."""
    n_layers, n_heads = st.session_state["n_heads"]
    layer, head = LAYER.held(0) + layers, HEAD.held(0) + heads
    if n_heads:
        take_head(layer % n_layers, head % n_heads)
    else:
        take_layer(layer % n_layers)
