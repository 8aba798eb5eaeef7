"""Encoders before any training: gradients by depth and by layer, and norms of hidden states, against the theory."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.theory_controls import AVERAGED, MEAN_OF_NORMS
from app_pages.show.show import heading
from app_pages.subject.cache import cached
from app_pages.theory import claims
from app_pages.theory.over_seeds import FigureWithText, create_progress_container, measure_over_seeds
from model.theory.gradients_at_start import InitialNorms, combine_seeds, lemma_2, norms_by_depth, sweep_depths
from model.theory.untrained_encoder import UntrainedConfig
from viz.theory.placements import hidden_norms, last_layer_gradient, layer_gradients

measured = cached(norms_by_depth)


def draw_at_start(setting: UntrainedConfig, variants: list[str], deepest: int, n_seeds: int) -> None:
    """Draws three figures of the seeds measured so far, and redraws them as more seeds are measured."""
    progress = create_progress_container()
    heading("The last layer's gradient over depth", key="theory_last")
    last_figure = FigureWithText("last")
    concentration = _draw_assumptions(setting)
    heading("The gradient layer by layer", key="theory_by_layer")
    averaged = AVERAGED.choose()
    by_layer = FigureWithText("layers")
    heading("Hidden norms", key="theory_hidden")
    hidden_figure = FigureWithText("hidden")

    def draw(results: dict[str, list[list[InitialNorms]]], done: bool) -> None:
        nonlocal concentration
        depths, lemma = sweep_depths(deepest), lemma_2(deepest, setting.d_model)
        sweeps = {variant: combine_seeds(by_seed) for variant, by_seed in results.items()}
        norms = {variant: sweep.last_gradient for variant, sweep in sweeps.items()}
        last_figure.draw(last_layer_gradient(norms, depths), claims.last_layer_text(norms, depths), done=done)
        excess = {variant: sweep.excess for variant, sweep in sweeps.items()}
        concentration = concentration.markdown(f":material/help: {claims.concentration_sentence(excess)}")

        norms = {
            variant: sweep.gradient if averaged == MEAN_OF_NORMS else sweep.mean_gradient
            for variant, sweep in sweeps.items()
        }
        by_layer.draw(layer_gradients(norms), claims.by_layer_text(norms), done=done)

        norms = {variant: sweep.hidden for variant, sweep in sweeps.items()}
        hidden_figure.draw(hidden_norms(norms, lemma), claims.hidden_norms_text(norms, lemma), done=done)

    measure_over_seeds(
        variants,
        n_seeds,
        measure=lambda variant, seed: measured(setting, variant, deepest, seed),
        draw=draw,
        text="Untrained encoders measured",
        what=("at the start", setting, tuple(variants), deepest, n_seeds),
        bar=progress,
    )


def _draw_assumptions(setting: UntrainedConfig) -> DeltaGenerator:
    """Draws the assumptions of Theorem 1 of Xiong et al. 2020; returns the container for the one that is measured, to
    be filled later.
    """
    assumptions = claims.met_assumptions(setting)
    n_met = (
        f"{sum(assumptions.values())} of {len(assumptions)} hold for these encoders, two more are left open"
    )
    with st.expander(f"What Theorem 1 assumes: {n_met}", icon=":material/rule:"):
        for sentence, is_met in assumptions.items():
            st.markdown(
                f":material/{'check' if is_met else 'close'}: {sentence}{'' if is_met else ': **not met**'}"
            )
        measured_place = st.container()
        st.markdown(":material/help: The derivatives of the loss are bounded: assumed, not checked here.")
    return measured_place
