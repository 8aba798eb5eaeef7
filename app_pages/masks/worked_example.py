"""The causal mask on four positions: in symbols, and with the numbers of the chosen head."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from app_pages import state
from app_pages.state import HeadSelection
from app_pages.widgets.contrast import beside, tell
from model.intervention import MaskChoice, masked
from model.measures.heads import normaliser

SIZE = 4


def worked_example(chosen: HeadSelection) -> None:
    record = state.record(chosen.checkpoint, chosen.given, masked(MaskChoice(kind="causal")))
    n = min(SIZE, len(record))
    corner = np.s_[chosen.layer, chosen.head, :n, :n]
    st.markdown(
        f"**A causal mask on the first {n} positions.** Query $i$ may attend to the keys $j \\le i$. In a causal encoder "
        f"the first {n} rows need no later position, so what stands here is all of them, not a cut."
    )
    named = ", ".join(f"{place} = “{token}”" for place, token in enumerate(record.tokens[:n], start=1))
    tell(f"Counted from 1, as on paper: {named}.")
    symbols, numbers = beside("worked_example")
    with symbols:
        st.markdown("In symbols")
        st.latex(f"S + M = {symbolic_scores(n)}")
        st.latex(f"A = {symbolic_pattern(n)}")
        st.latex(r"Z_i = \sum_{j \le i} e^{s_{ij}}")
    with numbers:
        st.markdown(f"In L{chosen.layer} H{chosen.head}, causal in all layers")
        st.latex(f"S + M = {numeric_scores(record.scores[corner])}")
        st.latex(f"A = {numeric_pattern(record.pattern[corner])}")
        st.latex(last_row(record.scores[corner][-1]))


def symbolic_scores(n: int) -> str:
    return lower_triangle(n, lambda i, j: f"s_{{{i + 1}{j + 1}}}", r"-\infty")


def symbolic_pattern(n: int) -> str:
    """The first row is 1, whatever its score: it has one key."""
    return lower_triangle(n, lambda i, j: f"e^{{s_{{{i + 1}{j + 1}}}}} / Z_{i + 1}" if i else "1", "0")


def numeric_scores(scores: np.ndarray) -> str:
    """Scores [query, key] under the causal mask, to two places."""
    return lower_triangle(len(scores), lambda i, j: f"{scores[i, j]:.2f}", r"-\infty")


def numeric_pattern(pattern: np.ndarray) -> str:
    """Weights [query, key] to three places; what the mask forbids is an exact 0."""
    return lower_triangle(len(pattern), lambda i, j: f"{pattern[i, j]:.3f}", "0")


def last_row(scores: np.ndarray) -> str:
    """Z of the last row, all of whose scores [key] are allowed."""
    terms = " + ".join(f"e^{{{score:.2f}}}" for score in scores)
    return rf"Z_{len(scores)} = {terms} = {normaliser(scores):.3f}"


def lower_triangle(n: int, allowed: Callable[[int, int], str], masked: str) -> str:
    """A matrix of n rows: what is `allowed` by row and column, counted from 0, up to the diagonal; `masked` beyond."""
    rows = ([allowed(i, j) if j <= i else masked for j in range(n)] for i in range(n))
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
