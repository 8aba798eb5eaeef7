"""Training runs on MNIST digits: short ones, small enough to run while a user waits, and stored ones for a grid of learning
rates and warm-ups.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from msgspec import Meta
from torch import Tensor
from torch.nn import functional

from ..checkpoint import CHECKPOINTS
from ..config import DIGITS
from ..files.content import folder_and_name, read_as
from ..files.errors import errors_in_one_sentence
from ..inputs.digits import examples
from ..schema import Count, Number, PositiveCount, convert_closed
from ..transformer import Transformer
from .gradients_at_start import UntrainedConfig, make_untrained

# Adam as Xiong et al. 2020 (section 3.2) and Vaswani et al. 2017 set it; no weight decay, no clipping.
BETAS = (0.9, 0.98)
N_HELD_OUT = 1000  # the last of the digits that come with the project
RUNS = Path("warmup") / "runs.json"  # below the checkpoints
GRID_BATCH_SIZE = 64
N_JUDGED = N_HELD_OUT  # held-out digits on which every accuracy is measured, also of stored runs
LAST_STEPS = 20  # their mean is the final loss of a stored run


@cache
def digit_tensors() -> tuple[Float[Tensor, "digit 28 28"], Int[Tensor, " digit"]]:
    """Images of the example digits, with values from 0 to 1, and their labels."""
    images, labels = examples()
    return torch.from_numpy(images / np.float32(255)), torch.from_numpy(labels.astype(np.int64))


def digit_encoder(setting: UntrainedConfig, variant: str, n_layers: int, seed: int) -> Transformer:
    """An untrained encoder of digits, with a class token, 4×4 patches of 7×7 pixels, and ten classes."""
    return make_untrained(
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


def warmup_rates(n_steps: int, peak: float, warmup: int) -> list[float]:
    """Learning rate of each of `n_steps` steps: a linear rise to `peak` over `warmup` steps, then constant."""
    return [learning_rate(step, n_steps, peak, warmup, falls=False) for step in range(n_steps)]


def train_steps(model: Transformer, rates: list[float], *, batch_size: int, seed: int) -> Iterator[float]:
    """Trains on digits with one step of Adam for each of the learning `rates`; yields each batch's loss (nats) before its step."""
    images, labels = digit_tensors()
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
    """How far the output has changed after each training step t from 0 to `n_steps`: ‖F(x, θ_t) − F(x, θ_0)‖.

    F is the final state [d_model] before the classifier; the norm is averaged over positions of held-out digits. The
    learning rate rises linearly over `warmup` steps and then stays constant. DeepNet (Wang et al. 2022, "DeepNet: Scaling
    Transformers to 1,000 Layers", section 3) attributes the instability of post-LN to this change rather than to the size of
    the gradients.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupRun:
    """A training run whose learning rate rises linearly to `learning_rate` over `warmup` steps and is then constant.

    `losses[i]` is the training loss at step `steps[i]`; None if the loss was not finite. Raises ValueError if steps and
    losses differ in number, or a value is not finite.
    """

    norm_placement: str
    learning_rate: Annotated[float, Meta(gt=0, le=1e300)]
    warmup: Count  # steps, 0 for none
    n_steps: PositiveCount
    steps: tuple[Count, ...]
    losses: tuple[Number | None, ...]
    final_loss: Number | None  # None where the run ended without a finite one
    accuracy: Number | None  # share right on held-out examples, None where it was not measured
    precision: Literal["bf16", "fp32"]  # in which it was trained

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.losses):
            raise ValueError(f"{len(self.steps)} steps need as many losses, got {len(self.losses)}")
        numbers = (self.learning_rate, self.final_loss, self.accuracy, *self.losses)
        if not all(number is None or math.isfinite(number) for number in numbers):
            raise ValueError("what is not finite is written as None")


def read_runs(path: Path = CHECKPOINTS / RUNS) -> list[WarmupRun]:
    """The stored runs; an empty list if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    rows = read_as(path, list[dict[str, Any]]) or []
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        runs: list[WarmupRun] = convert_closed(rows, list[WarmupRun])
        return runs


def learning_rate(step: int, n_steps: int, peak: float, warmup: int, *, falls: bool = True) -> float:
    """Learning rate at `step`: linear warm-up to `peak`, then half a cosine down to zero if it `falls`, else constant."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if not falls:
        return peak
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, n_steps - warmup)))


def steps_per_epoch(n_examples: int, batch_size: int, *, drop_last: bool) -> int:
    """Number of batches in an epoch; with `drop_last` an incomplete last batch is not counted."""
    return n_examples // batch_size if drop_last else math.ceil(n_examples / batch_size)


def geometric_steps(n_steps: int, n_moments: int) -> list[int]:
    """About `n_moments` step numbers, from the first to the last step, spaced geometrically."""
    return np.unique(np.geomspace(1, n_steps, n_moments).round().astype(int) - 1).tolist()
