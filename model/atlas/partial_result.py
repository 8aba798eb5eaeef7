"""What was measured so far, in a file: a run that was ended goes on from there, and comes to the same."""

import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..files.writing import replacing
from .running_moments import Arrays


class PartialResult:
    """Sums over the first shards of a data set, under a key of all that they depend on."""

    def __init__(self, path: Path, **depends_on: object) -> None:
        self.path = path
        self.key = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()

    def load(self) -> tuple[int, Arrays]:
        """How many shards, and what they came to; nothing where the file is of other data, weights or settings."""
        try:
            with safe_open(self.path, "numpy") as file:
                said = file.metadata() or {}
                if said.get("key") != self.key:
                    return 0, {}
                return int(said["shards"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, KeyError):
            return 0, {}

    def save(self, shards: int, arrays: Arrays) -> None:
        whole = {name: np.ascontiguousarray(each) for name, each in arrays.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as beside:
            save_file(whole, beside, {"key": self.key, "shards": str(shards)})

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
