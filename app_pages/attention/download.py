"""The record as a file."""

from functools import partial

import streamlit as st

from app_pages import state
from model.inputs import Picture
from model.record_file import dump
from model.settings import settings

_HELP = (
    "Everything that this forward computed, as an .npz file: arrays by name, tokens, and the settings with the hash of the "
    "weights. It opens again here as the input “Record”, and in a notebook with numpy."
)


def download_record(chosen: state.Selection) -> None:
    name = (
        (chosen.checkpoint or "attention") if chosen.opened is None else chosen.opened.name.rpartition(".")[0]
    )
    st.download_button(
        "Download record",
        partial(content, chosen),
        f"{name}.npz",
        "application/octet-stream",
        key="download_record",
        help=_HELP,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def content(chosen: state.Selection) -> bytes:
    """Made when it is asked for."""
    picture = chosen.given.array if isinstance(chosen.given, Picture) else None
    if chosen.opened is not None:
        return dump(chosen.record, chosen.opened.settings, chosen.opened.picture)
    return dump(chosen.record, settings(state.loaded(chosen.checkpoint), chosen.given), picture)
