"""What follows in all heads, and what the class token lost in one of them."""

from html import escape

import numpy as np
import streamlit as st

from app_pages import address
from app_pages.masks.results import Results
from app_pages.masks.words import share
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_clicked_head
from app_pages.widgets.show import clickable, show
from model.measures import heads
from model.record import ForwardRecord
from viz.head_grids import entropy_change
from viz.masks.attention_shift import attention_shift

HEAD, MEAN = "this head", "mean of the layer"


def consequences(chosen: HeadSelection, found: Results, query: int) -> None:
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_entropy"):
            _entropies(chosen, found)
        with st.container(key="side_lost"):
            _lost(chosen, found, query)


def _entropies(chosen: HeadSelection, found: Results) -> None:
    st.markdown("**Entropy of every head, with the mask minus without**")
    before, after = _entropy(found.unmasked), _entropy(found.after)
    selected = (chosen.layer, chosen.head)
    clickable(
        entropy_change(before, after, selected=selected),
        key="masks_entropy",
        chosen=selected,
        selection="head",
        take=take_clicked_head,
        width="content",
    )
    st.markdown(
        r"Mean over queries of $H_i / \ln n_i$ with $H_i = -\sum_j A_{ij} \ln A_{ij}$; $n_i$ counts the keys that query "
        "$i$ may attend to, so a mask that leaves fewer keys does not look focused for that alone. "
        "A query with one key or none counts as 0. A click chooses the head."
    )


def _entropy(record: ForwardRecord) -> np.ndarray:
    return heads.entropy(record.pattern, record.mask).mean(axis=-1)


def _lost(chosen: HeadSelection, found: Results, query: int) -> None:
    at = 0 if found.before.has_class_token else query
    who = "the class token" if found.before.has_class_token else f"query {query}"
    st.markdown(f"**What {who} attends to, before and after**")
    part = address.row("In", (HEAD, MEAN), key="masks_lost")
    some = slice(chosen.head, chosen.head + 1) if part == HEAD else slice(None)
    before, after = (
        record.pattern[chosen.layer, some, at].mean(axis=0) for record in (found.unmasked, found.after)
    )
    in_heads = found.after.mask[chosen.layer, some, at]  # [head, key]
    allowed = in_heads.any(axis=0)
    tokens = found.after.tokens
    st.html(f"<p>{escape(_in_words(who, before, tokens, in_heads))}</p>")
    show(attention_shift(before, after, tokens, allowed=allowed), key="masks_shift")


def _in_words(who: str, before: np.ndarray, tokens: tuple[str, ...], in_heads: np.ndarray) -> str:
    """How much went to keys that are masked now in all of these heads, and to which of them most."""
    allowed = in_heads.any(axis=0)
    lost = np.where(allowed, 0, before)
    if in_heads.all():
        return f"No key is masked for {who} here; what changes comes from masks elsewhere."
    if allowed.all():
        n_masking = (~in_heads.all(axis=1)).sum()
        return f"No key is masked for {who} in all heads of this layer, but some are in {n_masking} of {len(in_heads)}."
    most = np.argsort(-lost, kind="stable")[: min(3, (~allowed).sum())]
    named = ", ".join(f"“{tokens[key]}” {share(lost[key])}" for key in most)
    more = " and others" if (~allowed).sum() > len(most) else ""
    return f"{who.capitalize()} loses keys that had {share(lost.sum())} of its attention: {named}{more}."
