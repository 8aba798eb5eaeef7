from pathlib import Path

import pytest

from app_pages import own
from app_pages.own import Shelf
from model.uploads import Upload, upload

FILES = [("config.json", b"{}"), ("model.safetensors", b"")]


@pytest.fixture
def one() -> tuple[Shelf, Upload]:
    made = upload(FILES, 100)
    return Shelf({made.name: made}), made


def test_uploads_are_deleted_some_time_after_their_session_has_gone(
    one: tuple[Shelf, Upload], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, made = one
    monkeypatch.setattr(own, "GRACE", 0)
    shelf.leave()
    shelf.leaving.join(10)
    assert not shelf
    assert not made.folder.exists()


def test_a_session_that_comes_back_keeps_them(one: tuple[Shelf, Upload]) -> None:
    shelf, made = one
    shelf.stay()
    shelf.leave()
    shelf.stay()
    shelf.leaving.join(10)
    assert not shelf.leaving.is_alive()
    assert dict(shelf) == {made.name: made}
    assert Path(made.folder).exists()
