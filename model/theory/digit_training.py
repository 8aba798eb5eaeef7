"""The first steps of training, small enough to run while somebody waits: digits read as 16 patches."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from ..config import DIGITS
from ..inputs.digits import examples
from ..transformer import Transformer
from . import learning_rate as schedule
from .untrained_encoder import FreshSetting, fresh

# Adam as Xiong et al. 2020 (section 3.2) and Vaswani et al. 2017 set it; no weight decay, no clipping.
BETAS = (0.9, 0.98)
N_HELD_OUT = 1000  # of the digits that come with the project, the last ones


@cache
def digits() -> tuple[Float[Tensor, "digit 28 28"], Int[Tensor, " digit"]]:
    images, labels = examples()
    return torch.from_numpy(images / np.float32(255)), torch.from_numpy(labels.astype(np.int64))


def digit_encoder(setting: FreshSetting, variant: str, n_layers: int, seed: int) -> Transformer:
    """A class token and 4×4 patches of 7×7 pixels in, ten classes out."""
    return fresh(
        setting,
        variant,
        n_layers,
        seed,
        image_size=28,
        patch_size=7,
        n_positions=17,
        class_names=DIGITS,
        positions="learned",
    )


def warmed_up(n_steps: int, peak: float, warmup: int) -> list[float]:
    """Learning rates of so many steps, which rise linearly over `warmup` of them to `peak` and stay."""
    return [schedule.learning_rate(step, n_steps, peak, warmup, falls=False) for step in range(n_steps)]


def train(model: Transformer, rates: list[float], *, batch_size: int, seed: int) -> Iterator[float]:
    """One step of Adam for each learning rate; yields the loss of the batch, taken before the step."""
    images, labels = digits()
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=BETAS, fused=True)
    for rate in rates:
        batch = torch.randint(len(images) - N_HELD_OUT, (batch_size,), generator=rng)
        optimizer.param_groups[0]["lr"] = rate
        loss = functional.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def accuracy(model: Transformer) -> float:
    """Share right of the digits that `train` leaves out."""
    images, labels = digits()
    with torch.inference_mode():
        said = model(images[-N_HELD_OUT:]).argmax(dim=-1)
    return (said == labels[-N_HELD_OUT:]).double().mean().item()
