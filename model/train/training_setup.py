"""What a run needs besides its recipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from ..config import ModelConfig
from .starting_checkpoint import StartingCheckpoint
from .task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSetup:
    """Made by `prepare` in model/train/prepare.py."""

    config: ModelConfig
    tasks: dict[str, Task]  # by Phase.task
    probes: Sequence[str | np.ndarray]  # the inputs of the film
    probe_names: Sequence[str]
    tokenizer: Tokenizer | None
    data: dict  # which data set, how much of it
    state: Path
    device: torch.device
    start: StartingCheckpoint | None = None  # the checkpoint to go on from
