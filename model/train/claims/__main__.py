"""Makes the measurements that test the claims about pre-LN and post-LN, and writes them to the file that the page reads.

    python -m model.train.claims --data FOLDER

FOLDER holds the treebank's sentences (`sst.csv`), as for training; digits are those in `examples/`. Measurements of
untrained encoders and short runs that are already in the file are kept, unless `--again` is given. Trained encoders, all
seeds in `checkpoints/`, are measured every time.
"""

import argparse
import os
from pathlib import Path

import torch

from ... import checkpoint
from ...checkpoint.load_or_download import exit_with_one_sentence
from ...claims.verdict import CLAIMS_FILE, read_measurements, write_measurements
from .trained import measure_trained
from .untrained import measure_stored_runs, measure_untrained


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.train.claims", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument(
        "--out", type=Path, default=checkpoint.CHECKPOINTS / CLAIMS_FILE, help="the file to be written"
    )
    parser.add_argument("--again", action="store_true", help="measure fresh encoders and short runs anew")
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    with exit_with_one_sentence("model.train.claims"):
        measure(arguments.data, arguments.out, again=arguments.again)


def measure(data: Path, out: Path, *, again: bool = False) -> None:
    """Measures untrained and trained encoders, and writes the measurements to `out`, those of untrained encoders first.

    If `out` already holds measurements of untrained encoders, these are kept, unless `again` is set.
    """
    untrained_measurements = (
        []
        if again
        else [measurement for measurement in read_measurements(out) if measurement.source == "fresh"]
    )
    if not untrained_measurements:
        untrained_measurements = list(measure_untrained())
        write_measurements(out, untrained_measurements)
    trained_measurements = list(measure_trained(data))
    write_measurements(out, [*untrained_measurements, *measure_stored_runs(), *trained_measurements])
    print(
        f"{len(untrained_measurements)} measurements of fresh encoders and short runs, {len(trained_measurements)} of trained ones: {out}"
    )


if __name__ == "__main__":
    main()
