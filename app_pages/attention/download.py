"""Two downloads: the record, and a page of all heads that opens without the app."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from app_pages.attention.as_words import View
from app_pages.inputs.record_input import most_mb
from app_pages.subject import state
from app_pages.subject.cache import MB
from model.capture.provenance import settings
from model.inputs import Picture, as_seen
from model.record import AttentionRecord, ForwardRecord
from model.record.from_arrays import attention_alone
from model.record.record_file import dump, fits_half, n_bytes
from viz.builders.number_format import written
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


_OF_HALF = "Half precision rounds every number to about three digits, and the measures made of it with them."


class Part(NamedTuple):
    """How much of a record is saved."""

    label: str
    attention_alone: bool
    half: bool


ALL, ALL_HALF = Part("all", False, False), Part("all, in half precision", False, True)
ATTENTION, ATTENTION_HALF = (
    Part("attention and tokens alone", True, False),
    Part("attention and tokens alone, in half precision", True, True),
)


def downloads(chosen: state.HeadSelection, seen: View, query: int) -> None:
    """The record, and the page's view of it, `seen`, as a page of its own."""
    with st.container(horizontal=True, gap="small", key="downloads"):
        if n_bytes(chosen.record) <= most_mb() * MB:
            made = partial(content, chosen)
            _button("Save record", made, file_name(_name(chosen), suffix="npz"), "record", help=_HELP)
        else:
            _large_record(chosen)
        at = (chosen.layer, chosen.head, query)
        made = partial(page, chosen, seen, at)
        _button(
            "Save as web page", made, file_name(_name(chosen), "heads", suffix="html"), "view", help=_PAGE
        )


def _large_record(chosen: state.HeadSelection) -> None:
    """A record that could not be opened here again: how much of it is saved is the reader's choice."""
    look = {"type": "tertiary", "icon": ":material/download:", "on_change": "rerun"}
    with st.popover("Save record", key="large_record", help=_HELP, **look) as behind:
        if not behind.open:
            return
        sizes = {part: _size(chosen.record, part) / MB for part in _parts(chosen.record)}
        first = next((at for at, size in enumerate(sizes.values()) if size <= most_mb()), 0)

        def label(part: Part) -> str:
            opens = "" if sizes[part] <= most_mb() else ", too large to be opened here"
            return f"{part.label}: {written(sizes[part], '.0f')} MB{opens}"

        part = st.radio("What the file holds", tuple(sizes), first, format_func=label, key="record_part")
        st.caption(f"Files of up to {most_mb()} MB can be opened here again. {_OF_HALF}")
        held = "attention" * part.attention_alone, "half" * part.half
        name = file_name(_name(chosen), *filter(None, held), suffix="npz")
        _button("Download", partial(content, chosen, part), name, "record")


def _parts(record: AttentionRecord) -> list[Part]:
    parts = [ALL, ALL_HALF]
    if isinstance(record, ForwardRecord):
        parts += [ATTENTION, ATTENTION_HALF]
    fits = fits_half(record), fits_half(attention_alone(record))
    return [part for part in parts if not part.half or fits[part.attention_alone]]


def _size(record: AttentionRecord, part: Part) -> int:
    return n_bytes(attention_alone(record) if part.attention_alone else record, half=part.half)


def _button(label: str, made: Callable[[], bytes], name: str, key: str, *, help: str | None = None) -> None:
    look = {"on_click": "ignore", "type": "tertiary", "icon": ":material/download:"}
    kind = MIME.get(name.rpartition(".")[2], "application/octet-stream")
    st.download_button(label, made, name, kind, key=f"download_{key}", help=help, **look)


def _name(chosen: state.Selection) -> str:
    if chosen.opened is not None:
        return chosen.opened.name.rpartition(".")[0]
    return chosen.checkpoint or "attention"


def content(chosen: state.Selection, part: Part = ALL) -> bytes:
    """Made when it is asked for, like `page`."""
    record = attention_alone(chosen.record) if part.attention_alone else chosen.record
    return dump(record, *_about(chosen), half=part.half)


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
