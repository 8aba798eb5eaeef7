"""A copy of a checkpoint folder to damage, and the register of the functions that do so, each in place and in one way.

A function draws what exactly it does from `case.random`. It returns True where the encoder must still open with the
same pattern, since nothing changed that it reads. `@kind(...)` says of which folders it can be done.
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
    folder: Path  # a copy of a whole one, to be changed
    outside: Path  # a folder outside of the root, with the file `secret.txt` and a whole encoder, `sibling`
    random: random.Random

    def json(self, name: str = CONFIG) -> Any:
        return json.loads((self.folder / name).read_text())

    def put(self, name: str, values: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values))

    def odd(self) -> Any:
        return self.random.choice(ODD)

    def set(self, name: str, **changed: Any) -> None:
        self.put(name, (self.json(name) if (self.folder / name).exists() else {}) | changed)

    def tensors(self) -> dict[str, torch.Tensor]:
        return load_file(self.folder / WEIGHTS)

    def store(self, tensors: dict[str, torch.Tensor]) -> None:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, self.folder / WEIGHTS)

    def header(self) -> tuple[dict, bytes]:
        raw = (self.folder / WEIGHTS).read_bytes()
        n = int.from_bytes(raw[:8], "little")
        return json.loads(raw[8 : 8 + n]), raw[8 + n :]

    def put_header(self, header: dict | str, data: bytes, blank: int = 0) -> None:
        """With so many bytes of zeros behind the data, which take no room on the disk."""
        made = (header if isinstance(header, str) else json.dumps(header)).encode()
        made += b" " * (-len(made) % 8)
        path = self.folder / WEIGHTS
        path.write_bytes(len(made).to_bytes(8, "little") + made + data)
        os.truncate(path, path.stat().st_size + blank)

    def ending(self, *ends: str) -> str:
        """The stored name with one of these ends. Raises LookupError if there is none."""
        names = [name for end in ends for name in self.header()[0] if name.endswith(end)]
        if not names:
            raise LookupError(f"no tensor ends in {' or '.join(ends)}")
        return names[0]

    def any_tensor(self) -> str:
        return self.random.choice([name for name in sorted(self.header()[0]) if name != "__metadata__"])


KINDS: dict[str, tuple[Callable[[Case], bool | None], tuple[str, ...]]] = {}


def kind(*on: str) -> Callable:
    def keep(function: Callable) -> Callable:
        KINDS[function.__name__] = (function, on)
        return function

    return keep
