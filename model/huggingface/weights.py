"""The weights of a folder in Hugging Face's layout: one safetensors file, or shards with an index. Nothing is unpickled."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..files.content import content_of
from ..files.errors import why

Shape = tuple[int, ...]
ONE, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # how torch.save begins a file
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")
LARGEST_HEADER = 2**23  # bytes of names and shapes; that of an encoder of 1,000 layers has 2 MB
LARGEST_JSON = 2**25
TOO_LARGE = "{} does not fit into the memory that is left"
AT_MOST = 2**31  # numbers: 8 GB
LARGEST_FILE = LARGEST_HEADER + 8 * AT_MOST  # bytes, of numbers of 8 bytes
CONVERT = (
    "only safetensors are read, since a pickle can run code; if you trust it, convert it: "
    "safetensors.torch.save_file({name: each.clone() for name, each in torch.load(FILE, weights_only=True).items()}, "
    "'model.safetensors')"
)
FLOATS = ("F64", "F32", "F16", "BF16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Names and shapes of what a folder's files hold, and in which file each lies; no numbers are read yet."""

    shapes: Mapping[str, Shape]
    places: Mapping[str, tuple[Path, str]]  # by name: the file, and the name there
    n_bytes: int

    def renamed(self, new: Callable[[str], str | None]) -> "Stored":
        """The same under other names; without those for which `new` returns None."""
        names = {name: now for name in self.shapes if (now := new(name)) is not None}
        return Stored(
            shapes={now: self.shapes[name] for name, now in names.items()},
            places={now: self.places[name] for name, now in names.items()},
            n_bytes=self.n_bytes,
        )

    def tensors(self, names: Iterable[str]) -> Iterator[tuple[str, Tensor]]:
        """Those of these names, one after the other, as float32. Raises ValueError where one cannot be read."""
        by_file: dict[Path, list[tuple[str, str]]] = {}
        for name in names:
            path, there = self.places[name]
            by_file.setdefault(path, []).append((name, there))
        for path, held in by_file.items():
            try:
                with safe_open(path, "pt") as file:
                    for name, there in held:
                        yield name, file.get_tensor(there).to(torch.float32)
            except (SafetensorError, OSError) as error:
                raise ValueError(f"{path.name} cannot be read: {why(error)}") from error
            except (MemoryError, RuntimeError) as error:  # torch names the whole path
                raise ValueError(TOO_LARGE.format(path.name)) from error


def read_json(path: Path) -> dict:
    """As `read_any`. Raises ValueError also where the file holds no object."""
    values = read_any(path)
    if not isinstance(values, dict):
        raise ValueError(f"{path.name} must hold a JSON object")
    return values


def read_any(path: Path) -> Any:
    """Raises ValueError, in one sentence, where the file is too large or damaged."""
    try:
        values = json.loads(content_of(path, LARGEST_JSON).decode())
        json.dumps(values, ensure_ascii=False).encode()  # an escaped half of a character is no text
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} cannot be read: {why(error)}") from error
    return values


def stored(folder: Path) -> Stored:
    """What lies in the folder. Raises ValueError, in one sentence, where there is nothing, or nothing that can be read."""
    if (folder / ONE).exists():
        paths = [folder / ONE]
    elif (folder / INDEX).exists():
        listed = read_json(folder / INDEX).get("weight_map")
        if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
            raise ValueError(f"{INDEX} has no weight_map of names")
        paths = [folder / name for name in sorted(set(listed.values()))]
        if outside := [path.name for path in paths if path.parent != folder or path.suffix != ".safetensors"]:
            raise ValueError(f"{INDEX} names {outside[0]!r}, which is not a safetensors file in this folder")
    else:
        pickled = sorted(path.name for kind in PICKLED for path in folder.glob(kind))
        raise ValueError(f"{pickled[0]} is not opened: {CONVERT}" if pickled else f"{ONE} is missing")
    shapes: dict[str, Shape] = {}
    places: dict[str, tuple[Path, str]] = {}
    for path in paths:
        for name, shape in _header(path):
            shapes[name], places[name] = shape, (path, name)
    if sum(map(math.prod, shapes.values())) > AT_MOST:
        raise ValueError(f"the weights are more than {AT_MOST:,} numbers, too many to be shown")
    return Stored(shapes=shapes, places=places, n_bytes=sum(path.stat().st_size for path in paths))


def _header(path: Path) -> Iterator[tuple[str, Shape]]:
    if not path.is_file():
        raise ValueError(f"{path.name} is missing")
    try:
        with path.open("rb") as file:
            first = file.read(8)
        if first.startswith(PICKLES):
            raise ValueError(f"it is a pickle under another name; {CONVERT}")
        if (length := int.from_bytes(first, "little")) > LARGEST_HEADER:
            raise ValueError(f"its header claims {length:,} bytes; at most {LARGEST_HEADER:,} are read")
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118
                part = file.get_slice(name)
                if part.get_dtype() in FLOATS or not name.endswith(("weight", "bias")):
                    yield name, tuple(part.get_shape())
                else:
                    raise ValueError(f"{name} is stored as {part.get_dtype()}, but only floats are read")
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read: {why(error)}") from error
    except (MemoryError, RuntimeError) as error:
        raise ValueError(TOO_LARGE.format(path.name)) from error
