"""Texts beside the figures of untrained encoders: what papers prove or measured, and what was measured here."""

from collections.abc import Mapping, Sequence

import numpy as np

from app_pages.toolkit.markdown import counted
from model.theory import gradients_at_start
from model.theory.untrained_encoder import UntrainedConfig
from viz.builders.number_format import format_number, percent

LAST = rf"""
How hard the first training step would pull at the last layer, in encoders of more and more layers:

$\Big\|\dfrac{{\partial \mathcal{{L}}}}{{\partial W^{{2,L}}}}\Big\|_F$, the gradient at the second matrix of the last
feed-forward: mean over {gradients_at_start.N_SEQUENCES} sequences of {gradients_at_start.N_POSITIONS} positions.

Xiong et al. 2020, Theorem 1, bound it by $O(d\sqrt{{\ln d}})$ in post-LN and by $O(d\sqrt{{\ln d / L}})$ in pre-LN.
A norm that follows its bound has slope 0 or −0.5 on these axes; the dotted guide falls as $1/\sqrt{{L}}$.
About other placements, or without residual connections, the theorem says nothing.
"""
BY_LAYER = r"""
Whether the first training step would pull equally hard at every layer:

$\Big\|\dfrac{\partial \mathcal{L}}{\partial W^{2,l}}\Big\|_F$ in each layer $l$ of the deepest encoder, untrained.

What others measured, each elsewhere:
- Xiong et al. 2020, figure 3: norm of the gradient averaged over mini-batches, 6-6 translation model at the start;
  it grows with the layer in post-LN and stays about the same in pre-LN.
- Shleifer et al. 2021 (NormFormer): in pre-LN, during pretraining, larger at early layers than at late ones.
- Wang et al. 2022 (DeepNet), figures 3 and 4: decoder layers of an 18-18 post-LN model early in training;
  without warm-up they vanish after a large first update.
"""
NOT_REPRODUCED = (
    "**Not reproduced here**: in post-LN the gradient does not grow with the layer in any of {n} seeds. A likely reason: figure 3 is of "
    "a translation model, whose encoder gets its gradient through a decoder."
)
UNDECIDED = "Whether the gradient in post-LN grows from layer to layer **cannot be told here**: it does with {n_grows} of {n}."
HIDDEN = r"""
How long a token's vector gets on its way through the layers: every addition makes it longer, a norm brings it back to
one length.

Mean over positions of $\|x\|^2$. Xiong et al. 2020, Lemma 2, for pre-LN after $l$ layers:

$(1 + \tfrac{l}{2})\,d \;\le\; \mathbb{E}\|x_l\|^2 \;\le\; (1 + \tfrac{3l}{2})\,d$ (the grey band),

and for post-LN, before the second norm of each layer: $\mathbb{E}\|x_l\|^2 = \tfrac{3}{2}\,d$ (the dotted line).
The lemma is for those two, with residual connections, in the setting of Theorem 1. Of DeepNorm and B2T, what the
second norm takes is drawn as well.
"""


def last_layer_text(norms: Mapping[str, np.ndarray], depths: Sequence[int]) -> str:
    """Text with the slopes of the norms [seed, depth] on log axes, for each variant."""
    if len(depths) < 2:
        return f"{LAST}\nOne depth has no slope: choose more layers."
    lines = ["| | slope | over the seeds |", "|---|---|---|"]
    for variant, by_seed in norms.items():
        mean, smallest, largest = (
            format_number(slope, "+.2f") for slope in gradients_at_start.slopes(depths, by_seed)
        )
        lines.append(f"| {variant} | **{mean}** | {smallest} to {largest} |")
    fitted = f"Slope of the straight line that fits the points best on these axes, L = {depths[0]} to {depths[-1]}:"
    return "\n".join([LAST, fitted, "", *lines])


def by_layer_text(norms: Mapping[str, np.ndarray]) -> str:
    """Text with the ratio of last to first layer, from norms [seed, layer], for each variant, and what all seeds say of post-LN."""
    lines = [
        "| measured here | first layer | last layer | last / first | over the seeds |",
        "|---|---|---|---|---|",
    ]
    remark = ""
    for variant, by_seed in norms.items():
        first, last, ratio = gradients_at_start.first_and_last(by_seed)
        ratios = by_seed[:, -1] / by_seed[:, 0]
        cells = [variant, format_number(first, ".3g"), format_number(last, ".3g"), f"**{ratio:.2f}**"]
        lines.append(f"| {' | '.join(cells)} | {ratios.min():.2f} to {ratios.max():.2f} |")
        if variant == "post-LN":
            remark = _growth_remark(ratios)
    return "\n".join([BY_LAYER, *lines]) + remark


def _growth_remark(ratios: np.ndarray) -> str:
    """What the ratios of last to first layer [seed] say of figure 3 of Xiong et al. 2020; "" where all seeds agree with it."""
    n, n_grows = len(ratios), int((ratios > 1).sum())
    if n_grows == n > 1:
        return ""
    if n == 1 or n_grows:
        return f"\n\n{UNDECIDED.format(n_grows=n_grows, n=counted(n, 'seed'))}"
    return f"\n\n{NOT_REPRODUCED.format(n=n)}"


def hidden_norms_text(norms: Mapping[str, np.ndarray], lemma: np.ndarray) -> str:
    """Text that compares norms [seed, layer] with the bounds and the line in `lemma` [3, layer]."""
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
    return "\n".join([HIDDEN, "Measured here:", *lines])


def met_assumptions(setting: UntrainedConfig) -> dict[str, bool]:
    """For each assumption of Theorem 1 that this page controls, as a sentence, whether the setting meets it."""
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
    """Sentence with the measured δ of the last condition of Theorem 1 of Xiong et al. 2020, for each variant."""
    deltas = ", ".join(f"{variant} {format_number(delta, '.2g')}" for variant, delta in excess.items())
    return (
        r"$\|x\|^2$ before the last norm is $(\varepsilon, \delta)$-bounded with both small. Measured at "
        rf"$\varepsilon = {gradients_at_start.EPSILON}$, $L$ the deepest: $\delta$ = {deltas}. (Xiong et al.: 0.125 "
        "in their model.)"
    )
