"""The same mask applied in every way that one meets in code, measured on the chosen head and on the answer."""

import numpy as np
import pandas as pd
import streamlit as st

from app_pages import address
from app_pages.masks.results import Outcome, Results, outcomes
from app_pages.state import HeadSelection
from app_pages.widgets.show import show
from model.intervention import MaskChoice
from viz.numbers import percent, written
from viz.token_bars import row_sums

_REMEDIES = {"keys": ": block a key above", "cells": ": block a cell above"}
NUMBERS = {"−1e9": -1e9, "−1e4": -1e4, "−10": -10.0}


def ways(chosen: HeadSelection, found: Results, mask: MaskChoice, query: int) -> None:
    layer, head, tokens = chosen.layer, chosen.head, found.after.tokens
    number = address.row(
        "The finite number c",
        NUMBERS,
        key="masks_number",
        help="In half precision, which ends at −65,504, −1e9 itself becomes −∞.",
    )
    here = {"layer": layer, "head": head, "value": NUMBERS[number]}
    st.markdown(f"**The chosen mask, applied in five ways, seen in L{layer} H{head}**")
    every = outcomes(chosen.checkpoint, chosen.given, mask, **here)
    if found.masks_nothing:
        st.info(
            f"The chosen mask forbids nothing, so every way gives the same{_REMEDIES.get(mask.kind, '')}."
        )
    names = found.before.class_names
    st.table(pd.DataFrame({name: _measured(every[way], names) for way, name in LABELS.items()}).T)
    st.markdown(
        "Multiplied by 0 **after** the softmax, the weights that are left keep what they were: "
        "they are not shared out anew, and the rows add up to less than 1."
    )
    show(row_sums(every["zeroed"].pattern, tokens, query=query), key="masks_row_sums")

    st.markdown(f"**A fully masked row: query {query} may attend to no key in L{layer} H{head}**")
    closed = outcomes(chosen.checkpoint, chosen.given, mask, **here, closed=query)
    st.table(pd.DataFrame({name: _row(closed[way], query, names) for way, name in LABELS.items()}).T)
    st.markdown(
        r"$-\infty$ in a whole row makes its softmax $0 / 0$, which is NaN, and so is all that is computed from it; "
        "in the last layer that is the answer only if the answer is read from this row. "
        r"A finite $c$ in a whole row cancels, $e^c / \sum e^c = 1/n$: the query attends to all keys alike, masked or "
        r"not. Added to a whole row, $c$ cancels too and leaves the row as if nothing were masked, unless $c$ is so "
        "large that float32 no longer holds the scores beside it. This encoder sets such a row to zeros."
    )


LABELS = {
    "encoder": r"this encoder: lowest float32 instead of $s_{ij}$, empty rows to 0",
    "infinity": r"$-\infty$ instead of $s_{ij}$",
    "replaced": r"$c$ instead of $s_{ij}$",
    "added": r"$s_{ij} + c$",
    "zeroed": r"$A_{ij} \cdot 0$ after the softmax",
}


def _measured(outcome: Outcome, names: tuple[str, ...]) -> dict[str, str]:
    forbidden, sums = outcome.pattern[~outcome.mask], outcome.pattern.sum(axis=-1)
    return {
        "largest weight on a masked cell": _number(forbidden.max()) if forbidden.size else "none is masked",
        "rows add up to": _span(sums),
        "prediction": _answer(outcome, names),
    }


def _row(outcome: Outcome, query: int, names: tuple[str, ...]) -> dict[str, str]:
    row = outcome.pattern[query]
    return {
        "weights of the row": _span(row),
        "it adds up to": _number(row.sum()),
        "prediction": _answer(outcome, names),
    }


def _span(values: np.ndarray) -> str:
    """From the least to the most, one number where that is the same."""
    return " to ".join(dict.fromkeys(map(_number, (values.min(), values.max()))))


def _number(value: float) -> str:
    return written(value, ".4g", otherwise="NaN")


def _answer(outcome: Outcome, names: tuple[str, ...]) -> str:
    if np.isnan(outcome.probabilities).any():
        return "none: every probability is NaN"
    return f"{names[outcome.probabilities.argmax()]}, {percent(outcome.probabilities.max(), 4)}"
