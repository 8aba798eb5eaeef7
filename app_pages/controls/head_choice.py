"""Choice of a head and a query: the controls that hold it, and the callbacks that set it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import inside_a_head_controls
from app_pages.controls.address import began_without_parameters
from app_pages.controls.chosen_word import first_query, take_remembered, take_word
from app_pages.controls.control_bar import Slots
from app_pages.controls.input_controls import KIND, OTHER_KIND
from app_pages.controls.map_controls import ALL_QUERIES, HEAD, LAYER, QUERY, SCALE, SCALES
from app_pages.controls.pages import INSIDE_A_HEAD, go_to
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import Subject
from app_pages.subject.two_sides import Side, corresponding_position
from app_pages.toolkit.markdown import as_code
from model.lenses import ATTENTION, LENSES, Lens
from model.measures.head_statistics import clearest_head
from model.record import AttentionRecord, Role
from viz.builders.palette import ColourScale, WeightScale, weight_scale

LONG = 64  # positions
_WAS_FAINT = "scale_of_faint"  # in the session: the scale was last chosen for an input with faint weights
_ROLES: dict[Role, str] = {
    "class": "at the beginning stands for the whole",
    "register": "is a register, which the encoder has for its own use",
    "separator": "at the end marks it",
    "mask": "hides a token, which the encoder is to guess",
    "unknown": "is a token that the vocabulary does not have",
    "padding": "fills up and is masked",
}
_NO_HEADS = "This lens has one map for the whole layer, all its heads together."


@dataclass(frozen=True, kw_only=True)
class HeadChoice:
    """The chosen layer and head, the colour scale of weights, and the lens through which maps are shown."""

    layer: int
    head: int
    scale: ColourScale = "fixed"
    lens: Lens = LENSES[ATTENTION]  # of one without heads there is head 0 alone

    def weights_to(self, maximum: str, *weights: np.ndarray) -> WeightScale:
        """Colour scale that figures of all these `weights` share; `maximum` is how the legend names its upper end."""
        lens = self.lens
        return weight_scale(self.scale, maximum, *weights, what=lens.quantity, shares=lens.sums_to_1)

    def of_head(self, *records: AttentionRecord) -> WeightScale:
        """Colour scale for the chosen head's maps in all these `records`."""
        maximum = "this head's own maximum" if len(records) == 1 else "this head's maximum on all sides"
        return self.weights_to(maximum, *(record.pattern[self.layer, self.head] for record in records))


def choose_head(
    subject: Subject,
    slots: Slots,
    *,
    with_colours: bool = True,
    with_roles: bool = True,
    lens: Lens = LENSES[ATTENTION],
    container: DeltaGenerator | None = None,
) -> HeadChoice:
    """Draws the controls of layer and head in `container`, by default the page's bar, and the control of colours behind View;
    returns the choice.

    Pages without maps of weights set `with_colours` to False. `with_roles` also writes the names of the head's roles. A `lens`
    without heads hides the control of the head, which keeps its value.
    """
    _choose_clear_head(subject.record)
    with container or slots.controls:
        layer, head = _choose_layer_and_head(subject.record, lens.has_heads)
    scale: ColourScale = "fixed"
    if with_colours:
        with slots.view:
            scale = choose_scale(subject.record)
    if with_roles and lens.has_heads:
        with slots.controls:
            draw_head_name(subject, layer, head)
    return HeadChoice(layer=layer, head=head, scale=scale, lens=lens)


def draw_head_name(subject: Subject, layer: int, head: int) -> None:
    """Draws the names of the head's roles, with their rules behind a question mark; nothing if it has none."""
    names = head_names(subject, layer, head)
    if names.short_text:
        st.markdown(f":gray[{names.short_text}]", help=names.help_text, width="content")


def _choose_clear_head(record: AttentionRecord) -> None:
    """Chooses a head with a clear pattern if none was chosen yet: in a session that began without parameters in the address, or
    after a change to a kind of input in which nothing was chosen before.
    """
    is_unchosen = began_without_parameters() and not any(
        value is not None for value in (LAYER.held(), HEAD.held(), st.session_state.get("opened"))
    )
    if st.session_state.pop(OTHER_KIND, False):
        take_remembered(KIND.held(), record, clearest_head(record))
    elif is_unchosen:
        take_head(*clearest_head(record))
    st.session_state["opened"] = True


def _choose_layer_and_head(record: AttentionRecord, has_heads: bool) -> tuple[int, int]:
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
    return layer, head


def choose_scale(record: AttentionRecord | None = None) -> ColourScale:
    """Draws the control of the colour scale, which ends at weight 1 or at each map's own maximum; returns the choice.

    For a `record` of a picture, or of more than `LONG` positions, the default is each map's own maximum: weights spread over so
    many keys are small, and nearly white on a scale to 1.
    """
    is_faint = record is not None and (record.patch_grid is not None or len(record) > LONG)
    begin = "to own maximum" if is_faint else "to 1"
    if st.session_state.get(_WAS_FAINT, is_faint) != is_faint:
        SCALE.take(begin)
    st.session_state[_WAS_FAINT] = is_faint
    return SCALES[SCALE.choose(default=begin)]


def choose_query(record: AttentionRecord) -> int:
    """Draws the list of positions, with repeated tokens numbered; returns the chosen query as an index in `record`.

    The control and the address hold a position in the input: if the record merges word pieces or hides tokens, the index is that
    of the word that contains it.
    """
    help = [
        "The token or patch whose attention is shown. Click one in the figures to choose it.",
        *_token_notes(record),
    ]

    def holding(held: int, _options: Sequence[int]) -> int:
        """Index of the word in `record` that contains the position `held`."""
        return record.number(record.position_of(held if isinstance(held, int) else 0))

    labels = {record.number(position): label for position, label in enumerate(record.labels)}
    begin = record.number(first_query(record))
    number = QUERY.choose(
        labels,
        begin,
        format_func=labels.__getitem__,
        gone=holding,
        help=" ".join(help),
        on_change=_show_alone,
    )
    return record.position_of(number)


def _token_notes(record: AttentionRecord) -> list[str]:
    """Sentences that explain the record's tokens that are neither words nor patches."""
    meanings = {
        record.tokens[position]: meaning
        for role, meaning in _ROLES.items()
        for position in record.positions_with_role(role)
    }
    if record.begins_with_class_token and not record.has_class_token:
        meanings[record.tokens[0]] = "at the beginning is not read at the end: the mean over the patches is"
    if record.has_class_token and record.has_classes:
        meanings[record.tokens[0]] += ": the classifier reads its row of the last layer"
    if record.continuing_prefix and record.positions_with_role("continuation"):
        meanings[f"{record.continuing_prefix}…"] = "goes on with the word before it"
    sentences = [f"{as_code(token)} {meaning}." for token, meaning in meanings.items()]
    if record.patch_grid is not None:
        sentences.append("`r3c4` is the patch in row 3 and column 4 of the grid, counted from 0.")
    return sentences


def take_query(position: float) -> None:
    """Callback: makes this `position` in the input the query, and shows the lines of that query alone."""
    take_word(QUERY, int(position))
    _show_alone()


def open_weight(layer: int, head: int, query: int, key: int) -> None:
    """Callback: opens Inside a head at one attention weight, with the computation that leads to it. `query` and `key` are
    positions in the input.
    """
    take_head(layer, head)
    take_query(query)
    inside_a_head_controls.PART.take(inside_a_head_controls.STEP_BY_STEP)
    inside_a_head_controls.KEY.take(key)
    go_to(INSIDE_A_HEAD)


def take_position_from_second(first: Side, second: Side, position: int) -> None:
    """Callback of a click on the second side: makes the position of the first side that corresponds to `position` the query, if
    there is one.
    """
    if (own_position := corresponding_position(second, first, position)) is not None:
        take_query(first.compared_record.number(own_position))


def _show_alone() -> None:
    ALL_QUERIES.take(False)


def take_head(layer: int, head: int) -> None:
    """Callback: chooses the head."""
    LAYER.take(layer)
    HEAD.take(head)


def take_layer(layer: int, _head: int = 0) -> None:
    """Callback: chooses the layer, for a lens that has one map per layer."""
    LAYER.take(layer)


def step(layer_offset: int, head_offset: int) -> None:
    """Callback: moves the choice by `layer_offset` down and `head_offset` to the right, wrapping around at the edges."""
    n_layers, n_heads = st.session_state["n_heads"]
    layer, head = LAYER.held(0) + layer_offset, HEAD.held(0) + head_offset
    if n_heads:
        take_head(layer % n_layers, head % n_heads)
    else:
        take_layer(layer % n_layers)
