"""`show`: all heads of an encoder on one input, shown in a notebook by one line."""

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..builders.figure_page import page_iframe
from .offline_page import offline_page

if TYPE_CHECKING:  # the package loads torch
    from model.record import AttentionRecord

_HEIGHT = 640  # pixels: the page fills it, and a window shows it whole


@dataclass(frozen=True, slots=True)
class NotebookPage:
    """The linked chart of a record as an HTML page, which a notebook shows in an iframe."""

    title: str
    page: bytes = field(repr=False)  # HTML

    def _repr_html_(self) -> str:
        return page_iframe(self.page.decode(), self.title, _HEIGHT)

    def save(self, path: str | Path) -> None:
        """Writes the page to an HTML file, which opens offline. Raises OSError if it cannot be written."""
        Path(path).write_bytes(self.page)


def show(what: Any, model_input: Any = None, *, tokenizer: Any = None) -> NotebookPage:
    """The attention of all heads on one input, for the last line of a notebook cell: point at a map, a row or a
    token, or use the arrow keys.

    `what` is the name of an encoder that `load` finds, the path of its folder, an encoder, a record (which holds its
    input already), or a model of transformers, which needs its `tokenizer` (or image processor). `model_input` is a
    text, or a picture as `capture` or `from_transformers` take it. The page needs neither a network nor an extension
    of the notebook. Raises ValueError if the input is missing or does not fit, and FileNotFoundError if there is no
    such encoder.

    >>> from loupe import show
    >>> show("checkpoints/imdb-pre-ln", "A gripping film.")
    NotebookPage(title='Attention of imdb-pre-ln')
    """
    record, settings, picture = _record_of_input(what, model_input, tokenizer)
    name = settings.get("checkpoint")
    title = f"Attention of {name}" if name else "Attention"
    return NotebookPage(title, offline_page(record, title=title, settings=settings, picture=picture))


def _record_of_input(
    what: Any, model_input: Any, tokenizer: Any
) -> tuple["AttentionRecord", dict[str, Any], np.ndarray | None]:
    """The record of the input, its provenance by name, and the picture of the input, if it is one; the arguments are
    those of `show`.
    """
    if isinstance(what, model_module("record").AttentionRecord):
        if model_input is not None:
            raise ValueError("a record holds its input already: show(record)")
        return what, {}, None
    if isinstance(what, str | Path):
        what = model_module("checkpoint.load_or_download").load_or_download(what)
    if not hasattr(what, "config"):
        kinds = "the name or folder of an encoder, an encoder, a record, or a model of transformers"
        raise ValueError(f"show takes {kinds}, got {type(what).__name__}")
    if model_input is None:
        raise ValueError("the input is missing: show(what, text), or show(what, picture)")
    if isinstance(what, model_module("loaded").Loaded):
        model_input = model_module("inputs").as_input(model_input)
        record = model_module("capture").capture(what, model_input)
        settings = model_module("capture.provenance").settings(what, model_input)
        if what.config.is_text:
            return record, settings, None
        return record, settings, model_module("inputs").preprocessed_picture(model_input.array, record)
    if tokenizer is None:
        raise ValueError(
            "a model of transformers needs its tokenizer: show(model, text, tokenizer=tokenizer)"
        )
    record = model_module("capture.from_transformers").from_transformers(what, tokenizer, model_input)
    settings = {"checkpoint": type(what).__name__}
    if isinstance(model_input, str):
        settings["text"] = model_input
    return record, settings, None


def model_module(name: str) -> Any:
    """The module `name` of the package `model`, which is a sibling of `viz`, or of `loupe.viz` in an installation.

    It is imported only when it is needed, by name, since `model` imports torch and figures work without.
    """
    return import_module(f"{__package__.removesuffix('viz.export')}model.{name}")
