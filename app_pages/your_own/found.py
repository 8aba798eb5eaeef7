"""What lies in each place, and what it is; looked up again after a few seconds, not at every click."""

from pathlib import Path

import streamlit as st

from app_pages.cache import cached
from model import checkpoint, places
from model.imports import Description, describe
from model.places import Listing

SECONDS = 10


def in_root() -> Listing:
    return _in_root(checkpoint.CHECKPOINTS, places.root())


@st.cache_data(ttl=SECONDS, show_spinner="Looking through the folder …")
def _in_root(home: Path, _root: Path | None) -> Listing:
    return places.below_root(home)


@st.cache_data(ttl=SECONDS, show_spinner="Looking through the Hugging Face cache …")
def in_cache() -> Listing:
    from model.hub import cached as in_hub_cache  # as late as this: it takes a third of a second

    return in_hub_cache()


def installed() -> Listing:
    return places.packaged()


def look_again() -> None:
    """For callbacks: something was added."""
    st.cache_data.clear()


def description(name: str) -> Description:
    """Of the encoder with this name; what keeps it from being opened is said as its problem."""
    try:
        folder = places.find(name, checkpoint.CHECKPOINTS)
        return _described(folder, _state(folder))
    except (ValueError, OSError) as error:
        return Description("", None, (), (), str(error))


@cached
def _described(folder: Path, _state: tuple) -> Description:
    return describe(folder)


def _state(folder: Path) -> tuple:
    """Size and time of change of each file, by which a folder is known to be the same; its weights are not read for it."""
    found = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return tuple((str(path), each.st_size, each.st_mtime_ns) for path, each in found)
