"""Snapshots of an encoder during training, which a page plays back as a recording.

A snapshot holds the patterns of a few fixed inputs, the norms of gradient and residual stream by layer, the entropy of
every head, and the held-out accuracy. The snapshots of a run take about 2 MB, as safetensors.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..capture import capture
from ..loaded import Loaded
from ..measures.head_measures import mean_entropy
from ..transformer import Transformer

Snapshots = dict[str, Tensor]  # the first axis of each tensor is the snapshot


def take_snapshot(
    loaded: Loaded, probes: Sequence[str | np.ndarray], phase: int, step: int, accuracy: float
) -> Snapshots:
    """Arrays of one snapshot by name, taken after the backward pass and before the gradients are clipped.

    For the probe with index I: pattern.I [1, layer, head, query, key], uint8 in 255ths; entropy.I [1, layer, head],
    normalised, mean over queries; residual_norm.I [1, stage], mean over positions. For all: gradient_norm [1, layer],
    phase, step, accuracy.
    """
    snapshot = {
        "phase": torch.tensor([phase]),
        "step": torch.tensor([step]),
        "accuracy": torch.tensor([accuracy]),
        "gradient_norm": gradient_norm(loaded.model)[None],
    }
    for index, probe in enumerate(probes):
        record = capture(loaded, probe)
        snapshot[f"pattern.{index}"] = torch.from_numpy(np.round(record.pattern * 255).astype(np.uint8))[None]
        entropies = mean_entropy(record.pattern, record.mask).astype(np.float32)  # [layer, head]
        snapshot[f"entropy.{index}"] = torch.from_numpy(entropies)[None]
        norms = np.linalg.norm(record.residual, axis=-1).mean(axis=-1)
        snapshot[f"residual_norm.{index}"] = torch.from_numpy(norms)[None]
    return snapshot


def join_snapshots(snapshots: Sequence[Snapshots]) -> Snapshots:
    """The arrays of all snapshots by name, concatenated along the first axis."""
    return {name: torch.cat([snapshot[name] for snapshot in snapshots]) for name in snapshots[0]}


def gradient_norm(model: Transformer) -> Tensor:
    """Norm of the gradient of all parameters of a block, for each block: a tensor [layer]."""
    return torch.stack(
        [
            torch.stack([p.grad.norm() for p in block.parameters() if p.grad is not None]).norm()
            for block in model.blocks
        ]
    ).cpu()
