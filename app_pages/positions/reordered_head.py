"""Attention of one head as a function of a set: how its output changes when its input vectors are reordered."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.controls.positions_controls import CAUSAL, MASK, NO_MASK, ORDER, ORDER_SEED
from app_pages.show.show import show
from app_pages.subject.as_python import computed
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call
from model.config import ModelConfig
from model.theory.permutation_equivariance import (
    ReorderedAttention,
    attend_reordered,
    reordering_indices,
)
from viz.builders.number_format import format_number, head_name
from viz.positions.matrix_equations import permutation_panels


def draw_reordered_head(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the output of the chosen head for its input vectors X and for the same vectors in another order, P X."""
    record = subject.record
    with slots.controls:
        query = choose_query(record)
        reordering = ORDER.choose()
        seed = 0
        if reordering == "shuffled":
            seed = ORDER_SEED.choose()
        mask = MASK.choose()
    order = reordering_indices(reordering, len(record), seed)
    options = {"layer": chosen.layer, "head": chosen.head, "order": order}
    by_mask = {
        name: computed(subject, attend_reordered, **options, is_causal=name == CAUSAL)
        for name in (NO_MASK, CAUSAL)
    }
    source = by_mask[mask]
    run: ReorderedAttention = source()
    st.markdown(
        "$P$ puts the input vectors $X$ in another order. **Left** of = the head reads them in that order; **right** of it, the head reads "
        "them as they are, and then its outputs are put in that order. Are both the same?"
    )
    show(
        call(
            permutation_panels,
            source.output,
            source.output_of_reordered,
            source.order,
            record.tokens,
            query=query,
            is_equal=source.is_equivariant,
        ),
        key="permutation",
    )
    largest = by_mask[NO_MASK]().largest_output
    with st.container(horizontal=True, gap="large", key="totals"):
        for name, result in by_mask.items():
            difference = result().largest_difference
            st.metric(
                f"Largest difference of the two sides, {name}",
                format_number(difference, ".2g"),
                f"{format_number(difference / largest, '.2g')} of the largest output" if largest else None,
                delta_color="off",
                delta_arrow="off",
                width="content",
            )
    by_position = _position_clause(record.config)
    st.markdown(
        order_sentence(
            query,
            run.row_of(query),
            is_masked=mask != NO_MASK,
            is_equal=run.is_equivariant,
            is_reordered=order != tuple(range(len(record))),
            by_position=by_position,
        )
    )
    st.latex(r"\mathrm{Attention}(PX) = P\,\mathrm{Attention}(X)")
    without = f"This encoder {by_position}. Without that the equation would hold, " if by_position else ""
    st.markdown(
        without + r"since softmax works row by row: $\mathrm{softmax}((PQ)(PK)^{\top})\,PV = "
        r"P\,\mathrm{softmax}(QK^{\top})\,P^{\top} P\,V = P\,\mathrm{softmax}(QK^{\top})\,V$"
    )
    added = (
        ""
        if record.config.positions == "none"
        else " Positions were added to the vectors before the first layer, so they move with them."
    )
    st.caption(
        f"X is the input of the attention of layer {chosen.layer}; {head_name(chosen.layer, chosen.head)} is run on "
        f"X and on P X.{added}"
    )


def order_sentence(
    row: int, new_row: int, *, is_masked: bool, is_equal: bool, is_reordered: bool, by_position: str
) -> str:
    """Sentence on whether the framed token keeps its output vector when the input vectors are reordered and it moves from `row`
    to `new_row`.

    `by_position` is a clause on how this encoder's attention depends on positions, "" if it does not.
    """
    token = f"The framed token {f'moves from row {row} to row {new_row}' if new_row != row else f'keeps its row {row}'}"
    if not is_reordered:
        return f"This is the order of the input, so nothing can change: {token[0].lower()}{token[1:]}."
    if is_masked and is_equal:
        return f"{token}. In this order every row's output stays the same, even with the mask."
    if is_masked:
        return (
            f"{token}. It saw itself and the rows before it, {_n_keys_text(row + 1)}; now it sees {_n_keys_text(new_row + 1)}, itself and "
            "the rows that now stand before it. Which keys are allowed depends on the row, so the mask does not move with the vectors, and "
            "the equation fails."
        )
    if is_equal:
        why = "each row is a weighted mean over the same set of vectors, whichever order they stand in, up to rounding"
        if by_position:
            why = f"in this order it makes no difference that this encoder {by_position}"
        return f"{token} and takes its output along unchanged: {why}."
    why = f": this encoder {by_position}, and in another order query and key are at other distances"
    return f"{token}, and its output changes{why if by_position else ' by more than rounding'}."


def _position_clause(config: ModelConfig) -> str:
    """Clause on how the attention itself depends on positions: "adds a bias to each score …"; "" if it does not."""
    parts = config.family.parts
    if config.has_distance_bias:
        return "adds a bias to each score that depends on how far apart query and key are"
    if parts.rotary is not None:
        return "rotates queries and keys by their positions, so that scores depend on how far apart they are"
    if parts.disentangled is not None:
        return "adds scores of relative positions to those of the contents"
    return ""


def _n_keys_text(n: int) -> str:
    return "one key" if n == 1 else f"{n} keys"
