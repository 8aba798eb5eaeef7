"""The encoders in each location, and their descriptions; refreshed after some seconds, not at every click."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from app_pages.subject import session_encoders
from app_pages.subject.cache import cached
from app_pages.toolkit.markdown import PLACEMENTS, beginning
from model import checkpoint
from model.config import ModelConfig
from model.huggingface import Description, describe, is_foreign
from model.huggingface.inner_encoders import split_path, with_inner_names
from model.sources import locations
from model.sources.names import Listing

SECONDS, SECONDS_OF_CACHE = 10, 60  # all that is in the cache is looked through, data sets as well


def encoders_in_root() -> Listing:
    """Encoders in the folder given by `--models`."""
    return _in_root(checkpoint.CHECKPOINTS, locations.root())


@st.cache_data(ttl=SECONDS, show_spinner="Looking through the folder …")
def _in_root(home: Path, _root: Path | None) -> Listing:
    return locations.below_root(home)


@st.cache_data(ttl=SECONDS_OF_CACHE, show_spinner="Looking through the Hugging Face cache …")
def encoders_in_cache() -> Listing:
    """Encoders in this machine's Hugging Face cache."""

    from model.sources.hub import cached_models  # imported late: it takes a third of a second

    return cached_models()


def uploaded_encoders() -> Listing:
    """Encoders that were uploaded in this session."""
    uploads = session_encoders.uploads().items()
    return Listing(
        names=tuple(inner for name, upload in uploads for inner in with_inner_names(name, upload.folder))
    )


def description(name: str) -> Description:
    """Description of an encoder; if it cannot be opened, the field `problem` of the description says why."""
    try:
        folder = locations.find(name, checkpoint.CHECKPOINTS)
        return _description_of_folder(folder, _folder_state(folder))
    except (ValueError, OSError) as error:
        return Description(family="", config=None, problem=str(error))


@cached
def _description_of_folder(folder: Path, _folder_state: tuple) -> Description:
    if is_foreign(folder):
        return describe(folder)
    try:
        return _description_of_own(checkpoint.read_config(folder))
    except ValueError as error:
        about = describe(folder)
        # what it lacks to be one of Hugging Face's, unless it was meant as one of these
        return replace(about, problem=str(error)) if (folder / "history.json").is_file() else about


def _description_of_own(config: ModelConfig) -> Description:
    """Description of an encoder that `model.checkpoint.save` has written; compare `model.huggingface.describe`."""
    classes = beginning(config.class_names, 4)
    input_text = f"text, up to {config.n_positions:,} tokens"
    if not config.is_text:
        height, width = config.image_sides
        input_text = f"pictures of {height} × {width}, as {config.n_patches:,} patches"
    summary = (
        ("layers × heads", f"{config.n_layers} × {config.n_heads}"),
        ("width", f"{config.d_model:,}, {config.d_k} per head, {config.d_ff:,} in the feed-forward"),
        ("LayerNorm", PLACEMENTS[config.norm_placement]),
        ("input", input_text),
        (
            "answers",
            f"one of {config.n_classes} classes ({classes})" if config.n_classes else "its pooled state",
        ),
    )
    return Description(family="an encoder of this project", config=config, summary=summary)


def _folder_state(folder: Path) -> tuple:
    """Size and modification time of each file, which identify the folder's content without reading the weights."""
    folder, _ = split_path(folder)
    files = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files)
