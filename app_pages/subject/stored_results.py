"""What `python -m model.atlas` stored beside a checkpoint, as pages read it: kept until the files or the weights change.

A file of other weights counts as none: it says nothing about the encoder that is shown.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import streamlit as st

from app_pages.subject.cache import cached
from app_pages.toolkit.markdown import plain
from model import checkpoint
from model.atlas import results
from model.atlas.data_source import DataSource
from model.sources import locations


class Stored(Protocol):
    """What is read of a file."""

    @property
    def source(self) -> DataSource: ...


Made = TypeVar("Made", bound=Stored)
States = tuple[
    int | str, ...
]  # of files, in which a change of any of them shows; none of one that is not there


def heads_of(name: str) -> results.HeadResults | None:
    """None where there is no file, or one of other weights. Where it is damaged a caption says so."""
    return _said(name, results.HEADS, _heads)


def layers_of(name: str) -> results.LayerResults | None:
    """As `heads_of`."""
    return _said(name, results.LAYERS, _layers)


def examples_of(name: str) -> results.ResultTable | None:
    """As `heads_of`."""
    return _said(name, results.EXAMPLES, partial(_rows, file=results.EXAMPLES))


def pruning_of(name: str) -> results.ResultTable | None:
    """As `heads_of`."""
    return _said(name, results.PRUNING, partial(_rows, file=results.PRUNING))


def faithfulness_of(name: str) -> results.ResultTable | None:
    """As `heads_of`."""
    return _said(name, results.FAITHFULNESS, partial(_rows, file=results.FAITHFULNESS))


def over(source: DataSource, measure: str | None = None) -> str:
    """Such as "872 SST development sentences"; of a `measure` that was taken of fewer, their number."""
    n = source.n if measure is None else source.samples.get(measure, source.n)
    return f"{n:,} {source.data}"


def is_of(source: DataSource, *names: str) -> bool:
    """Whether it was measured with the weights that these encoders have now."""
    try:
        return source.weights == tuple(map(checkpoint.weights_hash, names))
    except (OSError, ValueError):
        return False


def states_of(path: Path, *names: str) -> States:
    """What changes with the file, which may be measured anew while the app runs, or with the weights that it is of."""
    try:
        found = path.stat()
        return found.st_mtime_ns, found.st_size, *map(checkpoint.weights_hash, names)
    except (OSError, ValueError):
        return ()


def file_state(name: str, file: str, *, of_weights: bool = True) -> States:
    """What changes with that file of an encoder, or with the encoder's weights."""
    return states_of(_path(name, file), *([name] if of_weights else []))


def _said(name: str, file: str, read: Callable[[str, States], Made | None]) -> Made | None:
    try:
        return read(name, file_state(name, file))
    except ValueError as error:
        st.caption(f"{plain(str(error))}.")
        return None


@cached
def _heads(name: str, _of: States) -> results.HeadResults | None:
    return _of_these_weights(name, results.read_heads(_path(name, results.HEADS)))


@cached
def _layers(name: str, _of: States) -> results.LayerResults | None:
    return _of_these_weights(name, results.read_layers(_path(name, results.LAYERS)))


@cached
def _rows(name: str, _of: States, file: str) -> results.ResultTable | None:
    return _of_these_weights(name, results.read_rows(_path(name, file)))


def _path(name: str, file: str) -> Path:
    try:
        return locations.find(name, checkpoint.CHECKPOINTS) / file
    except (OSError, ValueError):  # an encoder that is gone is said elsewhere
        return checkpoint.CHECKPOINTS / name / file


def _of_these_weights(name: str, found: Made | None) -> Made | None:
    return found if found is not None and is_of(found.source, name) else None
