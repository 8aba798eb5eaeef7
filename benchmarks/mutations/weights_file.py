"""Damage to `model.safetensors`: to its header and its data."""

import json
import os

import torch

from benchmarks.mutations.case import CONFIG, HOSTILE, WEIGHTS, Case, kind
from benchmarks.mutations.configuration import a_value


@kind()
def truncated_weights(case: Case) -> None:
    """The file ends too early, or too late."""
    path = case.folder / WEIGHTS
    size = path.stat().st_size
    os.truncate(path, case.random.choice((0, 1, 4, 8, 9, 200, size // 3, size - 1, size - 40, size + 17)))


@kind()
def other_content(case: Case) -> None:
    """The file has the content of another kind of file."""
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
    """Some bytes of the header are changed."""
    path = case.folder / WEIGHTS
    raw = bytearray(path.read_bytes())
    end = 8 + int.from_bytes(raw[:8], "little")
    for _ in range(case.random.choice((1, 20))):
        raw[case.random.randrange(end)] = case.random.randrange(256)
    path.write_bytes(raw)


@kind()
def header_length(case: Case) -> None:
    """The length of the header is wrong."""
    path = case.folder / WEIGHTS
    lengths = (0, 1, 100, 2**20, 2**26, 2**26 + 1, 2**32, 2**63, 2**64 - 1)
    path.write_bytes(case.random.choice(lengths).to_bytes(8, "little") + path.read_bytes()[8:])


@kind()
def header_offsets(case: Case) -> None:
    """The offsets of one tensor are wrong."""
    header, data = case.header()
    first, second = case.any_tensor(), case.any_tensor()
    low, high = header[first]["data_offsets"]
    offsets = (
        *([low + 4, high + 4], [-4, high], [high, low], header[second]["data_offsets"], [low, high + 2**40]),
        *([low, low], [2**64, 2**65], ["0", "4"], [low], None, [0, len(data)]),
    )
    header[first]["data_offsets"] = case.random.choice(offsets)
    case.write_header(header, data)


@kind()
def a_tensor_twice(case: Case) -> None:
    """The header names one tensor twice."""
    header, data = case.header()
    name = case.any_tensor()
    again = json.dumps({name: header[name]})[1:-1]
    case.write_header(json.dumps(header)[:-1] + f", {again}}}", data)


@kind()
def header_values(case: Case) -> None:
    """An entry of the header is odd."""
    header, data = case.header()
    name = case.any_tensor()
    changed = (
        {name: case.odd_value()},
        {name: header[name] | {"shape": case.odd_value()}},
        {name: header[name] | {"dtype": case.odd_value()}},
        {name: header[name] | {"dtype": case.random.choice(("I8", "F8_E4M3", "BOOL", "C64"))}},
        {name: header[name] | {"shape": [2**62, 2**62, 0]}},
        {"__metadata__": case.odd_value()},
    )
    case.write_header(header | case.random.choice(changed), data)


@kind()
def other_dtype(case: Case) -> None:
    """One or all tensors have another type of numbers."""
    tensors = case.tensors()
    floats = (torch.bfloat16, torch.float64, torch.float16, torch.float8_e4m3fn)
    dtype = case.random.choice((*floats, torch.int8, torch.bool, torch.complex64, torch.int64, torch.uint16))
    names = case.random.choice((sorted(tensors), [case.any_tensor()]))
    case.save_tensors(tensors | {name: tensors[name].to(dtype) for name in names})


@kind()
def other_shape(case: Case) -> None:
    """One tensor has another shape."""
    tensors, name = case.tensors(), case.any_tensor()
    it = tensors[name]
    turned = it.T if it.ndim == 2 else it[..., None]
    tensors[name] = case.random.choice((it[None], it.flatten(), it[:-1], it[:0], it.sum(), turned, it[:1]))
    case.save_tensors(tensors)


@kind()
def not_finite(case: Case) -> None:
    """One number is NaN or infinite."""
    tensors = case.tensors()
    tensors[case.any_tensor()].view(-1)[-1] = case.random.choice((float("nan"), float("inf")))
    case.save_tensors(tensors)


@kind()
def a_tensor_missing(case: Case) -> None:
    """One or five tensors are missing."""
    tensors = case.tensors()
    for name in case.random.sample(sorted(tensors), case.random.choice((1, 1, 5))):
        del tensors[name]
    case.save_tensors(tensors)


@kind()
def surplus_tensors(case: Case) -> bool:
    """There are additional tensors with odd names."""
    names = (
        *HOSTILE[:-1],
        "my.head.weight",
        "encoder.layer.99.output.dense.weight",
        "z" * 10**6,
        "..",
        "a/b",
    )
    case.save_tensors(case.tensors() | {f"{name}.x": torch.ones(2) for name in names})
    return True


@kind()
def hostile_prefix(case: Case) -> None:
    """All names of tensors have a prefix of characters that cannot be shown."""
    before = case.random.choice((*HOSTILE[:-1], "w" * 10**6))
    case.save_tensors({f"{before}.{name}": item for name, item in case.tensors().items()})
    if case.random.random() < 0.7:
        a_value(case)


@kind()
def many_names(case: Case) -> bool:
    """There are very many additional tensors."""
    header, data = case.header()
    part = {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2}
    n = case.random.choice((50_000, 1_000_000))
    case.write_header(
        json.dumps(header | {f"n{index}": part for index in range(n)}, separators=(",", ":")), data
    )
    return n < 10**6


@kind("torch", "classes")
def layers_without_numbers(case: Case) -> None:
    """There are empty tensors named after very many layers, which must not all be built."""
    header, data = case.header()
    name = next((item for item in header if "layers.0.self_attn.in_proj_weight" in item), None)
    name = name or next(item for item in header if ".0." in item)
    part = {"dtype": "F32", "shape": [0], "data_offsets": [len(data)] * 2}
    case.write_header(
        header | {name.replace(".0.", f".{index}.", 1): part for index in range(5, 200_000)}, data
    )


@kind()
def other_depth(case: Case) -> None:
    """The configuration has another number of layers than the weights."""
    names = ("num_hidden_layers", "n_layers")
    name = next((key for key in names if key in case.read_json()), names[1])
    case.update_json(CONFIG, **{name: case.random.choice((1, 2, 511, 512, 513))})


@kind("mpnet")
def buckets(case: Case) -> None:
    """The table of relative positions has another number of buckets."""
    tensors, n = case.tensors(), case.random.choice((0, 1, 2, 3, 256, 512, 4096))
    name = case.name_ending_in("relative_attention_bias.weight")
    case.save_tensors(tensors | {name: torch.ones(n, tensors[name].shape[1])})
    case.update_json(CONFIG, relative_attention_num_buckets=n)


@kind("bert", "distilbert")
def few_positions(case: Case) -> None:
    """There are only 0 to 4 positions."""
    tensors, n = case.tensors(), case.random.choice((0, 1, 2, 3, 4))
    name = case.name_ending_in("position_embeddings.weight")
    case.save_tensors(tensors | {name: tensors[name][:n]})
    case.update_json(CONFIG, max_position_embeddings=n)


def _enlarge_tensor(case: Case, name: str, shape: list[int]) -> None:
    """Gives the tensor `name` this shape, all zeros; its old numbers stay under another name."""
    header, data = case.header()
    size = 4
    for side in shape:
        size *= side
    header |= {"old": dict(header[name])}
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + size]}
    case.write_header(header, data, blank=size)


@kind("picture")
def large_picture(case: Case) -> None:
    """The patches of a picture are enormous."""
    patch = case.random.choice((1024, 2048, 2**15))
    case.update_json(CONFIG, image_size=patch * 4, patch_size=patch)
    _enlarge_tensor(case, case.name_ending_in("projection.weight"), [24, 3, patch, patch])


@kind("text", "torch")
def large_vocabulary(case: Case) -> None:
    """The vocabulary is enormous."""
    n = case.random.choice((2**18, 2**18 + 1, 2**25))
    name = case.name_ending_in(
        "word_embeddings.weight",
        "tok_embeddings.weight",
        "embed_tokens.weight",
        "tok.weight",
        "shared.weight",
        "token_embedding.weight",
    )
    _enlarge_tensor(case, name, [n, case.header()[0][name]["shape"][1]])
    case.update_json(CONFIG, vocab_size=n)


PICKLE = b"\x80\x04}\x94\x8c\x01a\x94K\x01s."  # of {"a": 1}


@kind()
def pickles(case: Case) -> None:
    """The weights are a pickle, under its own name or another one."""
    path, tensors = case.folder / WEIGHTS, case.tensors()
    path.unlink()
    name = case.random.choice((WEIGHTS, WEIGHTS, "pytorch_model.bin", "model.pt", "x.ckpt"))
    if case.random.random() < 0.3:
        (case.folder / name).write_bytes(PICKLE)
    else:
        zipped = case.random.random() < 0.5
        torch.save(tensors, case.folder / name, _use_new_zipfile_serialization=zipped)
