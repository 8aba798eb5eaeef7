"""Runs on digits over a grid of learning rate and warm-up: how their records are kept, and the small ones run live."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jsonschema import Draft202012Validator

from ..checkpoint import CHECKPOINTS
from ..files import json_schema
from ..files.json_schema import COUNT, MAYBE, NUMBER, WORDS, list_of, object_of
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
    learning_rate: float
    warmup: int  # steps, 0 for none
    n_steps: int
    steps: tuple[int, ...]
    losses: tuple[float | None, ...]
    final_loss: float | None  # None where the run ended without a finite one
    accuracy: float | None  # share right on held-out examples, None where it was not measured
    precision: str = "fp32"  # in which it was trained: bf16 or fp32

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


_FIELDS = {
    "norm_placement": WORDS,
    "learning_rate": NUMBER | {"exclusiveMinimum": 0},
    "warmup": COUNT,
    "n_steps": COUNT | {"minimum": 1},
    "steps": list_of(COUNT),
    "losses": list_of(MAYBE),
    "final_loss": MAYBE,
    "accuracy": MAYBE,
}
_RUN = object_of(_FIELDS, **_FIELDS, precision={"enum": ["bf16", "fp32"]}) | {"additionalProperties": False}
_SCHEMA = Draft202012Validator(list_of(_RUN))


def read_runs(path: Path = CHECKPOINTS / RUNS) -> list[WarmupRun]:
    """The stored runs, none where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    return json_schema.read(path, _SCHEMA, lambda rows: [_run(row) for row in rows]) or []


def write_runs(path: Path, runs: list[WarmupRun]) -> None:
    rows = ",\n".join(json.dumps(asdict(run), allow_nan=False) for run in runs)  # a line a run
    json_schema.replace(path, f"[\n{rows}\n]\n")


def _run(row: dict) -> WarmupRun:
    """JSON writes whole numbers with or without their point. Before runs said their precision, all were in bf16."""
    floats = {name: _float(row[name]) for name in ("learning_rate", "final_loss", "accuracy")}
    lists = {"steps": tuple(map(int, row["steps"])), "losses": tuple(map(_float, row["losses"]))}
    return WarmupRun(**{"precision": "bf16"} | row | floats | lists)


def _float(value: float | int | None) -> float | None:
    return None if value is None else float(value)
