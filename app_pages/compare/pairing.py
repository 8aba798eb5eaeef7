"""Which head of the second side is set against a head of the first."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.widgets.contrast import Side
from app_pages.widgets.head_choice import take_head
from model.measures import matching

MATCHED, BY_NUMBER = "matched", "by number"
Head = tuple[int, int]  # layer and head


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Pairs of heads, and how far the heads of either side are from each other."""

    how: str  # MATCHED or BY_NUMBER
    partners: dict[Head, Head]  # from the first side to the second; a head that is not in it has none
    matrix: np.ndarray | None  # distances [head of the first, head of the second]; None: no common cells
    distances: dict[Head, float]  # of each pair, by its head of the first side; empty without the matrix

    def of(self, other: Head) -> Head | None:
        """The head of the first side whose partner is `other`."""
        return next((head for head, partner in self.partners.items() if partner == other), None)


def pair_heads(first: Side, second: Side) -> Pairing:
    """As the reader chooses. One checkpoint needs no matching, and without common cells there can be none."""
    matrix, how = None, BY_NUMBER
    if why_cells_differ(first, second) is None:
        matrix = _matrix(first.checkpoint, first.given, second.checkpoint, second.given)
        if first.checkpoint != second.checkpoint:
            how = address.row(
                "Heads paired",
                (MATCHED, BY_NUMBER),
                key="compare_pairing",
                help="Matched: such that the head distances of all pairs add up to the least on this input.",
            )
    ones, others = (list(np.ndindex(side.record.pattern.shape[:2])) for side in (first, second))
    if how == MATCHED:
        found = zip(ones, matching.matching(matrix), strict=True)
        partners = {one: others[number] for one, number in found if number >= 0}
    else:
        partners = {one: one for one in ones if one in others}
    distances = {}
    if matrix is not None:
        distances = {
            one: float(matrix[ones.index(one), others.index(other)]) for one, other in partners.items()
        }
    return Pairing(how=how, partners=partners, matrix=matrix, distances=distances)


@st.cache_data(max_entries=32, show_spinner="Measuring how far every head is from every other …")
def _matrix(one: str, given: state.Input, other: str, other_given: state.Input) -> np.ndarray:
    return matching.distance_matrix(
        state.record(one, given).pattern, state.record(other, other_given).pattern
    )


def why_cells_differ(first: Side, second: Side) -> str | None:
    """None where a cell of one map corresponds to the same cell of the other, else the reason in one sentence."""
    one, other = first.record, second.record
    if one.patch_grid != other.patch_grid or (
        one.patch_grid is not None and one.has_class_token != other.has_class_token
    ):
        sees = [f"{side.title} sees {_pieces(side)}" for side in (first, second)]
        return f"No cell of one map is a cell of the other: {sees[0]}, {sees[1]}."
    if len(one.tokens) != len(other.tokens):
        return (
            f"No cell of one map is a cell of the other: {first.title} has {len(one.tokens)} tokens, "
            f"{second.title} {len(other.tokens)}."
        )
    if first.checkpoint != second.checkpoint and one.tokens != other.tokens:
        return (
            f"No cell of one map is a cell of the other: {first.title} and {second.title} cut the text into "
            "different tokens."
        )
    return None


def _pieces(side: Side) -> str:
    if side.is_text:
        return f"{len(side.record.tokens)} tokens"
    patches = "{} × {} patches".format(*side.record.patch_grid)
    return f"{patches} and a class token" if side.record.has_class_token else patches


def common_tokens(first: Side, second: Side) -> tuple[str, ...]:
    """A name for each position that both sides have; where two texts differ, both words."""
    both = zip(first.record.tokens, second.record.tokens, strict=True)
    return tuple(one if one == other else f"{one}|{other}" for one, other in both)


def name(head: Head) -> str:
    return "L{} H{}".format(*head)


def about(first: Side, second: Side, pairing: Pairing, head: Head) -> None:
    """Who is set against whom, and what that does and does not mean."""
    with st.container(horizontal=True, vertical_alignment="center"):
        pair = f"**{name(head)}** of {first.title}"
        if head in pairing.partners:
            pair += f" ↔ **{name(pairing.partners[head])}** of {second.title}"
        else:
            pair += f" has no partner in {second.title}."
        st.markdown(pair, width="content")
        if pairing.distances:
            st.button(
                "Pair that differs most",
                key="most_different",
                on_click=take_head,
                args=max(pairing.distances, key=pairing.distances.get),
                help="The pair with the largest head distance on this input.",
            )
    said = _distance(pairing, head)
    if pairing.how == MATCHED:
        same = sum(one == other for one, other in pairing.partners.items())
        said += (
            "The pairs are a matching: of all ways to pair the heads, the one whose head distances add up to the "
            "least on this input. Another input may pair them otherwise. "
            f"{same} of {len(pairing.partners)} pairs have the same number on both sides."
        )
    elif first.checkpoint != second.checkpoint:
        why = "" if pairing.matrix is not None else ", since a matching needs the same keys on both sides"
        st.warning(
            f"Paired by number{why}: the encoders were trained separately, and nothing says that heads of one number do "
            "the same.",
            icon=":material/warning:",
        )
    if said := said + _without_partner(first, second, pairing):
        st.caption(said)


def _distance(pairing: Pairing, head: Head) -> str:
    if head not in pairing.distances:
        return ""
    distance, n = pairing.distances[head], len(pairing.distances)
    further = sum(other > distance for other in pairing.distances.values())
    than = f"{further or 'none'} of {n} pairs {'are' if further > 1 else 'is'}"
    return f"Head distance {distance:.3f} nats; {than} further apart. "


def _without_partner(first: Side, second: Side, pairing: Pairing) -> str:
    """The heads that no pair holds, side by side; empty where all are paired."""
    held = (set(pairing.partners), set(pairing.partners.values()))
    said = ""
    for side, paired in zip((first, second), held, strict=True):
        alone = [head for head in np.ndindex(side.record.pattern.shape[:2]) if head not in paired]
        if alone:
            said += f" Without a partner in {side.title}: {', '.join(map(name, alone))}."
    return said
