from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest


@pytest.fixture
def open_compare(open_app: Callable[..., AppTest]) -> Callable[..., AppTest]:
    return partial(open_app, "app_pages/compare/page.py")
