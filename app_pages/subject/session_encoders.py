"""Encoders that the user has opened in this session; every page lists them after the shipped ones."""

from threading import Timer

import streamlit as st

from app_pages.subject.cache import is_on_cpu_instead
from app_pages.toolkit.markdown import plain
from model.huggingface.inner_encoders import split_name
from model.sources import locations
from model.sources.uploads import Upload

SECONDS_UNTIL_DELETION = 180  # Streamlit keeps a session for two minutes
_OPENED, _UPLOADS = "own_opened", "own_uploads"


def opened_encoders() -> list[str]:
    """Names of the opened encoders, in the order of opening."""
    return list(st.session_state.get(_OPENED, ()))


class SessionUploads(dict[str, Upload]):
    """Uploads of one session, by name; deleted some minutes after its window was closed."""

    deletion_timer: Timer | None = None

    def start_deletion_timer(self) -> None:
        """Starts the timer that deletes the uploads, since the window was closed, or its connection is lost and may come back."""
        self.deletion_timer = Timer(SECONDS_UNTIL_DELETION, self.delete)
        self.deletion_timer.daemon = True
        self.deletion_timer.start()

    def stop_deletion_timer(self) -> None:
        """Stops that timer: the session is connected again."""
        if self.deletion_timer is not None:
            self.deletion_timer.cancel()

    def delete(self) -> None:
        while self:
            self.popitem()[1].delete()


def uploads() -> SessionUploads:
    """Uploads of this session."""
    if _UPLOADS not in st.session_state:
        st.session_state[_UPLOADS] = SessionUploads()
    return _released_with_session()


@st.cache_resource(scope="session", on_release=SessionUploads.start_deletion_timer, show_spinner=False)
def _released_with_session() -> SessionUploads:
    """The uploads of this session; Streamlit releases them when the session disconnects, and calls this function again when it reconnects."""
    session_uploads = st.session_state[_UPLOADS]
    session_uploads.stop_deletion_timer()
    return session_uploads


def add_opened(name: str) -> None:
    """Adds an encoder to the list of opened ones."""
    if name not in opened_encoders():
        st.session_state[_OPENED] = [*opened_encoders(), name]


def remove(name: str) -> None:
    """Removes an encoder from the lists of the pages. An uploaded one is deleted, with the second encoder of its folder if it has
    two; other files stay on disk.
    """
    upload_name, _ = split_name(name)
    upload = uploads().pop(upload_name, None)
    st.session_state[_OPENED] = [
        other
        for other in opened_encoders()
        if other != name and not (upload and split_name(other)[0] == upload_name)
    ]
    if upload is not None:
        upload.delete()


def say_on_cpu(*names: str) -> None:
    """Writes a caption for each of these encoders that was moved to the CPU because the GPU's memory is too small."""
    for name in filter(is_on_cpu_instead, names):
        st.caption(
            f"The memory of the GPU is too small for {plain(locations.printable_name(name))}: it runs on the CPU."
        )
