from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


@pytest.fixture
def opened(open_app: Callable[..., AppTest], request: pytest.FixtureRequest) -> Callable[..., AppTest]:
    """The page with what the test's file says in `PART`, and what a test adds to that."""

    def opened(**query: Any) -> AppTest:
        app = open_app("app_pages/inside_a_head/page.py", **request.module.PART, **query)
        assert not app.exception
        return app

    return opened
