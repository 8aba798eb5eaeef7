"""Shift: one matrix maps every position's vector to that of the position at a fixed offset; for sines without cosines no such
matrix exists.
"""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.positions_controls import FREQUENCY, OFFSET
from app_pages.positions.notation import column_vector, format_scientific
from app_pages.show.show import show
from app_pages.subject.cache import cached
from app_pages.toolkit.expression import Expression, call, named
from model.theory import sinusoidal_positions as theory
from model.theory.sinusoidal_positions import frequencies, position_table, wavelengths
from viz.builders.number_format import format_tex
from viz.positions.position_curves import error_curves
from viz.positions.position_heatmaps import shift_of_positions
from viz.positions.sinusoid_figures import clock_hands

N = 512  # positions: many more than the sines of a row, or a map could be bent to fit each of them
ROTATION, DIAGONAL, BEST = "sines and cosines: M(φ)", "sines alone: cos(ω φ)", "sines alone: best linear map"


def draw_shift(t: int, d_model: int, slider: str) -> None:
    """Draws how one matrix turns the sinusoidal vector of any position t into that of t + φ.

    First as clocks, one for each frequency, whose hands show its sine and cosine; they follow the slider of t, whose CSS selector
    is `slider`. Below, to open: the same in numbers at position `t`, and why no matrix does it if the vectors hold sines alone.
    """
    controls, _ = bar("shift")
    with controls:
        offset = OFFSET.choose()
        k = FREQUENCY.choose(most=d_model // 2 - 1)
    angles, lengths = frequencies(d_model), wavelengths(d_model)
    st.markdown(
        rf"From $p_t$ (faint hands) to $p_{{t + {offset}}}$ (bold hands): whatever $t$ is, each clock is turned by the same angle, its "
        rf"own $\omega_k \varphi$, $\varphi = {offset}$."
    )
    moving = clock_hands(angles * offset, lengths, before=0 * angles, per_step=angles).following("t", slider)
    at_t = call(
        clock_hands,
        call(np.multiply, call(frequencies, d_model), t + offset),
        call(wavelengths, d_model),
        before=call(np.multiply, call(frequencies, d_model), t),
    )
    show(moving, key="positions_shifted_clocks", in_file=at_t)
    st.latex(
        r"\begin{bmatrix} \sin \omega_k (t + \varphi) \\ \cos \omega_k (t + \varphi) \end{bmatrix} = "
        r"\underbrace{\begin{bmatrix} \cos \omega_k \varphi & \sin \omega_k \varphi \\ "
        r"-\sin \omega_k \varphi & \cos \omega_k \varphi \end{bmatrix}}_{M(k,\, \varphi)} "
        r"\begin{bmatrix} \sin \omega_k t \\ \cos \omega_k t \end{bmatrix}"
    )
    st.caption(
        r"$M(k, \varphi)$ turns the hand of clock $k$ by $\omega_k \varphi$. There is no $t$ in it: one "
        r"matrix serves all positions, and $M(k, -\varphi)$ is its transpose. It is why Vaswani et al. "
        "expected that attention by relative position would be easy to learn from sinusoids (section 3.5)."
    )
    with st.expander("In numbers", icon=":material/function:"):
        _write_example(d_model, offset, t, k)
        _draw_matrix(d_model, offset, k)
    with st.expander(
        "Why cosines are needed: with sines alone there is no such matrix", icon=":material/function:"
    ):
        _draw_without_cosines(d_model, offset)


def _draw_matrix(d_model: int, offset: int, k: int) -> None:
    """Draws M(φ), and writes how exactly it shifts positions."""
    st.markdown(rf"**$M({offset})$**, all {d_model // 2} rotations; $M({k}, {offset})$ is framed")
    show(
        call(shift_of_positions, call(theory.shift_matrix, offset, d_model), pair=k),
        key="positions_shift_matrix",
    )
    error: theory.ErrorSummary = _shift_errors(d_model, offset)[ROTATION]
    st.markdown(
        f"Applied to every $p_t$ from 0 to {len(error.by_position) - 1}, $M({offset})$ misses $p_{{t+{offset}}}$ by at most "
        f"**${format_scientific(error.largest)}$** in any dimension: the rounding of single precision."
    )


def _write_example(d_model: int, offset: int, t: int, k: int) -> None:
    """Writes M(k, φ) times the k-th sine and cosine of position `t` in numbers, next to those of position `t` + `offset`."""
    rows = position_table(t + offset + 1, d_model)
    pair = slice(2 * k, 2 * k + 2)
    block = theory.rotation(k, offset, d_model)
    matrix = r" \\ ".join(" & ".join(format_tex(value, ".4f") for value in row) for row in block)
    with st.container(horizontal=True, horizontal_alignment="center", gap="large"):
        st.latex(
            rf"M({k}, {offset}) \, p_{{{t}}}^{{({k})}} = \begin{{bmatrix}} {matrix} \end{{bmatrix}} "
            rf"{column_vector(rows[t, pair])} = {column_vector(block @ rows[t, pair])}",
            width="content",
        )
        st.latex(rf"p_{{{t + offset}}}^{{({k})}} = {column_vector(rows[t + offset, pair])}", width="content")


def _summaries(d_model: int, offset: int) -> dict[str, Expression]:
    """Errors of the shifted position vectors, by name of the map that shifts them."""
    rows = named("rows", call(theory.position_table, N, d_model))
    by_map = {
        ROTATION: call(theory.shift_errors, rows, offset),
        DIAGONAL: call(theory.sine_shift_errors, rows, offset),
        BEST: call(theory.best_map_errors, rows[:, ::2], offset),
    }
    return {name: call(theory.summarise_errors, errors) for name, errors in by_map.items()}


@cached(spinner="Fitting a map to the sines …")
def _shift_errors(d_model: int, offset: int) -> dict[str, theory.ErrorSummary]:
    """The values of `_summaries`."""
    return {name: summary() for name, summary in _summaries(d_model, offset).items()}


def _draw_without_cosines(d_model: int, offset: int) -> None:
    """Draws the errors of the best maps for sines without cosines, and says why no such map is exact."""
    if offset == 0:
        st.markdown("**With sines alone** an offset of 0 is exact too: choose another one.")
        return
    errors: dict[str, theory.ErrorSummary] = _shift_errors(d_model, offset)
    st.markdown(
        r"**With sines alone** there is no such matrix. Of $\sin \omega_k (t + \varphi) = \cos(\omega_k "
        r"\varphi) \sin \omega_k t + \sin(\omega_k \varphi) \cos \omega_k t$ the second half is missing."
    )
    by_position = {
        name: summary.with_value(partial(errors.get, name)).by_position
        for name, summary in _summaries(d_model, offset).items()
    }
    show(call(error_curves, by_position), key="positions_shift_errors")
    st.markdown(
        "| what shifts | largest error | root mean square |\n|---|---|---|\n"
        + "\n".join(
            f"| {name} | ${format_scientific(error.largest)}$ | ${format_scientific(error.rms)}$ |"
            for name, error in errors.items()
        )
    )
    st.markdown(
        "No other matrix helps: of sines alone $p_0$ is all zeros, every matrix takes zeros to zeros, but "
        rf"$p_{{{offset}}}$ holds $\sin \omega_k \varphi$, up to {theory.largest_sine(offset, d_model):.4f} "
        f"in size. The best linear map is a least-squares fit over {len(errors[BEST].by_position)} "
        "positions, without singular values below single precision."
    )
