"""Measures over a data set what pages show of one input, and stores it where they read it.

    python -m model.atlas CHECKPOINT --data FILE.csv
    python -m model.atlas CHECKPOINT --data FILE.csv --against OTHER

FILE has a column `text`; digits are the MNIST test digits in `examples/`. The first writes `atlas.json`: mean and
standard deviation over the examples, for each head its entropy and where it looks, for each layer norms, shares of the
sublayers and the answer that could be read there. The second writes `against-OTHER.json`: the distance of every head of
CHECKPOINT from every head of OTHER, and their CKA by stage.
"""

import argparse
import os
import sys
from pathlib import Path

import torch

from ..checkpoint import Loaded, load
from .against import compare
from .examples import Examples, examples_for
from .gather import gather
from .stored import ATLAS, against_file, write

LIMIT = 256


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.atlas", description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", help="a checkpoint's folder or name")
    parser.add_argument("--data", type=Path, help="a CSV with the column text")
    parser.add_argument("--name", help="what the data are called on screen; else the file's name")
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help="how many examples, at equal distances in the data"
    )
    parser.add_argument("--against", metavar="OTHER", help="another checkpoint, to set beside the first")
    parser.add_argument("--out", type=Path, help="a folder; else the checkpoint's own")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    try:
        names = [arguments.checkpoint, *([arguments.against] if arguments.against else [])]
        encoders = [load(name, arguments.device) for name in names]
        examples = examples_for(encoders[0], arguments.data, arguments.limit, arguments.name)
        print(measure(encoders, examples, arguments.out or encoders[0].folder))
    except (ValueError, OSError) as error:
        sys.exit(f"model.atlas: {error}")


def measure(encoders: list[Loaded], examples: Examples, out: Path) -> Path:
    """The file that was written, of one encoder or of two. Raises ValueError as `gather` and `compare` do."""
    first, *others = encoders
    command = f"python -m model.atlas {first.name} --limit {examples.limit}"
    command += f" --data {examples.csv.name}" if examples.csv else ""
    if not others:
        path, made = out / ATLAS, gather(first, examples, command)
    else:
        (other,) = others
        path = out / against_file(other.name)
        made = compare(first, other, examples, f"{command} --against {other.name}")
    write(path, made)
    return path


if __name__ == "__main__":
    main()
