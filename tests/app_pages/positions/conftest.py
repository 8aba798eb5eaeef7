from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import TEXT
from app_pages.controls.pages import POSITIONS
from app_pages.controls.positions_controls import PART


@pytest.fixture
def open_part(open_app: Callable[..., AppTest], request: pytest.FixtureRequest) -> Callable[..., AppTest]:
    """The tab of the page that the test's file names as its `PART`, with the file's `TEXT`, and what a test adds to these."""
    begin = (PART.to(request.module.PART), TEXT.to(request.module.TEXT))

    def open_part(*choices: object, **query: Any) -> AppTest:
        app = open_app(POSITIONS, *begin, *choices, **query)
        assert not app.exception
        return app

    return open_part
