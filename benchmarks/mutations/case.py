"""A copy of a checkpoint folder to damage, and the register of the functions that damage it, each in one way.

Each function takes a `Case`, draws the details from `case.random`, and changes the folder in place. It returns True
if the encoder must still open with the same pattern, since it changed nothing that the encoder reads. The decorator
`@kind(...)` says for which kinds of folders a function is made.
"""

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
PIXELS = "preprocessor_config.json"
HOSTILE = (
    "<script>document.title='taken'</script>",
    "![x](http://127.0.0.1:9/seen.png)",
    "<img src=x onerror=document.title='taken'>",
    "\u202egnp.exe\u2066",
    "long " * 2000,
    "two\nlines\r\nand\ttabs",
    "\x00\x07\x1b[31mred",
    "[a link](javascript:alert(1)) **bold** $x^2$ :red[red] :material/home:",
    "&lt;b&gt; &amp; ' \" ` \\ {{x}} %s {0}",
    "",
)
ODD = (
    *(None, True, False, "", "x", "24", "\n\n", -1, 0, 1, 1.5, 10**9, 2**31, 2**63, 10**30, 10**4000),
    *(float("nan"), float("inf"), -0.0, 1e-320, [], [1, 2], [[]], {}, {"a": {"b": [None]}}, "y" * 5000),
    [0] * 3000,
    *HOSTILE[:4],
)


@dataclass(frozen=True)
class Case:
    """A folder to damage, a folder outside of the models folder that must not be read, and a random generator."""

    folder: Path  # a copy of a whole one, to be changed
    outside: Path  # a folder outside of the root, with the file `secret.txt` and a whole encoder, `sibling`
    random: random.Random

    def read_json(self, name: str = CONFIG) -> Any:
        """The content of a JSON file in the folder."""
        return json.loads((self.folder / name).read_text())

    def write_json(self, name: str, values: Any) -> None:
        """Writes a JSON file into the folder."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values))

    def odd_value(self) -> Any:
        """A random value of a wrong type or an extreme size."""
        return self.random.choice(ODD)

    def update_json(self, name: str, **changed: Any) -> None:
        """Changes some entries of a JSON file in the folder."""
        self.write_json(name, (self.read_json(name) if (self.folder / name).exists() else {}) | changed)

    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors of the weights file, by name."""
        return load_file(self.folder / WEIGHTS)

    def save_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Replaces the tensors of the weights file."""
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, self.folder / WEIGHTS)

    def header(self) -> tuple[dict, bytes]:
        """The header of the weights file (safetensors), and the bytes after it."""
        raw = (self.folder / WEIGHTS).read_bytes()
        n = int.from_bytes(raw[:8], "little")
        return json.loads(raw[8 : 8 + n]), raw[8 + n :]

    def write_header(self, header: dict | str, data: bytes, blank: int = 0) -> None:
        """Writes the weights file with this header and `data`, followed by `blank` zero bytes, which take no room on
        the disk.
        """
        made = (header if isinstance(header, str) else json.dumps(header)).encode()
        made += b" " * (-len(made) % 8)
        path = self.folder / WEIGHTS
        path.write_bytes(len(made).to_bytes(8, "little") + made + data)
        os.truncate(path, path.stat().st_size + blank)

    def name_ending_in(self, *ends: str) -> str:
        """The first name of a stored tensor with one of these ends. Raises LookupError if there is none."""
        names = [name for end in ends for name in self.header()[0] if name.endswith(end)]
        if not names:
            raise LookupError(f"no tensor ends in {' or '.join(ends)}")
        return names[0]

    def any_tensor(self) -> str:
        """The name of a random tensor."""
        return self.random.choice([name for name in sorted(self.header()[0]) if name != "__metadata__"])


KINDS: dict[str, tuple[Callable[[Case], bool | None], tuple[str, ...]]] = {}


def kind(*on: str) -> Callable:
    """A decorator that registers a function in `KINDS` for folders of the kinds `on`, or of every kind if there are
    none.
    """

    def register(function: Callable) -> Callable:
        KINDS[function.__name__] = (function, on)
        return function

    return register
