"""python -m benchmarks.atlas CHECKPOINT [--csv FILE] [--rounds 5] [--texts 256]
python -m benchmarks.atlas CHECKPOINT --csv FILE --memory

What the atlas without --with costs, as a ratio to plain forwards over the same data: batches of one length, as the
atlas has them, and the padded batches of `model.evaluate`; both read and cut the texts as well. Medians of interleaved
rounds over the first --texts examples, in processor time of the one thread.

With --memory, how large the process is after each shard of one pass over all of FILE, and how long that takes.
"""

import argparse
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic, process_time

import torch

from model.atlas.dataset_examples import Examples, Shard, examples_for
from model.atlas.dataset_measure import Statistics, batches
from model.atlas.run import PartialResult, run_locally, run_measure
from model.checkpoint import load
from model.evaluate.__main__ import evaluate
from model.loaded import Loaded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load(options.checkpoint, "cpu")
    if options.memory:
        print_memory(loaded, examples_for(loaded, options.csv))
    else:
        print_ratios(loaded, options.csv, options.texts, options.rounds)


def print_ratios(loaded: Loaded, csv: Path | None, n: int, rounds: int) -> None:
    """Prints the time of the atlas for each of the first `n` examples, and its ratio to those of plain forward passes
    and of `model.evaluate`.
    """
    shard = next(examples_for(loaded, csv).shards(n))
    ways: dict[str, Callable[[], object]] = {
        "atlas": lambda: Statistics().measure_shard(loaded, shard, lambda _: None),
        "plain forwards": lambda: plain_forwards(loaded, shard),
    }
    with tempfile.TemporaryDirectory() as folder:
        if csv is not None and loaded.config.n_classes:
            first = Path(folder, "first.csv")
            rows = [f'"{item.text.replace(chr(34), chr(34) * 2)}",0' for item in shard.inputs]
            first.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
            ways["model.evaluate"] = lambda: evaluate(loaded, first)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds + 1):
            for name, way in ways.items():
                begun = process_time()
                way()
                times[name].append(process_time() - begun)
    measured = {name: seconds[1:] for name, seconds in times.items()}  # the first round warms up
    for name, seconds in measured.items():
        ratio = median(one / other for one, other in zip(measured["atlas"], seconds, strict=True))
        print(
            f"{name}: {median(seconds) / len(shard) * 1000:.2f} ms an example; the atlas takes {ratio:.2f} times that"
        )


def plain_forwards(loaded: Loaded, shard: Shard) -> None:
    """One forward pass over all batches of the shard, without keeping anything."""
    with torch.inference_mode():
        for _, inputs, _ in batches(loaded, shard):
            loaded.model(inputs)


def print_memory(loaded: Loaded, examples: Examples) -> None:
    """Prints the memory of the process after each shard of one pass of the atlas over all examples."""
    begun, spent = monotonic(), process_time()
    done = 0

    def watched(measure: Statistics, loaded: Loaded, shards: object, step: Callable) -> object:
        """Runs the shards as `run_locally` does, and prints memory and time after each."""
        nonlocal done
        print(f"{done:>9,} examples: {peak_memory():>6,.0f} MB at most so far", flush=True)
        for number, result in run_locally(measure, loaded, shards, step):
            yield number, result
            done = min((number + 1) * measure.shard, len(examples))
            seconds = process_time() - spent
            sizes = (
                f"{done:>9,} examples: {current_memory():>6,.0f} MB, {peak_memory():,.0f} MB at most so far"
            )
            print(f"{sizes}, {seconds:,.0f} s of processor time, {monotonic() - begun:,.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        run_measure(Statistics(), loaded, examples, PartialResult(Path(folder, "part")), watched)


def peak_memory() -> float:
    """The peak resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def current_memory() -> float:
    """The resident memory of this process now, in MB (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
