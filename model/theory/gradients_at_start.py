"""Gradients and norms of states in untrained encoders, which differ only in norm placement and depth.

They test Theorem 1 and Lemma 2 of Xiong et al. 2020 ("On Layer Normalization in the Transformer Architecture", section
3.3): the inputs are Gaussian vectors, each output predicts a random word through the word embeddings, and the loss of a
sequence is the mean over its positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import nn
from torch.nn import functional

from ..config import ModelConfig
from ..device import torch_seed
from ..hooks import Watcher, watch
from ..transformer import Transformer

# Fields of the configuration, by the name on screen.
VARIANTS: dict[str, dict[str, Any]] = {
    "pre-LN": {"norm_placement": "pre", "final_norm": True},
    "post-LN": {"norm_placement": "post", "final_norm": False},
    "DeepNorm": {"norm_placement": "deepnorm", "final_norm": False},
    "B2T": {"norm_placement": "b2t", "final_norm": False},
    "pre-LN without residual": {"norm_placement": "pre", "final_norm": True, "residual": False},
    "post-LN without residual": {"norm_placement": "post", "final_norm": False, "residual": False},
}
Initialisation = Literal["theory", "Xavier"]
N_SEQUENCES, N_POSITIONS, VOCABULARY = 32, 16, 1024
DEPTHS = (2, 3, 4, 6, 8, 12, 16, 24)
EPSILON = 0.1  # as Xiong et al. took it, section 3.4


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedConfig:
    """Sizes and initialisation of all untrained encoders that are compared with each other.

    The initialisation "theory" is that of Xiong et al. 2020 (section 3.3): W_Q = W_K = 0, and the other matrices are
    Gaussian with variance 2 / (n_in + n_out). Their attention has no W_O, so here W_O is the identity. "Xavier" is the
    initialisation of all trained encoders here: all matrices are uniform with the same variance.
    """

    d_model: int = 64
    n_heads: int = 4
    expansion: int = 1  # d_ff / d_model
    initialisation: Initialisation = "theory"
    gain: float = 1.0  # on every matrix of the layers


def make_untrained(
    setting: UntrainedConfig, variant: str, n_layers: int, seed: int, **fields: Any
) -> Transformer:
    """An untrained encoder; `fields` are those of `ModelConfig` for its input, such as `vocab_size` or `image_size`."""
    d_head = setting.d_model // setting.n_heads
    config = ModelConfig(
        d_model=setting.d_model,
        n_layers=n_layers,
        n_heads=setting.n_heads,
        d_k=d_head,
        d_v=d_head,
        d_ff=setting.d_model * setting.expansion,
        activation="relu",
        **VARIANTS[variant],
        **fields,
    )
    with torch_seed(seed), torch.no_grad():
        model = Transformer(config)
        if setting.initialisation == "theory":
            _initialise_as_in_theory(model)
        for block in model.blocks:
            for module in block.modules():
                if isinstance(module, nn.Linear):
                    module.weight.mul_(setting.gain)
    return model.eval()


def _initialise_as_in_theory(model: Transformer) -> None:
    for block in model.blocks:
        attention, feed_forward = block.attention, block.feed_forward
        for linear in (attention.w_q, attention.w_k):
            nn.init.zeros_(linear.weight)
        for linear in (attention.w_v, feed_forward.expand, feed_forward.contract):
            nn.init.xavier_normal_(linear.weight)
        nn.init.eye_(attention.w_o.weight)
    if model.config.norm_placement == "deepnorm":
        model.shrink_sublayers()


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialNorms:
    """Norms in one untrained encoder, for each layer from the first to the last.

    `gradient` is the mean over sequences of ‖∂L/∂W²‖_F, `mean_gradient` the norm of the mean over sequences of ∂L/∂W²,
    where W² is the second matrix of the layer's feed-forward. `hidden` is the mean over positions of ‖x‖² as in Lemma 2: in
    pre-LN of the residual stream after the layer, otherwise of the input of the layer's last norm. `excess` is the share of
    positions at which ‖x‖² before the very last norm is more than 1 + `EPSILON` times its mean: the δ of "(ε, δ)-bounded"
    in Theorem 1.
    """

    gradient: Float64[np.ndarray, " layer"]
    mean_gradient: Float64[np.ndarray, " layer"]
    hidden: Float64[np.ndarray, " layer"]
    excess: float


def initial_norms(setting: UntrainedConfig, variant: str, n_layers: int, seed: int) -> InitialNorms:
    """Measures the norms of one untrained encoder on random sequences; `seed` determines both weights and data."""
    model = make_untrained(
        setting, variant, n_layers, seed, vocab_size=VOCABULARY, n_positions=N_POSITIONS, class_names=()
    )
    rng = torch.Generator().manual_seed(seed)
    inputs = torch.randn(N_SEQUENCES, N_POSITIONS, setting.d_model, generator=rng)
    targets = torch.randint(VOCABULARY, inputs.shape[:2], generator=rng)
    hidden: list[torch.Tensor] = []
    outputs: list[torch.Tensor] = []
    squared_norms: list[torch.Tensor] = []
    watchers: dict[str, Watcher] = {"embedding.output": lambda _: inputs}
    for layer, block in enumerate(model.blocks):
        watchers[f"blocks.{layer}.feed_forward.hidden"] = hidden.append
        watchers[f"blocks.{layer}.feed_forward_out"] = outputs.append
        if model.config.norm_placement == "pre":
            watchers[f"blocks.{layer}.resid_post"] = lambda x: squared_norms.append(_squared_norms(x))
        else:  # no hook point stands before a norm, but this encoder is nobody else's
            block.norm_feed_forward.register_forward_pre_hook(
                lambda _, x: squared_norms.append(_squared_norms(x[0]))
            )
    with watch(model, watchers):
        states = model.encode(torch.zeros_like(targets))
    logits = states @ model.embedding.tokens.weight.T
    # Summed over the sequences, so that the gradient at each is that of its own loss.
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / N_POSITIONS
    output_gradients = torch.autograd.grad(loss, outputs)
    gradients = [
        torch.einsum("bpo,bph->boh", delta, activation.detach())
        for delta, activation in zip(output_gradients, hidden, strict=True)
    ]
    final_squared_norms = squared_norms[-1]
    return InitialNorms(
        gradient=np.array([values.flatten(1).norm(dim=1).mean().item() for values in gradients]),
        mean_gradient=np.array([values.mean(dim=0).norm().item() for values in gradients]),
        hidden=np.array([values.mean().item() for values in squared_norms]),
        excess=(final_squared_norms > (1 + EPSILON) * final_squared_norms.mean()).double().mean().item(),
    )


def _squared_norms(x: torch.Tensor) -> torch.Tensor:
    return x.detach().square().sum(dim=-1)


def sweep_depths(deepest: int) -> tuple[int, ...]:
    """Numbers of layers up to `deepest`, about evenly spaced on a logarithmic axis."""
    return (*(depth for depth in DEPTHS if depth < deepest), deepest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`InitialNorms` of untrained encoders, for several seeds.

    `last_gradient` has a value for each depth; all other fields are those of the deepest encoder.
    """

    last_gradient: Float64[np.ndarray, "seed depth"]  # `InitialNorms.gradient` of the last layer
    gradient: Float64[np.ndarray, "seed layer"]
    mean_gradient: Float64[np.ndarray, "seed layer"]
    hidden: Float64[np.ndarray, "seed layer"]
    excess: float  # mean over the seeds


def norms_by_depth(setting: UntrainedConfig, variant: str, deepest: int, seed: int) -> list[InitialNorms]:
    """Norms of an untrained encoder of each depth in `sweep_depths(deepest)`."""
    return [initial_norms(setting, variant, depth, seed) for depth in sweep_depths(deepest)]


def combine_seeds(results: Sequence[list[InitialNorms]]) -> Sweep:
    """One `Sweep` from the results of `norms_by_depth` for one or more seeds."""
    arrays = {
        name: np.array([getattr(norms_of_seed[-1], name) for norms_of_seed in results])
        for name in ("gradient", "mean_gradient", "hidden")
    }
    last_gradient = np.array(
        [[encoder_norms.gradient[-1] for encoder_norms in norms_of_seed] for norms_of_seed in results]
    )
    excess = float(np.mean([norms_of_seed[-1].excess for norms_of_seed in results]))
    return Sweep(last_gradient=last_gradient, excess=excess, **arrays)


# Summaries over seeds


def slopes(depths: Sequence[int], norms: Float[np.ndarray, "seed depth"]) -> tuple[float, float, float]:
    """Slope p of norm ∝ depth^p, fitted by least squares on logarithmic axes: mean, smallest and largest over the seeds."""
    slope_by_seed = np.polyfit(np.log(depths), np.log(norms).T, 1)[0]
    return float(slope_by_seed.mean()), float(slope_by_seed.min()), float(slope_by_seed.max())


def first_and_last(norms: Float[np.ndarray, "seed layer"]) -> tuple[float, float, float]:
    """Norm in the first layer and in the last layer, both means over the seeds, and the ratio of last to first."""
    first, last = norms.mean(axis=0)[[0, -1]].tolist()
    return first, last, last / first


def layer_range(norms: Float[np.ndarray, "seed layer"]) -> tuple[float, float]:
    """Smallest and largest norm over the layers, after averaging over the seeds."""
    mean_norms = norms.mean(axis=0)
    return float(mean_norms.min()), float(mean_norms.max())


def lemma_2(n_layers: int, d_model: int) -> Float64[np.ndarray, "3 layer"]:
    """Bounds of E‖x‖² in Lemma 2, after layers 1 to `n_layers`.

    The first two rows are the lower and the upper bound for pre-LN, the third is 3d/2, the value for post-LN.
    """
    layer = np.arange(1, n_layers + 1)
    return d_model * np.array([1 + layer / 2, 1 + 3 * layer / 2, np.full(n_layers, 1.5)])


def n_inside_band(norms: Float[np.ndarray, "seed layer"], lemma: Float[np.ndarray, "3 layer"]) -> int:
    """Number of layers whose norm, averaged over the seeds, lies within the pre-LN bounds of `lemma`, the result of `lemma_2`."""
    mean_norms = norms.mean(axis=0)
    return int(((lemma[0] <= mean_norms) & (mean_norms <= lemma[1])).sum())


def furthest_from_line(norms: Float[np.ndarray, "seed layer"], lemma: Float[np.ndarray, "3 layer"]) -> float:
    """Largest relative difference over the layers between `norms`, averaged over the seeds, and 3d/2, the third row of `lemma`."""
    return float(np.abs(norms.mean(axis=0) / lemma[2] - 1).max())
