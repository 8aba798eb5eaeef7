"""Attention reads a set: what happens to a head when its vectors come in another order."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import address, state
from app_pages.state import HeadSelection, Input
from app_pages.widgets.head_choice import choose_query
from app_pages.widgets.show import show
from model.theory.sets import Reordered, reorder
from viz.matrix_panels import permutation
from viz.numbers import written

SHUFFLED, REVERSED, SHIFTED, SWAPPED = "shuffled", "reversed", "shifted by one", "first two swapped"
NONE, CAUSAL = "no mask", "causal mask"


def set_to_set(chosen: HeadSelection, controls: DeltaGenerator) -> None:
    """The box of the query goes into `controls`."""
    record = state.record(chosen.checkpoint, chosen.given)
    n = len(record.tokens)
    with controls:
        query = choose_query(record)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kind = address.row("Order of P X", (SHUFFLED, REVERSED, SHIFTED, SWAPPED), key="inside_order")
        seed = 0
        if kind == SHUFFLED:
            seed = address.number(
                "Shuffle",
                *(0, 9999, 1),
                key="inside_seed",
                width=150,
                help="Each number is another order.",
            )
        mask = address.row("Mask", (NONE, CAUSAL), key="inside_mask")
    st.latex(r"\mathrm{Attention}(PX) = P\,\mathrm{Attention}(X)")
    st.markdown(
        r"since softmax works row by row: $\mathrm{softmax}((PQ)(PK)^{\top})\,PV = "
        r"P\,\mathrm{softmax}(QK^{\top})\,P^{\top} P\,V = P\,\mathrm{softmax}(QK^{\top})\,V$"
    )
    order = in_order(n, kind, seed)
    found = {
        each: reordered(
            chosen.checkpoint, chosen.given, chosen.layer, chosen.head, kind, seed, each == CAUSAL
        )
        for each in (NONE, CAUSAL)
    }
    apart = {each: float(np.abs(found[each].difference).max()) for each in found}
    size = float(np.abs(found[NONE].output).max())
    with st.container(horizontal=True, gap="large"):
        for each in (NONE, CAUSAL):
            st.metric(
                f"Largest deviation, {each}",
                written(apart[each], ".2g"),
                f"{written(apart[each] / size, '.2g')} times the largest output" if size else None,
                delta_color="off",
                delta_arrow="off",
                width=250,
            )
    holds = bool(apart[mask] <= 1e-4 * max(size, 1e-12))
    show(
        permutation(
            found[mask].output,
            found[mask].output_of_reordered,
            order,
            record.tokens,
            query=query,
            holds=holds,
        ),
        key="permutation",
    )
    where = int(np.flatnonzero(order == query)[0])
    moved = f"moves from row {query} to row {where}" if where != query else f"keeps its row {query}"
    if mask == NONE:
        st.markdown(
            f"The framed token {moved} and takes its output along unchanged: each row is a weighted mean over the same "
            "set of vectors, whichever order they stand in. What deviation there is comes from rounding, since sums in "
            "another order round otherwise."
        )
    elif holds:
        st.markdown(
            f"The framed token {moved}. In this order every row's output is what it was, mask and all."
        )
    else:
        sees = f"now sees {_keys(where + 1)} instead of {_keys(query + 1)}: itself and what stands before it"
        if where == query:
            sees = "sees as many keys as before, itself and whatever stands before it now"
        st.markdown(
            f"The framed token {moved} and {sees}. Which keys are allowed hangs on the row, so the mask does not move "
            "along with the vectors, and the equation fails."
        )
    st.caption(
        f"X is what the attention of layer {chosen.layer} receives for this input, L{chosen.layer} H{chosen.head} is "
        "run on X and on P X. The block itself knows no positions: those were added to the vectors before the first "
        "layer and move with them."
    )


def _keys(n: int) -> str:
    return "one key" if n == 1 else f"{n} keys"


def in_order(n: int, kind: str, seed: int) -> np.ndarray:
    """Row i of P X is row `in_order(...)[i]` of X."""
    plain = np.arange(n)
    if kind == SHUFFLED:
        return np.random.default_rng(seed).permutation(n)
    if kind == REVERSED:
        return plain[::-1].copy()
    if kind == SHIFTED:
        return np.roll(plain, 1)
    return np.r_[plain[:2][::-1], plain[2:]]


@st.cache_data(max_entries=64, show_spinner=False)
def reordered(
    name: str, given: Input, layer: int, head: int, kind: str, seed: int, is_causal: bool
) -> Reordered:
    n = len(state.record(name, given).tokens)
    return reorder(
        state.loaded(name),
        given,
        layer=layer,
        head=head,
        order=in_order(n, kind, seed),
        is_causal=is_causal,
    )
