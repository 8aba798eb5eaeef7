"""Two processes, that of this project and that of its peers, which run calls turn by turn."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import load_file

ROOT = Path(__file__).parents[2]
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


class CallError(Exception):
    """A call in the process of a side raised an error; the message is that error."""


class Side:
    """A process that runs the calls of one module (`ours` or `theirs`), by name."""

    def __init__(self, python: str, module: str, threads: int = 1) -> None:
        environment = {**os.environ, **QUIET, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.beside_peers.calls", module],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, call: str, *, clock: str = "processor", **arguments: Any) -> float:
        """The seconds that the call takes, by the `clock` "processor" or "wall"."""
        return self._ask("seconds", call, clock, arguments)

    def peak(self, call: str, **arguments: Any) -> float:
        """The peak memory of the process during the call beyond its memory before, in MB."""
        return self._ask("peak", call, "", arguments)

    def numbers(self, call: str, **arguments: Any) -> dict[str, np.ndarray]:
        """The arrays that the call returns."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "numbers.safetensors")
            self._ask("numbers", call, str(path), arguments)
            return load_file(path)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, ask: str, call: str, how: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the process to the request `ask` about a `call`; `how` is the clock or the file of the
        answer.
        """
        request = {"ask": ask, "call": call, "how": how, "arguments": arguments}
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise CallError("the process has ended") from None
        line = self._process.stdout.readline()
        if not line:
            raise CallError(f"the process ended during {call}")
        answer = json.loads(line)
        if "error" in answer:
            raise CallError(f"{call}: {answer['error']}")
        return answer["answer"]


@contextmanager
def both_sides(peers: str, threads: int = 1) -> Iterator[tuple[Side, Side]]:
    """The side of this project and the side of the peers, whose Python is `peers`."""
    sides = Side(sys.executable, "ours", threads), Side(peers, "theirs", threads)
    try:
        yield sides
    finally:
        for side in sides:
            side.close()


def interleaved(
    seconds: Mapping[str, Callable[[], float]], rounds: int, thrown_away: int = 1
) -> dict[str, list[float]]:
    """The seconds of each call in each round, by name, without the first `thrown_away` rounds."""
    taken: dict[str, list[float]] = {name: [] for name in seconds}
    for _ in range(thrown_away + rounds):
        for name, run in seconds.items():
            taken[name].append(run())
    return {name: rounds_of_one[thrown_away:] for name, rounds_of_one in taken.items()}
