"""Runs on digits over a grid of learning rate and warm-up: how their records are kept, and the small ones run live."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..checkpoint import CHECKPOINTS
from ..files.errors import one_sentence
from ..files.json_file import folder_and_name, read_as, replace_text
from ..schema import Count, Number, PositiveCount, convert_closed
from .digit_training import N_HELD_OUT, accuracy, digit_encoder, train, warmed_up
from .untrained_encoder import FreshSetting

RUNS = Path("warmup") / "runs.json"  # below the checkpoints
BATCH_SIZE = 32
BATCH_SIZE_STORED = 64
GUESSING = math.log(10)  # the loss of saying every digit alike, in nats
N_JUDGED = N_HELD_OUT  # digits of which every accuracy is, of stored runs too
LAST_STEPS_STORED = 20  # their mean is the final loss of a stored run


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupRun:
    """One training run: the learning rate rises linearly over `warmup` steps to `learning_rate` and stays.

    `losses[i]` is the training loss at step `steps[i]`; None where it was no finite number any more.
    Raises ValueError where the values contradict each other.
    """

    norm_placement: str
    learning_rate: Annotated[float, Meta(gt=0, le=1e300)]
    warmup: Count  # steps, 0 for none
    n_steps: PositiveCount
    steps: tuple[Count, ...]
    losses: tuple[Number | None, ...]
    final_loss: Number | None  # None where the run ended without a finite one
    accuracy: Number | None  # share right on held-out examples, None where it was not measured
    precision: Literal["bf16", "fp32"] = "fp32"  # in which it was trained

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.losses):
            raise ValueError(f"{len(self.steps)} steps need as many losses, got {len(self.losses)}")
        numbers = (self.learning_rate, self.final_loss, self.accuracy, *self.losses)
        if not all(number is None or math.isfinite(number) for number in numbers):
            raise ValueError("what is not finite is written as None")


def run(
    setting: FreshSetting,
    variant: str,
    n_layers: int,
    *,
    learning_rate: float,
    warmup: int,
    n_steps: int,
    seed: int,
) -> WarmupRun:
    """Trains a small encoder on digits; ends at the first loss that is no finite number.

    The final loss is the mean over the last tenth of the steps.
    """
    model = digit_encoder(setting, variant, n_layers, seed)
    rates = warmed_up(n_steps, learning_rate, warmup)
    losses: list[float | None] = []
    for loss in train(model, rates, batch_size=BATCH_SIZE, seed=seed):
        losses.append(loss if math.isfinite(loss) else None)
        if losses[-1] is None:
            break
    last = losses[-max(1, n_steps // 10) :]
    return WarmupRun(
        norm_placement=model.config.norm_placement,
        learning_rate=learning_rate,
        warmup=warmup,
        n_steps=n_steps,
        steps=tuple(range(len(losses))),
        losses=tuple(losses),
        final_loss=None if None in last else math.fsum(last) / len(last),
        accuracy=None if None in last else accuracy(model),
    )


def telling_rate(runs: Sequence[WarmupRun]) -> float:
    """The learning rate at which warm-up changes the accuracy of some placement most; of several, the smallest.

    Where no accuracies were measured, the smallest of all rates. ValueError where there are no runs.
    """
    reached: dict[tuple[float, str], list[float]] = {}
    for run in runs:
        reached.setdefault((run.learning_rate, run.norm_placement), []).append(run.accuracy or 0.0)
    apart = {place: max(found) - min(found) for place, found in reached.items()}
    return min(apart, key=lambda place: (-apart[place], place[0]))[0]


def end_of_scale(losses: Iterable[float | None]) -> float:
    """Where colours and axes of losses end: at the largest, but from that of guessing to twice as much."""
    largest = max((loss for loss in losses if loss is not None), default=0.0)
    return min(max(largest, GUESSING), 2 * GUESSING)


def read_runs(path: Path = CHECKPOINTS / RUNS) -> list[WarmupRun]:
    """The stored runs, none where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    rows = read_as(path, list[dict[str, Any]]) or []
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        # before runs named their precision, all were in bf16
        runs: list[WarmupRun] = convert_closed([{"precision": "bf16"} | row for row in rows], list[WarmupRun])
        return runs


def write_runs(path: Path, runs: list[WarmupRun]) -> None:
    rows = ",\n".join(json.dumps(asdict(run), allow_nan=False) for run in runs)  # a line a run
    replace_text(path, f"[\n{rows}\n]\n")
