"""The steps of attention, from the residual stream to what is added to it: each draws a formula, numbers and a figure."""

from typing import Any

import numpy as np
import streamlit as st

from app_pages.inside_a_head.view import FEW, View
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.show import clickable, show
from model.experiments.residual_stream import norms
from viz.builders.figure import VegaFigure
from viz.builders.number_format import format_tex, percent
from viz.inside.value_bars import value_bars
from viz.inside.vector_rows import vector_rows

HEIGHT = 520  # pixels, in which a figure with a row for each of many keys scrolls


def stream(view: View) -> None:
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


def project(view: View) -> None:
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


def products(view: View) -> None:
    attention, key = view.steps.attention, view.key
    st.latex(
        rf"q_i \cdot k_j = \sum_{{c=0}}^{{{len(attention.q) - 1}}} q_{{ic}} \, k_{{jc}}, \qquad "
        rf"q_i \cdot k_{{{key}}} = {format_tex(attention.dots[key], '.4g')}"
    )
    pair = {f"qᵢ  {view.name(view.query)}": attention.q, f"kⱼ  {view.name(key)}": attention.k[key]}
    # Room for the sums that these two rows have not: their components stand above those of the products.
    chart = vector_rows(pair, what="component of q and k", totals={}, total=" ")
    show(chart, key="inside_rows_pair")
    st.markdown(
        "Multiplied component by component, one row for each key; the framed row is the product of the two above. "
        "Gold raises the sum, purple lowers it. A click on a row chooses the key."
    )
    chart = vector_rows(
        view.vectors(attention.products),
        what="product of q and k",
        totals=view.numbers(attention.dots),
        total="sum: q · k",
        chosen=view.name(key),
        clicks=True,
    )
    _draw_scrollable(view, chart, key="inside_products")
    _say_how_many(view)


def scale(view: View) -> None:
    attention, key = view.steps.attention, view.key
    d_k = len(attention.q)
    st.latex(
        rf"s_{{ij}} = \frac{{q_i \cdot k_j}}{{\sqrt{{d_k}}}}, \qquad "
        rf"s_{{i,{key}}} = \frac{{{format_tex(attention.dots[key], '.4g')}}}{{\sqrt{{{d_k}}}}} "
        rf"= \frac{{{format_tex(attention.dots[key], '.4g')}}}{{{d_k**0.5:.3f}}} = {format_tex(attention.scores[key], '.4g')}"
    )
    dots = view.numbers(attention.dots)
    _draw_bars(view, attention.scores, what="score", before=dots, was="q · k", key="inside_scores")


def mask(view: View) -> None:
    attention = view.steps.attention
    st.latex(
        r"s_{ij} \leftarrow -\infty \quad \text{where the mask forbids query } i \text{ to attend to key } j"
    )
    if attention.mask.all():
        st.markdown(
            f"Nothing is masked here: the query may attend to all {view.n} positions. This encoder is "
            "bidirectional: only padding would be masked."
        )
        return
    n_allowed = np.count_nonzero(attention.mask)
    st.markdown(f"The query may attend to {n_allowed} of {view.n} positions; the score of the others is −∞.")
    _draw_bars(view, attention.allowed(attention.scores), what="score after the mask", key="inside_masked")


def softmax(view: View) -> None:
    attention, key = view.steps.attention, view.key
    st.latex(
        r"A_{ij} = \frac{e^{s_{ij} - m}}{\sum_{j'} e^{s_{ij'} - m}}, \quad m = \max_{j'} s_{ij'}, \qquad "
        rf"A_{{i,{key}}} = \frac{{e^{{{format_tex(attention.scores[key], '.4g')} - ({format_tex(attention.largest_score, '.4g')})}}}}"
        rf"{{{format_tex(attention.exponentials.sum(), '.4g')}}} = {format_tex(attention.pattern[key], '.4g')}"
        if attention.mask[key]
        else rf"A_{{i,{key}}} = 0 \quad \text{{since key }} {key} \text{{ is masked}}"
    )
    st.markdown(f"Exponentials, divided by their sum: the {view.n} weights add up to 1.")
    weights, scale = attention.allowed(attention.pattern), view.chosen.of_head(view.record)
    _draw_bars(view, weights, what="attention weight", weights=scale, key="inside_weights")
    st.markdown("The same weights on the input; a click here chooses another query.")
    input_in_colours(
        view.subject.model_input,
        view.record,
        attention.pattern,
        query=view.query,
        scale=scale,
        key="inside_input",
    )


def values(view: View) -> None:
    attention = view.steps.attention
    st.latex(
        rf"z_i = \sum_{{j=0}}^{{{view.n - 1}}} A_{{ij}} \, v_j \in \mathbb{{R}}^{{{attention.v.shape[1]}}}"
    )
    st.markdown("A row is $A_{ij} v_j$: the value of a key times its weight.")
    rows, totals = view.vectors(attention.weighted), view.numbers(attention.pattern)
    if view.n_hidden:
        name = f"the other {view.n_hidden}"
        rows[name], totals[name] = attention.remaining(view.keys)
    chart = vector_rows(
        rows,
        what="component of A v",
        totals=totals,
        total="weight A",
        chosen=view.name(view.key),
        clicks=True,
    )
    _draw_scrollable(view, chart, key="inside_values")
    st.markdown("The sum of all rows, on its own colour scale:")
    rows = {f"zᵢ  {view.name(view.query)}": attention.z[view.chosen.head]}
    show(vector_rows(rows, what="component of z", totals={}), key="inside_rows_z")


def concatenate(view: View) -> None:
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


def output(view: View) -> None:
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


def _draw_bars(view: View, values: np.ndarray, *, key: str, **drawn: Any) -> None:
    """Draws `values` [key] of the drawn keys as bars, and says how many keys these are."""
    bars = value_bars(view.numbers(values), chosen=view.name(view.key), clicks=True, **drawn)
    _draw_scrollable(view, bars, key=key)
    _say_how_many(view)


def _draw_scrollable(view: View, chart: VegaFigure, *, key: str) -> None:
    """Draws a figure with one row per key, scrollable if there are many; a click on a row chooses its key."""
    with st.container(height=HEIGHT if len(view.keys) > FEW else "content", border=False):
        clickable(chart, key=key, chosen=view.key, selection="row", take=view.take_row)


def _say_how_many(view: View) -> None:
    if view.n_hidden:
        share = view.steps.attention.share(view.keys)
        st.caption(
            f"{len(view.keys)} of {view.n} keys, those with the largest weights and the chosen one; they hold "
            f"{percent(share)} of the weight. The switch at the top shows all."
        )
