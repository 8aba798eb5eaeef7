"""Partial results in a file, from which a stopped run resumes with the same final result."""

import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..files.writing import replacing
from .running_moments import Arrays


class PartialResult:
    """The merged result of the first shards of a data set, stored with a hash of everything that it depends on."""

    def __init__(self, path: Path, **depends_on: object) -> None:
        self.path = path
        self.key = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()

    def load(self) -> tuple[int, Arrays]:
        """Number of finished shards and their result; 0 and {} if there is no file, or one of other data, weights or options."""
        try:
            with safe_open(self.path, "numpy") as file:
                metadata = file.metadata() or {}
                if metadata.get("key") != self.key:
                    return 0, {}
                return int(metadata["shards"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, KeyError):
            return 0, {}

    def save(self, shards: int, arrays: Arrays) -> None:
        """Stores the result of the first `shards` shards."""
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            save_file(contiguous, temporary, {"key": self.key, "shards": str(shards)})

    def remove(self) -> None:
        """Deletes the file."""
        self.path.unlink(missing_ok=True)
