"""What follows in all heads, and what the class token lost in one of them."""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import HEAD, LOST_BY
from app_pages.masks.mask_sentences import named
from app_pages.show.all_heads import clickable_heads
from app_pages.show.show import heading, show
from app_pages.show.side_predictions import beside, tell
from app_pages.subject.two_sides import share
from model.measures.changes import LostWeight, weight_lost_to_mask
from model.measures.head_measures import combine_heads, mean_entropy
from model.record import ForwardRecord
from viz.builders.head_grids import entropy_change
from viz.masks.attention_shift import attention_shift

NAMED = 3  # keys that are named one by one


def consequences(chosen: HeadChoice, before: ForwardRecord, after: ForwardRecord, query: int) -> None:
    """`before` has the positions of `after`, and no mask."""
    entropies, loss = beside("consequences")
    with entropies:
        _entropies((chosen.layer, chosen.head), before, after)
    with loss:
        _lost(chosen, before, after, query)


def _entropies(head: tuple[int, int], before: ForwardRecord, after: ForwardRecord) -> None:
    heading("Entropy of every head, with the mask minus without", key="masks_entropy_heading")
    entropies = (mean_entropy(record.pattern, record.mask) for record in (before, after))
    chart = entropy_change(*entropies, selected=head)
    clickable_heads(chart, key="masks_entropy", chosen=head)
    st.markdown(
        r"Mean over queries of $H_i / \ln n_i$ with $H_i = -\sum_j A_{ij} \ln A_{ij}$; $n_i$ counts the "
        "keys that query $i$ may attend to, so fewer allowed keys alone do not make a head look focused. A "
        "query with one key or none counts as 0. A click chooses the head."
    )


def _lost(chosen: HeadChoice, before: ForwardRecord, after: ForwardRecord, query: int) -> None:
    at, who = (0, "the class token") if before.has_class_token else (query, f"query {query}")
    heading(f"What {who} attends to, before and after", key="masks_shift_heading")
    part = LOST_BY.choose()
    heads = slice(chosen.head, chosen.head + 1) if part == HEAD else slice(None)
    rows = [combine_heads(record.pattern[chosen.layer, heads, at]) for record in (before, after)]
    in_heads = after.mask[chosen.layer, heads, at]  # [head, key]
    allowed = in_heads.any(axis=0)
    if allowed.all():
        masking = sum(not each.all() for each in in_heads)
        said = f"No key is masked for {who} here; what changes comes from masks elsewhere."
        if masking:
            said = f"No key is masked for {who} in all heads of this layer, but some are in {masking} of {len(in_heads)}."
    else:
        said = _in_words(who, weight_lost_to_mask(rows[0], allowed), after)
    tell(said)
    show(attention_shift(*rows, after.tokens, allowed=allowed), key="masks_shift")


def _in_words(who: str, found: LostWeight, record: ForwardRecord) -> str:
    """How much went to keys that are masked now in all of the heads, and to which of them most."""
    most = list(zip(found.keys, found.weights, strict=True))[:NAMED]
    names = ", ".join(f"{named(record, key)} {share(weight, 1)}" for key, weight in most)
    more = " and others" if len(found.keys) > len(most) else ""
    return f"{who.capitalize()} cannot look any more where {share(found.total, 1)} of its attention went: {names}{more}."
