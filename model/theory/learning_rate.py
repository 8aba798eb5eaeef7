"""When things happen in a run: the learning rate by step, and the moments at which a film is taken."""

import math

import numpy as np


def learning_rate(step: int, n_steps: int, peak: float, warmup: int, *, falls: bool = True) -> float:
    """Rises linearly over `warmup` steps, then falls along half a cosine to zero, or stays."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if not falls:
        return peak
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, n_steps - warmup)))


def steps_per_epoch(n_examples: int, batch_size: int, *, drop_last: bool) -> int:
    return n_examples // batch_size if drop_last else math.ceil(n_examples / batch_size)


def moments(n_steps: int, n_moments: int) -> list[int]:
    """About `n_moments` steps from the first to the last, spaced geometrically."""
    return np.unique(np.geomspace(1, n_steps, n_moments).round().astype(int) - 1).tolist()
