"""How far the first steps of training carry the output of an encoder away from where it began.

DeepNet (Wang et al. 2022, "DeepNet: Scaling Transformers to 1,000 Layers", section 3) holds that this, and not
the size of the gradients, is what makes post-LN unstable.
"""

import numpy as np
import torch
from jaxtyping import Float, Float64

from .digit_training import digit_encoder, digits, train, warmed_up
from .untrained_encoder import FreshSetting

N_PROBES, BATCH_SIZE = 16, 32


def model_update(
    setting: FreshSetting,
    variant: str,
    n_layers: int,
    *,
    learning_rate: float,
    warmup: int,
    n_steps: int,
    seed: int,
) -> Float64[np.ndarray, " step"]:
    """‖F(x, θ_t) − F(x, θ_0)‖ for t from 0 to `n_steps`, the mean over the positions of some held-out digits.

    F is what the last layer hands to the classifier, a vector of `d_model` at each position. The learning
    rate rises linearly over `warmup` steps and then stays.
    """
    model = digit_encoder(setting, variant, n_layers, seed)
    probes = digits()[0][-N_PROBES:]
    with torch.no_grad():
        start = model.encode(probes)
    rates = warmed_up(n_steps, learning_rate, warmup)
    moved = [0.0]
    for _ in train(model, rates, batch_size=BATCH_SIZE, seed=seed):
        with torch.no_grad():
            moved.append((model.encode(probes) - start).norm(dim=-1).mean().item())
    return np.array(moved)


def after_first_and_last(updates: Float[np.ndarray, "seed step"]) -> tuple[float, float]:
    """Of what `model_update` found for several seeds: the means over them after one step and after all steps."""
    mean = updates.mean(axis=0)
    return float(mean[1]), float(mean[-1])
