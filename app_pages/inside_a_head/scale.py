"""Why scores are divided by sqrt(d_k): on random vectors, on the encoder's own, and with a temperature on top."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import HeadChoice, choose_head
from app_pages.controls.inside_a_head_controls import (
    D_K,
    ENCODER,
    FACTOR,
    LARGEST_WIDTH,
    POWER,
    RANDOM,
    SCALES,
    TRY_WITH,
)
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.temperature import temperature
from app_pages.show.all_heads import clickable_heads
from app_pages.show.show import show
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.beside import beside
from app_pages.toolkit.stoppable import in_steps
from model.theory import score_scaling
from viz.builders.number_format import format_number, format_tex, head_name
from viz.inside.dot_product_distribution import dot_product_distribution
from viz.inside.head_points import variance_of_heads, with_and_without
from viz.inside.width_curves import scale_name, width_curves

WIDTHS = tuple(width for width in (2**power for power in range(20)) if width <= LARGEST_WIDTH)
GRADIENT = r"\lVert \mathrm{diag}(a) - a\,a^{\top} \rVert_F"


def why_the_scale() -> None:
    above = st.container()  # for the input, which random vectors do not need
    places = controls, _ = bar("controls")
    with controls:
        part = TRY_WITH.choose()
    if part == RANDOM:
        _random_vectors(controls)
        return
    with above:
        subject, slots = choose_input(places)
    chosen = choose_head(subject, slots, with_colours=part != ENCODER)
    if part == ENCODER:
        _own_vectors(subject, chosen)
    else:
        temperature(subject, slots, chosen)


def _random_vectors(controls: DeltaGenerator) -> None:
    with controls:
        d_k = D_K.choose()
        power = SCALES[FACTOR.choose()]
        if power is None:
            power = POWER.choose()
    _by_hand()
    factor, variance = d_k**-power, score_scaling.variance(d_k, power)
    found, unscaled = (over_widths((d_k,), (p,)).iloc[0] for p in (power, 0.0))
    measured = over_widths(WIDTHS, tuple(sorted({0.0, 0.5, 1.0, power})))
    places = [*beside("products", "variance"), *beside("entropy", "gradient")]
    with places[0]:
        distribution = dot_product_distribution(
            score_scaling.dot_products(d_k) * factor,
            variance=variance,
            # The axis holds still while d_k moves: one sees the scores spread, or not.
            reach=score_scaling.axis_limit(max(1.0, score_scaling.variance(WIDTHS[-1], power))),
            name="q·k" if power == 0 else f"q·k times {scale_name(power)}",
            expected=f"normal density of variance {format_number(variance, '.3g')}",
        )
        show(distribution, key="inside_products")
    for place, measure in zip(places[1:], ("variance", "entropy", "gradient"), strict=True):
        with place:
            show(width_curves(measured, measure, d_k=d_k, power=power), key=f"inside_{measure}")
    st.latex(r"\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d_k} \operatorname{Var}(q_i k_i) = d_k")
    st.markdown(
        rf"With the scale $c = {format_tex(factor)}$: $\operatorname{{Var}}(c \; q \cdot k) = c^2 d_k "
        rf"= {format_tex(variance)}$; measured: ${format_tex(found['variance'])}$."
    )
    st.markdown(
        f"At $d_k = {d_k}$ with this scale a query's weights have entropy **{found['entropy']:.2f}** of 1, and the "
        f"gradient through the softmax, ${GRADIENT}$, has a median of **{format_number(found['gradient'], '.3g')}**; without a scale they are "
        f"{unscaled['entropy']:.2f} and {format_number(unscaled['gradient'], '.3g')}."
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


def _by_hand() -> None:
    """Two scores of d_k = 64, as a lecture may write them on the board."""
    scores, d_k = np.array([112.0, 96.0]), 64
    divided = scores / np.sqrt(d_k)
    plain, scaled = score_scaling.softmax(np.stack([scores, divided]))
    st.markdown(
        rf"By hand, with $d_k = {d_k}$ and two keys whose $q \cdot k$ is {scores[0]:g} and {scores[1]:g}: the softmax of these "
        rf"gives the second key ${format_tex(plain[1])}$ of the weight. Divided by $\sqrt{{d_k}} = {np.sqrt(d_k):g}$ they are "
        rf"{divided[0]:g} and {divided[1]:g}, and the weights {scaled[0]:.2f} and {scaled[1]:.2f}."
    )


def _own_vectors(subject: LiveSubject, chosen: HeadChoice) -> None:
    record = subject.record
    layer, head, d_k = chosen.layer, chosen.head, record.config.d_k
    heads = of_heads(subject)
    own = heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]
    products = score_scaling.head_products(record.q[layer, head], record.k[layer, head])[
        record.mask[layer, head]
    ]
    places = [*beside("own_products", "own_variance"), *beside("own_entropy", "own_gradient")]
    with places[0]:
        distribution = dot_product_distribution(
            products,
            variance=float(d_k),
            reach=score_scaling.axis_limit(float(d_k), products),
            name=f"q·k of {head_name(layer, head)}",
            expected=f"normal density of mean 0, variance d_k = {d_k}",
        )
        show(distribution, key="inside_own_products")
    points = {"variance": variance_of_heads(heads, d_k=d_k, selected=(layer, head))}
    for measure, title, axis in (
        ("entropy", "Entropy of the softmax, every head", "entropy / ln n"),
        ("gradient", "Gradient of the softmax, every head", "‖diag(a) − a aᵀ‖"),
    ):
        points[measure] = with_and_without(
            heads,
            measure,
            title=title,
            reading="below the diagonal: smaller without the scale",
            axis=axis,
            selected=(layer, head),
        )
    for place, (measure, figure) in zip(places[1:], points.items(), strict=True):
        with place:
            clickable_heads(figure, key=f"inside_own_{measure}", chosen=(layer, head), width="stretch")
    st.markdown(
        f"{head_name(layer, head)} on this input: $q \\cdot k$ has mean **{format_number(own['mean'], '.3g')}** and "
        f"variance **{format_number(own['variance'], '.3g')}**; independent components of variance 1 would give "
        f"$d_k = {d_k}$. With the scale $1/\\sqrt{{{d_k}}}$ the entropy of its weights is "
        f"**{own['entropy']:.2f}**, without it **{own['entropy_unscaled']:.2f}**."
    )
    st.caption(
        "A click on a point chooses the head. Entropy is the mean, the gradient the median over all queries of this "
        "input. The encoder was trained with the scale: these are its own queries and keys with the division left "
        "out, not those of an encoder that was trained without it."
    )


over_widths = cached(score_scaling.spread_by_width)


@cached
def of_heads(subject: LiveSubject) -> pd.DataFrame:
    """Of every head how its products q·k are spread, one row a head; columns as `model.theory.scaling.of_heads` makes them."""
    record = subject.record
    q, k, mask = record.q, record.k, record.mask
    calls = [partial(score_scaling.head_spreads, q[[at]], k[[at]], mask[[at]]) for at in range(len(q))]
    layers = in_steps(calls, "Measuring every head …", ("scale", subject))
    found = [layer.assign(layer=at) for at, layer in enumerate(layers)]
    return pd.concat(found, ignore_index=True)
