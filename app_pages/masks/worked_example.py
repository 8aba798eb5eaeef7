"""The causal mask on four positions: in symbols, and with the numbers of the chosen head."""

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
    places = range(1, n + 1)
    return matrix([[f"s_{{{i}{j}}}" if j <= i else r"-\infty" for j in places] for i in places])


def symbolic_pattern(n: int) -> str:
    """The first row is 1, whatever its score: it has one key."""
    places = range(1, n + 1)
    rows = [["0" if j > i else f"e^{{s_{{{i}{j}}}}} / Z_{i}" for j in places] for i in places]
    return matrix([["1", *rows[0][1:]], *rows[1:]])


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
    terms = " + ".join(f"e^{{{score:.2f}}}" for score in scores)
    return rf"Z_{len(scores)} = {terms} = {normaliser(scores):.3f}"


def matrix(rows: list[list[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
