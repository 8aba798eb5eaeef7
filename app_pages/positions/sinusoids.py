"""Sinusoidal positions, from top to bottom: clock hands, table and waves, a binary counter, dot products, shift, and how
they are added to the content.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.positions_controls import DIMENSIONS, LENGTH, POSITION, WIDTH
from app_pages.positions.adding import draw_adding
from app_pages.positions.products import draw_products
from app_pages.positions.shift import draw_shift
from app_pages.show.show import show
from app_pages.toolkit.gestures import slider_moves
from model.theory import sinusoidal_positions as theory
from viz.builders.number_format import format_number
from viz.positions.position_heatmaps import sinusoid_table
from viz.positions.sinusoid_figures import AT_MOST, clock_hands, counter_table, wave_curves

ROWS = 16  # of the counter
FINEST = 800  # points of a curve


def draw_sinusoids() -> None:
    """Draws the whole page on sinusoidal positions, one part below the other."""
    controls, more = bar("sinusoids")
    with controls:
        d_model, n = WIDTH.choose(), LENGTH.choose()
        t = POSITION.choose(most=n - 1, default=min(10, n - 1))
    with more.popover("View", key="more"):
        dimensions = DIMENSIONS.choose(range(d_model), sorted({0, 1, d_model // 4, d_model // 2}))
    rows = theory.position_table(n, d_model)
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
    _draw_counter(rows, t)
    with _part("products", "Two positions: what they have in common depends on their distance"):
        draw_products(n, d_model)
    with _part("shift", "One matrix moves every position by the same offset"):
        draw_shift(t, d_model, slider)
    with _part("adding", "Positions are added to the content: what if both were concatenated?"):
        draw_adding()


@contextmanager
def _part(name: str, title: str) -> Iterator[None]:
    """A part of the page, under its title; `?figure=positions_name` scrolls to it."""
    with st.container(key=f"positions_{name}"):
        st.markdown(f"## {title}")
        yield


def _draw_clocks(t: int, d_model: int, slider: str) -> None:
    wavelengths = theory.wavelengths(d_model)
    remark = f" {AT_MOST} of them are drawn." if len(wavelengths) > AT_MOST else ""
    st.markdown(
        f"**Position *t* as {len(wavelengths)} clocks.** What is added to the word at position *t* are {d_model} numbers: the sine and "
        f"the cosine of each hand's angle.{remark} Move *t*: every hand turns, each at its own speed; to go round once, the fastest "
        f"needs {wavelengths[0]:.2f} positions, the slowest {wavelengths[-1]:,.0f}."
    )
    frequencies = theory.frequencies(d_model)
    moving = clock_hands(0 * frequencies, wavelengths, per_step=frequencies).following("t", slider)
    show(moving, key="positions_clocks", in_file=clock_hands(frequencies * t, wavelengths))


def _draw_table_and_waves(rows: np.ndarray, t: int, dimensions: list[int], slider: str) -> None:
    n, d_model = rows.shape
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_table"):
            st.markdown(
                f"**The table**: {n} positions, {d_model} dimensions. A row is a position, *t* is framed."
            )
            show(sinusoid_table(rows, position=t, dimensions=dimensions), key="positions_table")
        with st.container(key="side_waves"):
            st.markdown("**Some of its columns**, as curves. A dot is a position, *t* is marked.")
            grid = np.linspace(0, n - 1, min(12 * n, FINEST))
            names = [_wave_name(dimension, d_model) for dimension in dimensions]
            waves = theory.waves(dimensions, d_model, grid)
            chart = wave_curves(names, rows.T[dimensions], grid, waves, position=t)
            show(chart.following("position", slider), key="positions_waves", in_file=chart)


def _wave_name(dimension: int, d_model: int) -> str:
    wave = "cosine" if dimension % 2 else "sine"
    k = dimension // 2
    return f"i = {dimension}: {wave} of k = {k}, wavelength {theory.wavelengths(d_model)[k]:,.4g}"


def _draw_counter(rows: np.ndarray, t: int) -> None:
    n, d_model = rows.shape
    st.markdown(
        "**Like a binary counter.** Written in binary, $t$ changes its lowest digit at every step, and each "
        "further digit half as often as the one before; a table of sines does the same, smoothly. Bit $j$ is 1 "
        r"exactly where $\sin\left(2\pi\,(t + \frac12) / 2^{j+1}\right)$ is negative, so a digit is the sign of a "
        "wave. Beside the bits: the sines whose wavelengths are nearest to the periods 8, 16, 32, …; the shortest "
        r"wavelength there is is $2\pi \approx 6.28$, so the two fastest digits have no counterpart."
    )
    n_bits = (n - 1).bit_length()
    positions = np.arange(min(ROWS, n)) + t // ROWS * ROWS
    bits = theory.binary_digits(positions, n_bits)
    pairs = theory.nearest_pairs(2.0 ** np.arange(3, n_bits + 1), d_model)
    sines = rows[positions][:, [2 * k for k in pairs]]
    wavelengths = theory.wavelengths(d_model)[pairs]
    bit_labels = [f"bit {bit}|{2 ** (bit + 1)}" for bit in range(n_bits)]
    sine_labels = [f"k {k}|{length:.3g}" for k, length in zip(pairs, wavelengths, strict=True)]
    digits = {
        "title": "t in binary, the lowest digit on the left",
        "heading": "bit and its period in positions",
    }
    waves = {"title": "sines of p at t", "heading": "frequency and its wavelength in positions"}
    texts = np.vectorize(lambda sine: format_number(sine, "+.2f"))(sines)
    with st.container(horizontal=True, gap="medium"):
        # A bit is 0 in the first half of its period, where a sine is positive.
        table = counter_table(
            1 - 2 * bits, bits.astype(str), bit_labels, positions.tolist(), position=t, **digits
        )
        show(table, key="positions_bits", width="content")
        table = counter_table(sines, texts, sine_labels, positions.tolist(), position=t, **waves)
        show(table, key="positions_sines", width="content")
