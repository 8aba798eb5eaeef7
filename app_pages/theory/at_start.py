"""Encoders before any training: gradients by depth and by layer, and lengths of vectors, beside the statements of papers."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.theory_controls import MEAN_OF_NORMS
from app_pages.show.show import heading
from app_pages.show.verdicts import stored_verdict
from app_pages.subject.cache import cached
from app_pages.theory.over_seeds import (
    FigureWithText,
    create_progress_container,
    measure_over_seeds,
    spread_sentence,
)
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import counted, table
from model.theory import gradients_at_start
from model.theory.gradients_at_start import (
    InitialNorms,
    UntrainedConfig,
    combine_seeds,
    lemma_2,
    norms_by_depth,
    sweep_depths,
)
from viz.builders.number_format import format_number, percent
from viz.theory.placements import hidden_norms, last_layer_gradient, layer_gradients

THEOREM = rf"""
In words: the gradient is taken at one matrix, the second of the last feed-forward. In post-LN its length stays below a
bound that is the same for any number of layers $L$. In pre-LN the bound falls as $L$ grows: with 4 times the layers to a half.

$\Big\|\dfrac{{\partial \mathcal{{L}}}}{{\partial W^{{2,L}}}}\Big\|_F \le O(d\sqrt{{\ln d}})$ in post-LN,
$O(d\sqrt{{\ln d / L}})$ in pre-LN (Xiong et al. 2020, Theorem 1).

Drawn: mean over {gradients_at_start.N_SEQUENCES} sequences of {gradients_at_start.N_POSITIONS} positions. A gradient that follows its
bound has the power 0 in post-LN and −0.5 in pre-LN; the dotted line has −0.5. About other placements, or without residual
connections, the theorem says nothing.

The theorem assumes:
"""
BY_LAYER = r"""
In words: how long the gradient is at the same matrix of every layer, the second of its feed-forward, in the deepest encoder,
untrained.

$\Big\|\dfrac{\partial \mathcal{L}}{\partial W^{2,l}}\Big\|_F$ in each layer $l$

- Xiong et al. 2020, figure 3: norm of the gradient averaged over mini-batches, 6-6 translation model at the start;
  it grows with the layer in post-LN and stays about the same in pre-LN. Its encoder gets the gradient through a decoder.
- Shleifer et al. 2021 (NormFormer): in pre-LN, during pretraining, larger at early layers than at late ones.
- Wang et al. 2022 (DeepNet), figures 3 and 4: decoder layers of an 18-18 post-LN model early in training;
  without warm-up they vanish after a large first update.
"""
LEMMA = r"""
In words: in pre-LN every layer adds between half of $d$ and three halves of $d$ to the squared length $\|x\|^2$ of a vector of
width $d$; in post-LN it is three halves of $d$ before the second norm of every layer.

Pre-LN, after $l$ layers: $(1 + \tfrac{l}{2})\,d \;\le\; \mathbb{E}\|x_l\|^2 \;\le\; (1 + \tfrac{3l}{2})\,d$ (the grey band).

Post-LN: $\mathbb{E}\|x_l\|^2 = \tfrac{3}{2}\,d$ (the dotted line).

Xiong et al. 2020, Lemma 2. It is for those two, with residual connections, in the setting of Theorem 1. Of DeepNorm and B2T,
what the second norm takes is drawn as well. Drawn: means over positions.
"""

measured = cached(norms_by_depth)


def draw_at_start(
    setting: UntrainedConfig, variants: list[str], deepest: int, n_seeds: int, averaged: str
) -> None:
    """Draws three figures over the seeds measured so far, and redraws them as more seeds are measured.

    `averaged` is the way in which the size of a layer's gradient is averaged over sequences.
    """
    progress = create_progress_container()
    heading("How hard would the first training step pull at the last layer?", key="theory_last")
    last_figure = FigureWithText("last")
    concentration = _draw_assumptions(setting)
    heading("Would it pull equally hard at every layer?", key="theory_by_layer")
    by_layer = FigureWithText("layers")
    with st.expander("What papers measured, each elsewhere", icon=":material/rule:"):
        st.markdown(BY_LAYER)
    heading("How long does a token's vector get on its way through the layers?", key="theory_hidden")
    st.markdown(
        "Every addition makes it longer; a norm brings it back to one length. Grey band: where pre-LN should lie by Lemma 2 of Xiong et "
        "al. 2020; dotted line: where post-LN should."
    )
    hidden_figure = FigureWithText("hidden")
    with st.expander("Lemma 2: how long it should get", icon=":material/rule:"):
        st.markdown(LEMMA)

    setting_expression = named("setting", setting)

    def draw(results: dict[str, list[list[InitialNorms]]], done: bool) -> None:
        nonlocal concentration
        depths, lemma = sweep_depths(deepest), lemma_2(deepest, setting.d_model)
        sweeps = {variant: combine_seeds(by_seed) for variant, by_seed in results.items()}
        n = len(next(iter(results.values())))
        by_seed = {
            variant: [call(norms_by_depth, setting_expression, variant, deepest, seed) for seed in range(n)]
            for variant in variants
        }
        written = {variant: call(combine_seeds, results) for variant, results in by_seed.items()}
        source = named("sweeps", written, lambda: sweeps)

        def norms(field: str) -> tuple[dict[str, np.ndarray], dict[str, Expression]]:
            """The field of the sweep of each variant, as arrays and as expressions."""
            arrays = {variant: getattr(sweep, field) for variant, sweep in sweeps.items()}
            return arrays, {variant: getattr(source[variant], field) for variant in sweeps}

        arrays, expressions = norms("last_gradient")
        words = f"{last_layer_text(arrays, depths)}\n\n{stored_verdict('last_depth')}"
        last_figure.draw(call(last_layer_gradient, expressions, depths), words, done=done)
        excess = concentration_sentence({variant: sweep.excess for variant, sweep in sweeps.items()})
        concentration = concentration.markdown(f":material/help: {excess}")

        arrays, expressions = norms("gradient" if averaged == MEAN_OF_NORMS else "mean_gradient")
        words = f"{by_layer_text(arrays)}\n\n{stored_verdict('toward_output')}"
        by_layer.draw(call(layer_gradients, expressions), words, done=done)

        arrays, expressions = norms("hidden")
        words = f"{hidden_norms_text(arrays, lemma)}\n\n{stored_verdict('stream')}"
        figure = call(hidden_norms, expressions, call(lemma_2, deepest, setting.d_model))
        hidden_figure.draw(figure, words, done=done)

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
    """Draws the assumptions of Theorem 1 of Xiong et al. 2020; returns the empty container for the assumption that is
    measured.
    """
    assumptions = met_assumptions(setting)
    n_met = f"{sum(assumptions.values())} of {len(assumptions)} hold for these encoders"
    with st.expander(f"Theorem 1 and what it assumes: {n_met}", icon=":material/rule:"):
        st.markdown(THEOREM)
        for sentence, is_met in assumptions.items():
            st.markdown(
                f":material/{'check' if is_met else 'close'}: {sentence}{'' if is_met else ': **not met**'}"
            )
        measured_place = st.container()
        st.markdown(":material/help: The derivatives of the loss are bounded: assumed, not checked here.")
    return measured_place


def last_layer_text(norms: Mapping[str, np.ndarray], depths: Sequence[int]) -> str:
    """Explanation and Markdown table, with a row for each variant, of the slope of the gradient norms [seed, depth] on log axes and
    the ratio of their means at the last and the first depth.
    """
    if len(depths) < 2:
        return f"{spread_sentence(norms)} One depth has no slope: choose more layers."
    rows = []
    for variant, by_seed in norms.items():
        mean, smallest, largest = (
            format_number(slope, "+.2f") for slope in gradients_at_start.slopes(depths, by_seed)
        )
        first, *_, last = by_seed.mean(axis=0)
        rows.append((variant, f"{last / first:.2f}", f"**{mean}** ({smallest} to {largest})"))
    return (
        f"{spread_sentence(norms)} Dotted: how the pull would fall like 1/√L, to a half with 4 times the layers.\n\n"
        f"{table(('', f'{depths[-1]} layers ÷ {depths[0]}', 'power of L'), rows)}\n\n"
        "Power 0: the same pull in deeper encoders; −0.5: like 1/√L. In brackets: over the seeds."
    )


def by_layer_text(norms: Mapping[str, np.ndarray]) -> str:
    """Markdown table of the ratio of last to first layer in the norms [seed, layer] for each variant, and a sentence on post-LN
    over all seeds.
    """
    rows, remark = [], ""
    for variant, by_seed in norms.items():
        first, last, ratio = gradients_at_start.first_and_last(by_seed)
        ratios = by_seed[:, -1] / by_seed[:, 0]
        ends = f"({ratios.min():.2f} to {ratios.max():.2f})"
        cells = format_number(first, ".3g"), format_number(last, ".3g"), f"**{ratio:.2f}** {ends}"
        rows.append((variant, *cells))
        if variant == "post-LN":
            n_grows = int((ratios > 1).sum())
            remark = f"\n\nIn post-LN it grows from the first layer to the last in {n_grows} of {counted(len(ratios), 'seed')}."
    headings = "", "first layer", "last layer", "last ÷ first (over seeds)"
    return f"{table(headings, rows)}{remark}"


def hidden_norms_text(norms: Mapping[str, np.ndarray], lemma: np.ndarray) -> str:
    """Text that compares the norms [seed, layer] with the two bounds and the line in `lemma` [3, layer]."""
    lines = []
    for variant, by_seed in norms.items():
        if variant == "pre-LN":
            inside = f"**{gradients_at_start.n_inside_band(by_seed, lemma)} of {lemma.shape[1]}** layers"
            lines.append(f"- {variant}: inside the band after {inside}.")
        elif variant == "post-LN":
            deviation = percent(gradients_at_start.furthest_from_line(by_seed, lemma), 0)
            lines.append(f"- {variant}: at most **{deviation}** away from the line, at any layer.")
        else:
            smallest, largest = (
                format_number(norm, ".3g") for norm in gradients_at_start.layer_range(by_seed)
            )
            lines.append(f"- {variant}: {smallest} to {largest}.")
    return "\n".join(lines)


def met_assumptions(setting: UntrainedConfig) -> dict[str, bool]:
    """Whether the setting meets each assumption of Theorem 1 that this page's controls set, by sentence."""
    is_theory = setting.initialisation == "theory"
    return {
        r"$W_Q = W_K = 0$: every position attends to all alike": is_theory,
        r"one head, no $W_O$ (with uniform attention the heads together do what one does)": is_theory
        and setting.gain == 1,
        r"$W_V$, $W_1$, $W_2$ of $d \times d$, Gaussian with Xavier's variance $1/d$": is_theory
        and setting.expansion == 1
        and setting.gain == 1,
        r"biases 0; norms with $\gamma = 1$, $\beta = 0$; ReLU": True,
        "input vectors drawn from one Gaussian": True,
        "softmax over the words at each position; the loss of a sequence is the mean over its positions": True,
    }


def concentration_sentence(excess: Mapping[str, float]) -> str:
    """Sentence with δ of the last assumption of Theorem 1 of Xiong et al. 2020, measured for each variant."""
    deltas = ", ".join(f"{variant} {format_number(delta, '.2g')}" for variant, delta in excess.items())
    return (
        r"$\|x\|^2$ before the last norm is $(\varepsilon, \delta)$-bounded with both small. Measured at "
        rf"$\varepsilon = {gradients_at_start.EPSILON}$, $L$ the deepest: $\delta$ = {deltas}. (Xiong et al.: 0.125 "
        "in their model.)"
    )
