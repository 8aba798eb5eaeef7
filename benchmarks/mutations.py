"""What `benchmarks.broken_folders` does to a folder: one function a kind, which changes a whole folder in place.

A function draws what exactly it does from `case.random`. It returns True where the encoder must still open with the
same pattern, since nothing changed that it reads. `@kind(...)` says of which folders it can be done.
"""

import json
import os
import pickle
import random
import shutil
import socket
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
        save_file({name: each.contiguous() for name, each in tensors.items()}, self.folder / WEIGHTS)

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
        """The stored name with one of these ends."""
        return next(name for end in ends for name in self.header()[0] if name.endswith(end))

    def any_tensor(self) -> str:
        return self.random.choice([name for name in sorted(self.header()[0]) if name != "__metadata__"])


KINDS: dict[str, tuple[Callable[[Case], bool | None], tuple[str, ...]]] = {}


def kind(*on: str) -> Callable:
    def keep(function: Callable) -> Callable:
        KINDS[function.__name__] = (function, on)
        return function

    return keep


# config.json


@kind()
def a_value(case: Case) -> None:
    case.set(CONFIG, **{case.random.choice(sorted(case.json())): case.odd()})


@kind()
def several_values(case: Case) -> None:
    names = case.random.sample(sorted(case.json()), 3)
    case.set(CONFIG, **{name: case.odd() for name in names})


@kind()
def a_value_missing(case: Case) -> None:
    values = case.json()
    del values[case.random.choice(sorted(values))]
    case.put(CONFIG, values)


@kind()
def a_size(case: Case) -> None:
    """What config.json asks for must not be built before it is compared with what is stored."""
    names = sorted(key for key, value in case.json().items() if type(value) is int)
    sizes = (0, 1, 2, 3, 5, 7, 24, 1000, 2**17, 2**18, 2**20, 2**31, 2**40)
    case.set(CONFIG, **{case.random.choice(names): case.random.choice(sizes)})


@kind()
def damaged_configuration(case: Case) -> None:
    path = case.folder / CONFIG
    whole = path.read_bytes()
    contents = (
        *(b"", b"{", b"[]", b"null", b"3", b"\xff\xfe{}", b"\x00" * 100, whole[: len(whole) // 2], whole * 2),
        *(b"[" * 10**5, b'{"a":' * 900 + b"1" + b"}" * 900, b'{"model_type": "bert", "a": "\\ud800"}'),
        *(b'{"model_type": "bert"}', b'{"model_type": "bert", "hidden_size": ' + b"9" * 10**5 + b"}"),
    )
    path.write_bytes(case.random.choice(contents))


@kind()
def deep_value(case: Case) -> None:
    """json.loads takes it, its repr may not."""
    values = case.json()
    name = case.random.choice([key for key, value in sorted(values.items()) if type(value) is int])
    text = json.dumps(values | {name: "HERE"}).replace('"HERE"', "[" * 960 + "]" * 960)
    (case.folder / CONFIG).write_text(text)


@kind()
def unknown_type(case: Case) -> None:
    kinds = ("gpt2", "llama", "t5", "bart", "BERT", "", *HOSTILE, None, 3, [], {"bert": 1})
    case.set(CONFIG, model_type=case.random.choice(kinds))


@kind()
def large_file(case: Case) -> None:
    """Zeros without end, which take no room on the disk."""
    names = (CONFIG, TOKENIZER, PIXELS, "modules.json", "tokenizer_config.json", "vocab.txt")
    path = case.folder / case.random.choice(names)
    path.write_bytes(b"")
    os.truncate(path, 3 * 2**30)


@kind("classes")
def hostile_labels(case: Case) -> bool:
    n = case.header()[0][case.ending("classifier.weight", "out_proj.weight")]["shape"][0]
    case.set(CONFIG, id2label={str(at): case.random.choice(HOSTILE) for at in range(n)})
    return True


@kind("classes")
def odd_labels(case: Case) -> bool:
    """None of it is a name for each class."""
    several = {"0": {"a": [1]}, "1": None, "2": 3}
    case.set(CONFIG, id2label=case.random.choice((*ODD, several, {"0": "only"}, {"a": "b"} | several)))
    return True


@kind("classes")
def rows_without_columns(case: Case) -> None:
    """No numbers at all, and classes beyond counting; or none."""
    header, data = case.header()
    name, end = case.ending("classifier.weight", "out_proj.weight"), len(data)
    rows = case.random.choice((0, 10**5, 10**7, 10**9, 10**15))
    header |= {
        "old": dict(header[name]),
        name: {"dtype": "F32", "shape": [rows, 0], "data_offsets": [end, end]},
    }
    case.put_header(header, data)


@kind("classes")
def no_rows(case: Case) -> None:
    tensors = case.tensors()
    name = case.ending("classifier.weight", "out_proj.weight")
    for each in (name, name.removesuffix("weight") + "bias"):
        tensors[each] = tensors[each][:0]
    case.store(tensors)


# Weights


@kind()
def truncated_weights(case: Case) -> None:
    path = case.folder / WEIGHTS
    size = path.stat().st_size
    os.truncate(path, case.random.choice((0, 1, 4, 8, 9, 200, size // 3, size - 1, size - 40, size + 17)))


@kind()
def other_content(case: Case) -> None:
    contents = (
        b"\0" * 5000,
        case.random.randbytes(5000),
        b"GIF89a",
        b"\x89HDF\r\n",
        b"version https://git-lfs",
    )
    (case.folder / WEIGHTS).write_bytes(case.random.choice(contents))


@kind()
def flipped_bytes(case: Case) -> None:
    path = case.folder / WEIGHTS
    raw = bytearray(path.read_bytes())
    end = 8 + int.from_bytes(raw[:8], "little")
    for _ in range(case.random.choice((1, 20))):
        raw[case.random.randrange(end)] = case.random.randrange(256)
    path.write_bytes(raw)


@kind()
def header_length(case: Case) -> None:
    path = case.folder / WEIGHTS
    lengths = (0, 1, 100, 2**20, 2**26, 2**26 + 1, 2**32, 2**63, 2**64 - 1)
    path.write_bytes(case.random.choice(lengths).to_bytes(8, "little") + path.read_bytes()[8:])


@kind()
def header_offsets(case: Case) -> None:
    header, data = case.header()
    first, second = case.any_tensor(), case.any_tensor()
    low, high = header[first]["data_offsets"]
    offsets = (
        *([low + 4, high + 4], [-4, high], [high, low], header[second]["data_offsets"], [low, high + 2**40]),
        *([low, low], [2**64, 2**65], ["0", "4"], [low], None, [0, len(data)]),
    )
    header[first]["data_offsets"] = case.random.choice(offsets)
    case.put_header(header, data)


@kind()
def a_tensor_twice(case: Case) -> None:
    header, data = case.header()
    name = case.any_tensor()
    again = json.dumps({name: header[name]})[1:-1]
    case.put_header(json.dumps(header)[:-1] + f", {again}}}", data)


@kind()
def header_values(case: Case) -> None:
    header, data = case.header()
    name = case.any_tensor()
    changed = (
        {name: case.odd()},
        {name: header[name] | {"shape": case.odd()}},
        {name: header[name] | {"dtype": case.odd()}},
        {name: header[name] | {"dtype": case.random.choice(("I8", "F8_E4M3", "BOOL", "C64"))}},
        {name: header[name] | {"shape": [2**62, 2**62, 0]}},
        {"__metadata__": case.odd()},
    )
    case.put_header(header | case.random.choice(changed), data)


@kind()
def other_dtype(case: Case) -> None:
    tensors = case.tensors()
    floats = (torch.bfloat16, torch.float64, torch.float16, torch.float8_e4m3fn)
    dtype = case.random.choice((*floats, torch.int8, torch.bool, torch.complex64, torch.int64, torch.uint16))
    names = case.random.choice((sorted(tensors), [case.any_tensor()]))
    case.store(tensors | {name: tensors[name].to(dtype) for name in names})


@kind()
def other_shape(case: Case) -> None:
    tensors, name = case.tensors(), case.any_tensor()
    it = tensors[name]
    turned = it.T if it.ndim == 2 else it[..., None]
    tensors[name] = case.random.choice((it[None], it.flatten(), it[:-1], it[:0], it.sum(), turned, it[:1]))
    case.store(tensors)


@kind()
def not_finite(case: Case) -> None:
    tensors = case.tensors()
    tensors[case.any_tensor()].view(-1)[-1] = case.random.choice((float("nan"), float("inf")))
    case.store(tensors)


@kind()
def a_tensor_missing(case: Case) -> None:
    tensors = case.tensors()
    for name in case.random.sample(sorted(tensors), case.random.choice((1, 1, 5))):
        del tensors[name]
    case.store(tensors)


@kind()
def surplus_tensors(case: Case) -> bool:
    names = (
        *HOSTILE[:-1],
        "my.head.weight",
        "encoder.layer.99.output.dense.weight",
        "z" * 10**6,
        "..",
        "a/b",
    )
    case.store(case.tensors() | {f"{name}.x": torch.ones(2) for name in names})
    return True


@kind()
def hostile_prefix(case: Case) -> None:
    """Before all names; the same encoder under names that nobody can show."""
    before = case.random.choice((*HOSTILE[:-1], "w" * 10**6))
    case.store({f"{before}.{name}": each for name, each in case.tensors().items()})
    if case.random.random() < 0.7:
        a_value(case)


@kind()
def a_million_names(case: Case) -> bool:
    header, data = case.header()
    part = {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2}
    more = {f"n{at}": part for at in range(900_000)}
    case.put_header(json.dumps(header | more, separators=(",", ":")), data)
    return True


@kind("torch", "classes")
def layers_without_numbers(case: Case) -> None:
    """As many names of layers as one likes: how many are built?"""
    header, data = case.header()
    name = next((each for each in header if "layers.0.self_attn.in_proj_weight" in each), None)
    name = name or next(each for each in header if ".0." in each)
    part = {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2}
    case.put_header(header | {name.replace(".0.", f".{at}.", 1): part for at in range(5, 200_000)}, data)


@kind()
def other_depth(case: Case) -> None:
    names = ("num_hidden_layers", "n_layers")
    name = next((key for key in names if key in case.json()), names[1])
    case.set(CONFIG, **{name: case.random.choice((1, 2, 511, 512, 513))})


@kind("mpnet")
def buckets(case: Case) -> None:
    tensors, n = case.tensors(), case.random.choice((0, 1, 2, 3, 256, 512, 4096))
    name = case.ending("relative_attention_bias.weight")
    case.store(tensors | {name: torch.ones(n, tensors[name].shape[1])})
    case.set(CONFIG, relative_attention_num_buckets=n)


@kind("bert", "distilbert")
def few_positions(case: Case) -> None:
    tensors, n = case.tensors(), case.random.choice((0, 1, 2, 3, 4))
    name = case.ending("position_embeddings.weight")
    case.store(tensors | {name: tensors[name][:n]})
    case.set(CONFIG, max_position_embeddings=n)


def _grown(case: Case, name: str, shape: list[int]) -> None:
    """A tensor of this shape that is all zeros; the old numbers stay, under another name."""
    header, data = case.header()
    size = 4
    for side in shape:
        size *= side
    header |= {"old": dict(header[name])}
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + size]}
    case.put_header(header, data, blank=size)


@kind("picture")
def large_picture(case: Case) -> None:
    """Few patches, each of them enormous."""
    patch = case.random.choice((1024, 2048, 2**15))
    case.set(CONFIG, image_size=patch * 4, patch_size=patch)
    _grown(case, case.ending("projection.weight"), [24, 3, patch, patch])


@kind("text", "torch")
def large_vocabulary(case: Case) -> None:
    n = case.random.choice((2**18, 2**18 + 1, 2**25))
    name = case.ending("word_embeddings.weight", "tok.weight")
    _grown(case, name, [n, case.header()[0][name]["shape"][1]])
    case.set(CONFIG, vocab_size=n)


@kind()
def pickles(case: Case) -> None:
    path, tensors = case.folder / WEIGHTS, case.tensors()
    path.unlink()
    name = case.random.choice((WEIGHTS, WEIGHTS, "pytorch_model.bin", "model.pt", "x.ckpt"))
    if case.random.random() < 0.3:
        (case.folder / name).write_bytes(pickle.dumps({"a": 1}))
    else:
        zipped = case.random.random() < 0.5
        torch.save(tensors, case.folder / name, _use_new_zipfile_serialization=zipped)


# What is no file of the folder


@kind()
def no_files(case: Case) -> None:
    """A folder, a pipe or a socket in the place of a file."""
    path = case.folder / case.random.choice(_names(case))
    path.unlink()
    what = case.random.choice(("folder", "pipe", "socket", "nothing"))
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
        os.chdir(here)


@kind()
def links(case: Case) -> None:
    """Out of the root: must be refused before anything is read there."""
    path = case.folder / case.random.choice(
        (*_names(case), "beside.json", "deeper/x.txt", "vocab.txt", "modules.json")
    )
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    sibling = case.outside / "sibling"
    to = (
        *(Path("/etc/passwd"), Path("/dev/zero"), Path("/"), path, Path("nowhere"), sibling),
        *(case.outside / "secret.txt", sibling / path.name, Path("../../outside/secret.txt")),
    )
    path.symlink_to(case.random.choice(to))


@kind()
def linked_folder(case: Case) -> None:
    shutil.rmtree(case.folder)
    to = (case.outside / "sibling", case.outside, Path("/etc"), Path("/proc/self"), case.folder)
    case.folder.symlink_to(case.random.choice(to))


def _names(case: Case) -> list[str]:
    return sorted(str(path.relative_to(case.folder)) for path in case.folder.rglob("*.*") if path.is_file())


@kind()
def index(case: Case) -> None:
    (case.folder / WEIGHTS).rename(case.folder / "a.safetensors")
    names = (
        *("../outside/sibling/model.safetensors", str(case.outside / "sibling" / WEIGHTS), "/etc/passwd"),
        *("loop.safetensors", "a/../../b.safetensors", "b" * 300 + ".safetensors", "c\0.safetensors", ""),
        *("missing.safetensors", "config.json", ".", "..", "<script>.safetensors", 3, None, [], "d.bin"),
    )
    if (name := case.random.choice(names)) == "loop.safetensors":
        (case.folder / name).symlink_to(name)
    listed = {"x": name, "y": "a.safetensors"}
    others = ([], None, {}, 3, {"x": {"y": "a"}})
    case.put(
        f"{WEIGHTS}.index.json",
        {"weight_map": listed if case.random.random() < 0.7 else case.random.choice(others)},
    )


@kind()
def many_shards(case: Case) -> None:
    (case.folder / WEIGHTS).unlink()
    case.put(f"{WEIGHTS}.index.json", {"weight_map": {f"{at}": f"{at}.safetensors" for at in range(10**5)}})
