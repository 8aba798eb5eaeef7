"""Why scores are divided by sqrt(d_k): on random vectors, on the encoder's own queries and keys, and with a temperature."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import inside_a_head_controls as controls
from app_pages.controls.control_bar import bar, beside
from app_pages.controls.head_choice import HeadChoice, choose_head
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.temperature import draw_temperature
from app_pages.show.all_heads import clickable_heads
from app_pages.show.show import show
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.stoppable import in_steps
from model.theory import score_scaling
from viz.builders.number_format import format_number, format_tex, head_name
from viz.inside.scale_figures import (
    dot_product_distribution,
    scale_name,
    variance_of_heads,
    width_curves,
    with_and_without_scale,
)

WIDTHS = tuple(width for width in (2**power for power in range(20)) if width <= controls.LARGEST_WIDTH)
GRADIENT_TEX = r"\lVert \mathrm{diag}(a) - a\,a^{\top} \rVert_F"
_EXAMPLE_TEXT = (  # 1 / (1 + e^16), and 1 / (1 + e^-2)
    r"By hand, with $d_k = 64$ whatever is chosen above: two keys whose $q \cdot k$ is 112 and 96. Undivided, the second key gets "
    r"only ${1.13 \times 10^{-7}}$ of the weight. Divided by $\sqrt{d_k} = 8$ the scores are 14 and 12, the weights 0.88 and 0.12."
)


def draw_score_scaling() -> None:
    """Draws the tab on the division of scores, with the figures for random vectors, for the encoder, or for a temperature."""
    input_place = st.container()  # for the input, which random vectors do not need
    containers = control_bar, _ = bar("controls")
    with control_bar:
        choice = controls.TRY_WITH.choose()
    if choice == controls.RANDOM:
        _draw_random_vectors(control_bar)
        return
    with input_place:
        subject, slots = choose_input(containers)
    is_encoder = choice == controls.ENCODER
    # The slider of the temperature needs the room of the head's roles.
    chosen = choose_head(subject, slots, with_colours=not is_encoder, with_roles=is_encoder)
    if is_encoder:
        _draw_encoder_vectors(subject, chosen)
    else:
        draw_temperature(subject, slots, chosen)


def _draw_random_vectors(control_bar: DeltaGenerator) -> None:
    with control_bar:
        d_k = controls.D_K.choose()
        power = controls.SCALES[controls.FACTOR.choose()]
        if power is None:
            power = controls.POWER.choose()
    st.markdown(_EXAMPLE_TEXT)
    factor, variance = d_k**-power, score_scaling.variance(d_k, power)
    scaled, unscaled = (over_widths((d_k,), (p,)).iloc[0] for p in (power, 0.0))
    powers = tuple(sorted({0.0, 0.5, 1.0, power}))
    table = call(score_scaling.spread_by_width, WIDTHS, powers)
    spreads = named("spreads", table, lambda: over_widths(WIDTHS, powers))
    columns = [*beside("products", "variance"), *beside("entropy", "gradient")]
    with columns[0]:
        distribution = call(
            dot_product_distribution,
            call(np.multiply, call(score_scaling.dot_products, d_k), factor),
            variance=variance,
            # The axis holds still while d_k moves: one sees the scores spread, or not.
            reach=score_scaling.axis_limit(max(1.0, score_scaling.variance(WIDTHS[-1], power))),
            name="q·k" if power == 0 else f"q·k times {scale_name(power)}",
            expected=f"normal distribution of variance {format_number(variance, '.3g')}",
        )
        show(distribution, key="inside_products")
    for column, measure in zip(columns[1:], ("variance", "entropy", "gradient"), strict=True):
        with column:
            show(call(width_curves, spreads, measure, d_k=d_k, power=power), key=f"inside_{measure}")
    st.latex(r"\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d_k} \operatorname{Var}(q_i k_i) = d_k")
    st.markdown(
        rf"With the scale $c = {format_tex(factor)}$: $\operatorname{{Var}}(c \; q \cdot k) = c^2 d_k "
        rf"= {format_tex(variance)}$; measured: ${format_tex(scaled['variance'])}$."
    )
    beside_unscaled = f"; without a scale they are {unscaled['entropy']:.2f} and {format_number(unscaled['gradient'], '.3g')}"
    st.markdown(
        f"At $d_k = {d_k}$ with this scale a query spreads its weight over the keys with an entropy of **{scaled['entropy']:.2f}** "
        f"(0: all on one key, 1: the same on all), and the gradient through the softmax, ${GRADIENT_TEX}$, has a median of "
        f"**{format_number(scaled['gradient'], '.3g')}**{beside_unscaled if power else ''}."
    )
    n = score_scaling.N_KEYS
    st.caption(
        f"Components of q and k are independent standard normal numbers; each query has {n} keys, and "
        f"{score_scaling.N_SETS * score_scaling.N_QUERIES:,} queries are drawn for each d_k. The gradient is that of "
        "the attention weights $a$ with respect to the scaled scores (Frobenius norm of the Jacobian); "
        "with respect to "
        rf"$q \cdot k$ it is $c$ times as large. It is $\sqrt{{n-1}}/n = {score_scaling.EVEN_GRADIENT:.3f}$ for "
        f"$n = {n}$ equal weights, at most $1/2$, and falls to 0 as one key takes all: without a scale most "
        "queries come close to that as $d_k$ grows (Vaswani et al. 2017, section 3.2.1). With $1/d_k$ the "
        "weights become uniform instead: the gradient stays, but all keys count alike."
    )


def _draw_encoder_vectors(subject: LiveSubject, chosen: HeadChoice) -> None:
    record = subject.record
    layer, head, d_k = chosen.layer, chosen.head, record.config.d_k
    heads = spreads_of_heads(subject)
    head_row = heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]
    source = as_python.record(subject)
    q, k, mask = (values[layer, head] for values in (source.q, source.k, source.mask))
    products = call(score_scaling.head_products, q, k)[mask]
    table = named("heads", call(score_scaling.head_spreads, source.q, source.k, source.mask), lambda: heads)
    columns = [*beside("own_products", "own_variance"), *beside("own_entropy", "own_gradient")]
    with columns[0]:
        distribution = call(
            dot_product_distribution,
            products,
            variance=float(d_k),
            reach=score_scaling.axis_limit(float(d_k), products()),
            name=f"q·k of {head_name(layer, head)}",
            expected=f"normal distribution of mean 0, variance d_k = {d_k}",
        )
        show(distribution, key="inside_own_products")
    points = {"variance": call(variance_of_heads, table, d_k=d_k, selected=(layer, head))}
    for measure, title, axis in (
        ("entropy", "Entropy of the softmax, every head", "entropy / ln n"),
        ("gradient", "Gradient of the softmax, every head", "‖diag(a) − a aᵀ‖"),
    ):
        points[measure] = call(
            with_and_without_scale,
            table,
            measure,
            title=title,
            reading="below the diagonal: smaller without the scale",
            axis=axis,
            selected=(layer, head),
        )
    for column, (measure, figure) in zip(columns[1:], points.items(), strict=True):
        with column:
            clickable_heads(figure, key=f"inside_own_{measure}", chosen=(layer, head), width="stretch")
    own, other = head_row["entropy"], head_row["entropy_unscaled"]
    parts = record.config.family.parts
    entropies = f"With the scale $1/\\sqrt{{{d_k}}}$ the entropy of its weights is **{own:.2f}**, without it **{other:.2f}**."
    st.markdown(
        f"{head_name(layer, head)} on this input: $q \\cdot k$ has mean **{format_number(head_row['mean'], '.3g')}** and "
        f"variance **{format_number(head_row['variance'], '.3g')}**; independent components of variance 1 would give "
        f"$d_k = {d_k}$. {entropies}"
    )
    trained = (
        "The encoder was trained with the scale: these are its own queries and keys with the division left "
        "out, not those of an encoder that was trained without it."
        if parts.scaled
        else "The encoder was trained without the scale: these are its own queries and keys with a division put in, not those "
        "of an encoder that was trained with it."
    )
    added = "scores of positions" if parts.disentangled is not None else "a bias by distance"
    left_out = (
        f" It adds {added} to its scores, which is left out here."
        if parts.disentangled is not None or record.config.has_distance_bias
        else ""
    )
    st.caption(
        "A click on a point chooses the head. Entropy is the mean, the gradient the median over all queries of this "
        f"input. {trained}{left_out}"
    )


over_widths = cached(score_scaling.spread_by_width)


@cached
def spreads_of_heads(subject: LiveSubject) -> pd.DataFrame:
    """Standard deviations of the products q·k of every head, one row per head, with the columns of
    `score_scaling.head_spreads`.
    """
    record = subject.record
    layers = range(len(record.q))
    calls = [partial(_spreads_in_layer, record.q, record.k, record.mask, layer) for layer in layers]
    return pd.concat(in_steps(calls, "Measuring every head …", ("scale", subject)), ignore_index=True)


def _spreads_in_layer(q: np.ndarray, k: np.ndarray, mask: np.ndarray, layer: int) -> pd.DataFrame:
    return score_scaling.head_spreads(q[[layer]], k[[layer]], mask[[layer]]).assign(layer=layer)
