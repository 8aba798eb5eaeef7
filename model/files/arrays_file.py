"""Arrays and texts by name in one file, `.npz` or `.safetensors`, read within limits and never unpickled.

The files' headers state the sizes of the arrays; the sizes are added up, and compared with the length of the file, before
memory is allocated. A text is an array of characters in an `.npz`, and an entry of the metadata in `.safetensors`, in which
a list of texts is stored as JSON.
"""

import io
import json
import math
import struct
import zipfile
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from safetensors import deserialize
from safetensors.numpy import save as serialize

from .errors import errors_in_one_sentence

LARGEST = 2**29  # bytes of all arrays together: a record of BERT-base at 512 tokens is 455 MB
MOST_ENTRIES = 1000
LARGEST_HEADER = 2**22  # bytes of JSON before the arrays of a safetensors file
LARGEST_NPY_HEADER = 10_000
KINDS = (".npz", ".safetensors")
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2"}
_DTYPES |= {"I8": "i1", "U8": "u1", "BOOL": "?"}


class Contents(NamedTuple):
    """Arrays and texts of a file, by name; a text is a string or a list of strings."""

    arrays: dict[str, np.ndarray]
    texts: dict[str, str | list[str]]


def read_arrays(content: bytes, name: str, wanted: Collection[str]) -> Contents:
    """The arrays and texts in a file whose names are in `wanted`; `content` is the file's bytes, and its `name` ends in the format.

    Raises ValueError, with a one-sentence message that begins with `name`, if the file is damaged, too large or of another
    format.
    """
    with errors_in_one_sentence(f"{name} cannot be read"):
        if name.lower().endswith(".npz"):
            return _read_npz(content, wanted)
        if name.lower().endswith(".safetensors"):
            return _read_safetensors(content, wanted)
        raise ValueError(f"its name must end in {' or '.join(KINDS)}")


def write_arrays(arrays: Mapping[str, np.ndarray], texts: Mapping[str, str | list[str]], kind: str) -> bytes:
    """Bytes of a file of the format `kind`, ".npz" or ".safetensors". In ".npz", equal values always give equal bytes."""
    if kind == ".safetensors":
        metadata = {name: text if isinstance(text, str) else json.dumps(text) for name, text in texts.items()}
        return serialize({name: np.ascontiguousarray(values) for name, values in arrays.items()}, metadata)
    if kind != ".npz":
        raise ValueError(f"a record is written as {' or '.join(KINDS)}, got {kind!r}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, values in {**arrays, **{name: np.array(text, str) for name, text in texts.items()}}.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # with no time of writing
            # Weights hardly shrink, and packing them takes ten times as long as writing them.
            entry.compress_type = zipfile.ZIP_STORED if values.dtype.kind == "f" else zipfile.ZIP_DEFLATED
            with file.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(values) if values.ndim else values)
    return buffer.getvalue()


def _read_npz(content: bytes, wanted: Collection[str]) -> Contents:
    arrays: dict[str, np.ndarray] = {}
    texts: dict[str, str | list[str]] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        entries = file.infolist()
        entry_by_name = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(entries) > MOST_ENTRIES:
            raise ValueError(f"it holds {len(entries):,} entries, of at most {MOST_ENTRIES:,}")
        if len(entry_by_name) < len(entries):
            raise ValueError("it holds two arrays of one name")
        wanted_entries = {name: entry for name, entry in entry_by_name.items() if name in wanted}
        # before anything is unpacked
        _add_bounded(0, sum(entry.file_size for entry in wanted_entries.values()), 0)
        n_bytes_total = 0
        for name, entry in wanted_entries.items():
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is compressed in a way that is not read")
            values = _read_npy(file.read(entry), name)
            n_bytes_total = _add_bounded(n_bytes_total, values.nbytes, values.size)
            if values.dtype.kind != "U":
                arrays[name] = values
            elif values.ndim > 1:
                raise ValueError(f"{name} must be a list of strings, got an array of {values.shape}")
            else:
                texts[name] = values.tolist()
    return Contents(arrays, texts)


def _read_npy(content: bytes, name: str) -> np.ndarray:
    stream = io.BytesIO(content)
    try:
        values = np.lib.format.read_array(stream, allow_pickle=False, max_header_size=LARGEST_NPY_HEADER)
    except (ValueError, MemoryError) as error:  # a header that claims more than there is
        raise ValueError(f"{name}: {error}") from error
    if values.dtype.kind not in "fiubU" or values.dtype.hasobject:
        raise ValueError(f"{name} is stored as {values.dtype.name}: only numbers and text are read")
    if stream.read(1):
        raise ValueError(f"{name} holds more bytes than its header promises")
    return values


def _read_safetensors(content: bytes, wanted: Collection[str]) -> Contents:
    (header_length,) = struct.unpack_from("<Q", content)
    if header_length > min(LARGEST_HEADER, len(content) - 8):
        raise ValueError(f"its header claims {header_length:,} bytes")
    header = json.loads(content[8 : 8 + header_length])
    if not isinstance(header, dict) or len(header) > MOST_ENTRIES:
        raise ValueError("its header is not that of a safetensors file")
    _add_bounded(0, len(content), 0)
    metadata = header.get("__metadata__") or {}
    arrays, n_bytes_total = {}, 0
    for name, entry in deserialize(content):
        if name not in wanted:
            continue
        if (dtype := _DTYPES.get(entry["dtype"])) is None:
            raise ValueError(f"{name} is stored as {entry['dtype']}, which is not read")
        n_bytes_total = _add_bounded(n_bytes_total, len(entry["data"]), math.prod(entry["shape"]))
        values = np.frombuffer(entry["data"], dtype)
        if entry["dtype"] == "BF16":  # the upper half of a float32
            values = (values.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = values.reshape(entry["shape"])
    return Contents(arrays, {name: _parse_text(text) for name, text in metadata.items() if name in wanted})


def _parse_text(entry: str) -> str | list[str]:
    """The list of strings that `entry` holds as JSON; `entry` itself if it holds anything else."""
    if not entry.startswith("["):
        return entry
    try:
        values = json.loads(entry)
    except ValueError:
        return entry
    return values if all(isinstance(value, str) for value in values) else entry


def _add_bounded(n_bytes_total: int, n_bytes: int, n_numbers: int) -> int:
    """`n_bytes_total` plus the bytes of one array with `n_numbers` numbers, at least 4 for each, since records hold float32.

    Raises ValueError if the sum exceeds `LARGEST`.
    """
    n_bytes_total += max(n_bytes, 4 * n_numbers)
    if n_bytes_total > LARGEST:
        raise ValueError(f"its arrays take more than {LARGEST >> 20} MB")
    return n_bytes_total
