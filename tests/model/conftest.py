from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub import constants, file_download

from model import checkpoint
from model.checkpoint import save
from model.config import presets
from model.loaded import Loaded
from tests.model import tiny
from tests.model.tiny import DIGIT, TEXT, build, tokenizer

HISTORY = {"seed": 1, "note": "größer"}


@pytest.fixture(scope="session")
def text_loaded() -> Loaded:
    return tiny.loaded(tiny.TEXT)


@pytest.fixture(scope="session")
def digit_loaded() -> Loaded:
    return tiny.loaded(tiny.DIGIT)


@pytest.fixture(scope="module", params=product(presets(), ("pre", "post")), ids="-".join)
def encoder(request) -> Loaded:
    """With a small model of every preset, pre-LN and post-LN."""
    name, placement = request.param
    return tiny.loaded(replace(tiny.small(name), norm_placement=placement))


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """A command that takes all cores leaves the next test the single thread of the app."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, not made yet, in the place of the Hugging Face cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(file_download.time, "sleep", lambda _: None)  # it tries again after a second
    return tmp_path / "cache"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty folder in the place of the project's checkpoints."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", folder)
    return folder


@pytest.fixture
def digit(home) -> Path:
    save(home / "digit", build(DIGIT), HISTORY)
    return home / "digit"


@pytest.fixture
def text(home) -> Path:
    save(home / "text", build(TEXT), HISTORY, tokenizer(TEXT.n_positions))
    return home / "text"
