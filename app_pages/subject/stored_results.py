"""Results that `python -m model.atlas` stored beside a checkpoint; cached until the files or the weights change.

Results of other weights count as missing: they say nothing about the encoder that is shown. Measures of the heads over a
list of this session (page Many inputs) come before stored ones.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from app_pages.subject.cache import cached
from app_pages.subject.file_states import FileState, file_state, path_of
from app_pages.toolkit.expression import Expression, Script, call, named
from app_pages.toolkit.markdown import plain
from model import checkpoint
from model.atlas import results
from model.atlas.parquet import DataSource

Result = TypeVar("Result", bound=results.HeadResults | results.LayerResults | results.ResultTable)


def heads_of(name: str) -> results.HeadResults | None:
    """Measures of an encoder's heads over a data set: those measured in this session, or else the stored ones.

    None if there are none, or if they were measured with other weights. If the file is damaged, writes a caption.
    """
    measured = session_heads().get(name)
    if measured is not None and is_measured_with(measured.source, name):
        return measured
    return _read_or_say(name, results.HEADS, results.read_heads)


def session_heads() -> dict[str, results.HeadResults]:
    """Measures of the heads that this session took over a list of inputs (page Many inputs), by the name of the
    encoder. The page adds new ones to this dict.
    """
    return st.session_state.setdefault("measured_heads", {})


def layers_of(name: str) -> results.LayerResults | None:
    """Stored measures of the layers; None if there are none, or if they were measured with other weights. If the file is damaged,
    writes a caption.
    """
    return _read_or_say(name, results.LAYERS, results.read_layers)


def table_of(name: str, file: str) -> results.ResultTable | None:
    """The rows of the stored `file`; None if there is none, or if it was measured with other weights. If it is damaged, writes a
    caption.
    """
    return _read_or_say(name, file, results.read_rows)


def results_expression(name: str, file: str, read: Callable[..., Any]) -> Expression:
    """The result of `read` for a file stored beside the encoder's weights, as an expression. Measures of this session have no
    such file, so asking for their Python raises ValueError.
    """
    measured = session_heads().get(name) if file == results.HEADS else None
    if measured is not None and measured is heads_of(name):
        return Expression(lambda: measured, _refuse)
    folder = call(checkpoint.find_name_and_folder, name)[1]
    return named("stored", call(read, call(folder.joinpath, file)))


def _refuse(_script: Script) -> str:
    raise ValueError("These numbers were measured in this session, and no file holds them.")


def examples_phrase(source: DataSource, measure: str | None = None) -> str:
    """Number and name of the examples of `source`, such as "872 SST development sentences"; fewer if `measure` was taken on
    fewer.
    """
    n = source.n if measure is None else source.samples.get(measure, source.n)
    return f"{n:,} {source.data}"


def is_measured_with(source: DataSource, *names: str) -> bool:
    """Whether the results were measured with the current weights of the encoders called `names`."""
    try:
        return source.weights == tuple(map(checkpoint.weights_hash, names))
    except (OSError, ValueError):
        return False


def _read_or_say(name: str, file: str, read: Callable[[Path], Result | None]) -> Result | None:
    try:
        return _read(name, file, file_state(name, file), read)
    except ValueError as error:
        st.caption(f"{plain(str(error))}.")
        return None


@cached
def _read(name: str, file: str, _state: FileState, read: Callable[[Path], Result | None]) -> Result | None:
    result = read(path_of(name, file))
    return result if result is not None and is_measured_with(result.source, name) else None
