"""The causal mask on four positions: in symbols, and with the numbers of the chosen head."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.show.side_predictions import beside, tell
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import MaskChoice, masked
from model.measures.head_measures import softmax_normaliser
from viz.builders.number_format import format_tex, head_name

SIZE = 4
SHOWN = 2  # components of a value: as many as there is room for
MINUS_INFINITY = r"-\infty"


def draw_worked_example(subject: LiveSubject, chosen: HeadChoice) -> None:
    """Draws the causal mask on the first four positions: in symbols, and in the numbers of the chosen head."""
    record = subject.under(masked(MaskChoice(kind="causal"))).record
    n = min(SIZE, len(record))
    index = np.s_[chosen.layer, chosen.head, :n, :n]
    st.markdown(
        f"**A causal mask on the first {n} positions.** Query $i$ may attend to the keys $j \\le i$. Under "
        f"this mask the first {n} rows use no later position, so these rows are complete."
    )
    legend = ", ".join(f"{number} = “{token}”" for number, token in enumerate(record.tokens[:n], start=1))
    tell(f"Counted from 1, as on paper: {legend}.")
    symbol_column, number_column = beside("worked_example")
    with symbol_column:
        st.markdown("In symbols")
        for formula in in_symbols(n):
            st.latex(formula)
        st.latex(r"Z_i = \sum_{j \le i} e^{s_{ij}}")
        st.latex(r"\mathrm{out} = A\,V, \qquad \mathrm{out}_i = \sum_{j \le i} A_{ij}\, v_j")
    with number_column:
        st.markdown(f"In {head_name(chosen.layer, chosen.head)}, causal in all layers")
        for formula in in_numbers(record.scores[index], record.pattern[index]):
            st.latex(formula)
        values, outputs = (vectors[chosen.layer, chosen.head, :n, :SHOWN] for vectors in (record.v, record.z))
        st.latex(output(values, outputs))
        if record.v.shape[-1] > SHOWN:
            st.caption(f"The first {SHOWN} of {record.v.shape[-1]} components of each value.")


def in_symbols(n: int) -> tuple[str, str]:
    """LaTeX of the masked scores and of the pattern of `n` positions; the first row has one key, and so weight 1."""
    scores = _lower_triangle(n, lambda i, j: f"s_{{{i + 1}{j + 1}}}", MINUS_INFINITY)
    pattern = _lower_triangle(n, lambda i, j: f"e^{{s_{{{i + 1}{j + 1}}}}} / Z_{i + 1}" if i else "1", "0")
    return f"S + M = {scores}", f"A = {pattern}"


def in_numbers(scores: np.ndarray, pattern: np.ndarray) -> tuple[str, str, str]:
    """LaTeX of the masked scores, of the pattern (both [query, key]), and of the softmax denominator Z of the last row."""
    n = len(scores)
    terms = " + ".join(f"e^{{{format_tex(score, '.2f')}}}" for score in scores[-1])
    return (
        f"S + M = {_lower_triangle(n, lambda i, j: format_tex(scores[i, j], '.2f'), masked=MINUS_INFINITY)}",
        f"A = {_lower_triangle(n, lambda i, j: f'{pattern[i, j]:.3f}', masked='0')}",
        rf"Z_{n} = {terms} = {format_tex(float(softmax_normaliser(scores[-1])), '#.4g')}",
    )


def output(values: np.ndarray, out: np.ndarray) -> str:
    """LaTeX of V and A V, both [position, component], side by side."""
    v, product = (
        r"\begin{pmatrix} "
        + r" \\ ".join(" & ".join(format_tex(x, ".2f") for x in row) for row in rows)
        + r" \end{pmatrix}"
        for rows in (values, out)
    )
    return rf"V = {v}, \quad \mathrm{{out}} = A\,V = {product}"


def _lower_triangle(n: int, allowed: Callable[[int, int], str], masked: str) -> str:
    """LaTeX matrix with `allowed(row, column)`, counted from 0, up to the diagonal and `masked` beyond it."""
    rows = ([allowed(i, j) if j <= i else masked for j in range(n)] for i in range(n))
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
