"""A download is there when the browser comes for it, and not for ever."""

from importlib import import_module
from threading import Event, Timer

import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileKind, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from app_pages.shell import file_transfer
from app_pages.shell.file_transfer import DelayedDeletions, hold_uploads_in_memory, keep_downloads

LONG = 3600


class Due:
    """In the place of a timer: its time has come when a test says so."""

    all: list["Due"]

    def __init__(self, _: float, function, args: tuple) -> None:
        self.function, self.args, self.is_cancelled, self.daemon = function, args, False, False
        Due.all.append(self)

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.is_cancelled = True

    def come(self) -> None:
        self.function(*self.args)


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> MemoryMediaFileStorage:
    Due.all = []
    monkeypatch.setattr(file_transfer, "Timer", Due)
    kept = type("Kept", (MemoryMediaFileStorage,), {})
    keep_downloads(kept, LONG)
    return kept("/media")


def held(storage: MemoryMediaFileStorage, file_id: str) -> bool:
    try:
        storage.get_file(file_id)
    except MediaFileStorageError:
        return False
    return True


def test_a_download_outlives_the_runs_of_other_windows(storage):
    manager = MediaFileManager(storage)
    placeholder = manager.add_deferred(lambda: b"a figure", "image/png", "1.2", "figure.png")
    file_id = manager.execute_deferred(placeholder).rpartition("/")[2].partition(".")[0]
    for _ in range(3):
        manager.remove_orphaned_files()  # the end of a run
    assert storage.get_file(file_id).content == b"a figure"
    (due,) = Due.all
    due.come()
    assert not held(storage, file_id)


def test_one_that_is_asked_for_again_stays(storage):
    requests = (b"a figure", "image/png", MediaFileKind.DOWNLOADABLE, "figure.png")
    file_id = storage.load_and_get_id(*requests)
    storage.delete_file(file_id)
    assert storage.load_and_get_id(*requests) == file_id
    (due,) = Due.all
    assert due.is_cancelled
    due.come()  # just before it was cancelled
    assert held(storage, file_id)


def test_pictures_on_a_page_go_at_once(storage):
    file_id = storage.load_and_get_id(b"a picture", "image/png", MediaFileKind.MEDIA)
    storage.delete_file(file_id)
    assert not held(storage, file_id)
    assert Due.all == []


def test_after_its_time_it_is_deleted():
    deleted = Event()
    DelayedDeletions(0).delete_later("a", deleted.set)
    assert deleted.wait(20)


def test_no_timer_holds_the_server(monkeypatch):
    started: list[bool] = []
    monkeypatch.setattr(Timer, "start", lambda timer: started.append(timer.daemon))
    DelayedDeletions().delete_later("a", lambda: None)
    assert started == [True]


def test_uploads_of_any_size_stay_in_memory(monkeypatch):
    parser = import_module("starlette.formparsers").MultiPartParser
    monkeypatch.setattr(parser, "spool_max_size", 1)
    hold_uploads_in_memory()
    assert parser.spool_max_size == st.get_option("server.maxUploadSize") * 2**20
