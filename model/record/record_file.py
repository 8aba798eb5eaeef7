"""Record files, `.npz` or `.safetensors`: `save(record, path, settings)` writes one, `read(path)` returns the same record.

The file holds the record's arrays by their names, `tokens`, `roles` and `pieces` (for cross-attention also `keys`,
`key_roles` and `key_pieces`), for a picture also `patch_grid` and `picture`, and the `settings` as JSON: input, encoder, intervention and version of the
project. A file with only `pattern` and `tokens`, from any program, is read as an `AttentionRecord`. Neither torch nor an
encoder is needed.

A file in half precision is half as large, and its numbers are rounded: by at most 0.05 %, or by 3e-8 for numbers below
6e-5. The record that is read from it is in float32 like any other, and its settings say `"precision": "half"`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..config import ModelConfig
from ..files.arrays_file import LARGEST, Contents, read_arrays, write_arrays
from ..files.content import read_bounded, replacement_file
from ..files.errors import errors_in_one_sentence
from ..schema import convert_closed
from ..version import VERSION
from . import AttentionRecord, ForwardRecord
from .from_arrays import check_picture, check_weights, from_arrays, positions

AXES = {
    **dict.fromkeys(("pattern", "scores", "mask"), ("layer", "head", "query", "key")),
    "q": ("layer", "head", "query", "d_k"),
    "k": ("layer", "head", "key", "d_k"),
    "v": ("layer", "head", "key", "d_v"),
    "z": ("layer", "head", "query", "d_v"),
    "residual": ("stage", "query", "d_model"),
    "logits_by_layer": ("stage", "class"),
    "logits": ("class",),
    "pooled": ("d_pooled",),
    "token_logits": ("query", "token_class"),
}
OPTIONAL = ("token_logits",)  # of some encoders
LABELS = ("tokens", "queries", "roles", "pieces", "keys", "key_roles", "key_pieces")
WANTED = (*AXES, *LABELS, "patch_grid", "picture", "numbers", "settings")
LARGEST_SETTINGS = 2**20  # characters
HALF = "half"  # the setting `precision` of what was in a file in half precision
_TEXT_BYTES = 2**15  # that tokens and settings may take
_LARGEST_HALF = float(np.finfo(np.float16).max)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """Content of a record file: a `ForwardRecord`, or an `AttentionRecord` if some arrays are missing."""

    record: AttentionRecord
    settings: dict[str, Any]  # input, encoder, intervention, version; empty for a file from elsewhere
    picture: np.ndarray | None  # uint8 of [height, width] or [height, width, 3]


def save(
    record: AttentionRecord, path: str | Path, settings: Mapping[str, Any], picture: np.ndarray | None = None
) -> None:
    """Writes `record` to `path`, which ends in .npz or .safetensors; `settings` is its provenance
    (`model.capture.provenance`).

    Raises ValueError for a record that could not be read again, and OSError if the file cannot be written.

    >>> from loupe import save_record
    >>> save_record(record, "record.npz", {"text": "A gripping film."})  # doctest: +SKIP
    """
    content = dump(record, settings, picture, Path(path).suffix.lower())
    with replacement_file(Path(path)) as temporary_path:
        temporary_path.write_bytes(content)


def dump(
    record: AttentionRecord,
    settings: Mapping[str, Any],
    picture: np.ndarray | None = None,
    kind: str = ".npz",
    *,
    half: bool = False,
) -> bytes:
    """The record as the bytes of a file, of the format `kind` (".npz" or ".safetensors"), in half precision if `half`, else
    float32.

    Raises as `save` does, and ValueError for numbers too large for half precision (`fits_half_precision`).
    """
    arrays = _arrays(record)
    if half and not fits_half_precision(record):
        raise ValueError(f"it holds numbers above {_LARGEST_HALF:,.0f}, which half precision does not have")
    if half:
        arrays = {
            name: values.astype(np.float16) if values.dtype.kind == "f" else values
            for name, values in arrays.items()
        }
    labels = {"tokens": record.tokens, "roles": record.roles, "pieces": record.pieces}
    if record.keys is not None:
        labels |= {
            "keys": record.keys.tokens,
            "key_roles": record.keys.roles,
            "key_pieces": record.keys.pieces,
        }
    if any(label.endswith("\0") for values in labels.values() for label in values):
        raise ValueError("a token that ends in the character NUL cannot be saved")
    texts: dict[str, str | list[str]] = {name: list(values) for name, values in labels.items()}
    described_settings: dict[str, object] = {
        "continuing_prefix": record.continuing_prefix,
        "merged": record.merged,
    }
    if record.keys is not None:
        described_settings["keys_continuing_prefix"] = record.keys.continuing_prefix
    if record.numbers is not None:
        arrays["numbers"] = np.array(record.numbers, np.int64)
    if record.patch_grid is not None:
        arrays["patch_grid"] = np.array(record.patch_grid, np.int64)
    if picture is not None:
        check_picture(picture)
        arrays["picture"] = picture
    if isinstance(record, ForwardRecord):
        described_settings["config"] = record.config.to_json()
    texts["settings"] = json.dumps({"version": VERSION, **settings, **described_settings})
    _checked_sizes(arrays, record)
    return write_arrays(arrays, texts, kind)


def n_bytes(record: AttentionRecord, *, half: bool = False) -> int:
    """Estimated size of the record's file in bytes, rather too large, since numbers are assumed to be incompressible."""
    n_values = {name: values.size for name, values in _arrays(record).items()}
    mask = n_values.pop("mask")
    return sum(n_values.values()) * (2 if half else 4) + mask // 100 + _TEXT_BYTES


def fits_half_precision(record: AttentionRecord) -> bool:
    """Whether all numbers of the record are small enough for half precision."""
    floats = (values for values in _arrays(record).values() if values.dtype.kind == "f" and values.size)
    return all(max(values.max(), -values.min()) <= _LARGEST_HALF for values in floats)


def _arrays(record: AttentionRecord) -> dict[str, np.ndarray]:
    """The arrays of a record that `AXES` lists, by name; those that the record lacks are left out."""
    names = AXES if isinstance(record, ForwardRecord) else ("pattern", "mask")
    arrays = {name: getattr(record, name) for name in names}
    return {name: values for name, values in arrays.items() if values is not None}


def read(path: str | Path) -> AttentionRecord:
    """The record in a file: a `ForwardRecord`, or an `AttentionRecord` if the file holds no more. Raises as `read_file` does.

    >>> from loupe import read_record
    >>> record = read_record("record.npz")  # doctest: +SKIP
    """
    return read_file(path).record


def read_file(path: str | Path) -> RecordFile:
    """The record in a file, with its settings and picture.

    Raises FileNotFoundError if there is no file, and ValueError, with a one-sentence message, if it is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path.name}")
    with errors_in_one_sentence(f"{path.name} cannot be read"):
        content = read_bounded(path, LARGEST)
    return from_bytes(content, path.name)


def from_bytes(content: bytes, name: str) -> RecordFile:
    """The content of a record file, from its bytes; `name` is used in error messages. Raises ValueError as `read_file` does."""
    contents = read_arrays(content, name, WANTED)
    with errors_in_one_sentence(f"{name} cannot be read"):
        settings = _read_settings(contents)
        if "pattern" in contents.arrays and contents.arrays["pattern"].dtype == np.float16:
            settings["precision"] = HALF
        if (picture := contents.arrays.get("picture")) is not None:
            check_picture(picture)
            picture = np.ascontiguousarray(picture)
            picture.setflags(write=False)
        record = _read_record(contents, settings, picture)
        return RecordFile(record=record, settings=settings, picture=picture)


def _read_settings(contents: Contents) -> dict[str, Any]:
    text = contents.texts.get("settings", "{}")
    if not isinstance(text, str) or len(text) > LARGEST_SETTINGS:
        raise ValueError("its settings are not a string, or too long")
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("its settings are not a JSON object")
    return values


def _read_record(
    contents: Contents, settings: dict[str, Any], picture: np.ndarray | None
) -> AttentionRecord | ForwardRecord:
    arrays, texts = contents
    if "pattern" not in arrays:
        raise ValueError("it holds no pattern [layer, head, query, key]")
    for name in ("tokens", "queries", "keys"):
        if name in arrays:
            raise ValueError(f"{name} must be text, such as np.array(tokens)")
    grid = arrays.get("patch_grid")
    if grid is not None and (grid.shape != (2,) or grid.dtype.kind not in "iu"):
        raise ValueError("patch_grid must be two whole numbers, rows and columns")
    prefix, key_prefix = settings.get("continuing_prefix"), settings.get("keys_continuing_prefix")
    numbers = arrays.get("numbers")
    attention = from_arrays(
        arrays["pattern"],
        texts.get("tokens", texts.get("queries")),
        keys=texts.get("keys"),
        roles=texts.get("roles"),
        key_roles=texts.get("key_roles"),
        mask=arrays.get("mask"),
        patch_grid=None if grid is None else tuple(grid.tolist()),
        picture=picture,
        continuing_prefix=prefix if isinstance(prefix, str) else None,
        key_prefix=key_prefix if isinstance(key_prefix, str) else None,
        pieces=texts.get("pieces"),
        key_pieces=texts.get("key_pieces"),
        numbers=None if numbers is None else numbers.tolist(),
        merged=settings.get("merged") is True,
    )
    if not set(AXES) - set(OPTIONAL) <= set(arrays) or "config" not in settings:
        return attention
    config = convert_closed(settings["config"], ModelConfig)
    _check_config(_checked_sizes(arrays, attention), config)
    field_values = positions(attention) | {
        name: np.array(arrays[name], np.float32) for name in set(AXES) & set(arrays) - {"pattern", "mask"}
    }
    return ForwardRecord(config=config, pattern=attention.pattern, mask=attention.mask, **field_values)


def _checked_sizes(arrays: Mapping[str, np.ndarray], record: AttentionRecord) -> dict[str, int]:
    """The length of each axis by its name in `AXES`. Raises ValueError if shapes contradict each other, a value is not finite,
    or a weight is outside 0 to 1.
    """
    sizes: dict[str, int] = {}
    for name, axes in AXES.items():
        if name not in arrays:
            continue
        values = arrays[name]
        if values.ndim != len(axes):
            raise ValueError(f"{name} has {values.ndim} axes; it needs {list(axes)}")
        for axis, size in zip(axes, values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name} has {size} of {axis!r}, other arrays have {sizes[axis]}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    if (sizes["query"], sizes["key"]) != (len(record), len(record.attended)):
        raise ValueError("the number of labels does not fit the queries and keys of the pattern")
    check_weights(arrays["pattern"])
    return sizes


def _check_config(sizes: Mapping[str, int], config: ModelConfig) -> None:
    """Raises ValueError unless the axes of these sizes are those of an encoder with this configuration."""
    expected_sizes = {
        "layer": config.n_layers,
        "head": config.n_heads,
        "stage": 1 + 2 * config.n_layers,
        "class": config.n_classes,
        "token_class": len(config.family.token_class_names),
        **{name: getattr(config, name) for name in ("d_k", "d_v", "d_model", "d_pooled")},
    }
    for axis, expected in expected_sizes.items():
        if (size := sizes.get(axis, 0)) != expected:
            raise ValueError(f"its config says {expected} of {axis!r}, its arrays have {size}")
