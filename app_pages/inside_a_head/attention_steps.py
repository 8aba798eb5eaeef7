"""The steps of attention, from the residual stream to the sublayer's output: functions that draw a step, or return its
formula.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.lens import divisor_tex
from app_pages.inside_a_head.view import View, bias_tex, query_and_key_tex
from app_pages.show.show import show
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import as_code
from model.experiments.query_attention import BIAS, CONTENT_TO_POSITION, POSITION_TO_CONTENT
from model.experiments.residual_stream import norms
from viz.builders.number_format import format_number, format_tex
from viz.inside.vector_rows import vector_rows


class Formula(NamedTuple):
    """The formula (LaTeX) and the explanation (Markdown) of a step that is a column of the table."""

    tex: str  # in one line, with the numbers of the chosen key
    explanation: str


def draw_stream(view: View) -> None:
    """Draws the rows of the residual stream that the sublayer reads."""
    steps, layer = view.steps, view.chosen.layer
    source = f"block {layer - 1}" if layer else "the embedding"
    st.markdown(
        f"Each of the {view.n} positions has a vector of {steps.x.shape[1]} numbers, the residual stream after {source}. Here: those "
        "of the query $i$ and of the key $j$. They are taken from the encoder; every step below is computed anew from them."
    )
    rows = {f"xᵢ  {view.name(view.query)}": view.source.x[view.query]}
    if view.key != view.query:
        rows[f"xⱼ  {view.name(view.key)}"] = view.source.x[view.key]
    show(call(vector_rows, rows, what="x"), key="inside_rows_input")


def draw_projection(view: View) -> None:
    """Draws the query, key and value vectors, and the products with W_Q, W_K and W_V that give them."""
    config = view.record.config
    is_normed = config.norm_placement == "pre" and view.steps.norm_attention is not None
    x = r"\hat{x}" if is_normed else "x"
    biases = bias_tex(config, "w_q", "b_Q"), bias_tex(config, "w_k", "b_K"), bias_tex(config, "w_v", "b_V")
    st.latex(
        rf"q_i = {x}_i W_Q{biases[0]}, \quad k_j = {x}_j W_K{biases[1]}, \quad v_j = {x}_j W_V{biases[2]}"
    )
    n_shared = config.n_heads // (config.family.parts.n_key_heads or config.n_heads)
    first = view.chosen.head - view.chosen.head % n_shared
    unnormed = (
        "Layer 0 has no norm before its attention: it reads the embedding, which is normalised already. "
        if config.norm_placement == "pre" and not is_normed
        else ""
    )
    shared = (
        f" Heads {first}–{first + n_shared - 1} have $W_K$ and $W_V$ in common, and so their keys and values; $W_Q$ is each "
        "head's own (grouped queries, Ainslie et al. 2023)."
        if n_shared > 1
        else ""
    )
    st.markdown(
        unnormed
        + rf"Three learned matrices make a query, a key and a value of each vector. This head's own columns of them: $W_Q, W_K \in \mathbb{{R}}^{{{config.d_model} \times {config.d_k}}}$, "
        rf"$W_V \in \mathbb{{R}}^{{{config.d_model} \times {config.d_v}}}$. A query is compared with each "
        "key; the value is what the key passes on." + shared
    )
    attention = view.source.attention
    projected = attention if view.steps.attention.rotation is None else attention.rotation
    rows = {
        f"qᵢ  {view.name(view.query)}": projected.q,
        f"kⱼ  {view.name(view.key)}": projected.k[view.key],
        f"vⱼ  {view.name(view.key)}": attention.v[view.key],
    }
    show(call(vector_rows, rows, what="component of q, k, v"), key="inside_rows_project")


def draw_rotation(view: View) -> None:
    """Draws the query and the chosen key before and after the rotation by their positions."""
    attention, query, key = view.steps.attention, view.query, view.key
    rotation, rotary = attention.rotation, view.record.config.family.parts.rotary
    assert rotation is not None, "a step of encoders that rotate"
    assert rotary is not None
    first, second = rotation.pairs[0]
    at_query, at_key = rotation.angles[query], rotation.angles[key]
    st.latex(
        r"(\tilde{q}_a, \tilde{q}_b) = (q_a \cos\theta - q_b \sin\theta, \; q_a \sin\theta + q_b \cos\theta)"
    )
    grows = "the row or the column of the patch" if rotary.on_grid else "the position"
    n_alone = len(attention.q) - rotation.pairs.size
    st.markdown(
        "The components are taken in pairs, and each pair is turned like the hand of a clock, by an angle $\\theta$ that "
        f"grows with {grows}; the value $v$ is not. Pair 0 is made of the components {first} and {second}: it is turned "
        f"by {_radians(at_query[0])} at the query and by {_radians(at_key[0])} at the key. "
        + (f"The last {n_alone} components stay as they are. " if n_alone else "")
        + "In the dot product only the difference of the two angles is left: "
        + (
            "it depends on how far apart query and key stand, not on where they stand (RoPE, Su et al. 2021)."
            if min(query, key) >= (view.record.first_patch if rotary.on_grid else 0)
            else "between a patch and a token that is not rotated, it is the patch's own angle."
        )
    )
    source = view.source.attention
    rows = {
        f"qᵢ  {view.name(query)}": source.rotation.q,
        "rotated: q̃ᵢ": source.q,
        f"kⱼ  {view.name(key)}": source.rotation.k[key],
        "rotated: k̃ⱼ": source.k[key],
    }
    show(call(vector_rows, rows, what="component of q, k"), key="inside_rows_rotate")
    ends = [source.rotation.angles[position] for position in (query, key)]
    angles = {
        "θ at the query i": ends[0],
        "θ at the key j": ends[1],
        "θⱼ − θᵢ": call(np.subtract, *ends[::-1]),
    }
    chart = call(vector_rows, angles, what="angle in radians", numbered="pair")
    show(chart, key="inside_rows_angles")


def _radians(angle: float) -> str:
    return f"{format_number(angle, '.3g')} radians"


def products_formula(view: View) -> Formula:
    """The dot product of the query with the chosen key."""
    attention, key = view.steps.attention, view.key
    q, k = query_and_key_tex(view)
    rotated = " Query and keys are the rotated ones." if attention.rotation is not None else ""
    contents = (
        " It compares the contents alone; scores of positions follow."
        if CONTENT_TO_POSITION in attention.terms or POSITION_TO_CONTENT in attention.terms
        else ""
    )
    return Formula(
        rf"{q}_i \cdot {k}_j = \sum_{{c=0}}^{{{len(attention.q) - 1}}} {q}_{{ic}} \, {k}_{{jc}}, \quad "
        rf"{q}_i \cdot {k}_{{{key}}} = {format_tex(attention.dots[key], '.4g')}",
        f"Multiplied component by component, one row for each key, and added up: how well query $i$ and key $j$ match. Here $j$ is "
        f"{as_code(view.name(key))}. Gold raises the sum, purple lowers it." + rotated + contents,
    )


def scale_formula(view: View) -> Formula:
    """The division of the dot product."""
    attention, key = view.steps.attention, view.key
    q, k = query_and_key_tex(view)
    score = "c" if attention.terms else "s"  # c for contents, as long as something is added
    if not (divisor := divisor_tex(view.record.config)):
        return Formula(
            rf"{score}_{{ij}} = {q}_i \cdot {k}_j, \quad {score}_{{i,{key}}} = {format_tex(attention.scaled[key], '.4g')}",
            r"This encoder does not divide by √d_k. Its training begins with a W_Q that is smaller by that factor instead.",
        )
    n_maps = view.record.config.n_score_maps
    words = "The longer the vectors, the larger their dot products; divided by √d_k, they are about as large at any length."
    if n_maps > 1:
        words += (
            f" The score is a sum of {n_maps} such products, and each is divided by √{n_maps} more for that."
        )
    return Formula(
        rf"{score}_{{ij}} = {q}_i \cdot {k}_j / {divisor}, \quad {score}_{{i,{key}}} = "
        rf"{format_tex(attention.dots[key], '.4g')} "
        rf"/ \sqrt{{{attention.squared_divisor}}} = {format_tex(attention.scaled[key], '.4g')}",
        words,
    )


def bias_formula(view: View) -> Formula:
    """The bias that is added to the score."""
    config, key = view.record.config, view.key
    if config.has_grid_bias:
        learned = (
            "One learned number for each head and each way from one patch to another: so many rows and so many columns. "
            + (
                "What the two patches show does not matter for it."
                if min(view.query, key) >= view.record.first_patch
                else "With the class token as query or key, the score has another learned number."
            )
        )
    else:
        shared = "" if config.family.relative_bias_by_layer else ", the same in all layers"
        learned = (
            f"One learned number for each head and each distance{shared}; far away, many distances share one (Raffel et al. "
            f"2020). Key {key} stands {_distance_text(view)}. What the two tokens are does not matter for it."
        )
    return Formula(
        rf"s_{{ij}} = c_{{ij}} + b_{{ij}}, \quad s_{{i,{key}}} = {_sum_tex(view, BIAS)}",
        learned,
    )


def relative_positions_formula(view: View) -> Formula:
    """The terms of relative positions that are added to the score."""
    attention, key = view.steps.attention, view.key
    present = [name for name in (CONTENT_TO_POSITION, POSITION_TO_CONTENT) if name in attention.terms]
    symbols = {
        CONTENT_TO_POSITION: r"q_i \cdot k^{\mathrm{r}}_{\delta}",
        POSITION_TO_CONTENT: r"q^{\mathrm{r}}_{\delta} \cdot k_j",
    }
    sums = " + ".join([r"q_i \cdot k_j", *(symbols[name] for name in present)])
    meanings = {
        CONTENT_TO_POSITION: "Content to position (c → p): compares the query's content with the key's relative position, whatever token "
        "the key is.",
        POSITION_TO_CONTENT: "Position to content (p → c): compares the query's relative position with the key's content, whatever token "
        "the query is.",
    }
    return Formula(
        rf"s_{{ij}} = ({sums}) / {divisor_tex(view.record.config)}, \quad s_{{i,{key}}} = {_sum_tex(view, *present)}",
        "Each relative position δ has a query and a key of its own. "
        f"{' '.join(meanings[name] for name in present)} The {len(present) + 1} score maps add up "
        f"(DeBERTa, He et al. 2021). Key {key} stands {_distance_text(view)}.",
    )


def _sum_tex(view: View, *terms: str) -> str:
    """LaTeX with numbers: the scaled product with the chosen key, plus each of these `terms`, equals the score."""
    attention, key = view.steps.attention, view.key
    numbers = [attention.scaled[key], *(attention.terms[name][key] for name in terms)]
    first, *others = (format_tex(number, ".4g") for number in numbers)
    rest = "".join(f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in others)
    return f"{first}{rest} = {format_tex(attention.scores[key], '.4g')}"


def _distance_text(view: View) -> str:
    """Position of the chosen key relative to the query: "2 to the right of the query"."""
    offset = view.key - view.query
    if not offset:
        return "at the query itself"
    return f"{abs(offset)} to the {'right' if offset > 0 else 'left'} of the query"


def mask_formula(view: View) -> Formula:
    """The mask on the score of the chosen key."""
    attention, windows = view.steps.attention, view.record.config.family.parts.windows
    window = windows[view.chosen.layer] if windows else None
    n_allowed = np.count_nonzero(attention.mask)
    reach = f"This layer looks at most {window} positions to either side. " if window is not None else ""
    if not attention.mask.all():
        words = (
            f"The query may attend to {n_allowed} of {view.n} positions; the score of the others is −∞, and their "
            "weight 0."
        )
    elif reach:
        words = f"Nothing is masked here: all {view.n} positions are within reach."
    else:
        words = f"Nothing is masked here: the query may attend to all {view.n} positions. " + (
            "It is the last one, and every query of this encoder sees what came before it."
            if view.record.config.family.parts.causal
            else "This encoder is bidirectional: only padding would be masked."
        )
    return Formula(
        r"s_{ij} \leftarrow -\infty \; \text{ where query } i \text{ must not attend to key } j",
        reach + words,
    )


def softmax_formula(view: View) -> Formula:
    """The softmax that turns the scores into weights."""
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
    """The sum of the value vectors, weighted by the attention weights."""
    attention = view.steps.attention
    return Formula(
        rf"z_i = \sum_{{j=0}}^{{{view.n - 1}}} A_{{ij}} \, v_j \in \mathbb{{R}}^{{{attention.v.shape[1]}}}",
        "The value of each key times its weight; their sum is the last row, on its own colour scale.",
    )


def draw_concatenation(view: View) -> None:
    """Draws the outputs of all heads, side by side in one vector."""
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
            f"The other heads of layer {view.chosen.layer} did the same with their own $W_Q, W_K, W_V$; side by side their results "
            f"are one vector of {n_heads * d_v} numbers."
        )
    heads = [f"H{head}" for head in range(n_heads)]
    joined = call(view.source.attention.z.ravel)
    chart = call(vector_rows, {"[z; …; z]": joined}, what="z", groups=heads, chosen=heads[view.chosen.head])
    show(chart, key="inside_rows_concatenate")


def draw_output(view: View) -> None:
    """Draws the product of the concatenated outputs with W_O."""
    attention, head = view.steps.attention, view.chosen.head
    n_heads, d_v = attention.z.shape
    b_o = bias_tex(view.record.config, "w_o", "b_O")
    st.latex(
        rf"o_i = \sum_{{h=0}}^{{{n_heads - 1}}} z_i^{{(h)}} W_O^{{(h)}}{b_o}, \qquad "
        rf"W_O^{{(h)}} \in \mathbb{{R}}^{{{d_v} \times {len(attention.out)}}}"
    )
    st.markdown(
        rf"$W_O \in \mathbb{{R}}^{{{n_heads * d_v} \times {len(attention.out)}}}$ cut into the rows that "
        "belong to each head: each writes into the stream on its own, and the results are added."
    )
    source = view.source.attention
    rows = {f"H{number}": source.by_head[number] for number in range(n_heads)}
    if b_o:
        rows["bias b"] = source.bias
    rows["= oᵢ"] = source.out
    draw_rows_with_lengths(rows, key="output", what="component of o", chosen=f"H{head}")


def draw_rows_with_lengths(
    rows: dict[str, Expression], *, key: str, what: str = "value", chosen: str = ""
) -> None:
    """Draws named vectors as rows of coloured cells, each with its length; the row called `chosen` is marked."""
    drawn = named("rows", rows)
    totals = {name: call(norms, drawn[name]) for name in rows}
    chart = call(vector_rows, drawn, what=what, totals=totals, total="length", chosen=chosen)
    show(chart, key=f"inside_rows_{key}")
