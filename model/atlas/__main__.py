"""Measures heads and layers over a data set, and stores the results where the app reads them.

    python -m model.atlas CHECKPOINT --data FILE.csv --out FOLDER
    python -m model.atlas CHECKPOINT --data FILE.csv --with examples
    python -m model.atlas CHECKPOINT --data FILE.csv --against OTHER
    python -m model.atlas CHECKPOINT --relations FILE.conllu --out FOLDER

FILE has a column text and, for measures that need the right class, a column label; without --data the examples are
the MNIST test digits. The command writes heads.parquet (mean and standard deviation of entropy, attention distance,
... of each head) and layers.parquet (curves over the layers); --with adds more. With --relations the data are links
between words, and relations.parquet says which heads follow them (docs/relations.md). Memory does not grow with the
data. The same command resumes a run that was stopped.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from ..checkpoint.load_or_download import CHECKPOINT, exit_with_one_sentence, load_checkpoint
from ..loaded import Loaded
from .dataset_examples import examples_for
from .linked_inputs import linked_examples
from .measure_dataset import (
    EXTRA,
    SAMPLE,
    MeasureOptions,
    compare_encoders,
    measure_dataset,
    measure_relations,
)
from .relations import left_out_clause
from .results import comparison_file_name, read_rows, write_comparison
from .run import on_ray


def main(words: Sequence[str] | None = None, program: str = f"python -m {__package__}") -> None:
    """Runs the command line; `words` are its arguments, by default those of the process."""
    arguments = _parser(program).parse_args(words)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    try:
        with exit_with_one_sentence(program):
            for path in measure(load_checkpoint(arguments.checkpoint, arguments.device), arguments):
                print(path)
    except KeyboardInterrupt:
        sys.exit(f"{program}: ended; the same command goes on from here")


def measure(loaded: Loaded, arguments: argparse.Namespace) -> list[Path]:
    """Runs the measurements that the command line asks for; returns the paths of the files. Raises ValueError as they do."""
    out_folder = arguments.out or loaded.folder or Path()
    if arguments.relations:
        return [_measure_relations(loaded, arguments, out_folder)]
    if arguments.against:
        examples = examples_for(loaded, arguments.data, arguments.limit or SAMPLE, arguments.name)
        other = load_checkpoint(arguments.against, arguments.device)
        path = out_folder / comparison_file_name(other.name)
        write_comparison(
            path, compare_encoders(loaded, other, examples, _command_line(loaded, arguments, other))
        )
        return [path]
    examples = examples_for(loaded, arguments.data, arguments.limit, arguments.name)
    command = _command_line(loaded, arguments)
    options = MeasureOptions(extra=arguments.extra, sample=arguments.sample, show_data=arguments.show_data)
    if arguments.engine == "local":
        return measure_dataset(loaded, examples, out_folder, command, options)
    with on_ray(arguments.address, arguments.workers) as engine:
        return measure_dataset(loaded, examples, out_folder, command, options, engine)


def _measure_relations(loaded: Loaded, arguments: argparse.Namespace, out_folder: Path) -> Path:
    """Runs the measurement of relations; returns the path of its file."""
    others = {"--with": arguments.extra, "--against": arguments.against, "--show-data": arguments.show_data}
    if chosen := [name for name, value in others.items() if value]:
        raise ValueError(f"--relations is measured by itself: leave out {chosen[0]}")
    examples = linked_examples(loaded, arguments.relations, arguments.limit, arguments.name)
    command = _command_line(loaded, arguments)
    if arguments.engine == "local":
        path = measure_relations(loaded, examples, out_folder, command)
    else:
        with on_ray(arguments.address, arguments.workers) as engine:
            path = measure_relations(loaded, examples, out_folder, command, engine)
    table = read_rows(path)
    if table is not None and (clause := left_out_clause(table.source.samples)):
        print(f"{clause}.", file=sys.stderr)
    return path


def _command_line(loaded: Loaded, arguments: argparse.Namespace, other: Loaded | None = None) -> str:
    """The command line that repeats this run, without local paths."""
    command_words = ["python -m model.atlas", loaded.name]
    command_words += ["--data", arguments.data.name] if arguments.data else []
    command_words += ["--relations", arguments.relations.name] if arguments.relations else []
    command_words += ["--limit", str(arguments.limit)] if arguments.limit else []
    if other is not None:
        return " ".join([*command_words, "--against", other.name])
    if arguments.extra:
        command_words += ["--with", ",".join(arguments.extra), "--sample", str(arguments.sample)]
    command_words += ["--show-data"] if arguments.show_data else []
    return " ".join(command_words)


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("checkpoint", metavar="CHECKPOINT", help=CHECKPOINT)
    data = parser.add_mutually_exclusive_group()
    data.add_argument("--data", type=Path, metavar="FILE.csv", help="texts; without it the MNIST test digits")
    data.add_argument(
        "--relations",
        type=Path,
        metavar="FILE",
        help="links between words, .conllu or .csv: which heads follow them, instead of the rest",
    )
    add("--name", help="what the data are called on screen; else the file's name")
    add(
        "--out", type=Path, metavar="FOLDER", help="where the files go; else into the checkpoint's own folder"
    )
    add(
        "--limit",
        type=_parse_count,
        metavar="N",
        help="N examples at equal distances in the data; else all of them",
    )
    add(
        "--with",
        dest="extra",
        type=_parse_extra,
        default=(),
        metavar="WHAT",
        help=f"also, separated by commas, any of: {', '.join(EXTRA)}",
    )
    add(
        "--sample",
        type=_parse_count,
        default=SAMPLE,
        metavar="N",
        help=f"how many examples --with takes where it needs many forwards for each, {SAMPLE} unless said; stored with the figures",
    )
    add(
        "--show-data",
        action="store_true",
        help="let --with examples quote the texts of FILE; else it quotes what comes with the project",
    )
    add(
        "--against",
        metavar="OTHER",
        help="store how far OTHER's heads and states are from CHECKPOINT's instead",
    )
    add(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray: on several cores or machines (docs/scale.md)",
    )
    add("--address", help="of a Ray cluster; else Ray is started here")
    add(
        "--workers",
        type=_parse_workers,
        metavar="N",
        help="processes of Ray, with one core each; else one a core",
    )
    add("--device", default="auto", help="cpu, cuda, ...; auto takes the GPU where there is one")
    return parser


def _parse_extra(words: str) -> tuple[str, ...]:
    """The names in a list separated by commas, such as "importance,ablation", for `--with`."""
    chosen_names = {word.strip() for word in words.split(",") if word.strip()}
    if unknown := sorted(chosen_names - set(EXTRA)):
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]!r}; choose from {', '.join(EXTRA)}")
    return tuple(name for name in EXTRA if name in chosen_names)


def _parse_count(word: str) -> int:
    if not word.isdecimal() or not 2 <= int(word) <= 10**9:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of examples: at least 2 are needed")
    return int(word)


def _parse_workers(word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= 10**5:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of workers")
    return int(word)


if __name__ == "__main__":
    main()
