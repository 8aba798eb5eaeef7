"""Learning-rate schedule of a training run, and the steps at which the run is recorded."""

import math

import numpy as np


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
