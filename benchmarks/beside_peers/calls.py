"""python -m benchmarks.beside_peers.calls MODULE

The process of one side: it runs calls of MODULE (`ours` or `theirs`) on request, and reports what each took. Each
line of standard input is a request as JSON, each line of standard output its answer.
"""

import ctypes
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

CLOCKS = {"processor": time.process_time, "wall": time.perf_counter}
MB = 1e6


def main() -> None:
    """Answers requests until standard input ends."""
    # What libraries print goes where errors go.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    module = importlib.import_module(f"benchmarks.beside_peers.{sys.argv[1]}")
    made: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = json.dumps([request["call"], request["arguments"]])
        try:
            if key not in made:
                made[key] = getattr(module, request["call"])(**request["arguments"])
            answer = {"answer": ASKED[request["ask"]](made[key], request["how"])}
        except Exception as error:  # whatever a peer raises is said in the table
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


def seconds(call: Callable[[], object], clock: str) -> float:
    """The seconds that one call takes, by the `clock` "processor" or "wall"."""
    now = CLOCKS[clock]
    start = now()
    result = call()
    taken = now() - start
    del result
    return taken


def peak(call: Callable[[], object], _how: str) -> float:
    """The peak memory of the process during the call beyond its memory before, in MB (Linux)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    result = call()
    most = _status("VmHWM")
    del result
    return (most - before) / MB


def numbers(call: Callable[[], dict[str, Any]], path: str) -> None:
    """Writes the arrays that the call returns to the file `path`."""
    save_file({name: np.ascontiguousarray(array) for name, array in call().items()}, path)


def _status(name: str) -> int:
    """An entry of /proc/self/status in bytes, such as "VmRSS"."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


ASKED = {"seconds": seconds, "peak": peak, "numbers": numbers}

if __name__ == "__main__":
    main()
