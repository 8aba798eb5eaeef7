"""Writes the weights of a folder anew as safetensors: `python -m model.convert FOLDER --trusted`.

Before safetensors, weights were stored as pickles: `pytorch_model.bin`, or several parts of it. A pickle can run code when it is
opened. So this is the only file of the project that opens one, nothing imports it, and it asks for --trusted. The pickle
stays as it is; an error is printed as one sentence, with exit code 2.
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from ..checkpoint.load_or_download import exit_with_one_sentence
from ..files.content import replacement_file
from ..files.encoder_files import INDEX, PICKLES, WEIGHTS


def main(arguments: Sequence[str] | None = None, program: str = f"python -m {__package__}") -> None:
    parser = argparse.ArgumentParser(
        prog=program, description="Writes the weights of a folder anew as safetensors, which can be opened."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="with config.json and pytorch_model.bin")
    parser.add_argument(
        "--trusted", action="store_true", help="you trust whoever made the pickle, which can run code"
    )
    options = parser.parse_args(arguments)
    with exit_with_one_sentence(program):
        modules = sorted(path.parent for path in options.folder.glob("*/pytorch_model.bin"))
        for folder in (options.folder, *modules):  # of sentence-transformers, such as 2_Dense
            if (folder / WEIGHTS).exists() or (folder / INDEX).exists():
                print(f"{folder / WEIGHTS} is there already")
                continue
            pickles = find_pickles(folder)
            if not options.trusted:
                raise ValueError(
                    f"{pickles[0].name} is a pickle, which can run code when it is opened: "
                    "add --trusted if you trust whoever made it"
                )
            print(f"{folder / WEIGHTS}: {convert(pickles, folder / WEIGHTS)} tensors")


def find_pickles(folder: Path) -> list[Path]:
    """The pickles with the weights of a folder. Raises ValueError if there are none, or several that do not belong together."""
    if parts := sorted(folder.glob("pytorch_model*.bin")):
        return parts
    pickles = sorted(path for path in folder.iterdir() if path.suffix in PICKLES)
    if len(pickles) != 1:
        names = ", ".join(path.name for path in pickles)
        raise ValueError(
            f"which of {names} are the weights? Rename them to pytorch_model.bin"
            if pickles
            else f"there is no pickle in {folder}: nothing to convert"
        )
    return pickles


def convert(pickles: Sequence[Path], path: Path) -> int:
    """Writes the tensors of all pickles into one safetensors file at `path`, and returns the number of tensors.

    Raises ValueError if a pickle holds anything but tensors by name, and OSError if the file cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    for file in pickles:
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever unpickling raises
            raise ValueError(f"{file.name} is damaged, or holds more than tensors") from error
        if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
            raise ValueError(f"{file.name} does not hold tensors by name")
        # Copies: two names of one tensor, such as of tied embeddings, are not stored as such.
        tensors |= {name: tensor.clone().contiguous() for name, tensor in content.items()}
    with replacement_file(path) as new_path:
        save_file(tensors, new_path, metadata={"format": "pt"})
        shutil.copymode(pickles[0], new_path)
    return len(tensors)


if __name__ == "__main__":
    main()
