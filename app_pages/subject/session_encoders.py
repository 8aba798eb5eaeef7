"""The encoders that a session has opened beside the shipped ones; they stand in the list of every page."""

from threading import Timer

import streamlit as st

from app_pages.subject.cache import is_on_cpu_instead
from app_pages.toolkit.markdown import plain
from model.sources import locations
from model.sources.uploads import Upload

GRACE = 180  # seconds; Streamlit keeps a session for two minutes
_OPENED, _UPLOADS = "own_opened", "own_uploads"


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


def say_on_cpu(*names: str) -> None:
    """A caption for each of these encoders that was moved from the GPU to the CPU, which makes it slower."""
    for name in filter(is_on_cpu_instead, names):
        st.caption(
            f"The memory of the GPU is too small for {plain(locations.as_shown(name))}: it runs on the CPU."
        )
