"""Why scores are divided by sqrt(d_k): on random vectors, on the checkpoint's own, and with a temperature on top."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import state
from app_pages.inside_a_head.temperature import temperature
from app_pages.state import HeadSelection, Input, Selection
from app_pages.widgets.choice import choice
from app_pages.widgets.clickable import clickable
from app_pages.widgets.head_choice import choose_head, take_head
from app_pages.widgets.words import in_formula
from model.theory import scaling
from viz.inside.dot_product_distribution import dot_product_distribution
from viz.inside.head_points import variance_of_heads, with_and_without
from viz.inside.scales import scale_name
from viz.inside.width_curves import entropy_over_width, gradient_over_width, variance_over_width

RANDOM, CHECKPOINT, TEMPERATURE = "random vectors", "this checkpoint", "temperature"
WIDTHS = tuple(2**power for power in range(10))  # 1 to 512
SCALES = {"1/√d_k": 0.5, "1": 0.0, "1/d_k": 1.0, "free": None}  # powers p of d_k^-p
GRADIENT = r"\lVert \mathrm{diag}(a) - a\,a^{\top} \rVert_F"


def why_the_scale(chosen: Selection, controls: DeltaGenerator) -> None:
    """The box of the query, where there is one to choose, goes into `controls`."""
    part = choice("Experiment on", (RANDOM, CHECKPOINT, TEMPERATURE), key="inside_scale")
    if part == RANDOM:
        _random_vectors()
    elif part == CHECKPOINT:
        _own_vectors(choose_head(chosen, with_colours=False))
    else:
        temperature(choose_head(chosen), controls)


def _random_vectors() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        d_k = st.slider(
            "d_k",
            *(1, WIDTHS[-1], 64),
            key="inside_d_k",
            bind="query-params",
            persist_state="session",
            width=340,
            help="How many components a query and a key have.",
        )
        named = choice(
            "Scale", SCALES, key="inside_factor", help="What q·k is multiplied with before the softmax."
        )
        power = SCALES[named]
        if power is None:
            power = st.slider(
                "p, for the scale d_k to the power of −p",
                *(0.0, 1.5, 0.25, 0.05),
                key="inside_power",
                bind="query-params",
                persist_state="session",
                width=300,
            )
    factor = d_k**-power
    found = spread(d_k, power)
    st.latex(r"\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d_k} \operatorname{Var}(q_i k_i) = d_k")
    st.markdown(
        rf"With the scale $c = {in_formula(factor)}$: $\operatorname{{Var}}(c \; q \cdot k) = c^2 d_k "
        rf"= {in_formula(factor**2 * d_k)}$; measured: ${in_formula(found['variance'])}$."
    )
    st.markdown(
        f"At $d_k = {d_k}$ with this scale a query's weights have entropy **{found['entropy']:.2f}** of 1, and the "
        f"gradient through the softmax, ${GRADIENT}$, has a median of **{found['gradient']:.3g}**."
    )
    measured = over_widths(tuple(sorted({0.0, 0.5, 1.0, power})))
    # The axis holds still while d_k moves: one sees the scores spread, or not.
    reach = 3.5 * max(1.0, WIDTHS[-1] ** (0.5 - power))
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_products"):
            st.altair_chart(
                dot_product_distribution(
                    scaling.dot_products(d_k) * factor,
                    variance=factor**2 * d_k,
                    reach=reach,
                    name="q·k" if power == 0 else f"q·k times {scale_name(power)}",
                    expected=f"normal density of variance {factor**2 * d_k:.3g}",
                ),
                key="inside_products",
            )
        with st.container(key="side_variance"):
            st.altair_chart(variance_over_width(measured, d_k=d_k, power=power), key="inside_variance")
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_entropy"):
            st.altair_chart(entropy_over_width(measured, d_k=d_k, power=power), key="inside_entropy")
        with st.container(key="side_gradient"):
            st.altair_chart(gradient_over_width(measured, d_k=d_k, power=power), key="inside_gradient")
    n = scaling.N_KEYS
    st.caption(
        f"Components of q and k are independent standard normal numbers; each query looks at {n} keys, and "
        f"{scaling.N_SETS * scaling.N_QUERIES:,} queries are drawn for each d_k. The gradient is that of the "
        "attention weights $a$ with respect to the scaled scores (Frobenius norm of the Jacobian); with respect to "
        rf"$q \cdot k$ it is $c$ times as large. It is $\sqrt{{n-1}}/n = {(n - 1) ** 0.5 / n:.3f}$ for $n = {n}$ "
        "equal weights, at most $1/2$, and falls to 0 as one key takes all: without a scale most queries come close "
        "to that as $d_k$ grows (Vaswani et al. 2017, section 3.2.1). With $1/d_k$ the weights become uniform "
        "instead: the gradient stays, but the query no longer chooses."
    )


def _own_vectors(chosen: HeadSelection) -> None:
    record = state.record(chosen.checkpoint, chosen.given)
    layer, head, d_k = chosen.layer, chosen.head, record.config.d_k
    with st.spinner("Measuring every head …"):
        heads = of_heads(chosen.checkpoint, chosen.given)
    own = heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]
    st.markdown(
        f"L{layer} H{head} on this input: $q \\cdot k$ has mean **{own['mean']:.3g}** and variance "
        f"**{own['variance']:.3g}**; independent components of variance 1 would give $d_k = {d_k}$. With the scale "
        f"$1/\\sqrt{{{d_k}}}$ the entropy of its weights is **{own['entropy']:.2f}**, without it "
        f"**{own['entropy_unscaled']:.2f}**."
    )
    products = scaling.head_products(record.q[layer, head], record.k[layer, head])
    seen = products[record.mask[layer, head]]
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_own_products"):
            st.altair_chart(
                dot_product_distribution(
                    seen,
                    variance=float(d_k),
                    reach=1.05 * max(abs(seen).max(initial=0), 3.5 * d_k**0.5),
                    name=f"q·k of L{layer} H{head}",
                    expected=f"normal density of mean 0, variance d_k = {d_k}",
                ),
                key="inside_own_products",
            )
        with st.container(key="side_own_variance"):
            _clickable_heads(
                variance_of_heads(heads, d_k=d_k, selected=(layer, head)), chosen, "inside_own_variance"
            )
    with st.container(horizontal=True, gap="medium"):
        for measure, title, axis in (
            ("entropy", "Entropy of the softmax, every head", "entropy / ln n"),
            ("gradient", "Gradient of the softmax, every head", "‖diag(a) − a aᵀ‖"),
        ):
            with st.container(key=f"side_own_{measure}"):
                chart = with_and_without(
                    heads,
                    measure,
                    title=title,
                    reading="below the diagonal: smaller without the scale",
                    axis=axis,
                    selected=(layer, head),
                )
                _clickable_heads(chart, chosen, f"inside_own_{measure}")
    st.caption(
        "A click on a point chooses the head. Entropy is the mean, the gradient the median over all queries of this "
        "input. The encoder was trained with the scale: these are its own queries and keys with the division left "
        "out, not those of an encoder that was trained without it."
    )


def _clickable_heads(chart: object, chosen: HeadSelection, key: str) -> None:
    clickable(chart, key=key, chosen=(chosen.layer, chosen.head), selection="head", take=take_head)


@st.cache_data(max_entries=256, show_spinner=False)
def spread(d_k: int, power: float) -> dict[str, float]:
    return scaling.spread(scaling.dot_products(d_k), d_k**-power)


@st.cache_data(max_entries=32, show_spinner=False)
def over_widths(powers: tuple[float, ...]) -> pd.DataFrame:
    return scaling.over_widths(WIDTHS, powers)


@st.cache_data(max_entries=64, show_spinner=False)
def of_heads(name: str, given: Input) -> pd.DataFrame:
    record = state.record(name, given)
    return scaling.of_heads(record.q, record.k, record.mask)
