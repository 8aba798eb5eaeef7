"""One query through one block, step by step: a diagram of the block, and each step, to be unfolded, beside it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from decimal import ROUND_CEILING, Context
from typing import NamedTuple

import streamlit as st

from app_pages.controls import inside_a_head_controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.inside_a_head import attention_steps as attention
from app_pages.inside_a_head import block_steps as block
from app_pages.inside_a_head.view import View, choose_view
from app_pages.show.show import clickable
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import PLACEMENTS, as_code, sentence
from viz.builders.number_format import format_number
from viz.inside.block_diagram import block_diagram


class Step(NamedTuple):
    short: str  # in the diagram
    title: str
    shape: str  # with sizes of the configuration, `n` positions, and `joined`, the width of all heads' z
    draw: Callable[[View], None]


# By the names of `model.experiments.head_steps.ORDER`, which says in what order a block takes them.
STEPS = {
    "input": Step("x", "Residual stream x", "{n} × {d_model}", attention.stream),
    "norm_attention": Step("LayerNorm", "LayerNorm", "{d_model}", block.norm_attention),
    "project": Step("q, k, v", "Query, key and value", "{d_model} → {d_k}, {d_k}, {d_v}", attention.project),
    "products": Step("q · k", "q · k, component by component", "{n} × {d_k} → {n}", attention.products),
    "scale": Step("÷ √d_k", "Divided by √d_k", "{n}", attention.scale),
    "mask": Step("mask", "Mask", "{n}", attention.mask),
    "softmax": Step("softmax", "Softmax", "{n}", attention.softmax),
    "values": Step(
        "weighted sum of v", "Weighted sum of the values", "{n} × {d_v} → {d_v}", attention.values
    ),
    "concatenate": Step(
        "concatenation", "Concatenation of the heads", "{n_heads} × {d_v} → {joined}", attention.concatenate
    ),
    "output": Step("W_O", "Output projection W_O", "{joined} → {d_model}", attention.output),
    "add_attention": Step("+ residual", "Residual addition", "{d_model}", block.add_attention),
    "norm_feed_forward": Step("LayerNorm", "LayerNorm", "{d_model}", block.norm_feed_forward),
    "expand": Step("expand, activate", "Feed-forward: hidden units", "{d_model} → {d_ff}", block.expand),
    "contract": Step("contract", "Feed-forward: back to the stream", "{d_ff} → {d_model}", block.contract),
    "add_feed_forward": Step("+ residual", "Residual addition", "{d_model}", block.add_feed_forward),
}


def step_by_step(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    try:
        with slots.controls:
            query = choose_query(subject.record)
            view = choose_view(subject, chosen, query)
        with slots.view:
            st.button("Open all", on_click=_open, args=(STEPS,))
            st.button("Fold all", on_click=_open, args=((),))
    except ValueError as error:
        st.info(sentence(error), icon=":material/info:")
        return
    differences, order = view.steps.differences, view.steps.order
    with st.container(horizontal=True, gap="medium"):
        diagram = st.container(width=250, key="inside_diagram")
        with st.container(key="detail", gap="xsmall"):
            opened = [name for number, name in enumerate(order, 1) if _draw_step(view, name, number)]
    with diagram:
        chart = block_diagram(
            {name: STEPS[name].short for name in order},
            opened=opened,
            head=view.head,
            placement=PLACEMENTS[view.record.config.norm_placement],
        )
        clickable(
            chart,
            key="inside_map",
            chosen=tuple(opened),
            selection="step",
            take=lambda point: _open((point["step"],)),
            width="content",
        )
    st.caption(
        f"{view.head}, query {as_code(view.name(query))}. Every step is computed anew in double precision from "
        f"the layer's input and weights; largest difference from the encoder's own numbers: {difference_bound(max(differences.values()))}."
    )


def _draw_step(view: View, name: str, number: int) -> bool:
    """Draws one step if it is unfolded; returns whether it is."""
    step, config = STEPS[name], view.record.config
    shape = step.shape.format(**asdict(config), n=view.n, joined=config.n_heads * config.d_v)
    expander = inside_a_head_controls.STEPS[name].draw(f"**{number} · {step.title}** \u2003 `{shape}`")
    if expander.open:
        with expander:
            step.draw(view)
            if name in view.steps.differences:
                st.caption(
                    f"Largest difference from the encoder's own numbers: {difference_bound(view.steps.differences[name])}."
                )
            elif name.startswith("add_"):
                st.caption("The encoder keeps this sum only after the norm: the next step compares both.")
    return bool(expander.open)


def difference_bound(difference: float) -> str:
    """A bound of one digit for `difference`: 2.1e-7 is below 3 × 10⁻⁷."""
    return format_number(float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(difference)), ".0e")


def _open(names: Iterable[str]) -> None:
    """Callback: unfolds these steps and folds all others."""
    for name in STEPS:
        inside_a_head_controls.STEPS[name].take(name in names)
