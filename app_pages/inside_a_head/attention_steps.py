"""The steps of attention, from the residual stream to the output of the sublayer: functions that draw a step, or return
its formula.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.inside_a_head.view import View
from app_pages.show.show import show
from model.experiments.residual_stream import norms
from viz.builders.number_format import format_tex
from viz.inside.vector_rows import vector_rows


class Formula(NamedTuple):
    """The formula of a step that is a column of the table, and its explanation."""

    tex: str  # in one line, with the numbers of the chosen key
    words: str


def draw_stream(view: View) -> None:
    steps, layer = view.steps, view.chosen.layer
    source = f"block {layer - 1}" if layer else "the embedding"
    st.latex(rf"x_i, \, x_j \in \mathbb{{R}}^{{{steps.x.shape[1]}}}")
    st.markdown(
        f"The residual stream after {source}: a vector for each of the {view.n} positions, here those of "
        "the query $i$ and of the key $j$. They are taken from the encoder; every step below is recomputed "
        "from them."
    )
    rows = {f"xᵢ  {view.name(view.query)}": steps.x[view.query]}
    if view.key != view.query:
        rows[f"xⱼ  {view.name(view.key)}"] = steps.x[view.key]
    show(vector_rows(rows, what="x"), key="inside_rows_input")


def draw_projection(view: View) -> None:
    attention, config = view.steps.attention, view.record.config
    x = r"\hat{x}" if config.norm_placement == "pre" else "x"
    st.latex(rf"q_i = {x}_i W_Q + b_Q, \quad k_j = {x}_j W_K + b_K, \quad v_j = {x}_j W_V + b_V")
    st.markdown(
        rf"This head's own columns: $W_Q, W_K \in \mathbb{{R}}^{{{config.d_model} \times {config.d_k}}}$, "
        rf"$W_V \in \mathbb{{R}}^{{{config.d_model} \times {config.d_v}}}$. A query is compared with each "
        "key; the value is what the key passes on."
    )
    rows = {
        f"qᵢ  {view.name(view.query)}": attention.q,
        f"kⱼ  {view.name(view.key)}": attention.k[view.key],
        f"vⱼ  {view.name(view.key)}": attention.v[view.key],
    }
    show(vector_rows(rows, what="component of q, k, v"), key="inside_rows_project")


def products_formula(view: View) -> Formula:
    attention, key = view.steps.attention, view.key
    return Formula(
        rf"q_i \cdot k_j = \sum_{{c=0}}^{{{len(attention.q) - 1}}} q_{{ic}} \, k_{{jc}}, \quad "
        rf"q_i \cdot k_{{{key}}} = {format_tex(attention.dots[key], '.4g')}",
        "Multiplied component by component, one row for each key, and added up: gold raises the sum, purple lowers it.",
    )


def scale_formula(view: View) -> Formula:
    attention, key = view.steps.attention, view.key
    d_k = len(attention.q)
    return Formula(
        rf"s_{{ij}} = q_i \cdot k_j / \sqrt{{d_k}}, \quad s_{{i,{key}}} = {format_tex(attention.dots[key], '.4g')} "
        rf"/ \sqrt{{{d_k}}} = {format_tex(attention.scores[key], '.4g')}",
        "The longer the vectors, the larger their dot products; divided by √d_k they stay about as large.",
    )


def mask_formula(view: View) -> Formula:
    attention = view.steps.attention
    return Formula(
        r"s_{ij} \leftarrow -\infty \; \text{ where query } i \text{ must not attend to key } j",
        f"Nothing is masked here: the query may attend to all {view.n} positions. This encoder is "
        "bidirectional: only padding would be masked."
        if attention.mask.all()
        else f"The query may attend to {np.count_nonzero(attention.mask)} of {view.n} positions; the score of the "
        "others is −∞, and their weight 0.",
    )


def softmax_formula(view: View) -> Formula:
    attention, key = view.steps.attention, view.key
    return Formula(
        rf"A_{{ij}} = e^{{s_{{ij}} - m}} / \sum_{{j'}} e^{{s_{{ij'}} - m}}, \; m = {format_tex(attention.largest_score, '.4g')}, \quad "
        rf"A_{{i,{key}}} = e^{{{format_tex(attention.scores[key] - attention.largest_score, '.4g')}}} "
        rf"/ {format_tex(attention.exponentials.sum(), '.4g')} = {format_tex(attention.pattern[key], '.4g')}"
        if attention.mask[key]
        else rf"A_{{i,{key}}} = 0 \quad \text{{since key }} {key} \text{{ is masked}}",
        f"Exponentials, divided by their sum: the {view.n} weights add up to 1. m is the largest score: without it the "
        "weights are the same, but large exponentials overflow.",
    )


def values_formula(view: View) -> Formula:
    attention = view.steps.attention
    return Formula(
        rf"z_i = \sum_{{j=0}}^{{{view.n - 1}}} A_{{ij}} \, v_j \in \mathbb{{R}}^{{{attention.v.shape[1]}}}",
        "The value of each key times its weight; their sum is the last row, on its own colour scale.",
    )


def draw_concatenation(view: View) -> None:
    z = view.steps.attention.z
    n_heads, d_v = z.shape
    if n_heads == 1:
        st.markdown(f"Layer {view.chosen.layer} has this one head: there is nothing to concatenate.")
    else:
        st.latex(
            rf"[\, z_i^{{(0)}}; \ldots; z_i^{{({n_heads - 1})}} \,] \in \mathbb{{R}}^{{{n_heads} \cdot {d_v}}} "
            rf"= \mathbb{{R}}^{{{n_heads * d_v}}}"
        )
        st.markdown(
            f"The other heads of layer {view.chosen.layer} did the same with their own $W_Q, W_K, W_V$."
        )
    heads = [f"H{head}" for head in range(n_heads)]
    chart = vector_rows({"[z; …; z]": z.ravel()}, what="z", groups=heads, chosen=heads[view.chosen.head])
    show(chart, key="inside_rows_concatenate")


def draw_output(view: View) -> None:
    attention, head = view.steps.attention, view.chosen.head
    n_heads, d_v = attention.z.shape
    st.latex(
        rf"o_i = \sum_{{h=0}}^{{{n_heads - 1}}} z_i^{{(h)}} W_O^{{(h)}} + b_O, \qquad "
        rf"W_O^{{(h)}} \in \mathbb{{R}}^{{{d_v} \times {len(attention.out)}}}"
    )
    st.markdown(
        rf"$W_O \in \mathbb{{R}}^{{{n_heads * d_v} \times {len(attention.out)}}}$ cut into the rows that "
        "belong to each head: each writes into the stream on its own, and the results are added."
    )
    rows = {f"H{number}": row for number, row in enumerate(attention.by_head)}
    rows |= {"bias b": attention.bias, "= oᵢ": attention.out}
    draw_rows_with_lengths(rows, key="output", what="component of o", chosen=f"H{head}")


def draw_rows_with_lengths(
    rows: dict[str, np.ndarray], *, key: str, what: str = "value", chosen: str = ""
) -> None:
    totals = dict(zip(rows, norms(np.array(list(rows.values()))), strict=True))
    chart = vector_rows(rows, what=what, totals=totals, total="Euclidean norm", chosen=chosen)
    show(chart, key=f"inside_rows_{key}")
