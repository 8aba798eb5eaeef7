"""Encoders that the address names: opened before a page is drawn, with a warning if they do not exist."""

import streamlit as st

from app_pages.controls.input_controls import KIND
from app_pages.subject.encoders import DIGIT, PICTURE, kind_of
from app_pages.subject.session_encoders import add_opened, opened_encoders, remove, uploads
from app_pages.toolkit.markdown import plain
from model import checkpoint
from model.huggingface.inner_encoders import split_name
from model.sources import locations
from model.sources.uploads import UPLOAD

FIRST, SECOND = "checkpoint", "compare_with"  # of the address: under which an encoder's name stands
_GONE_KEY, _GONE_SECOND_KEY, _INSTEAD_KEY = "own_gone", "own_gone_second", "own_instead"


def open_linked_encoders() -> None:
    """Opens the encoders that the address names and records which do not exist; called before a page is drawn."""
    shipped, missing = checkpoint.available(), {}
    for name in opened_encoders():
        if (reason := _missing(name)) is not None:
            remove(name)
            missing[name] = reason
    for key in (FIRST, SECOND):
        linked = st.query_params.get(key)
        if linked is None:
            continue
        if linked in shipped or linked in opened_encoders():
            continue
        if (reason := missing.get(linked) or _missing(linked)) is not None:
            missing[linked] = reason
            continue
        add_opened(linked)
        with st.spinner("Reading the encoder …"):  # its files are hashed, once
            kind = kind_of(linked)
            if "kind" not in st.query_params and "kind" not in st.session_state and kind in (DIGIT, PICTURE):
                KIND.take(kind)
    if missing:
        st.session_state[_GONE_KEY] = missing
        names = st.query_params.get(FIRST), st.query_params.get(SECOND)
        st.session_state[_GONE_SECOND_KEY] = names[1] if names[0] != names[1] else None
        st.session_state.pop(_INSTEAD_KEY, None)


def say_gone(shown: str | None) -> None:
    """Writes a warning for each encoder that does not exist, as long as the page shows its replacement `shown`."""
    if _GONE_KEY not in st.session_state:
        return
    if st.session_state.setdefault(_INSTEAD_KEY, shown) != shown:
        del st.session_state[_GONE_KEY], st.session_state[_INSTEAD_KEY]
        return
    for name, reason in st.session_state[_GONE_KEY].items():
        instead = f" {shown} is shown instead." if shown else ""
        if name == st.session_state[_GONE_SECOND_KEY]:
            instead = " Another one is compared instead."
        st.warning(
            f"{locations.printable_name(name)} cannot be opened: {plain(str(reason))}.{instead}",
            icon=":material/search_off:",
        )


def _missing(name: str) -> str | None:
    """Reason why this session cannot open the encoder; None if it can."""
    if name.startswith(UPLOAD) and split_name(name)[0] not in uploads():
        return "an upload can be seen only in the session that made it, and is deleted when that ends"
    try:
        locations.find(name, checkpoint.CHECKPOINTS)
    except (ValueError, OSError) as error:
        return str(error)
    return None
