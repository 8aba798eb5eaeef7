"""The causal mask on four positions: in symbols, and with the numbers of the chosen head."""

from html import escape

import numpy as np
import streamlit as st

from app_pages.masks.results import masked
from app_pages.state import HeadSelection
from model.intervention import MaskChoice

SIZE = 4


def worked_example(chosen: HeadSelection) -> None:
    record = masked(chosen.checkpoint, chosen.given, MaskChoice(kind="causal"))
    n = min(SIZE, len(record.tokens))
    corner = np.s_[chosen.layer, chosen.head, :n, :n]
    st.markdown(
        f"**A causal mask on the first {n} positions.** Query $i$ may attend to the keys $j \\le i$. In a causal encoder "
        f"the first {n} rows need no later position, so what stands here is all of them, not a cut."
    )
    named = ", ".join(f"{place} = “{token}”" for place, token in enumerate(record.tokens[:n], start=1))
    st.html(f"<p>Counted from 1, as on paper: {escape(named)}.</p>")
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_symbols"):
            st.markdown("In symbols")
            st.latex(f"S + M = {symbolic_scores(n)}")
            st.latex(f"A = {symbolic_pattern(n)}")
            st.latex(r"Z_i = \sum_{j \le i} e^{s_{ij}}")
        with st.container(key="side_numbers"):
            st.markdown(f"In L{chosen.layer} H{chosen.head}, causal in all layers")
            st.latex(f"S + M = {numeric_scores(record.scores[corner])}")
            st.latex(f"A = {numeric_pattern(record.pattern[corner])}")
            st.latex(last_row(record.scores[corner][-1]))


def symbolic_scores(n: int) -> str:
    return matrix([[f"s_{{{i}{j}}}" if j <= i else r"-\infty" for j in _from_1(n)] for i in _from_1(n)])


def symbolic_pattern(n: int) -> str:
    """The first row is 1, whatever its score: it has one key."""
    return matrix(
        [
            ["0" if j > i else "1" if i == 1 else f"e^{{s_{{{i}{j}}}}} / Z_{i}" for j in _from_1(n)]
            for i in _from_1(n)
        ]
    )


def numeric_scores(scores: np.ndarray) -> str:
    """Scores [query, key] under the causal mask, to two places."""
    return matrix(
        [[f"{s:.2f}" if j <= i else r"-\infty" for j, s in enumerate(row)] for i, row in enumerate(scores)]
    )


def numeric_pattern(pattern: np.ndarray) -> str:
    """Weights [query, key] to three places; what the mask forbids is an exact 0."""
    return matrix(
        [[f"{a:.3f}" if j <= i else "0" for j, a in enumerate(row)] for i, row in enumerate(pattern)]
    )


def last_row(scores: np.ndarray) -> str:
    """Z of the last row, all of whose scores [key] are allowed."""
    powers = np.exp(scores.astype(float))
    terms = " + ".join(f"e^{{{score:.2f}}}" for score in scores)
    return rf"Z_{len(scores)} = {terms} = {powers.sum():.3f}"


def matrix(rows: list[list[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _from_1(n: int) -> range:
    return range(1, n + 1)
