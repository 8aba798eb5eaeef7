from pathlib import Path

import pytest
import torch

from app_pages.subject import cache, session_encoders
from app_pages.subject.session_encoders import SessionUploads
from model import checkpoint
from model.loaded import Loaded
from model.sources.uploads import Upload, upload
from model.transformer import Transformer

FILES = [("config.json", b"{}"), ("model.safetensors", b"")]


@pytest.fixture
def one() -> tuple[SessionUploads, Upload]:
    made = upload(FILES, 100)
    return SessionUploads({made.name: made}), made


def test_uploads_are_deleted_some_time_after_their_session_has_gone(one, monkeypatch):
    shelf, made = one
    monkeypatch.setattr(session_encoders, "SECONDS_UNTIL_DELETION", 0)
    shelf.start_deletion_timer()
    shelf.deletion_timer.join(10)
    assert not shelf
    assert not made.folder.exists()


def test_a_session_that_comes_back_keeps_them(one):
    shelf, made = one
    shelf.stop_deletion_timer()
    shelf.start_deletion_timer()
    shelf.stop_deletion_timer()
    shelf.deletion_timer.join(10)
    assert not shelf.deletion_timer.is_alive()
    assert dict(shelf) == {made.name: made}
    assert Path(made.folder).exists()


# GPUs


@pytest.fixture
def small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that holds every encoder, and nothing that is made with it."""
    load, embed, on_device = checkpoint.load, Transformer.embed, []

    def loaded(name: str, device: str = "auto") -> Loaded:
        made = load(name, "cpu")
        if device == "auto":
            on_device.append(made.model)
        return made

    def read(self: Transformer, *arguments: object) -> torch.Tensor:
        if any(self is item for item in on_device):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return embed(self, *arguments)

    monkeypatch.setattr(checkpoint, "load", loaded)
    monkeypatch.setattr(Transformer, "embed", read)
    monkeypatch.setattr(cache, "_on_cpu", set())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("page", "names"), [("attention", ["imdb-pre-ln"]), ("compare", ["imdb-pre-ln", "imdb-post-ln"])]
)
@pytest.mark.usefixtures("small_gpu")
def test_where_a_gpu_is_too_small_the_page_is_shown_and_says_that_it_is_the_cpu(open_app, page, names):
    app = open_app(f"app_pages/{page}/page.py", checkpoint="imdb-pre-ln", text="not great")
    assert not app.exception
    assert [message.value for message in app.caption if "GPU" in message.value] == [
        f"The memory of the GPU is too small for {name}: it runs on the CPU." for name in names
    ]
    assert app.get("vega_lite_chart") or app.get("plotly_chart")
