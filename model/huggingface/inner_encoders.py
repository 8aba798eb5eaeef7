"""Folders that hold two encoders, one of pictures and one of texts (CLIP, SigLIP).

Each of the two has a name of its own, behind that of the folder: `my-clip/vision_model` and `my-clip/text_model`. Neither is a
folder on disk; the functions here say which folder and which of its encoders such a path or name means.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from ..files.content import file_state, read_object
from ..files.encoder_files import CONFIG, INDEX, WEIGHTS
from .clip import PATCHES, TOKENS
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
    """`inner_names`; `_state` makes the cache distinguish versions of the files."""
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
    """The folder on disk that a path means, and the name of one of its two encoders; None where the path is a folder itself."""
    return (path.parent, path.name) if path.name in inner_names(path.parent) else (path, None)


def split_name(name: str) -> tuple[str, str | None]:
    """The name of a folder, and that of one of its two encoders if `name` ends in it; the folder is not looked at."""
    outer, _, inner = name.rpartition("/")
    return (outer, inner) if outer and inner in INNER_NAMES else (name, None)


def folder_name(path: Path) -> str:
    """The last part of a path, for a message; that of one of two encoders with the name of its folder before it."""
    folder, inner = split_path(path)
    return folder.name if inner is None else f"{folder.name}/{inner}"


def one_encoder(
    values: Mapping[str, Any], stored: Stored, inner: str | None
) -> tuple[dict[str, Any], Stored]:
    """The configuration and the tensors of the encoder `inner` of two; None for the only one whose weights are there.

    Raises ValueError, with a one-sentence message, if both are there and neither is chosen, or if its configuration is no
    object.
    """
    if inner is None:
        names = _stored_encoders(stored)
        if len(names) > 1:
            raise ValueError(BOTH)
        inner = names[0] if names else VISION
    (other,) = set(INNER_NAMES) - {inner}
    own_values = _settings(values, inner) | {name: values[name] for name in OF_THE_WHOLE if name in values}
    own_values["model_type"] = f"{values['model_type']}_{inner}"
    # what is the other one's is not left out here, but read there
    others = (f"{other}.", "text_projection." if inner == VISION else "visual_projection.")
    return own_values, stored.renamed(
        lambda name: None if any(f".{name}".count(f".{part}") for part in others) else name
    )


def _stored_encoders(stored: Stored) -> tuple[str, ...]:
    return tuple(
        inner
        for inner, tensor in INNER_NAMES.items()
        if any(name.endswith(f"{inner}.{tensor}") for name in stored.shapes)
    )


def _settings(values: Mapping[str, Any], inner: str) -> dict[str, Any]:
    """The configuration of one of the two; older files have it twice, and then the second one counts."""
    for name in (f"{SETTINGS[inner]}_dict", SETTINGS[inner]):
        settings = values.get(name)
        if settings is None:
            continue
        if not isinstance(settings, dict):
            raise ValueError(f"config.json has {name} {shortened(settings)}, which must be an object")
        return settings
    return {}
