"""What is compared, and at which size."""

from collections.abc import Sequence

import streamlit as st

from app_pages.widgets.choice import choice
from model.theory.fresh import VARIANTS, Setting

WIDTHS, HEADS, MOST_SEEDS = (32, 64, 128), (1, 2, 4, 8), 10
THEORY, XAVIER = "theory", "Xavier"
NARROW, WIDE = "d", "4 d"


def choose_variants() -> list[str]:
    """Where the norm stands: any number of the variants, in their own order."""
    chosen = st.pills(
        "Placement of the norm",
        VARIANTS,
        selection_mode="multi",
        default=list(VARIANTS)[:2],
        key="theory_variants",
        bind="query-params",
        persist_state="session",
        help="Shows or hides a curve.",
    )
    return [variant for variant in VARIANTS if variant in chosen]


def choose_depth() -> int:
    return st.slider(
        "Layers L",
        2,
        24,
        12,
        key="theory_depth",
        bind="query-params",
        persist_state="session",
        width=150,
        help="The deepest encoder; the sweep over depths ends here.",
    )


def choose_seeds() -> int:
    return st.slider(
        "Seeds",
        1,
        MOST_SEEDS,
        5,
        key="theory_seeds",
        bind="query-params",
        persist_state="session",
        width=120,
        help="Each seed draws its own weights and data. The line is the mean, the band reaches from the least to the largest.",
    )


def choose_setting() -> Setting:
    """Width, heads and start of the encoders."""
    d_model = _one_of("Width d", WIDTHS, 64, "width")
    n_heads = _one_of("Heads", HEADS, 4, "heads")
    start = choice(
        "Start",
        (THEORY, XAVIER),
        key="theory_start",
        help="The start that Xiong et al. analyse: uniform attention (W_Q = W_K = 0), no W_O, Gaussian matrices. "
        "Or the start of every encoder here: all matrices uniform with Xavier's variance.",
    )
    width = choice(
        "Feed-forward",
        (NARROW, WIDE),
        key="theory_ff",
        help="Width of the feed-forward's hidden layer: d in the theory, 4 d in the usual encoder.",
    )
    gain = st.slider(
        "Gain",
        0.25,
        2.0,
        1.0,
        0.25,
        key="theory_gain",
        bind="query-params",
        persist_state="session",
        width=120,
        help="A factor on every matrix of the layers at the start.",
    )
    return Setting(
        d_model=d_model,
        n_heads=n_heads,
        expansion=4 if width == WIDE else 1,
        initialisation="theory" if start == THEORY else "Xavier",
        gain=gain,
    )


def _one_of(label: str, options: Sequence[int], default: int, key: str) -> int:
    return st.selectbox(
        label,
        options,
        options.index(default),
        key=f"theory_{key}",
        bind="query-params",
        persist_state="session",
        width=84,
    )
