"""Effects of the mask in all heads, and the attention that the class token lost in one of them."""

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.masks_controls import HEAD, LOST_BY
from app_pages.masks.mask_sentences import named
from app_pages.show.all_heads import clickable_heads
from app_pages.show.show import heading, show
from app_pages.show.side_predictions import beside, tell
from model.measures.changes import LostWeight, weight_lost_to_mask
from model.measures.head_measures import combine_heads, mean_entropy
from model.record import ForwardRecord
from viz.builders.cells import entropy_change
from viz.builders.number_format import percent
from viz.masks.cell_board import attention_shift

NAMED = 3  # keys that are named one by one


def draw_consequences(chosen: HeadChoice, before: ForwardRecord, after: ForwardRecord, query: int) -> None:
    """Draws changed entropies of all heads, and the weight that one query lost. `before` is `after` without the mask."""
    entropies, loss = beside("consequences")
    with entropies:
        _draw_entropies((chosen.layer, chosen.head), before, after)
    with loss:
        _draw_lost(chosen, before, after, query)


def _draw_entropies(head: tuple[int, int], before: ForwardRecord, after: ForwardRecord) -> None:
    heading("Entropy of every head, with the mask minus without", key="masks_entropy_heading")
    entropies = (mean_entropy(record.pattern, record.mask) for record in (before, after))
    chart = entropy_change(*entropies, selected=head)
    clickable_heads(chart, key="masks_entropy", chosen=head)
    st.markdown(
        r"Mean over queries of $H_i / \ln n_i$ with $H_i = -\sum_j A_{ij} \ln A_{ij}$; $n_i$ counts the "
        "keys that query $i$ may attend to, so fewer allowed keys alone do not make a head look focused. A "
        "query with one key or none counts as 0. A click chooses the head."
    )


def _draw_lost(chosen: HeadChoice, before: ForwardRecord, after: ForwardRecord, query: int) -> None:
    position, name = (0, "the class token") if before.has_class_token else (query, f"query {query}")
    heading(f"What {name} attends to, before and after", key="masks_shift_heading")
    choice = LOST_BY.choose()
    heads = slice(chosen.head, chosen.head + 1) if choice == HEAD else slice(None)
    row_before, row_after = (
        combine_heads(record.pattern[chosen.layer, heads, position]) for record in (before, after)
    )
    in_heads = after.mask[chosen.layer, heads, position]  # [head, key], True where allowed
    allowed = np.asarray(in_heads.any(axis=0))
    if allowed.all():
        n_masking = sum(not keys.all() for keys in in_heads)
        sentence = f"No key is masked for {name} here; what changes comes from masks elsewhere."
        if n_masking:
            sentence = f"No key is masked for {name} in all heads of this layer, but some are in {n_masking} of {len(in_heads)}."
    else:
        sentence = _lost_sentence(name, weight_lost_to_mask(row_before, allowed), after)
    tell(sentence)
    show(attention_shift(row_before, row_after, after.tokens, allowed=allowed), key="masks_shift")


def _lost_sentence(name: str, loss: LostWeight, record: ForwardRecord) -> str:
    """Sentence on the share of attention that went to keys that are now masked, and the keys that had most of it."""
    largest = list(zip(loss.keys, loss.weights, strict=True))[:NAMED]
    names = ", ".join(f"{named(record, key)} {percent(weight)}" for key, weight in largest)
    rest = " and others" if len(loss.keys) > len(largest) else ""
    return f"{name.capitalize()} cannot look any more where {percent(loss.total)} of its attention went: {names}{rest}."
