"""Which head of the second side is set against a head of the first."""

import numpy as np
import streamlit as st

from app_pages.compare.over_data import against, over
from app_pages.controls.compare_controls import BY_NUMBER, ON_INPUT, PAIRING
from app_pages.controls.head_choice import take_head
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from model.atlas.results import EncoderComparison
from model.lenses import Lens
from model.measures.head_matching import (
    HeadIndex,
    Pairing,
    by_distance,
    by_number,
    distance_matrix,
    with_matrix,
)
from model.record import ForwardRecord
from viz.builders.number_format import head_name, percent

LISTED = 8  # heads by name; of 144, most may be without a partner


def pair_heads(first: Side, second: Side) -> Pairing:
    """As the reader chooses; over a data set where that is stored. One checkpoint needs no matching.

    Without common cells there can be none.
    """
    shapes = [side.record.pattern.shape[:2] for side in (first, second)]
    if why_cells_differ(first, second) is not None:
        return by_number(*shapes)
    matrix = _distances(first.subject, second.subject)
    if first.checkpoint == second.checkpoint:
        return by_number(*shapes, matrix)
    stored = against(first.checkpoint, second.checkpoint)
    over_many = [f"alike over {stored.source.n:,} examples"] if stored else []
    how = PAIRING.choose((*over_many, ON_INPUT, BY_NUMBER))
    if how == BY_NUMBER:
        return by_number(*shapes, matrix)
    return (
        by_distance(*shapes, matrix)
        if how == ON_INPUT
        else with_matrix(stored.pairing, stored.source.n, matrix)
    )


def pair_layers(first: Side, second: Side) -> Pairing:
    """For a lens without heads: layers of the same number, each as if it had one head."""
    return by_number(*((side.record.pattern.shape[0], 1) for side in (first, second)))


@cached(spinner="Measuring head distances …")
def _distances(one: LiveSubject, other: LiveSubject) -> np.ndarray:
    return distance_matrix(one.record.pattern, other.record.pattern)


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


def lens_name(head: HeadIndex, lens: Lens) -> str:
    """As in "L0 H3"; of a lens without heads, the layer."""
    return head_name(*head) if lens.has_heads else f"L{head[0]}"


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


def about_layers(first: Side, second: Side, pairing: Pairing, layer: int) -> None:
    """Of a lens without heads."""
    pair = f"**L{layer}** of {first.title}"
    if pairing.partner((layer, 0)) is None:
        pair += f" has no partner in {second.title}."
    else:
        pair += f" ↔ **L{layer}** of {second.title} :gray[one map for all heads of a layer; layers are paired by number]"
    st.markdown(pair, width="content")


def about(first: Side, second: Side, pairing: Pairing, head: HeadIndex) -> None:
    """Who is set against whom, and what that does and does not mean."""
    partner, measured = pairing.partner(head), pairing.matrix is not None
    pair = f"**{head_name(*head)}** of {first.title}"
    if partner is not None:
        pair += f" ↔ **{head_name(*partner)}** of {second.title}"
    else:
        pair += f" has no partner in {second.title}."
    st.markdown(pair, width="content")
    stored = against(first.checkpoint, second.checkpoint) if measured else None
    said = _distance(pairing, head, stored) if measured and partner is not None else ""
    if pairing.matched:
        said += f"{_how_matched(pairing, stored)} {pairing.n_same_index} of {pairing.n_pairs} pairs have the same number on both sides."
    elif first.checkpoint != second.checkpoint:
        why = "" if measured else ", since a matching needs the same keys on both sides"
        st.warning(
            f"Paired by number{why}: the encoders were trained separately, so heads of the same number need "
            "not correspond.",
            icon=":material/warning:",
        )
    for side, alone in zip((first, second), pairing.unpaired, strict=True):
        if alone:
            listed = ", ".join(head_name(*head) for head in alone[:LISTED]) + (
                ", …" if len(alone) > LISTED else ""
            )
            said += f" Without a partner in {side.title}: {listed}"
            said += f" ({len(alone)} heads)." if len(alone) > LISTED else "."
    if said:
        st.caption(said)


def _distance(pairing: Pairing, head: HeadIndex, stored: EncoderComparison | None) -> str:
    further = pairing.n_further_pairs(head)
    than = f"{further or 'none'} of {pairing.n_pairs} pairs {'are' if further > 1 else 'is'}"
    said = f"Head distance {pairing.distances[head]:.3f} nats on this input; {than} further apart. "
    if stored is not None:
        one = np.ravel_multi_index(head, pairing.shapes[0])
        mean, sd = (
            values[one, pairing.partners[one]] for values in (stored.distances.mean, stored.distances.sd)
        )
        said += f"Over {over(stored.source)} it is {mean:.3f} ± {sd:.3f} (mean ± standard deviation). "
    return said


def _how_matched(pairing: Pairing, stored: EncoderComparison | None) -> str:
    least = "Heads are numbered in any order, so each is paired with one that looks alike: the sum of all head distances is smallest"
    if stored is None or pairing.n_examples == 1:
        said = f"{least} on this input. On another input the pairs may be others."
    else:
        said = (
            f"{least} on average over {over(stored.source)}. Two halves of these, each paired alone, agree on "
            f"{stored.halves} of {pairing.n_pairs} pairs."
        )
    if stored is not None:
        share = percent(stored.persisting)
        said += f" On a single example, {share} of the pairs (mean) are the same as over all of them."
    return said
