"""Two downloads: the record, and a page of all heads that opens without the app."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app_pages import state
from app_pages.attention.as_words import View
from model.inputs import Picture, as_seen
from model.record_file import dump
from model.settings import settings
from viz.export.files import MIME
from viz.export.text import file_name
from viz.export.view import html, view_of

_HELP = (
    "Everything that this forward pass computed, as an .npz file: arrays by name, tokens, and the settings with the hash of the "
    "weights. It opens again here as the input “Record”, and in a notebook with numpy."
)
_PAGE = (
    "All heads, with the input, the prediction and the settings, in one HTML file that any browser opens offline, without "
    "this app."
)


def downloads(chosen: state.HeadSelection, seen: View, query: int) -> None:
    """The record, and the page's view of it, `seen`, as a page of its own."""
    with st.container(horizontal=True, gap="small", key="downloads"):
        _button(
            "Save record",
            partial(content, chosen),
            file_name(_name(chosen), suffix="npz"),
            "record",
            help=_HELP,
        )
        at = (chosen.layer, chosen.head, query)
        made = partial(page, chosen, seen, at)
        _button(
            "Save as web page", made, file_name(_name(chosen), "heads", suffix="html"), "view", help=_PAGE
        )


def _button(label: str, made: Callable[[], bytes], name: str, key: str, *, help: str) -> None:
    look = {"on_click": "ignore", "type": "tertiary", "icon": ":material/download:"}
    kind = MIME.get(name.rpartition(".")[2], "application/octet-stream")
    st.download_button(label, made, name, kind, key=f"download_{key}", help=help, **look)


def _name(chosen: state.Selection) -> str:
    if chosen.opened is not None:
        return chosen.opened.name.rpartition(".")[0]
    return chosen.checkpoint or "attention"


def content(chosen: state.Selection) -> bytes:
    """Made when it is asked for, like `page`."""
    return dump(chosen.record, *_about(chosen))


def page(chosen: state.Selection, seen: View, at: tuple[int, int, int]) -> bytes:
    said, picture = _about(chosen)
    picture = None if picture is None else as_seen(picture, chosen.record)
    title = f"Attention of {_name(chosen)}"
    look = {"picture": picture, "chosen": at, "notes": seen.notes, "what": seen.what}
    return html(view_of(seen.record, title=title, settings=said, **look))


def _about(chosen: state.Selection) -> tuple[Mapping[str, Any], np.ndarray | None]:
    """The settings of the record, and the picture that was read."""
    if chosen.opened is not None:
        return chosen.opened.settings, chosen.opened.picture
    picture = chosen.given.array if isinstance(chosen.given, Picture) else None
    return settings(state.loaded(chosen.checkpoint), chosen.given), picture
