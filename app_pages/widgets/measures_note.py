"""What the numbers on hover are: their names and formulas."""

import streamlit as st


def measures_note(unit: str) -> None:
    with st.expander("What the numbers mean", icon=":material/function:"):
        st.markdown(
            "$A_{ij}$ is the attention weight of query $i$ on key $j$; the weights of a query add up to 1. "
            "Two numbers appear when the pointer rests on a head:"
        )
        st.markdown(
            r"**entropy**: mean over queries of $H_i / \ln n_i$, $H_i = -\sum_j A_{ij} \ln A_{ij}$, with "
            "$n_i$ the number of keys that query $i$ may attend to. 0: all weight on one key; 1: the same "
            "weight on each."
        )
        st.markdown(
            rf"**mean distance**: mean over queries of $\sum_j A_{{ij}} \, \mathrm{{dist}}(i, j)$, in {unit}"
            + (
                ", $|i - j|$."
                if unit == "tokens"
                else ", Euclidean on the grid. A class token has no place there: it is left out as a query, and weight "
                "on it counts as no distance."
            )
        )
