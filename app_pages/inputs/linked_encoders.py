"""Encoders that the address names: opened before a page is drawn, and said where they are not there."""

import streamlit as st

from app_pages.controls.input_controls import KIND
from app_pages.subject.encoders import DIGIT, kind_of
from app_pages.subject.session_encoders import open_, opened, remove, uploads
from app_pages.toolkit.markdown import plain
from model import checkpoint
from model.sources import locations
from model.sources.uploads import UPLOAD

KEYS = ("checkpoint", "compare_with")  # of the address, under which an encoder's name stands
_GONE, _INSTEAD = "own_gone", "own_instead"


def arrive() -> None:
    """Before a page is drawn: opens what the address names, and finds out what is no longer there."""
    shipped, gone = checkpoint.available(), {}
    for name in opened():
        if (why := _missing(name)) is not None:
            remove(name)
            gone[name] = why
    for key in KEYS:
        linked = st.query_params.get(key)
        if linked is None or linked in shipped or linked in opened():
            continue
        if (why := gone.get(linked) or _missing(linked)) is not None:
            gone[linked] = why
            continue
        open_(linked)
        with st.spinner("Reading the encoder …"):  # its files are hashed, once
            _take_kind(linked)
    if gone:
        st.session_state[_GONE] = gone
        st.session_state.pop(_INSTEAD, None)


def say_gone(shown: str | None) -> None:
    """What of the address or of the list is not there, as long as the page shows what has taken its place."""
    if _GONE not in st.session_state:
        return
    if st.session_state.setdefault(_INSTEAD, shown) != shown:
        del st.session_state[_GONE], st.session_state[_INSTEAD]
        return
    for name, why in st.session_state[_GONE].items():
        instead = f" {shown} is shown instead." if shown else ""
        st.warning(
            f"{locations.printable_name(name)} cannot be opened: {plain(str(why))}.{instead}",
            icon=":material/search_off:",
        )


def _take_kind(name: str) -> None:
    """An address that names an encoder of pictures alone opens them."""
    if "kind" not in st.query_params and "kind" not in st.session_state and kind_of(name) == DIGIT:
        KIND.take(DIGIT)


def _missing(name: str) -> str | None:
    """Why there is no such encoder for this session; None where there is one."""
    if name.startswith(UPLOAD) and name not in uploads():
        return "an upload can be seen only in the session that made it, and is deleted when that ends"
    try:
        locations.find(name, checkpoint.CHECKPOINTS)
    except (ValueError, OSError) as error:
        return str(error)
    return None
