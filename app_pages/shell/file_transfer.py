"""Changes two defaults of Streamlit that make uploads fail on a full disk and lose downloads on a busy server.

An upload is written to the disk on its way into the server's memory: on a full disk it fails with status 500. A download that is
generated on demand belongs to no session and is deleted as soon as any two page runs have ended, in any window; a browser that
requests it a moment later finds nothing. With twelve busy windows every fourth was lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from threading import Lock, Timer

import streamlit as st
from streamlit.runtime.media_file_storage import MediaFileKind, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

KEPT = 60  # seconds in which the browser can come for a download


def hold_uploads_in_memory() -> None:
    """Keeps uploads in memory while they are received, however large they are."""
    # Streamlit's server brings Starlette along and has no option for this; the app itself needs none of it.
    parser = import_module("starlette.formparsers").MultiPartParser
    parser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20


@dataclass
class DelayedDeletions:
    """Downloads that are to be deleted after `seconds`, unless they are requested again before."""

    seconds: float = KEPT
    _lock: Lock = field(default_factory=Lock)
    _timers: dict[str, Timer] = field(default_factory=dict)

    def delete_later(self, file_id: str, delete: Callable[[], None]) -> None:
        with self._lock:
            if file_id not in self._timers:
                timer = Timer(self.seconds, self._delete, (file_id, delete))
                timer.daemon = True
                self._timers[file_id] = timer
                timer.start()

    def keep(self, file_id: str) -> None:
        with self._lock:
            if (timer := self._timers.pop(file_id, None)) is not None:
                timer.cancel()

    def _delete(self, file_id: str, delete: Callable[[], None]) -> None:
        with self._lock:
            if self._timers.pop(file_id, None) is not None:
                delete()


def keep_downloads(
    storage: type[MemoryMediaFileStorage] = MemoryMediaFileStorage, seconds: float = KEPT
) -> None:
    """Makes every storage of this class keep a download for `seconds` longer than Streamlit would."""
    deletions, load, delete = DelayedDeletions(seconds), storage.load_and_get_id, storage.delete_file

    @wraps(load)
    def load_and_keep(self: MemoryMediaFileStorage, *args: object, **options: object) -> str:
        file_id = load(self, *args, **options)  # type: ignore[arg-type]
        deletions.keep(file_id)
        return file_id

    @wraps(delete)
    def delete_later(self: MemoryMediaFileStorage, file_id: str) -> None:
        try:
            is_download = self.get_file(file_id).kind == MediaFileKind.DOWNLOADABLE
        except MediaFileStorageError:  # it is deleted already
            is_download = False
        if is_download:
            deletions.delete_later(file_id, lambda: delete(self, file_id))
        else:
            delete(self, file_id)

    storage.load_and_get_id = load_and_keep  # type: ignore[method-assign]
    storage.delete_file = delete_later  # type: ignore[method-assign]
