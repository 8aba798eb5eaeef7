"""Results that `python -m model.atlas` stored beside a checkpoint; cached until the files or the weights change.

Results of other weights count as missing: they say nothing about the encoder that is shown.
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
    """Any stored result: it knows the data set and the weights that it was measured with."""

    @property
    def source(self) -> DataSource: ...


Made = TypeVar("Made", bound=Stored)
States = tuple[
    int | str, ...
]  # of files, in which a change of any of them shows; none of one that is not there


def heads_of(name: str) -> results.HeadResults | None:
    """Stored measures of the heads; None if missing or of other weights. If the file is damaged, writes a caption."""
    return _read_or_say(name, results.HEADS, _heads)


def layers_of(name: str) -> results.LayerResults | None:
    """Stored measures of the layers; None if missing or of other weights. If the file is damaged, writes a caption."""
    return _read_or_say(name, results.LAYERS, _layers)


def examples_of(name: str) -> results.ResultTable | None:
    """Stored examples of each head's largest weights; None if missing, damaged or of other weights."""
    return _read_or_say(name, results.EXAMPLES, partial(_rows, file=results.EXAMPLES))


def pruning_of(name: str) -> results.ResultTable | None:
    """Stored pruning results; None if missing, damaged or of other weights."""
    return _read_or_say(name, results.PRUNING, partial(_rows, file=results.PRUNING))


def faithfulness_of(name: str) -> results.ResultTable | None:
    """Stored shares of readable maps; None if missing, damaged or of other weights."""
    return _read_or_say(name, results.FAITHFULNESS, partial(_rows, file=results.FAITHFULNESS))


def over(source: DataSource, measure: str | None = None) -> str:
    """Number and name of the examples, such as "872 SST development sentences"; fewer if `measure` was taken on fewer."""
    n = source.n if measure is None else source.samples.get(measure, source.n)
    return f"{n:,} {source.data}"


def is_of(source: DataSource, *names: str) -> bool:
    """Whether the results were measured with the current weights of the encoders called `names`."""
    try:
        return source.weights == tuple(map(checkpoint.weights_hash, names))
    except (OSError, ValueError):
        return False


def states_of(path: Path, *names: str) -> States:
    """Modification time and size of the file, and hashes of the encoders' weights; () if one of these cannot be read."""
    try:
        stat = path.stat()
        return stat.st_mtime_ns, stat.st_size, *map(checkpoint.weights_hash, names)
    except (OSError, ValueError):
        return ()


def file_state(name: str, file: str, *, of_weights: bool = True) -> States:
    """State of one file of an encoder, and of its weights: it changes whenever either of them does."""
    return states_of(_path(name, file), *([name] if of_weights else []))


def _read_or_say(name: str, file: str, read: Callable[[str, States], Made | None]) -> Made | None:
    try:
        return read(name, file_state(name, file))
    except ValueError as error:
        st.caption(f"{plain(str(error))}.")
        return None


@cached
def _heads(name: str, _of: States) -> results.HeadResults | None:
    return _if_current(name, results.read_heads(_path(name, results.HEADS)))


@cached
def _layers(name: str, _of: States) -> results.LayerResults | None:
    return _if_current(name, results.read_layers(_path(name, results.LAYERS)))


@cached
def _rows(name: str, _of: States, file: str) -> results.ResultTable | None:
    return _if_current(name, results.read_rows(_path(name, file)))


def _path(name: str, file: str) -> Path:
    try:
        return locations.find(name, checkpoint.CHECKPOINTS) / file
    except (OSError, ValueError):  # an encoder that is gone is said elsewhere
        return checkpoint.CHECKPOINTS / name / file


def _if_current(name: str, stored: Made | None) -> Made | None:
    return stored if stored is not None and is_of(stored.source, name) else None
