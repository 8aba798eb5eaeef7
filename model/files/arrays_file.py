"""Arrays and texts by name in one file, `.npz` or `.safetensors`, read within bounds and never unpickled.

Sizes stand in the files' headers: they are added up, and compared with what the file holds, before memory is taken.
In an `.npz` a text is an array of characters, in `.safetensors` an entry of the metadata, a list as JSON.
"""

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save as serialize

LARGEST = 2**29  # bytes of all arrays together: a record of BERT-base at 512 tokens is 455 MB
MOST_ENTRIES = 1000
LARGEST_HEADER = 2**22  # bytes of JSON before the arrays of a safetensors file
LARGEST_NPY_HEADER = 10_000
KINDS = (".npz", ".safetensors")
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2"}
_DTYPES |= {"I8": "i1", "U8": "u1", "BOOL": "?"}
_ERRORS = (
    *(ValueError, OSError, KeyError, TypeError, EOFError, RuntimeError, OverflowError, RecursionError),
    *(SyntaxError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error, SafetensorError),
)


class Contents(NamedTuple):
    arrays: dict[str, np.ndarray]
    texts: dict[str, str | list[str]]


def read_arrays(content: bytes, name: str, wanted: Collection[str]) -> Contents:
    """What the file `name` holds of the `wanted` names; what else it holds is left.

    Raises ValueError, in one sentence that begins with the name, where the file is damaged, too large or of another kind.
    """
    with refused(name):
        if name.lower().endswith(".npz"):
            return _read_npz(content, wanted)
        if name.lower().endswith(".safetensors"):
            return _read_safetensors(content, wanted)
        raise ValueError(f"its name must end in {' or '.join(KINDS)}")


@contextmanager
def refused(name: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes a ValueError of one line about the file of that `name`."""
    try:
        yield
    except _ERRORS as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        why = " ".join(said.split()) or type(error).__name__
        raise ValueError(f"{name} cannot be read: {why[:300]}") from error


def write_arrays(arrays: Mapping[str, np.ndarray], texts: Mapping[str, str | list[str]], kind: str) -> bytes:
    """A file of that `kind` with both; for `.npz`, the same values make the same bytes."""
    if kind == ".safetensors":
        listed = {name: it if isinstance(it, str) else json.dumps(it) for name, it in texts.items()}
        return serialize({name: np.ascontiguousarray(it) for name, it in arrays.items()}, listed)
    if kind != ".npz":
        raise ValueError(f"a record is written as {' or '.join(KINDS)}, got {kind!r}")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, values in {**arrays, **{name: np.array(it, str) for name, it in texts.items()}}.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # with no time of writing
            # Weights hardly shrink, and packing them takes ten times as long as writing them.
            entry.compress_type = zipfile.ZIP_STORED if values.dtype.kind == "f" else zipfile.ZIP_DEFLATED
            with file.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(values) if values.ndim else values)
    return made.getvalue()


def _read_npz(content: bytes, wanted: Collection[str]) -> Contents:
    arrays, texts, total = {}, {}, 0
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        entries = file.infolist()
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        if len(entries) > MOST_ENTRIES:
            raise ValueError(f"it holds {len(entries):,} entries, of at most {MOST_ENTRIES:,}")
        if len(set(names)) < len(names):
            raise ValueError("it holds two arrays of one name")
        for name, entry in zip(names, entries, strict=True):
            if name not in wanted:
                continue
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is compressed in a way that is not read")
            with file.open(entry) as member:
                shape, columns_first, dtype = _npy_header(member, name)
                n_bytes = math.prod(shape) * dtype.itemsize
                if member.tell() + n_bytes != entry.file_size:
                    raise ValueError(f"{name} promises {n_bytes:,} bytes and holds another number")
                total = _bounded(total, n_bytes, math.prod(shape))
                values = np.frombuffer(member.read(n_bytes + 1), dtype)  # the byte more ends the check sum
            values = values.reshape(shape, order="F" if columns_first else "C")
            if dtype.kind == "U":
                if values.ndim > 1:
                    raise ValueError(f"{name} must be a list of strings, got an array of {shape}")
                texts[name] = values.tolist()
            else:
                arrays[name] = values
    return Contents(arrays, texts)


def _npy_header(member: io.BufferedIOBase, name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} is written in a version of .npy that is not read")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, columns_first, dtype = read(member, max_header_size=LARGEST_NPY_HEADER)
    if dtype.kind not in "fiubU" or dtype.hasobject or dtype.shape:
        raise ValueError(
            f"{name} is stored as {dtype.name}: only numbers and text are read, and nothing is unpickled"
        )
    if any(size < 0 for size in shape):
        raise ValueError(f"{name} has a negative size")
    return shape, columns_first, dtype


def _read_safetensors(content: bytes, wanted: Collection[str]) -> Contents:
    (length,) = struct.unpack_from("<Q", content)
    if length > min(LARGEST_HEADER, len(content) - 8):
        raise ValueError(f"its header claims {length:,} bytes")
    header = json.loads(content[8 : 8 + length])
    if not isinstance(header, dict) or len(header) > MOST_ENTRIES:
        raise ValueError("its header is not that of a safetensors file")
    _bounded(0, len(content), 0)
    metadata = header.get("__metadata__") or {}
    arrays, total = {}, 0
    for name, entry in deserialize(content):
        if name not in wanted:
            continue
        if (dtype := _DTYPES.get(entry["dtype"])) is None:
            raise ValueError(f"{name} is stored as {entry['dtype']}, which is not read")
        total = _bounded(total, len(entry["data"]), math.prod(entry["shape"]))
        values = np.frombuffer(entry["data"], dtype)
        if entry["dtype"] == "BF16":  # the upper half of a float32
            values = (values.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = values.reshape(entry["shape"])
    return Contents(arrays, {name: _text(it) for name, it in metadata.items() if name in wanted})


def _text(entry: str) -> str | list[str]:
    """A list where the entry is one in JSON."""
    if not entry.startswith("["):
        return entry
    try:
        values = json.loads(entry)
    except ValueError:
        return entry
    return values if all(isinstance(each, str) for each in values) else entry


def _bounded(total: int, n_bytes: int, n_numbers: int) -> int:
    """The sum so far; numbers take four bytes each in a record, however few they take in the file."""
    total += max(n_bytes, 4 * n_numbers)
    if total > LARGEST:
        raise ValueError(f"its arrays take more than {LARGEST >> 20} MB")
    return total
