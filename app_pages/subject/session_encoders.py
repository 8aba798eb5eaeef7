"""The encoders that a session has opened beside the shipped ones; they stand in the list of every page."""

from threading import Timer

import streamlit as st

from app_pages.controls.input_controls import KIND
from app_pages.subject.cache import Checkpoint, cached, is_on_cpu_instead
from app_pages.toolkit.markdown import plain
from model import checkpoint
from model.sources import locations
from model.sources.uploads import UPLOAD, Upload

TEXT, DIGIT = "Text", "Digit"
GRACE = 180  # seconds; Streamlit keeps a session for two minutes
KEYS = ("checkpoint", "compare_with")  # of the address, under which an encoder's name stands
_OPENED, _UPLOADS, _GONE, _INSTEAD = "own_opened", "own_uploads", "own_gone", "own_instead"


def opened() -> list[str]:
    """In the order in which they were opened."""
    return list(st.session_state.get(_OPENED, ()))


class Shelf(dict[str, Upload]):
    """The uploads of one session by name. Some minutes after its window was closed they are deleted."""

    leaving: Timer | None = None

    def leave(self) -> None:
        """The window is closed, or the connection is lost, and may come back."""
        self.leaving = Timer(GRACE, self.delete)
        self.leaving.daemon = True
        self.leaving.start()

    def stay(self) -> None:
        if self.leaving is not None:
            self.leaving.cancel()

    def delete(self) -> None:
        while self:
            self.popitem()[1].delete()


def uploads() -> Shelf:
    """Those of this session alone."""
    if _UPLOADS not in st.session_state:
        st.session_state[_UPLOADS] = Shelf()
    return _watched()


@st.cache_resource(scope="session", on_release=Shelf.leave, show_spinner=False)
def _watched() -> Shelf:
    """Released where the session disconnects, and asked for again where it comes back."""
    shelf = st.session_state[_UPLOADS]
    shelf.stay()
    return shelf


def uploaded(upload: Upload) -> None:
    uploads()[upload.name] = upload


def open_(name: str) -> None:
    if name not in opened():
        st.session_state[_OPENED] = [*opened(), name]


def remove(name: str) -> None:
    """From the lists of the pages, never from the disk; an upload is deleted."""
    st.session_state[_OPENED] = [other for other in opened() if other != name]
    if (upload := uploads().pop(name, None)) is not None:
        upload.delete()


def arrive() -> None:
    """Before a page is drawn: opens what the address names, and finds out what is no longer there."""
    shipped, gone = checkpoint.available(), {}
    for name in opened():
        if (why := _missing(name)) is not None:
            remove(name)
            gone[name] = why
    for key in KEYS:
        name = st.query_params.get(key)
        if name is None or name in shipped or name in opened():
            continue
        if (why := gone.get(name) or _missing(name)) is not None:
            gone[name] = why
            continue
        open_(name)
        with st.spinner("Reading the encoder …"):  # its files are hashed, once
            _take_kind(name)
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
            f"{locations.as_shown(name)} cannot be opened: {plain(str(why))}.{instead}",
            icon=":material/search_off:",
        )


def say_on_cpu(*names: str) -> None:
    """A caption for each of these encoders that was moved from the GPU to the CPU, which makes it slower."""
    for name in filter(is_on_cpu_instead, names):
        st.caption(
            f"The memory of the GPU is too small for {plain(locations.as_shown(name))}: it runs on the CPU."
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


@cached
def kind_of(name: Checkpoint) -> str | None:
    """Of the input that an encoder takes; None where its configuration is damaged."""
    try:
        return TEXT if checkpoint.read_config(name).is_text else DIGIT
    except ValueError:
        return None
