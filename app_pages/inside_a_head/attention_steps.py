"""The steps of attention, from the stream to what is added to it: formula, numbers, figure."""

import numpy as np
import streamlit as st

from app_pages.inside_a_head.view import FEW, View
from app_pages.widgets.clickable import clickable
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.words import in_formula
from viz.inside.value_bars import value_bars
from viz.inside.vector_rows import vector_rows

HEIGHT = 520  # pixels, in which a figure with a row for each of many keys scrolls


def stream(view: View) -> None:
    steps, layer = view.steps, view.chosen.layer
    source = f"block {layer - 1} left it" if layer else "it comes from the embedding"
    st.latex(rf"x_i, \, x_j \in \mathbb{{R}}^{{{steps.x.shape[1]}}}")
    st.markdown(
        f"The residual stream as {source}: a vector for each of the {view.n} positions, here those of the query "
        "$i$ and of the key $j$. They are taken from the encoder; every step below is computed from them anew."
    )
    rows = {f"xᵢ  {view.name(view.query)}": steps.x[view.query]}
    if view.key != view.query:
        rows[f"xⱼ  {view.name(view.key)}"] = steps.x[view.key]
    st.altair_chart(vector_rows(rows, what="x"), key="inside_rows_input")


def project(view: View) -> None:
    attention, config = view.steps.attention, view.record.config
    x = r"\hat{x}" if config.norm_placement == "pre" else "x"
    st.latex(rf"q_i = {x}_i W_Q + b_Q, \quad k_j = {x}_j W_K + b_K, \quad v_j = {x}_j W_V + b_V")
    st.markdown(
        rf"This head's own columns: $W_Q, W_K \in \mathbb{{R}}^{{{config.d_model} \times {config.d_k}}}$, "
        rf"$W_V \in \mathbb{{R}}^{{{config.d_model} \times {config.d_v}}}$. The query asks, the key answers, the "
        "value is what is handed over."
    )
    rows = {
        f"qᵢ  {view.name(view.query)}": attention.q,
        f"kⱼ  {view.name(view.key)}": attention.k[view.key],
        f"vⱼ  {view.name(view.key)}": attention.v[view.key],
    }
    st.altair_chart(vector_rows(rows, what="component of q, k, v"), key="inside_rows_project")


def products(view: View) -> None:
    attention, key = view.steps.attention, view.key
    st.latex(
        rf"q_i \cdot k_j = \sum_{{c=0}}^{{{len(attention.q) - 1}}} q_{{ic}} \, k_{{jc}}, \qquad "
        rf"q_i \cdot k_{{{key}}} = {in_formula(attention.dots[key], 4)}"
    )
    pair = {f"qᵢ  {view.name(view.query)}": attention.q, f"kⱼ  {view.name(key)}": attention.k[key]}
    # Room for the sums that these two rows have not: their components stand above those of the products.
    chart = vector_rows(pair, what="component of q and k", totals={}, total=" ")
    st.altair_chart(chart, key="inside_rows_pair")
    st.markdown(
        "Multiplied component by component, a row a key; the framed row is the product of the two above. "
        "Orange raises the sum, blue lowers it. A click on a row chooses the key."
    )
    rows = dict(zip(view.names(view.keys), attention.products[list(view.keys)], strict=True))
    chart = vector_rows(
        rows,
        what="product of q and k",
        totals=dict(zip(rows, attention.dots[list(view.keys)], strict=True)),
        total="sum: q · k",
        chosen=view.name(key),
        clicks=True,
    )
    _scrolled(view, chart, key="inside_products")
    _how_many(view)


def scale(view: View) -> None:
    attention, key = view.steps.attention, view.key
    d_k = len(attention.q)
    st.latex(
        rf"s_{{ij}} = \frac{{q_i \cdot k_j}}{{\sqrt{{d_k}}}}, \qquad "
        rf"s_{{i,{key}}} = \frac{{{in_formula(attention.dots[key], 4)}}}{{\sqrt{{{d_k}}}}} "
        rf"= \frac{{{in_formula(attention.dots[key], 4)}}}{{{d_k**0.5:.3f}}} = {in_formula(attention.scores[key], 4)}"
    )
    names = view.names(view.keys)
    chart = value_bars(
        dict(zip(names, attention.scores[list(view.keys)], strict=True)),
        what="score",
        before=dict(zip(names, attention.dots[list(view.keys)], strict=True)),
        was="q · k",
        chosen=view.name(key),
        clicks=True,
    )
    _scrolled(view, chart, key="inside_scores")
    _how_many(view)


def mask(view: View) -> None:
    allowed = view.steps.attention.mask
    st.latex(
        r"s_{ij} \leftarrow -\infty \quad \text{where the mask forbids query } i \text{ to look at key } j"
    )
    if allowed.all():
        st.markdown(
            f"Nothing is masked here: the query may look at all {view.n} positions. This encoder looks both ways, "
            "and only padding would be masked."
        )
        return
    st.markdown(
        f"The query may look at {allowed.sum()} of {view.n} positions; the others have no score any more."
    )
    scores = np.where(allowed, view.steps.attention.scores, np.nan)[list(view.keys)]
    values = dict(zip(view.names(view.keys), scores, strict=True))
    chart = value_bars(values, what="score after the mask", chosen=view.name(view.key), clicks=True)
    _scrolled(view, chart, key="inside_masked")
    _how_many(view)


def softmax(view: View) -> None:
    attention, key = view.steps.attention, view.key
    largest = attention.scores.max(where=attention.mask, initial=-np.inf)
    st.latex(
        r"A_{ij} = \frac{e^{s_{ij} - m}}{\sum_{j'} e^{s_{ij'} - m}}, \quad m = \max_{j'} s_{ij'}, \qquad "
        rf"A_{{i,{key}}} = \frac{{e^{{{in_formula(attention.scores[key], 4)} - ({in_formula(largest, 4)})}}}}"
        rf"{{{in_formula(attention.exponentials.sum(), 4)}}} = {in_formula(attention.pattern[key], 4)}"
        if attention.mask[key]
        else rf"A_{{i,{key}}} = 0 \quad \text{{since key }} {key} \text{{ is masked}}"
    )
    st.markdown(f"Exponentials, divided by their sum: the {view.n} weights add up to 1.")
    values = np.where(attention.mask, attention.pattern, np.nan)[list(view.keys)]
    chart = value_bars(
        dict(zip(view.names(view.keys), values, strict=True)),
        what="attention weight",
        weights=view.chosen.scale,
        chosen=view.name(key),
        clicks=True,
    )
    _scrolled(view, chart, key="inside_weights")
    _how_many(view)
    st.markdown("The same weights on the input; a click here chooses another query.")
    input_in_colours(
        view.chosen.given,
        view.record,
        view.steps.attention.pattern,
        query=view.query,
        scale=view.chosen.scale,
        key="inside_input",
    )


def values(view: View) -> None:
    attention, keys = view.steps.attention, list(view.keys)
    st.latex(
        rf"z_i = \sum_{{j=0}}^{{{view.n - 1}}} A_{{ij}} \, v_j \in \mathbb{{R}}^{{{attention.v.shape[1]}}}"
    )
    st.markdown("Each key hands over its value, as strongly as it is looked at: a row is $A_{ij} v_j$.")
    rows = dict(zip(view.names(keys), attention.weighted[keys], strict=True))
    totals = dict(zip(rows, attention.pattern[keys], strict=True))
    if view.n_hidden:
        others = f"the other {view.n_hidden}"
        rows[others] = np.delete(attention.weighted, keys, axis=0).sum(axis=0)
        totals[others] = np.delete(attention.pattern, keys).sum()
    chart = vector_rows(
        rows,
        what="component of A v",
        totals=totals,
        total="weight A",
        chosen=view.name(view.key),
        clicks=True,
    )
    _scrolled(view, chart, key="inside_values")
    st.markdown("The sum of all rows, with colours of its own:")
    rows = {f"zᵢ  {view.name(view.query)}": attention.z[view.chosen.head]}
    st.altair_chart(vector_rows(rows, what="component of z", totals={}), key="inside_rows_z")


def concatenate(view: View) -> None:
    z = view.steps.attention.z
    n_heads, d_v = z.shape
    if n_heads == 1:
        st.markdown(f"Layer {view.chosen.layer} has this one head: there is nothing to join.")
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
    st.altair_chart(chart, key="inside_rows_concatenate")


def output(view: View) -> None:
    attention, head = view.steps.attention, view.chosen.head
    n_heads, d_v = attention.z.shape
    st.latex(
        rf"o_i = \sum_{{h=0}}^{{{n_heads - 1}}} z_i^{{(h)}} W_O^{{(h)}} + b_O, \qquad "
        rf"W_O^{{(h)}} \in \mathbb{{R}}^{{{d_v} \times {len(attention.out)}}}"
    )
    st.markdown(
        rf"$W_O \in \mathbb{{R}}^{{{n_heads * d_v} \times {len(attention.out)}}}$ cut into the rows that belong to "
        "each head: so every head writes into the stream by itself, and what they write is added."
    )
    rows = {f"H{number}": row for number, row in enumerate(attention.by_head)}
    rows |= {"bias b": attention.bias, "= oᵢ": attention.out}
    chart = vector_rows(
        rows, what="component of o", totals=lengths(rows), total="Euclidean norm", chosen=f"H{head}"
    )
    st.altair_chart(chart, key="inside_rows_output")


def lengths(rows: dict[str, np.ndarray]) -> dict[str, float]:
    """Euclidean norm of each row."""
    return {name: float(np.linalg.norm(row)) for name, row in rows.items()}


def _scrolled(view: View, chart: object, *, key: str) -> None:
    """A figure with a row a key; a click on one chooses it."""
    with st.container(height=HEIGHT if len(view.keys) > FEW else "content", border=False):
        clickable(chart, key=key, chosen=view.key, selection="row", take=view.take_row)


def _how_many(view: View) -> None:
    if view.n_hidden:
        share = view.steps.attention.pattern[list(view.keys)].sum()
        st.caption(
            f"{len(view.keys)} of {view.n} keys, those with the largest weights and the chosen one; they hold "
            f"{share:.1%} of the weight. The switch at the top shows all."
        )
