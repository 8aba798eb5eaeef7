from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.huggingface.sentence_folders import build_sentence_encoder


@pytest.fixture
def open_compare(open_app: Callable[..., AppTest]) -> Callable[..., AppTest]:
    return partial(open_app, "app_pages/compare/page.py")


@pytest.fixture
def own(checkpoints: Path) -> None:
    """The encoder of sentences called own."""
    build_sentence_encoder(checkpoints / "own")
