from collections.abc import Iterator

import numpy as np
import pytest
import torch

from model.checkpoint import Loaded
from tests.model import tiny


@pytest.fixture(scope="session")
def text_loaded() -> Loaded:
    return tiny.loaded(tiny.TEXT)


@pytest.fixture(scope="session")
def digit_loaded() -> Loaded:
    return tiny.loaded(tiny.DIGIT)


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """A command that takes all cores leaves the next test the single thread of the app."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
