"""The steps of a block other than attention: norms, residual additions and feed-forward."""

import streamlit as st

from app_pages.inside_a_head.attention_steps import draw_rows_with_lengths
from app_pages.inside_a_head.view import ACTIVATIONS, View, bias_tex
from app_pages.show.show import show
from app_pages.toolkit.expression import Expression, call
from model.experiments.sublayer_steps import Norm
from viz.builders.number_format import format_tex, percent
from viz.inside.vector_rows import factor_bars, value_bars

N_UNITS, N_CONTRIBUTIONS = 12, 6  # hidden units: the strongest, drawn as bars, and as rows


def draw_norm_of_attention(view: View) -> None:
    norm = view.source.norm_attention
    if _is_pre(view):
        st.markdown("Before attention: what the heads see is normalised, the residual stream itself is not.")
        _draw_norm(norm, r"\hat{x}_i", "x_i", key="attention")
    else:
        st.markdown("After the addition: the residual stream itself is normalised, and carried forward so.")
        _draw_norm(norm, "x_i'", "x_i + o_i", key="attention")


def draw_norm_of_feed_forward(view: View) -> None:
    if _is_pre(view):
        st.markdown(
            "Before the feed-forward half, in the same way; the residual stream itself stays as it is."
        )
        _draw_norm(view.source.norm_feed_forward, r"\hat{x}_i'", "x_i'", key="feed_forward")
    else:
        st.markdown("After the addition again: this is the output of the block.")
        _draw_norm(view.source.norm_feed_forward, "x_i''", "x_i' + f_i", key="feed_forward")


def draw_addition_of_attention(view: View) -> None:
    steps = view.source
    formula, total = ("x_i' = x_i + o_i", "= x′ᵢ") if _is_pre(view) else ("x_i + o_i", "= xᵢ + oᵢ")
    st.latex(formula)
    st.markdown("What attention read is added to the token's vector; it does not replace it.")
    rows = {"xᵢ": steps.x[view.query], "+ oᵢ, attention": steps.attention.out, total: steps.attention_added}
    draw_rows_with_lengths(rows, key="add_attention")


def draw_addition_of_feed_forward(view: View) -> None:
    steps, is_pre = view.source, _is_pre(view)
    st.latex("x_i'' = x_i' + f_i" if is_pre else "x_i' + f_i")
    total = "= x″ᵢ" if is_pre else "= x′ᵢ + fᵢ"
    added = {"+ fᵢ, feed-forward": steps.feed_forward.out, total: steps.feed_forward_added}
    draw_rows_with_lengths({"x′ᵢ": steps.resid_mid} | added, key="add_feed_forward")
    if is_pre:
        config = view.record.config
        is_last = view.chosen.layer == config.n_layers - 1
        st.markdown(
            f"This was the last block: one final {config.norm_name} follows before the encoder's output is read."
            if is_last and config.final_norm
            else "The output of the block, not normalised."
        )


def draw_expansion(view: View) -> None:
    steps, source, config = view.steps.feed_forward, view.source.feed_forward, view.record.config
    name = ACTIVATIONS[config.activation]
    x = r"\hat{x}_i'" if _is_pre(view) else "x_i'"
    b_1, b_3 = bias_tex(config, "expand", "b_1"), bias_tex(config, "gate", "b_3")
    activated = rf"\mathrm{{{name}}}({x} W_1{b_1})"
    hidden = activated if steps.gate is None else rf"{activated} \odot ({x} W_3{b_3})"
    maps = "W_1" if steps.gate is None else "W_1, W_3"
    st.latex(
        rf"h = {hidden}, \qquad "
        rf"{maps} \in \mathbb{{R}}^{{{config.d_model} \times {config.d_ff}}}, \; h \in \mathbb{{R}}^{{{config.d_ff}}}"
    )
    units = [int(unit) for unit in steps.strongest(N_UNITS)]
    gated = (
        ""
        if steps.gate is None
        else " Each unit's activation is multiplied by its gate, the same unit of a second linear map (Shazeer 2020)."
    )
    st.markdown(
        f"Each position on its own.{gated} Of {config.d_ff} hidden units **{steps.n_positive}** are above 0 before "
        f"the {name}; the {len(units)} with the largest $|h|$ hold {percent(steps.share(units), 0)} of the sum of all:"
    )
    if steps.gate is None:
        chart = call(
            value_bars,
            {f"unit {unit}": source.hidden[unit] for unit in units},
            what=f"after the {name}",
            before={f"unit {unit}": source.before[unit] for unit in units},
            was="before it",
        )
    else:
        columns = {f"{name}(x W₁)": source.activated, "gate: x W₃": source.gate, "product: h": source.hidden}
        chart = call(
            factor_bars,
            {column: values[units] for column, values in columns.items()},
            [f"unit {unit}" for unit in units],
        )
    show(chart, key="inside_units")


def draw_contraction(view: View) -> None:
    steps, config = view.source.feed_forward, view.record.config
    b_2 = bias_tex(config, "contract", "b_2")
    st.latex(
        rf"f_i = h W_2{b_2} = \sum_{{u=0}}^{{{config.d_ff - 1}}} h_u W_{{2,u}}{b_2}, \qquad "
        rf"W_2 \in \mathbb{{R}}^{{{config.d_ff} \times {config.d_model}}}"
    )
    st.markdown("Each hidden unit adds its own row of $W_2$ times $h_u$; those that add most are shown.")
    units = view.steps.feed_forward.largest_contributions(N_CONTRIBUTIONS)
    strongest = {f"unit {unit}": steps.by_unit[unit] for unit in units}
    draw_rows_with_lengths(strongest, key="units", what="one unit's part of f")
    all_units = f"all {config.d_ff} units"
    if b_2:
        st.markdown("The sum over all units and the bias, on its own colour scale:")
        rows = {all_units: steps.sum_over_units, "+ bias b": steps.bias, "= fᵢ": steps.out}
    else:
        st.markdown("The sum over all units, on its own colour scale:")
        rows = {f"{all_units}: fᵢ": steps.out}
    draw_rows_with_lengths(rows, key="contract", what="component of f")


def _draw_norm(source: Expression, output: str, normed: str, *, key: str) -> None:
    """Draws the norm `source`; `output` and `normed` are the LaTeX symbols of its output and of the vector that it normalises."""
    norm: Norm = source()
    d = len(norm.x)
    shift = r" + \beta" if norm.has_shift else ""
    if norm.name == "RMSNorm":
        st.latex(
            rf"{output} = \gamma \odot \frac{{{normed}}}{{\mathrm{{RMS}}}}{shift}, \qquad \mathrm{{RMS}} = "
            rf"\sqrt{{\tfrac{{1}}{{{d}}} \textstyle\sum_c ({normed})_c^2 + \epsilon}} = {norm.deviation:.4f}"
        )
        st.markdown(
            f"RMSNorm (Zhang & Sennrich 2019) subtracts no mean: the {d} components of this one position are divided by the "
            r"root of their mean square. The gain $\gamma$ was learned."
        )
        divided = "÷ RMS"
    else:
        learned = (
            r"gain $\gamma$ and shift $\beta$ were learned"
            if norm.has_shift
            else r"the gain $\gamma$ was learned, and this encoder has no shift $\beta$"
        )
        st.latex(
            rf"{output} = \gamma \odot \frac{{{normed} - \mu}}{{\sqrt{{\sigma^2 + \epsilon}}}}{shift}, \qquad \mu = "
            rf"{format_tex(norm.mean, '.4f')}, \quad \sqrt{{\sigma^2 + \epsilon}} = {norm.deviation:.4f}"
        )
        st.markdown(
            rf"$\mu$ and $\sigma^2$ are mean and variance of the {d} components of this one position, the "
            rf"variance divided by {d}; {learned}."
        )
        divided = "standardised"
    rows = {"in": source.x, divided: source.standardised, "· γ + β" if norm.has_shift else "· γ": source.out}
    draw_rows_with_lengths(rows, key=f"norm_{key}")


def _is_pre(view: View) -> bool:
    return view.record.config.norm_placement == "pre"
