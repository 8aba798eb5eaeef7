"""Gradients and hidden norms of fresh encoders, before any training.

What is measured here is what Theorem 1 and Lemma 2 of Xiong et al. 2020 are about ("On Layer Normalization
in the Transformer Architecture", section 3.3): vectors from a Gaussian go in, each output predicts a random
word through the word embeddings, and the loss of a sequence is the mean over its positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch.nn import functional

from ..hooks import watch
from .untrained_encoder import FreshSetting, fresh

N_SEQUENCES, N_POSITIONS, VOCABULARY = 32, 16, 1024
DEPTHS = (2, 3, 4, 6, 8, 12, 16, 24)
EPSILON = 0.1  # as Xiong et al. took it, section 3.4


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStart:
    """One fresh encoder; layers from the first to the last.

    `gradient` is the mean over sequences of ‖∂L/∂W²‖_F, `mean_gradient` the norm of the mean over sequences
    of ∂L/∂W², where W² is the second matrix of the layer's feed-forward.
    `hidden` is the mean over positions of ‖x‖², as Lemma 2 takes it: in pre-LN of the residual stream behind
    the layer, otherwise of what the last norm of the layer takes.
    `excess` is the share of positions at which ‖x‖² before the last norm of all is over its mean by more
    than `EPSILON` of it: the δ of "(ε, δ)-bounded" in Theorem 1.
    """

    gradient: Float64[np.ndarray, " layer"]
    mean_gradient: Float64[np.ndarray, " layer"]
    hidden: Float64[np.ndarray, " layer"]
    excess: float


def at_start(setting: FreshSetting, variant: str, n_layers: int, seed: int) -> AtStart:
    """Measures one encoder on `N_SEQUENCES` sequences; weights and data are those of `seed`."""
    model = fresh(
        setting, variant, n_layers, seed, vocab_size=VOCABULARY, n_positions=N_POSITIONS, class_names=()
    )
    rng = torch.Generator().manual_seed(seed)
    inputs = torch.randn(N_SEQUENCES, N_POSITIONS, setting.d_model, generator=rng)
    targets = torch.randint(VOCABULARY, inputs.shape[:2], generator=rng)
    hidden: list[torch.Tensor] = []
    fed: list[torch.Tensor] = []
    norms: list[torch.Tensor] = []
    watchers = {"embedding.output": lambda _: inputs}
    for layer, block in enumerate(model.blocks):
        watchers[f"blocks.{layer}.feed_forward.hidden"] = hidden.append
        watchers[f"blocks.{layer}.feed_forward_out"] = fed.append
        if model.config.norm_placement == "pre":
            watchers[f"blocks.{layer}.resid_post"] = lambda x: norms.append(_squared(x))
        else:  # no hook point stands before a norm, but this encoder is nobody else's
            block.norm_feed_forward.register_forward_pre_hook(lambda _, x: norms.append(_squared(x[0])))
    with watch(model, watchers):
        states = model.encode(torch.zeros_like(targets))
    logits = states @ model.embedding.tokens.weight.T
    # Summed over the sequences, so that the gradient at each is that of its own loss.
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / N_POSITIONS
    at_output = torch.autograd.grad(loss, fed)
    gradients = [
        torch.einsum("bpo,bph->boh", delta, activation.detach())
        for delta, activation in zip(at_output, hidden, strict=True)
    ]
    last = norms[-1]
    return AtStart(
        gradient=np.array([each.flatten(1).norm(dim=1).mean().item() for each in gradients]),
        mean_gradient=np.array([each.mean(dim=0).norm().item() for each in gradients]),
        hidden=np.array([each.mean().item() for each in norms]),
        excess=(last > (1 + EPSILON) * last.mean()).double().mean().item(),
    )


def _squared(x: torch.Tensor) -> torch.Tensor:
    return x.detach().square().sum(dim=-1)


def depths_to(deepest: int) -> tuple[int, ...]:
    """The depths of a sweep, about evenly spaced on a log axis."""
    return (*(depth for depth in DEPTHS if depth < deepest), deepest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Encoders of all depths up to the deepest, each from several seeds; all but the first field of the deepest alone."""

    last_gradient: Float64[np.ndarray, "seed depth"]  # `AtStart.gradient` of the last layer
    gradient: Float64[np.ndarray, "seed layer"]
    mean_gradient: Float64[np.ndarray, "seed layer"]
    hidden: Float64[np.ndarray, "seed layer"]
    excess: float  # mean over the seeds


def one_seed(setting: FreshSetting, variant: str, deepest: int, seed: int) -> list[AtStart]:
    """One encoder a depth."""
    return [at_start(setting, variant, depth, seed) for depth in depths_to(deepest)]


def of_seeds(found: Sequence[list[AtStart]]) -> Sweep:
    """Of what `one_seed` measured for each seed, at least one."""
    arrays = {
        name: np.array([getattr(depths[-1], name) for depths in found])
        for name in ("gradient", "mean_gradient", "hidden")
    }
    last = np.array([[depth.gradient[-1] for depth in depths] for depths in found])
    excess = float(np.mean([depths[-1].excess for depths in found]))
    return Sweep(last_gradient=last, excess=excess, **arrays)


# What is said of the norms of several seeds


def slopes(depths: Sequence[int], norms: Float[np.ndarray, "seed depth"]) -> tuple[float, float, float]:
    """Mean, least and largest over the seeds of the slope of the straight line through the logarithms.

    Least squares: p where norm ∝ depth^p.
    """
    found = np.polyfit(np.log(depths), np.log(norms).T, 1)[0]
    return float(found.mean()), float(found.min()), float(found.max())


def ends(norms: Float[np.ndarray, "seed layer"]) -> tuple[float, float, float]:
    """The mean over the seeds in the first and in the last layer, and the last over the first."""
    first, last = norms.mean(axis=0)[[0, -1]].tolist()
    return first, last, last / first


def extent(norms: Float[np.ndarray, "seed layer"]) -> tuple[float, float]:
    """The least and the largest of the layers' means over the seeds."""
    mean = norms.mean(axis=0)
    return float(mean.min()), float(mean.max())


def lemma_2(n_layers: int, d_model: int) -> Float64[np.ndarray, "3 layer"]:
    """Pre-LN's lower and upper bound of E‖x‖² behind layers 1 to `n_layers`, and post-LN's 3d/2."""
    layer = np.arange(1, n_layers + 1)
    return d_model * np.array([1 + layer / 2, 1 + 3 * layer / 2, np.full(n_layers, 1.5)])


def n_inside_band(norms: Float[np.ndarray, "seed layer"], lemma: Float[np.ndarray, "3 layer"]) -> int:
    """Behind how many layers the mean over the seeds keeps both of pre-LN's bounds, as `lemma_2` gives them."""
    mean = norms.mean(axis=0)
    return int(((lemma[0] <= mean) & (mean <= lemma[1])).sum())


def furthest_from_line(norms: Float[np.ndarray, "seed layer"], lemma: Float[np.ndarray, "3 layer"]) -> float:
    """The largest deviation over the layers of the mean over the seeds from post-LN's line, as a share of the line."""
    return float(np.abs(norms.mean(axis=0) / lemma[2] - 1).max())
