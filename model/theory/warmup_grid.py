"""Stored training runs on digits for a grid of learning rates and warm-ups."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..checkpoint import CHECKPOINTS
from ..files.errors import errors_in_one_sentence
from ..files.json_file import folder_and_name, read_as
from ..schema import Count, Number, PositiveCount, convert_closed
from .digit_training import N_HELD_OUT

RUNS = Path("warmup") / "runs.json"  # below the checkpoints
BATCH_SIZE = 64
N_JUDGED = N_HELD_OUT  # held-out digits on which every accuracy is measured, also of stored runs
LAST_STEPS = 20  # their mean is the final loss of a stored run


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
