"""What a training run needs in addition to its recipe: data, tasks and files."""

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
    """Data, tasks and files of a training run, as `model.train.prepare.prepare` returns them."""

    config: ModelConfig
    tasks: dict[str, Task]  # by Phase.task
    probes: Sequence[str | np.ndarray]  # inputs whose patterns the snapshots hold
    probe_names: Sequence[str]
    tokenizer: Tokenizer | None
    data: dict  # which data set, how much of it
    state: Path
    device: torch.device
    start: StartingCheckpoint | None = None  # the checkpoint to train further
