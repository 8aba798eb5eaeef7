"""Explanation of the measures that a tooltip shows on an attention map: names and formulas."""

from collections.abc import Collection

import streamlit as st

from model.lenses import ATTENTION, LENSES, Lens


def measures_note(
    unit: str, names: Collection[str] = ("entropy", "mean distance"), lens: Lens = LENSES[ATTENTION]
) -> None:
    """Draws a folded note with the formulas of the measures in `names`, for maps seen through `lens`; distances are in `unit`."""
    with st.expander("What the numbers mean", icon=":material/function:"):
        meaning = "the attention weight of query $i$ on key $j$; as the softmax makes them, the weights of a query add up to 1"
        if lens.name != ATTENTION:
            meaning = "the value of the map at query $i$ and key $j$, as the lens above shows it"
        st.markdown(
            f"$A_{{ij}}$ is {meaning}. Of the head that is chosen or pointed at, these stand beside its name where there is room, and of all heads in the table of the page Heads:"
        )
        if "entropy" not in names:
            st.markdown(
                "**sum of a row**: mean over queries of $\\sum_j A_{ij}$. Entropy and distance are of rows that add up to "
                "1, and are left out where some do not."
            )
            return
        st.markdown(
            r"**entropy**: mean over queries of $H_i / \ln n_i$, $H_i = -\sum_j A_{ij} \ln A_{ij}$, with "
            "$n_i$ the number of keys that query $i$ may attend to. 0: all weight on one key; 1: the same "
            "weight on each."
        )
        if not any(name.startswith("mean distance") for name in names):
            return
        st.markdown(
            rf"**mean distance**: mean over queries of $\sum_j A_{{ij}} \, \mathrm{{dist}}(i, j)$, in {unit}"
            + (
                ", Euclidean on the grid. A class token has no place there: it is left out as a query, and weight "
                "on it counts as no distance."
                if unit == "patches"
                else ", $|i - j|$."
            )
        )
