"""Sinusoidal positions: clock hands, table and waves, a binary counter, dot products, shift, and their addition to the
content.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.head_choice import choose_head
from app_pages.controls.positions_controls import (
    DIMENSIONS,
    LENGTH,
    POSITION,
    SECOND_HALF,
    TIED,
    UNTIED,
    WIDTH,
)
from app_pages.inputs.row import choose_input, stop
from app_pages.positions.notation import format_scientific
from app_pages.positions.shift import draw_shift
from app_pages.show.show import show
from app_pages.subject.as_python import computed, encoder
from app_pages.subject.cache import cached
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.gestures import slider_moves
from model.config import ModelConfig
from model.experiments.embeddings import embedding_parts
from model.theory import sinusoidal_positions as theory
from model.theory.sinusoidal_positions import position_sums, query_key_weights
from viz.builders.number_format import format_number, head_name
from viz.positions.matrix_equations import sum_of_maps
from viz.positions.position_curves import offset_curve
from viz.positions.position_heatmaps import pairs_of_positions, sinusoid_table
from viz.positions.sinusoid_figures import MOST_CLOCKS, clock_hands, counter_table, wave_curves

ROWS = 16  # of the counter
FINEST = 800  # points of a curve
LAW, FORMULA = "Σ cos(ω φ)", r"\sum_k \cos(\omega_k \varphi)"  # of the dot product of two positions
SAME = 1e-4  # nearer than this, single precision does not tell two vectors apart


def draw_sinusoids() -> None:
    """Draws all parts on sinusoidal positions, one below the other."""
    controls, more = bar("sinusoids")
    with controls:
        d_model, n = WIDTH.choose(), LENGTH.choose()
        t = POSITION.choose(most=n - 1, default=min(10, n - 1))
    with more.popover("View", key="more"):
        dimensions = DIMENSIONS.choose(range(d_model), sorted({0, 1, d_model // 4, d_model // 2}))
    rows = named("rows", call(theory.position_table, n, d_model))
    slider = slider_moves(POSITION.key, "positions_table", t)
    _draw_clocks(t, d_model, slider)
    _draw_table_and_waves(rows, t, dimensions, slider)
    with st.container(horizontal=True, horizontal_alignment="center", gap="large"):
        st.latex(r"p_{t,\,2k} = \sin(\omega_k t), \qquad p_{t,\,2k+1} = \cos(\omega_k t)", width="content")
        st.latex(
            r"\omega_k = 10000^{-2k / d_\text{model}}, \qquad \lambda_k = 2\pi / \omega_k", width="content"
        )
    st.caption(
        "Vaswani et al. 2017, section 3.5. $\\omega_k$ is a frequency, $\\lambda_k$ its wavelength in positions. "
        "Some copies of the formula print 1000 in place of 10000."
    )
    with st.expander("Why such waves: like a binary counter", icon=":material/function:"):
        _draw_counter(rows, n, t)
    with _titled_section("products", "Two positions: what they have in common depends on their distance"):
        _draw_products(n, d_model)
    with _titled_section("shift", "One matrix moves every position by the same offset"):
        draw_shift(t, d_model, slider)
    with _titled_section("adding", "Positions are added to the content: what if both were concatenated?"):
        _draw_adding()


@contextmanager
def _titled_section(name: str, title: str) -> Iterator[None]:
    """Context for a part of the page, under its title; `?figure=positions_name` scrolls to it."""
    with st.container(key=f"positions_{name}"):
        st.markdown(f"## {title}")
        yield


def _draw_clocks(t: int, d_model: int, slider: str) -> None:
    """Draws position `t` as clock hands, which follow the slider of t, whose CSS selector is `slider`."""
    wavelengths = theory.wavelengths(d_model)
    remark = f", {MOST_CLOCKS} of them drawn" if len(wavelengths) > MOST_CLOCKS else ""
    frequencies = theory.frequencies(d_model)
    moving = clock_hands(0 * frequencies, wavelengths, per_step=frequencies).following("t", slider)
    angles = call(np.multiply, call(theory.frequencies, d_model), t)
    at_t = call(clock_hands, angles, call(theory.wavelengths, d_model))
    st.markdown(
        f"**Position *t* as {len(wavelengths)} clocks**{remark}: {d_model} numbers, sine and cosine of each hand, are added to the word. "
        "Fast hands tell neighbours apart and slow ones far positions, like seconds and hours. Move *t*: a full turn takes λ positions, "
        f"from {wavelengths[0]:.2f} to {wavelengths[-1]:,.0f}."
    )
    show(moving, key="positions_clocks", in_file=at_t)


def _draw_table_and_waves(rows: Expression, t: int, dimensions: list[int], slider: str) -> None:
    """Draws the table `rows` [position, dimension], and some of its `dimensions` as waves."""
    n, d_model = rows().shape
    with st.container(horizontal=True, gap="medium", key="beside_table"):
        with st.container(key="side_table"):
            st.markdown("**All positions**, a row each; *t* is framed")
            show(call(sinusoid_table, rows, position=t, dimensions=dimensions), key="positions_table")
        with st.container(key="side_waves"):
            st.markdown("**Some columns** (▼) as waves: the slower the clock, the longer the wave")
            grid = named("grid", call(np.linspace, 0, n - 1, min(12 * n, FINEST)))
            names = [_wave_name(dimension, d_model) for dimension in dimensions]
            waves = call(theory.waves, dimensions, d_model, grid)
            chart = call(wave_curves, names, rows.T[dimensions], grid, waves, position=t)
            show(chart().following("position", slider), key="positions_waves", in_file=chart)


def _wave_name(dimension: int, d_model: int) -> str:
    wave = "cosine" if dimension % 2 else "sine"
    k = dimension // 2
    return f"column {dimension}: {wave} of clock {k}, λ {theory.wavelengths(d_model)[k]:,.4g}"


def _draw_counter(rows: Expression, n: int, t: int) -> None:
    """Draws positions around `t` in binary, beside the sines of the table `rows` [position, dimension] with such periods."""
    d_model = rows().shape[1]
    st.markdown(
        "**Like a binary counter.** Written in binary, $t$ changes its lowest digit at every step, and each "
        "further digit half as often as the one before; a table of sines does the same, smoothly. Bit $j$ is 1 "
        r"exactly where $\sin\left(2\pi\,(t + \frac12) / 2^{j+1}\right)$ is negative, so a digit is the sign of a "
        "wave. Beside the bits: the sines whose wavelengths are nearest to the periods 8, 16, 32, …; the shortest "
        r"wavelength there is is $2\pi \approx 6.28$, so the two fastest digits have no counterpart."
    )
    n_bits = (n - 1).bit_length()
    start = t // ROWS * ROWS
    positions = [*range(start, start + min(ROWS, n))]
    pairs = [int(k) for k in theory.nearest_pairs(2.0 ** np.arange(3, n_bits + 1), d_model)]
    bits = named("bits", call(theory.binary_digits, call(np.array, positions), n_bits))
    sines = named("sines", rows[positions][:, [2 * k for k in pairs]])
    wavelengths = theory.wavelengths(d_model)[pairs]
    bit_labels = [f"bit {bit}|{2 ** (bit + 1)}" for bit in range(n_bits)]
    sine_labels = [f"k {k}|{length:.3g}" for k, length in zip(pairs, wavelengths, strict=True)]
    digits = {
        "title": "t in binary, the lowest digit on the left",
        "heading": "bit and its period in positions",
    }
    waves = {"title": "sines of p at t", "heading": "clock k and its wavelength in positions"}
    with st.container(horizontal=True, gap="medium"):
        # A bit is 0 in the first half of its period, where a sine is positive.
        signs, texts = call(np.subtract, 1, call(np.multiply, 2, bits)), call(bits.astype, "str")
        table = call(counter_table, signs, bit_labels, positions, texts=texts, position=t, **digits)
        show(table, key="positions_bits", width="content")
        table = call(counter_table, sines, sine_labels, positions, position=t, **waves)
        show(table, key="positions_sines", width="content")


# Two positions


def _draw_products(n: int, d_model: int) -> None:
    """Draws dot products and distances of all pairs of `n` positions, with their formulas."""
    rows = named("rows", call(theory.position_table, n, d_model))
    matrices: tuple[np.ndarray, np.ndarray] = _dots_and_distances(n, d_model)
    dots = named("dots", call(theory.dot_products, rows), lambda: matrices[0])
    distances = matrices[1]
    offsets = named("offsets", call(np.arange, 1 - n, n))
    _draw_quantity(dots, call(theory.dot_product_by_offset, offsets, d_model), "dot product", LAW, FORMULA)
    smallest_distance, first, second = theory.nearest_positions(distances)
    st.markdown(
        f"No two of these {n:,} positions have the same vector: the nearest two, {first} and {second}, are "
        f"**{format_number(smallest_distance, '.3g')}** apart."
        if smallest_distance > SAME
        else f"Positions {first} and {second} have the same vector, up to rounding: {d_model} dimensions do not tell {n:,} "
        "positions apart."
    )
    with st.expander("The same for distances, and why", icon=":material/function:"):
        _draw_distances(
            named("distances", call(theory.row_distances, rows), lambda: distances), offsets, d_model
        )


def _draw_distances(distances: Expression, offsets: Expression, d_model: int) -> None:
    """Draws distances of all pairs, and why distances and dot products depend on the offset of two positions alone."""
    law, formula = f"√(d_model − 2 {LAW})", rf"\sqrt{{d_\text{{model}} - 2 {FORMULA}}}"
    _draw_quantity(distances, call(theory.distance_by_offset, offsets, d_model), "distance", law, formula)
    st.latex(
        r"p_t \cdot p_{t+\varphi} = \sum_k \left( \sin \omega_k t \, \sin \omega_k (t+\varphi) + "
        r"\cos \omega_k t \, \cos \omega_k (t+\varphi) \right) = \sum_k \cos(\omega_k \varphi)"
    )
    st.caption(
        r"$\cos(a - b) = \cos a \cos b + \sin a \sin b$ for each pair: $t$ drops out, and $\varphi$ and "
        r"$-\varphi$ give the same. With $\varphi = 0$, $|p_t|^2 = d_\text{model} / 2$ for every $t$, and "
        r"so $|p_t - p_{t+\varphi}|^2 = d_\text{model} - 2 \sum_k \cos(\omega_k \varphi)$."
    )
    st.caption("The deviations are rounding: the table holds single-precision numbers, as an encoder's does.")


@cached(spinner="Measuring all pairs …")
def _dots_and_distances(n: int, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    rows = theory.position_table(n, d_model)
    return theory.dot_products(rows), theory.row_distances(rows)


def _draw_quantity(source: Expression, by_law: Expression, quantity: str, law: str, formula: str) -> None:
    """Draws the matrix `source` [position, position] of a `quantity`, such as "dot product", and its mean at each offset beside
    `by_law`, the values of the formula that `law` gives as text and `formula` as LaTeX.
    """
    matrix, at_offsets = source(), by_law()
    by_offset, name = theory.summarise_by_offset(matrix), quantity.partition(" ")[0]
    with st.container(horizontal=True, gap="medium", key=f"beside_{name}_matrix"):
        with st.container(key=f"side_{name}_matrix"):
            st.markdown(f"**{quantity.capitalize()}** of each position's vector $p_s$ with each other $p_t$")
            show(call(pairs_of_positions, source, what=quantity), key=f"positions_{name}_matrix")
        with st.container(key=f"side_{name}_curve"):
            st.markdown(f"The same by distance: the formula ${formula}$ lies on what was measured")
            means = named("by_offset", call(theory.summarise_by_offset, source), lambda: by_offset)
            chart = call(offset_curve, means.offsets, means.means, by_law, what=quantity, law=law)
            show(chart, key=f"positions_{name}_curve")
            st.caption(
                f"Largest differences of all {matrix.size:,} pairs: from the formula "
                f"${format_scientific(theory.largest_deviation(matrix, at_offsets))}$, between two pairs equally far apart "
                f"${format_scientific(by_offset.largest_spread)}$, with $s$ and $t$ exchanged "
                f"${format_scientific(theory.asymmetry(matrix))}$."
            )


# Adding or concatenating


def _draw_adding() -> None:
    """Draws the product of a weight matrix with content + positions, and that with both concatenated, and how far they differ;
    above them the choice of the input and of the head whose weights are used.
    """
    subject, slots = choose_input(with_answer=False)
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    loaded = subject.loaded
    if (width := loaded.config.d_embedding) != loaded.config.d_model:
        stop(
            f"In {subject.checkpoint} token and position embeddings have width {width}, and a linear layer maps their sum to width "
            f"{loaded.config.d_model} before any head reads it, so no $W_Q$ can be applied to them directly."
        )
    parts = subject.compute(embedding_parts)
    head = head_name(chosen.layer, chosen.head)
    with slots.controls:
        options = (TIED,) if loaded.config.shared_qkv else (TIED, UNTIED)
        is_tied = SECOND_HALF.choose(options) == TIED
    w_q, w_k = query_key_weights(loaded.model, chosen.layer, chosen.head)
    n, d_model = parts.content.shape
    d_k = w_q.shape[1]
    sums = position_sums(parts.content, parts.positions, w_q, w_q if is_tied else w_k)
    source = computed(subject, embedding_parts)
    own_weights = call(query_key_weights, encoder(subject.checkpoint).model, chosen.layer, chosen.head)
    second = own_weights[0 if is_tied else 1]
    sums_source = named(
        "sums", call(position_sums, source.content, source.positions, own_weights[0], second), lambda: sums
    )
    maps = {
        "X W₁": sums_source.content,
        "+ P W₂": sums_source.positions,
        "= Concat[X, P] W": sums_source.whole,
    }
    show(call(sum_of_maps, maps, source.tokens), key="positions_sum")
    st.markdown(
        "A matrix that reads the concatenation of content $X$ and positions $P$ has one half, $W_1$, for the "
        "content and another, $W_2$, for the positions. Adding is concatenating with both halves tied to be the "
        "same: it needs half the rows, and gives up reading the two with different weights."
    )
    with st.expander("In formulas and numbers", icon=":material/function:"):
        with st.container(
            horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="large"
        ):
            st.latex(
                rf"\underbrace{{\left[ X \,|\, P \right]}}_{{{n} \times {2 * d_model}}} "
                rf"\underbrace{{\begin{{bmatrix}} W_1 \\ W_2 \end{{bmatrix}}}}_{{{2 * d_model} \times {d_k}}} = "
                rf"\underbrace{{X}}_{{{n} \times {d_model}}} \underbrace{{W_1}}_{{{d_model} \times {d_k}}} + "
                rf"\underbrace{{P}}_{{{n} \times {d_model}}} \underbrace{{W_2}}_{{{d_model} \times {d_k}}}",
                width="content",
            )
            st.latex(r"W_1 = W_2 = W: \quad X W + P W = (X + P)\, W", width="content")
        if loaded.config.shared_qkv:
            st.caption(
                f"In {subject.checkpoint} one matrix serves as $W_Q$, $W_K$ and $W_V$: there is no second one to take."
            )
        st.markdown(
            f"All {sums.whole.size:,} numbers, the largest {sums.largest:.2f} in size, computed by either "
            f"way:\n- $\\text{{Concat}}[X, P]\\, W$ and $X W_1 + P W_2$ differ by at most "
            f"**${format_scientific(sums.from_sum)}$**\n- $\\text{{Concat}}[X, P]\\, W$ and $(X + P)\\, W_1$ differ "
            f"by at most **${format_scientific(sums.from_adding)}$**"
            + ("" if is_tied else ": with untied weights it is not the same as adding")
        )
        st.caption(_head_input_sentence(loaded.config, chosen.layer, head))


def _head_input_sentence(config: ModelConfig, layer: int, head: str) -> str:
    """Sentence on whether the head multiplies X + P itself by its W_Q, or a later state."""
    if layer:
        return (
            f"{head} itself reads the state after layer {layer - 1}, not $X + P$: here its $W_Q$ is an "
            "example of trained weights. The sum enters layer 0."
        )
    bias = "" if "w_q" in config.family.parts.without_bias else ", plus a bias"
    n_norms = config.embedding_norm + (config.norm_placement == "pre" and config.family.parts.first_norm)
    if n_norms:
        beginning, ends = rf"\text{{{config.norm_name}}}(" * n_norms, ")" * n_norms
        return f"{head} itself reads the sum after a norm: its $q$ is ${beginning}X + P{ends}\\, W_Q${bias}."
    return f"$(X + P)\\, W_Q${bias} is the very $q$ of {head}."
