"""Before any training: gradients over depth and by layer, and hidden norms, against the theory."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import address
from app_pages.theory import words
from app_pages.theory.over_seeds import over_seeds
from app_pages.theory.rows import row
from app_pages.widgets.show import show
from model.theory import placement
from model.theory.fresh import Setting
from model.theory.placement import AtStart, depths_to, lemma_2
from viz.theory.placements import hidden_norms, last_layer_gradient, layer_gradients

MEAN_OF_NORMS, NORM_OF_MEAN = "mean of the norms", "norm of the mean"

Sweep = list[AtStart]  # by depth
Sweeps = dict[str, list[Sweep]]  # by variant, then seed


@st.cache_data(max_entries=512, show_spinner=False)
def sweep(setting: Setting, variant: str, deepest: int, seed: int) -> Sweep:
    return [placement.at_start(setting, variant, depth, seed) for depth in depths_to(deepest)]


def at_start(setting: Setting, variants: list[str], deepest: int, n_seeds: int) -> None:
    """Three figures of everything measured so far, drawn anew while more seeds come in."""
    progress = st.empty()
    st.subheader("The last layer's gradient over depth")
    last = row("last")
    assumptions = st.empty()
    st.subheader("The gradient layer by layer")
    kind = address.row(
        "Over the sequences",
        (MEAN_OF_NORMS, NORM_OF_MEAN),
        key="theory_over",
        help="Each sequence has a loss, and so a gradient. Either their norms are averaged, or the gradients "
        "themselves before the norm is taken, as in figure 3 of Xiong et al.",
    )
    by_layer = row("layers")
    st.subheader("Hidden norms")
    hidden = row("hidden")

    def draw(found: Sweeps) -> None:
        depths = depths_to(deepest)
        norms = _arrays(found, lambda sweep: [depth.gradient[-1] for depth in sweep])
        with last.figure:
            show(last_layer_gradient(norms, depths))
        last.words.markdown(words.last_layer(norms, depths))
        _assumptions(setting, found, assumptions.container())

        norms = _arrays(
            found, lambda sweep: sweep[-1].gradient if kind == MEAN_OF_NORMS else sweep[-1].mean_gradient
        )
        with by_layer.figure:
            show(layer_gradients(norms))
        by_layer.words.markdown(words.by_layer(norms))

        norms, lemma = _arrays(found, lambda sweep: sweep[-1].hidden), lemma_2(deepest, setting.d_model)
        with hidden.figure:
            show(hidden_norms(norms, lemma))
        hidden.words.markdown(words.hidden(norms, lemma))

    over_seeds(
        variants,
        n_seeds,
        measure=lambda variant, seed: sweep(setting, variant, deepest, seed),
        draw=draw,
        what="Fresh encoders measured",
        bar=progress,
    )


def _arrays(found: Sweeps, of: Callable[[Sweep], list[float] | np.ndarray]) -> dict[str, np.ndarray]:
    """By variant [seed, ...]."""
    return {variant: np.array([of(sweep) for sweep in sweeps]) for variant, sweeps in found.items()}


def _assumptions(setting: Setting, found: Sweeps, place: DeltaGenerator) -> None:
    assumed = words.assumptions(setting)
    excess = {
        variant: by_seed.mean()
        for variant, by_seed in _arrays(found, lambda sweep: [sweep[-1].excess]).items()
    }
    n_met = f"{sum(assumed.values())} of {len(assumed)} assumptions met here, two to judge"
    with place.expander(f"The setting of Theorem 1, with W_Q = W_K = 0: {n_met}", icon=":material/rule:"):
        for said, met in assumed.items():
            st.markdown(f":material/{'check' if met else 'close'}: {said}{'' if met else ': **not met**'}")
        st.markdown(f":material/help: {words.concentration(excess)}")
        st.markdown(":material/help: The derivatives of the loss are bounded: assumed, not checked here.")
