"""Runs on digits over a grid of learning rate and warm-up: how their records are kept, and the small ones run live."""

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType

from model.checkpoint import CHECKPOINTS
from model.theory.fresh import Setting
from model.theory.training import accuracy, digit_encoder, train, warmed_up

RUNS = Path("warmup") / "runs.json"  # below the checkpoints
BATCH_SIZE = 32
BATCH_SIZE_STORED = 64
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
        if not self.learning_rate > 0 or self.warmup < 0 or self.n_steps < 1:
            raise ValueError(
                "a run needs a learning rate above 0, a warm-up of at least 0 and at least 1 step, "
                f"got {self.learning_rate}, {self.warmup} and {self.n_steps}"
            )
        if self.precision not in ("bf16", "fp32"):
            raise ValueError(f"the precision of a run is bf16 or fp32, got {self.precision!r}")
        if len(self.steps) != len(self.losses):
            raise ValueError(f"{len(self.steps)} steps need as many losses, got {len(self.losses)}")
        numbers = (self.learning_rate, self.final_loss, self.accuracy, *self.losses)
        if not all(number is None or math.isfinite(number) for number in numbers):
            raise ValueError("what is not finite is written as None")


def run(
    setting: Setting,
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


def read_runs(path: Path = CHECKPOINTS / RUNS) -> list[WarmupRun]:
    """The stored runs, none where there is no file. Raises ValueError, in one sentence, where it is damaged."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list):
            raise ValueError("it must hold a list of runs")
        return [_run(row) for row in rows]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path.parent.name}/{path.name} cannot be read: {error}") from error


def write_runs(path: Path, runs: list[WarmupRun]) -> None:
    """Beside `path` first and then there, so that a kill leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    rows = ",\n".join(json.dumps(asdict(run), allow_nan=False) for run in runs)  # a line a run
    beside.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    beside.replace(path)


# What JSON may hold in each field; a number of Python's is written with or without its point.
_NUMBER, _MAYBE = (int, float), (int, float, NoneType)
_KINDS = {
    "norm_placement": (str,),
    "precision": (str,),
    "learning_rate": _NUMBER,
    "warmup": (int,),
    "n_steps": (int,),
    "final_loss": _MAYBE,
    "accuracy": _MAYBE,
}
_KINDS_OF_ITEMS = {"steps": (int,), "losses": _MAYBE}


def _run(row: object) -> WarmupRun:
    """Raises ValueError where the row is no run. Before runs said their precision, all were stored in bf16."""
    if isinstance(row, dict):
        row = {"precision": "bf16"} | row
    names = {field.name for field in fields(WarmupRun)}
    if not isinstance(row, dict) or set(row) != names:
        raise ValueError(f"a run has exactly the fields {', '.join(sorted(names))}")
    for name, kinds in _KINDS.items():
        if type(row[name]) not in kinds:
            raise ValueError(f"the {name} of a run cannot be {row[name]!r}")
        if kinds != (int,):
            row[name] = _float(row[name])
    for name, kinds in _KINDS_OF_ITEMS.items():
        if not isinstance(row[name], list) or any(type(item) not in kinds for item in row[name]):
            raise ValueError(f"the {name} of a run are not a list of numbers")
    losses = tuple(_float(loss) for loss in row["losses"])
    return WarmupRun(**row | {"steps": tuple(row["steps"]), "losses": losses})


def _float(value: str | int | float | None) -> str | float | None:
    return float(value) if isinstance(value, int) else value
