import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from streamlit.testing.v1 import AppTest

from app_pages.shell import start_options
from app_pages.shell.start_options import Options
from model.sources import locations

Allow = Callable[..., None]


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Allow]:
    """`allow(hub=True)`: the app as it was started with that."""

    def allowed(**options: object) -> None:
        made = Options(**options)
        locations.use_models_folder(made.models)
        monkeypatch.setattr(start_options, "OPTIONS", made)

    yield allowed
    locations.use_models_folder(None)


@pytest.fixture(autouse=True)
def _no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locations, "MINILM_MODULE", "gt_not_there")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Hugging Face cache: an empty one."""
    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def root(checkpoints: Path, tmp_path: Path, allow: Allow) -> Path:
    """A folder of models with an encoder of text and one of digits; it is in use."""
    folder = tmp_path / "models"
    shutil.copytree(checkpoints / "imdb-pre-ln", folder / "my-bert")
    shutil.copytree(checkpoints / "mnist-pre-ln", folder / "team" / "my-vit")
    allow(models=folder)
    return folder


@pytest.fixture
def open_own(open_app: Callable[..., AppTest]) -> Callable[..., AppTest]:
    return lambda **query: open_app("app_pages/your_own/page.py", **query)
