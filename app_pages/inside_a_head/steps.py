"""One query's computation in one block, step by step: a diagram of the block, and beside it the chosen step."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, Context
from typing import NamedTuple

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.controls.inside_a_head_controls import STEP, step_titles
from app_pages.inside_a_head import attention_steps as attention
from app_pages.inside_a_head import block_steps as block
from app_pages.inside_a_head.attention_table import draw_table
from app_pages.inside_a_head.view import View, choose_view, division_text
from app_pages.inside_a_head.why_this_weight import draw_why
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.show import clickable
from app_pages.subject.as_python import record, seen_picture
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import PLACEMENTS, as_code, sentence
from viz.builders.number_format import format_number
from viz.inside.block_diagram import block_diagram


class Step(NamedTuple):
    """A step of a head's computation, with figures of its own; the diagram shows it as a box."""

    diagram_text: str  # its label in the diagram
    shape: str  # of its result, below the label: with sizes of the configuration, `n` positions, and `joined`, the width of all heads' z
    draw: Callable[[View], None]


class TableStep(NamedTuple):
    """A step that is a column of the table; `diagram_text` is its text in the diagram."""

    diagram_text: str  # in the diagram
    make_formula: Callable[[View], attention.Formula]


# By the names of `model.experiments.head_steps.ORDER`, which says in what order a block takes them. Texts that differ from
# encoder to encoder are put right by `_box_texts`.
STEPS: dict[str, Step | TableStep] = {
    "input": Step("x, token vectors", "{n} × {d_model}", attention.draw_stream),
    "norm_attention": Step("LayerNorm", "{d_model}", block.draw_norm_of_attention),
    "project": Step("q, k, v", "{d_model} → {d_k}, {d_k}, {d_v}", attention.draw_projection),
    "rotate": Step("rotation", "{d_k} → {d_k}", attention.draw_rotation),
    "products": TableStep("q · k", attention.products_formula),
    "scale": TableStep("÷ √d_k", attention.scale_formula),
    "bias": TableStep("+ bias", attention.bias_formula),
    "relative_positions": TableStep("+ scores of positions", attention.relative_positions_formula),
    "mask": TableStep("mask", attention.mask_formula),
    "softmax": TableStep("softmax", attention.softmax_formula),
    "values": TableStep("weighted sum of v", attention.values_formula),
    "concatenate": Step("join the heads", "{n_heads} × {d_v} → {joined}", attention.draw_concatenation),
    "output": Step("W_O", "{joined} → {d_model}", attention.draw_output),
    "add_attention": Step("+ residual", "{d_model}", block.draw_addition_of_attention),
    "norm_feed_forward": Step("LayerNorm", "{d_model}", block.draw_norm_of_feed_forward),
    "expand": Step("feed-forward: expand", "{d_model} → {d_ff}", block.draw_expansion),
    "contract": Step("feed-forward: contract", "{d_ff} → {d_model}", block.draw_contraction),
    "add_feed_forward": Step("+ residual", "{d_model}", block.draw_addition_of_feed_forward),
}


def draw_steps(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the tab: the diagram of the block and the chosen step."""
    try:
        with slots.controls:
            query = choose_query(subject.record)
            view = choose_view(subject, chosen, query)
    except ValueError as error:
        st.info(sentence(error), icon=":material/info:")
        return
    differences = view.steps.differences
    with st.container(horizontal=True, gap="medium", key="inside_block"):
        diagram = st.container(width=250, key="inside_diagram")
        with st.container(key="detail", gap="xsmall"):
            name = _choose_step(view)
    with diagram:
        chart = call(
            block_diagram,
            _box_texts(view),
            opened=[name],
            head=view.head,
            placement=PLACEMENTS[view.record.config.norm_placement],
        )
        clickable(
            chart,
            key="inside_map",
            chosen=name,
            selection="step",
            take=lambda point: STEP.take(point["step"]),
            width="content",
        )
    st.caption(
        f"{view.head}, query {as_code(view.name(query))}. Each number is computed anew from the layer's input and weights; none "
        f"differs from the encoder's own by more than {difference_bound(max(differences.values()))}."
    )


def _box_texts(view: View) -> dict[str, str]:
    """The texts of the diagram's boxes by step, in the order in which this encoder computes the steps."""
    config = view.record.config
    texts = {step: STEPS[step].diagram_text for step in view.steps.order}
    norms = {step: config.norm_name for step in texts if step.startswith("norm_")}
    return texts | norms | {"scale": division_text(config)}


def _choose_step(view: View) -> str:
    """Draws the choice of a step and the chosen step; returns its name."""
    titles = step_titles(view.record.config)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="inside_step_line"):
        name = STEP.choose(view.steps.order, "products", format_func=titles.__getitem__)
        number = view.steps.order.index(name)
        _draw_neighbour(view.steps.order, number - 1, "back", "chevron_left", "Previous step")
        _draw_neighbour(view.steps.order, number + 1, "on", "chevron_right", "Next step")
        step = STEPS[name]
        with st.container(key=f"inside_step_{name}"):
            if isinstance(step, TableStep):
                formula = step.make_formula(view)
                st.markdown(f"${formula.tex}$")
            else:
                config = view.record.config
                st.markdown(
                    f"numbers: `{step.shape.format(**asdict(config), n=view.n, joined=config.n_heads * config.d_v)}`"
                )
    if isinstance(step, Step):
        step.draw(view)
        return name
    draw_table(view, name)
    st.caption(formula.explanation)
    if view.n_hidden:
        st.caption(
            f"{len(view.keys)} of {view.n} keys have rows of their own: those with the largest weights, and the chosen one."
        )
    draw_why(view)
    input_in_colours(
        None if view.record.unit == "token" else seen_picture(view.subject),
        record(view.subject),
        view.source.attention.pattern,
        query=view.query,
        scale=view.chosen.of_head(view.record),
        key="inside_input",
        legend=False,
    )
    return name


def _draw_neighbour(order: Sequence[str], number: int, key: str, icon: str, label: str) -> None:
    """Draws a button to the step with this number in `order`; disabled if there is none."""
    is_step = 0 <= number < len(order)
    st.button(
        label,  # for those who hear it
        icon=f":material/{icon}:",
        key=f"inside_{key}",
        help=label,
        disabled=not is_step,
        on_click=STEP.take,
        args=(order[number],) if is_step else (),
    )


def difference_bound(difference: float) -> str:
    """Upper bound with one digit for `difference`, as text: 2.1e-7 gives 3 × 10⁻⁷."""
    return format_number(float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(difference)), ".0e")
