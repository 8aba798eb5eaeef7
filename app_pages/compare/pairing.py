"""Which head of the second side is set against a head of the first."""

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.cache import Checkpoint, cached
from app_pages.widgets.contrast import Side
from app_pages.widgets.head_choice import take_head
from model.measures.matching import Head, Pairing, by_distance, by_number, distance_matrix
from model.record import ForwardRecord

MATCHED, BY_NUMBER = "matched", "by number"


def pair_heads(first: Side, second: Side) -> Pairing:
    """As the reader chooses. One checkpoint needs no matching, and without common cells there can be none."""
    shapes = [side.record.pattern.shape[:2] for side in (first, second)]
    if why_cells_differ(first, second) is not None:
        return by_number(*shapes)
    matrix = _distances(first.checkpoint, first.given, second.checkpoint, second.given)
    if first.checkpoint == second.checkpoint:
        return by_number(*shapes, matrix)
    how = address.row(
        "Heads paired",
        (MATCHED, BY_NUMBER),
        key="compare_pairing",
        help="Matched: the pairs with the smallest sum of head distances on this input.",
    )
    return by_distance(*shapes, matrix) if how == MATCHED else by_number(*shapes, matrix)


@cached(spinner="Measuring head distances …")
def _distances(
    one: Checkpoint, given: state.Input, other: Checkpoint, other_given: state.Input
) -> np.ndarray:
    return distance_matrix(state.record(one, given).pattern, state.record(other, other_given).pattern)


def why_cells_differ(first: Side, second: Side) -> str | None:
    """None where a cell of one map corresponds to the same cell of the other, else the reason in one sentence."""
    one, other = first.record, second.record
    one_encoder = first.checkpoint == second.checkpoint
    if one.tokens == other.tokens or (one_encoder and len(one) == len(other)):
        return None
    if one.unit == "patch":
        why = f"{first.title} sees {_seen(one)}, {second.title} sees {_seen(other)}"
    elif len(one) == len(other):
        why = f"{first.title} and {second.title} cut the text into different tokens"
    else:
        why = f"{first.title} has {len(one)} tokens, {second.title} {len(other)}"
    return f"The two maps have no cells in common: {why}."


def _seen(record: ForwardRecord) -> str:
    patches = "{} × {} patches".format(*record.patch_grid)
    return f"{patches} and a class token" if record.at("class") else patches


def name(head: Head) -> str:
    return "L{} H{}".format(*head)


def choose_furthest(pairing: Pairing) -> None:
    """A button to the pair of heads that differs most; none where no pair was measured."""
    if pairing.matrix is not None:
        st.button(
            "Pair that differs most",
            key="most_different",
            on_click=take_head,
            args=pairing.furthest,
            help="The pair with the largest head distance on this input.",
        )


def about(first: Side, second: Side, pairing: Pairing, head: Head) -> None:
    """Who is set against whom, and what that does and does not mean."""
    partner, measured = pairing.partner(head), pairing.matrix is not None
    pair = f"**{name(head)}** of {first.title}"
    if partner is not None:
        pair += f" ↔ **{name(partner)}** of {second.title}"
    else:
        pair += f" has no partner in {second.title}."
    st.markdown(pair, width="content")
    said = _distance(pairing, head) if measured and partner is not None else ""
    if pairing.matched:
        said += (
            "The pairs are a matching: of all ways to pair the heads, the one with the smallest sum of "
            f"head distances on this input. Another input may give other pairs. {pairing.n_of_one_number} "
            f"of {pairing.n_pairs} pairs have the same number on both sides."
        )
    elif first.checkpoint != second.checkpoint:
        why = "" if measured else ", since a matching needs the same keys on both sides"
        st.warning(
            f"Paired by number{why}: the encoders were trained separately, so heads of the same number need "
            "not correspond.",
            icon=":material/warning:",
        )
    for side, alone in zip((first, second), pairing.alone, strict=True):
        if alone:
            said += f" Without a partner in {side.title}: {', '.join(map(name, alone))}."
    if said:
        st.caption(said)


def _distance(pairing: Pairing, head: Head) -> str:
    further = pairing.n_further(head)
    than = f"{further or 'none'} of {pairing.n_pairs} pairs {'are' if further > 1 else 'is'}"
    return f"Head distance {pairing.distances[head]:.3f} nats; {than} further apart. "
