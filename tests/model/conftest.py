import numpy as np
import pytest

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
