"""Folders that hold two encoders, one of pictures and one of texts (CLIP, SigLIP).

Each encoder is opened by a name behind that of the folder: `my-clip/vision_model` and `my-clip/text_model`. Neither is a folder
on disk; the functions here split such a path or name into the folder and the encoder.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..files.content import file_state, read_object
from ..files.encoder_files import CONFIG, INDEX, WEIGHTS
from .clip import PATCHES, TOKENS
from .tensor_map import json_object
from .weights import Stored, stored_weights

# by model_type; what the two are called behind the folder's name, with a tensor that tells that one is there
TWO_ENCODERS = {"clip": "CLIP", "siglip": "SigLIP"}
VISION, TEXT = "vision_model", "text_model"
INNER_NAMES = {VISION: PATCHES, TEXT: TOKENS}
SETTINGS = {VISION: "vision_config", TEXT: "text_config"}
# settings of a classifier, which belongs to the whole folder
OF_THE_WHOLE = ("architectures", "id2label", "problem_type")
BOTH = f"it holds two encoders, so write /{VISION} (of pictures) or /{TEXT} (of texts) behind its name"


def inner_names(folder: Path) -> tuple[str, ...]:
    """Names of the two encoders in a folder, "vision_model" and "text_model"; none for any other folder, or a damaged one."""
    try:
        state = tuple(
            file_state(folder / name) for name in (CONFIG, WEIGHTS, INDEX) if (folder / name).is_file()
        )
    except OSError:
        return ()
    return _inner_names(folder, state)


@lru_cache(maxsize=1024)
def _inner_names(folder: Path, _state: tuple) -> tuple[str, ...]:
    """`inner_names`, cached; `_state` changes with the files, so that they are read anew."""
    try:
        if read_object(folder / CONFIG, CONFIG).get("model_type") not in TWO_ENCODERS:
            return ()
        names = _stored_encoders(stored_weights(folder))
    except (ValueError, OSError):
        return ()
    return names if len(names) > 1 else ()


def with_inner_names(name: str, folder: Path) -> tuple[str, ...]:
    """`name/text_model` and `name/vision_model` for a folder that holds a pair of encoders, such as CLIP; else `name` alone."""
    return tuple(f"{name}/{inner}" for inner in inner_names(folder)) or (name,)


def split_path(path: Path) -> tuple[Path, str | None]:
    """The folder on disk, and the name of one of its two encoders if the path ends in one, else None."""
    return (path.parent, path.name) if path.name in inner_names(path.parent) else (path, None)


def split_name(name: str) -> tuple[str, str | None]:
    """The name of a folder, and the name of one of its two encoders if `name` ends in one, else None; reads no file."""
    outer, _, inner = name.rpartition("/")
    return (outer, inner) if outer and inner in INNER_NAMES else (name, None)


def folder_name(path: Path) -> str:
    """The name of a folder for a message: the last part of its path, or "my-clip/text_model" for one of two encoders."""
    folder, inner = split_path(path)
    return folder.name if inner is None else f"{folder.name}/{inner}"


def select_encoder(
    values: Mapping[str, Any], stored: Stored, inner: str | None
) -> tuple[dict[str, Any], Stored]:
    """The configuration and the tensors of one of two encoders, which `inner` names: "vision_model" or "text_model".

    With `inner` None it is the only one whose weights are stored. Raises ValueError, with a one-sentence message, if `inner` is
    None and the weights of both are stored, or if the configuration is no JSON object.
    """
    if inner is None:
        names = _stored_encoders(stored)
        if len(names) > 1:
            raise ValueError(BOTH)
        inner = names[0] if names else VISION
    (other,) = set(INNER_NAMES) - {inner}
    # older files have the part about an encoder twice, and the one whose key ends in "_dict" counts
    key = f"{SETTINGS[inner]}_dict" if values.get(f"{SETTINGS[inner]}_dict") is not None else SETTINGS[inner]
    own_values = json_object(values, key) | {name: values[name] for name in OF_THE_WHOLE if name in values}
    own_values["model_type"] = f"{values['model_type']}_{inner}"
    # what is the other one's is not left out here, but read there
    others = (f"{other}.", "text_projection." if inner == VISION else "visual_projection.")
    return own_values, stored.renamed(
        lambda name: None if any(f".{name}".count(f".{part}") for part in others) else name
    )


def _stored_encoders(stored: Stored) -> tuple[str, ...]:
    """Names of those of the two encoders whose weights are stored."""
    return tuple(
        inner
        for inner, tensor in INNER_NAMES.items()
        if any(name.endswith(f"{inner}.{tensor}") for name in stored.shapes)
    )
