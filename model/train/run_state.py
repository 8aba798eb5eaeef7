"""State of a training run on disk, from which it resumes after it was interrupted.

It is one safetensors file, which is replaced as a whole: tensors of model, optimisers and snapshots, and the log as
metadata. No state of a random generator is stored, because every step is seeded by (seed, step).
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from ..files.content import replacement_file
from .snapshot import Snapshots, join_snapshots
from .step import Precision

JSON_FIELDS = (
    "recipe",
    "precision",
    "phase",
    "step",
    "log",
    "evaluations",
)  # of Progress, without its tensors


@dataclass(slots=True)
class Progress:
    """Phase and step of a training run, and everything that it has recorded so far."""

    recipe: dict
    precision: Precision | None = None  # not chosen yet, before the first step
    phase: int = 0
    step: int = 0
    log: list[dict] = field(default_factory=list)
    evaluations: list[dict] = field(default_factory=list)
    film: Snapshots | None = None

    def add_snapshot(self, snapshot: Snapshots) -> None:
        """Appends one snapshot to the recording."""
        self.film = snapshot if self.film is None else join_snapshots((self.film, snapshot))


def save_state(path: Path, progress: Progress, model: nn.Module, optimizers: list[Optimizer]) -> None:
    """Replaces the file at `path` with the current state."""
    # parameters, not the state dictionary: each only once, even if two modules share it
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in model.named_parameters()}
    for number, optimizer in enumerate(optimizers):
        for index, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{index}.{name}": value for name, value in values.items()}
    tensors |= {f"film.{name}": value for name, value in (progress.film or {}).items()}
    metadata = {name: getattr(progress, name) for name in JSON_FIELDS}
    contiguous_tensors = {name: value.contiguous() for name, value in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacement_file(path) as temporary:
        save_file(contiguous_tensors, temporary, {"progress": json.dumps(metadata)})


def phase_of(path: Path) -> int:
    """Index of the phase in which a run was stopped; 0 if there is no file."""
    if not path.exists():
        return 0
    with safe_open(path, "pt") as file:
        return json.loads(file.metadata()["progress"])["phase"]


def load_state(path: Path, model: nn.Module, optimizers: list[Optimizer], recipe: dict) -> Progress:
    """Loads model and optimisers from the file, and returns the progress; a new `Progress` if there is no file.

    Raises ValueError if the file belongs to a run by another recipe.
    """
    if not path.exists():
        return Progress(recipe=recipe)
    with safe_open(path, "pt") as file:
        progress = Progress(**json.loads(file.metadata()["progress"]))
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if progress.recipe != json.loads(json.dumps(recipe)):
        raise ValueError(f"{path} is of a run by another recipe; --fresh starts over")
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in _with_prefix("model.", tensors).items():
            parameters[name].copy_(value)
    for number, optimizer in enumerate(optimizers):
        state_by_parameter: dict[int, dict[str, Tensor]] = {}
        for name, value in _with_prefix(f"optimizer.{number}.", tensors).items():
            index, _, key = name.partition(".")
            state_by_parameter.setdefault(int(index), {})[key] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state_by_parameter})
    progress.film = _with_prefix("film.", tensors) or None
    return progress


def _with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, by their names without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
