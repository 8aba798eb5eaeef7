"""A run's state on disk, so that it can be killed at any time and goes on where it was.

One safetensors file, replaced as a whole: tensors of the model, the optimizer and the film; the log as
metadata. There is no random state in it, because every step draws from (seed, step).
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from ..files.writing import replacing
from ..transformer import Transformer
from .snapshot import Snapshots, join_snapshots
from .step import Precision


@dataclass(slots=True)
class Progress:
    """Where a run is: the phase, the step in it, and what was recorded so far."""

    recipe: dict
    precision: Precision | None = None  # not chosen yet, before the first step
    phase: int = 0
    step: int = 0
    log: list[dict] = field(default_factory=list)
    evaluations: list[dict] = field(default_factory=list)
    film: Snapshots | None = None

    def add_shot(self, shot: Snapshots) -> None:
        self.film = shot if self.film is None else join_snapshots((self.film, shot))


def save_state(path: Path, progress: Progress, model: Transformer, optimizers: list[Optimizer]) -> None:
    tensors = {f"model.{name}": value for name, value in _own(model).items()}
    for place, optimizer in enumerate(optimizers):
        for index, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{place}.{index}.{name}": value for name, value in values.items()}
    tensors |= {f"film.{name}": value for name, value in (progress.film or {}).items()}
    words = {name: getattr(progress, name) for name in _IN_WORDS}
    whole = {name: value.contiguous() for name, value in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        save_file(whole, beside, {"progress": json.dumps(words)})


def phase_of(path: Path) -> int:
    """The phase in which a run was stopped; 0 where there is no file."""
    if not path.exists():
        return 0
    with safe_open(path, "pt") as file:
        return json.loads(file.metadata()["progress"])["phase"]


def load_state(path: Path, model: Transformer, optimizers: list[Optimizer], recipe: dict) -> Progress:
    """Fills model and optimizers; a fresh Progress where there is no file.

    Raises ValueError where the file belongs to another recipe.
    """
    if not path.exists():
        return Progress(recipe=recipe)
    with safe_open(path, "pt") as file:
        # Before there was a choice, every run was one in bf16.
        progress = Progress(**{"precision": "bf16"} | json.loads(file.metadata()["progress"]))
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if progress.recipe != json.loads(json.dumps(recipe)):
        raise ValueError(f"{path} is of a run by another recipe; --fresh starts over")
    own = _own(model)
    with torch.no_grad():
        for name, value in _below("model.", tensors).items():
            own[name].copy_(value)
    for place, optimizer in enumerate(optimizers):
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in _below(f"optimizer.{place}.", tensors).items():
            index, _, key = name.partition(".")
            states.setdefault(int(index), {})[key] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": states})
    progress.film = _below("film.", tensors) or None
    return progress


_IN_WORDS = ("recipe", "precision", "phase", "step", "log", "evaluations")


def _own(model: Transformer) -> dict[str, Tensor]:
    """Each parameter once, also where a module shares it under two names."""
    return dict(model.named_parameters())


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
