"""python -m tests.model.atlas.killed CHECKPOINT CSV FOLDER

Measures the texts on two workers of Ray, one of which is killed over its first shard, and writes what they come to. By
itself, since Ray leaves threads and warnings of its own in the process.
"""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from safetensors.numpy import save_file

from model.atlas.dataset_examples import Shard, examples_for
from model.atlas.dataset_measure import ProgressCallback, Statistics
from model.atlas.run import PartialResult, on_ray, run_measure
from model.atlas.running_moments import Arrays
from model.checkpoint import load
from model.loaded import Loaded


@dataclass(frozen=True, kw_only=True)
class Killed(Statistics):
    """The process that comes first to shard 2 ends there, as where the system runs out of memory."""

    folder: str

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        if shard.number == 2:
            try:
                (Path(self.folder) / "killed").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        (Path(self.folder) / f"worker-{os.getpid()}").touch()
        return super().measure_shard(loaded, shard, report)


def main() -> None:
    checkpoint, csv, out = sys.argv[1:]
    loaded = load(checkpoint, "cpu")
    examples = examples_for(loaded, Path(csv))
    with on_ray(workers=2) as engine:
        measure = Killed(shard=4, folder=out)
        save_file(
            run_measure(measure, loaded, examples, PartialResult(Path(out) / "part"), engine),
            Path(out) / "by_ray.safetensors",
        )


if __name__ == "__main__":
    main()
