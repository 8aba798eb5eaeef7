"""Training runs on digits for a grid of learning rates and warm-ups: stored runs, and short runs while a user waits."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..checkpoint import CHECKPOINTS
from ..files.errors import errors_in_one_sentence
from ..files.json_file import folder_and_name, read_as, replace_text
from ..schema import Count, Number, PositiveCount, convert_closed
from .digit_training import N_HELD_OUT, digit_encoder, held_out_accuracy, train_steps, warmup_rates
from .untrained_encoder import UntrainedConfig

RUNS = Path("warmup") / "runs.json"  # below the checkpoints
BATCH_SIZE = 32
BATCH_SIZE_STORED = 64
GUESSING = math.log(10)  # the loss in nats of giving every digit the same probability
N_JUDGED = N_HELD_OUT  # held-out digits on which every accuracy is measured, also of stored runs
LAST_STEPS_STORED = 20  # their mean is the final loss of a stored run


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


def train_once(
    setting: UntrainedConfig,
    variant: str,
    n_layers: int,
    *,
    learning_rate: float,
    warmup: int,
    n_steps: int,
    seed: int,
) -> WarmupRun:
    """Trains a small encoder on digits, up to the last step or the first loss that is not finite; returns the run.

    The final loss is the mean over the last tenth of the steps, None if the run diverged.
    """
    model = digit_encoder(setting, variant, n_layers, seed)
    rates = warmup_rates(n_steps, learning_rate, warmup)
    losses: list[float | None] = []
    for loss in train_steps(model, rates, batch_size=BATCH_SIZE, seed=seed):
        losses.append(loss if math.isfinite(loss) else None)
        if losses[-1] is None:
            break
    last_losses = [loss for loss in losses[-max(1, n_steps // 10) :] if loss is not None]
    has_diverged = losses[-1] is None
    return WarmupRun(
        norm_placement=model.config.norm_placement,
        learning_rate=learning_rate,
        warmup=warmup,
        n_steps=n_steps,
        steps=tuple(range(len(losses))),
        losses=tuple(losses),
        final_loss=None if has_diverged else math.fsum(last_losses) / len(last_losses),
        accuracy=None if has_diverged else held_out_accuracy(model),
        precision="fp32",
    )


def most_affected_rate(runs: Sequence[WarmupRun]) -> float:
    """Learning rate at which the accuracy of a norm placement depends most on warm-up; the smallest such rate.

    It is the smallest rate of all if no accuracies were measured. Raises ValueError if there are no runs.
    """
    accuracies: dict[tuple[float, str], list[float]] = {}
    for run in runs:
        accuracies.setdefault((run.learning_rate, run.norm_placement), []).append(run.accuracy or 0.0)
    accuracy_ranges = {
        rate_and_placement: max(values) - min(values) for rate_and_placement, values in accuracies.items()
    }
    return min(
        accuracy_ranges,
        key=lambda rate_and_placement: (-accuracy_ranges[rate_and_placement], rate_and_placement[0]),
    )[0]


def loss_scale_limit(losses: Iterable[float | None]) -> float:
    """Upper limit of axes and colour scales of losses: the largest loss, but at least that of guessing, and at most twice it."""
    largest = max((loss for loss in losses if loss is not None), default=0.0)
    return min(max(largest, GUESSING), 2 * GUESSING)


def read_runs(path: Path = CHECKPOINTS / RUNS) -> list[WarmupRun]:
    """The stored runs; an empty list if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    rows = read_as(path, list[dict[str, Any]]) or []
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        runs: list[WarmupRun] = convert_closed(rows, list[WarmupRun])
        return runs


def write_runs(path: Path, runs: list[WarmupRun]) -> None:
    """Writes the runs as JSON, one per line."""
    rows = ",\n".join(json.dumps(asdict(run), allow_nan=False) for run in runs)  # a line a run
    replace_text(path, f"[\n{rows}\n]\n")
