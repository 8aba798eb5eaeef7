"""Dot products of positions: they depend only on the distance of the two positions."""

import numpy as np
import streamlit as st

from app_pages.positions.notation import format_scientific
from app_pages.show.show import show
from app_pages.subject.cache import cached
from model.theory import sinusoidal_positions as theory
from viz.builders.number_format import format_number
from viz.positions.position_curves import offset_curve
from viz.positions.position_heatmaps import pairs_of_positions

SAME = 1e-4  # nearer than this, single precision does not tell two vectors apart


def draw_products(n: int, d_model: int) -> None:
    """Draws dot products and distances of all pairs of `n` positions, with their formulas."""
    matrices: tuple[np.ndarray, np.ndarray] = _dots_and_distances(n, d_model)
    dots, distances = matrices
    offsets = np.arange(1 - n, n)
    law, formula = "Σ cos(ω φ)", r"\sum_k \cos(\omega_k \varphi)"
    _draw_quantity(dots, theory.dot_product_by_offset(offsets, d_model), "dot product", law, formula)
    law, formula = f"√(d_model − 2 {law})", rf"\sqrt{{d_\text{{model}} - 2 {formula}}}"
    _draw_quantity(distances, theory.distance_by_offset(offsets, d_model), "distance", law, formula)
    st.latex(
        r"p_t \cdot p_{t+\varphi} = \sum_k \left( \sin \omega_k t \, \sin \omega_k (t+\varphi) + "
        r"\cos \omega_k t \, \cos \omega_k (t+\varphi) \right) = \sum_k \cos(\omega_k \varphi)"
    )
    st.caption(
        r"$\cos(a - b) = \cos a \cos b + \sin a \sin b$ for each pair: $t$ drops out, and $\varphi$ and "
        r"$-\varphi$ give the same. With $\varphi = 0$, $|p_t|^2 = d_\text{model} / 2$ for every $t$, and "
        r"so $|p_t - p_{t+\varphi}|^2 = d_\text{model} - 2 \sum_k \cos(\omega_k \varphi)$."
    )
    smallest_distance, first, second = theory.nearest_positions(distances)
    st.markdown(
        f"No two of these {n:,} positions have the same vector: the nearest two, {first} and {second}, are "
        f"**{format_number(smallest_distance, '.3g')}** apart."
        if smallest_distance > SAME
        else f"Positions {first} and {second} have the same vector, up to rounding: {d_model} dimensions do not tell {n:,} "
        "positions apart."
    )
    st.caption("The deviations are rounding: the table holds single-precision numbers, as an encoder's does.")


@cached(spinner="Measuring all pairs …")
def _dots_and_distances(n: int, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    rows = theory.position_table(n, d_model)
    return theory.dot_products(rows), theory.row_distances(rows)


def _draw_quantity(matrix: np.ndarray, at_offsets: np.ndarray, what: str, law: str, formula: str) -> None:
    """Draws a matrix [position, position] of the quantity `what`, and its mean at each offset beside `at_offsets`, the
    values that the formula gives.
    """
    by_offset, name = theory.summarise_by_offset(matrix), what.partition(" ")[0]
    with st.container(horizontal=True, gap="medium"):
        with st.container(key=f"side_{name}_matrix"):
            st.markdown(f"**{what.capitalize()}** of every $p_s$ with every $p_t$")
            show(pairs_of_positions(matrix, what=what), key=f"positions_{name}_matrix")
        with st.container(key=f"side_{name}_curve"):
            st.markdown(f"The same over the offset, with ${formula}$ plotted over what was measured")
            chart = offset_curve(by_offset.offsets, by_offset.means, at_offsets, what=what, law=law)
            show(chart, key=f"positions_{name}_curve")
            st.markdown(
                f"Measured over all {matrix.size:,} pairs:\n"
                f"- largest deviation from ${formula}$: "
                f"**${format_scientific(theory.largest_deviation(matrix, at_offsets))}$**\n"
                f"- largest spread among pairs of one offset: **${format_scientific(by_offset.largest_spread)}$**\n"
                f"- largest difference from the transpose: **${format_scientific(theory.asymmetry(matrix))}$**"
            )
