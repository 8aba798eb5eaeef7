"""How far the first training steps move the output of an encoder.

DeepNet (Wang et al. 2022, "DeepNet: Scaling Transformers to 1,000 Layers", section 3) attributes the instability of
post-LN to this movement rather than to the size of the gradients.
"""

import numpy as np
import torch
from jaxtyping import Float, Float64

from .digit_training import digit_encoder, digit_tensors, train_steps, warmup_rates
from .untrained_encoder import UntrainedConfig

N_PROBES, BATCH_SIZE = 16, 32


def model_update(
    setting: UntrainedConfig,
    variant: str,
    n_layers: int,
    *,
    learning_rate: float,
    warmup: int,
    n_steps: int,
    seed: int,
) -> Float64[np.ndarray, " step"]:
    """How far training has moved the output after each step t from 0 to `n_steps`: ‖F(x, θ_t) − F(x, θ_0)‖.

    F is the final state [d_model] before the classifier; the norm is averaged over positions of held-out digits. The
    learning rate rises linearly over `warmup` steps and then stays constant.
    """
    model = digit_encoder(setting, variant, n_layers, seed)
    probes = digit_tensors()[0][-N_PROBES:]
    with torch.no_grad():
        initial_output = model.encode(probes)
    rates = warmup_rates(n_steps, learning_rate, warmup)
    updates = [0.0]
    for _ in train_steps(model, rates, batch_size=BATCH_SIZE, seed=seed):
        with torch.no_grad():
            updates.append((model.encode(probes) - initial_output).norm(dim=-1).mean().item())
    return np.array(updates)


def mean_first_and_last(updates: Float[np.ndarray, "seed step"]) -> tuple[float, float]:
    """Mean over the seeds of the update (`model_update`) after the first step, and after the last step."""
    mean_updates = updates.mean(axis=0)
    return float(mean_updates[1]), float(mean_updates[-1])
