"""The weights of a folder in Hugging Face's layout: one safetensors file, or shards with an index. Nothing is unpickled."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from ..files.encoder_files import INDEX, PICKLES, READ, WEIGHTS, shard_names
from ..files.errors import errors_in_one_sentence

Shape = tuple[int, ...]
# of files by torch.save
PICKLE_BEGINNINGS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
LARGEST_HEADER = 2**23  # bytes of names and shapes; that of an encoder of 1,000 layers has 2 MB
MOST_NUMBERS = 2**31  # 8 GB
LARGEST_FILE = LARGEST_HEADER + 8 * MOST_NUMBERS  # bytes, of numbers of 8 bytes
CONVERT = "only safetensors are read, since a pickle can run code; `attention-loupe convert FOLDER` makes them of one that you trust"
FLOATS = ("F64", "F32", "F16", "BF16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The stored tensors of a folder: their names, shapes and files; the values are read later, by `tensors`."""

    shapes: Mapping[str, Shape]
    locations: Mapping[str, tuple[Path, str]]  # by name: the file, and the name in it

    def renamed(self, new_name: Callable[[str], str | None]) -> "Stored":
        """The same tensors under the names that `new_name` returns for their names, without those for which it returns None."""
        names = {name: renamed for name in self.shapes if (renamed := new_name(name)) is not None}
        return Stored(
            shapes={renamed: self.shapes[name] for name, renamed in names.items()},
            locations={renamed: self.locations[name] for name, renamed in names.items()},
        )

    def joined_with(self, other: "Stored") -> "Stored":
        """These tensors and those of `other`, which replace tensors of the same name."""
        return Stored(shapes={**self.shapes, **other.shapes}, locations={**self.locations, **other.locations})

    def tensors(self, names: Iterable[str]) -> Iterator[tuple[str, Tensor]]:
        """Yields the name and the float32 value of each of the tensors `names`. Raises ValueError if one cannot be read."""
        names_by_file: dict[Path, list[tuple[str, str]]] = {}
        for name in names:
            path, name_in_file = self.locations[name]
            names_by_file.setdefault(path, []).append((name, name_in_file))
        for path, names_in_file in names_by_file.items():
            with _errors_with_file_name(path), safe_open(path, "pt", backend=READ) as file:
                for name, name_in_file in names_in_file:
                    yield name, file.get_tensor(name_in_file).to(torch.float32)


@contextmanager
def _errors_with_file_name(path: Path) -> Iterator[None]:
    """Context manager that turns an error about the file into a one-sentence ValueError that begins with the file's name."""
    try:
        with errors_in_one_sentence(f"{path.name} cannot be read"):
            yield
    except ValueError as error:
        if isinstance(error.__cause__, MemoryError | RuntimeError):  # of which torch names the whole path
            raise ValueError(f"{path.name} does not fit into the memory that is left") from error
        raise


def stored_weights(folder: Path) -> Stored:
    """Names, shapes and files of the tensors in a folder, from the headers of its safetensors files.

    Raises ValueError, with a one-sentence message, if no weights can be read.
    """
    if (folder / WEIGHTS).exists():
        paths = [folder / WEIGHTS]
    elif (folder / INDEX).exists():
        paths = [folder / name for name in shard_names(folder / INDEX)]
    else:
        pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
        raise ValueError(f"{pickles[0]} is not opened: {CONVERT}" if pickles else f"{WEIGHTS} is missing")
    shapes: dict[str, Shape] = {}
    locations: dict[str, tuple[Path, str]] = {}
    for path in paths:
        for name, shape in _read_header(path):
            shapes[name], locations[name] = shape, (path, name)
    if sum(map(math.prod, shapes.values())) > MOST_NUMBERS:
        raise ValueError(f"the weights are more than {MOST_NUMBERS:,} numbers, too many to be shown")
    return Stored(shapes=shapes, locations=locations)


def _read_header(path: Path) -> Iterator[tuple[str, Shape]]:
    """Yields the name and shape of each tensor in a safetensors file, from its header."""
    if not path.is_file():
        raise ValueError(f"{path.name} is missing")
    with _errors_with_file_name(path):
        with path.open("rb") as file:
            header_length = file.read(8)
        if header_length.startswith(PICKLE_BEGINNINGS):
            raise ValueError(f"it is a pickle under another name, so call it pytorch_model.bin: {CONVERT}")
        if (length := int.from_bytes(header_length, "little")) > LARGEST_HEADER:
            raise ValueError(f"its header claims {length:,} bytes; at most {LARGEST_HEADER:,} are read")
        with safe_open(path, "pt", backend=READ) as file:
            for name in file.keys():  # noqa: SIM118
                tensor = file.get_slice(name)
                if tensor.get_dtype() not in FLOATS and name.endswith(("weight", "bias")):
                    raise ValueError(f"{name} is stored as {tensor.get_dtype()}, but only floats are read")
                yield name, tuple(tensor.get_shape())
