"""Trains a checkpoint: `python -m model.train mnist-pre-ln --data FOLDER`.

If it is stopped, the same command resumes the run. `torchrun --nproc-per-node 2 -m model.train ...` shares the work between
processes; `--quick` shortens the run to about a minute, once the data are prepared. A new run times a step in bf16 and in
fp32 and uses the faster one, unless `--precision` is given. Data sets that FOLDER lacks are downloaded into it.
"""

import argparse
import os
import shutil
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import torch
from torch import distributed

from ..checkpoint import CHECKPOINTS, save
from ..checkpoint.load_or_download import exit_with_one_sentence
from ..device import find_device
from .loop import train
from .prepare import prepare
from .recipes import recipe, recipes
from .step import PRECISIONS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.train", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=recipes(), help="which checkpoint")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--out", type=Path, help="folder of the checkpoints")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of unfinished runs")
    parser.add_argument(
        "--start", type=Path, help="checkpoint of the recipe's first phases, to go on from with the next"
    )
    parser.add_argument("--quick", action="store_true", help="a run of about a minute")
    parser.add_argument("--fresh", action="store_true", help="start over, not where the last run stopped")
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--precision", choices=("auto", *PRECISIONS), default="auto", help="auto takes what is faster here"
    )
    arguments = parser.parse_args()
    # The app's single thread would leave cores idle here; torchrun sets the variable for each process.
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    try:
        with exit_with_one_sentence("model.train"):
            device = find_device(arguments.device)
            if "RANK" in os.environ:  # started by torchrun
                distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
                if device.type == "cuda":
                    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
                    device = torch.device("cuda")
            run(arguments, device)
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()


def run(arguments: argparse.Namespace, device: torch.device) -> None:
    """Prepares the data, trains or resumes, and writes the checkpoint; of several processes only the first writes."""
    chosen_recipe = recipe(arguments.name, quick=arguments.quick)
    folder = arguments.runs / (arguments.name + "-quick" * arguments.quick)
    # A quick run is a trial: it must not take the place of a trained checkpoint.
    out_folder = arguments.out or (arguments.runs / "quick" if arguments.quick else CHECKPOINTS)
    if arguments.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    is_first = not distributed.is_initialized() or distributed.get_rank() == 0
    if not is_first:  # what is missing is downloaded and prepared once
        distributed.barrier()
    setup = prepare(chosen_recipe, arguments.data, folder, device, arguments.start)
    if is_first and distributed.is_initialized():
        distributed.barrier()
    finished_marker = folder / "written"
    if finished_marker.exists() and (out_folder / arguments.name).exists():
        raise ValueError(f"{out_folder / arguments.name} is finished; --fresh starts over")
    precision = None if arguments.precision == "auto" else arguments.precision
    model, progress = train(chosen_recipe, setup, precision, announced=not arguments.quick)
    if not is_first:
        return
    history = {
        "recipe": asdict(chosen_recipe),
        "finished": datetime.now(UTC).date().isoformat(),
        "torch": torch.__version__,
        "device": device.type,
        "precision": progress.precision,
        "data": setup.data,
        **({"went_on_from": setup.start.to_json()} if setup.start else {}),
        "probes": list(setup.probe_names),
        "film_gradients": "before clipping",
        "log": progress.log,
        "evaluations": progress.evaluations,
    }
    # Half the size on disk; every figure is measured on the weights as they are kept.
    save(out_folder / arguments.name, model.half(), history, setup.tokenizer, progress.film)
    finished_marker.touch()  # and not before: a kill in between must not cost the run
    print(f"{out_folder / arguments.name} is written; measure it with python -m model.evaluate")


if __name__ == "__main__":
    main()
