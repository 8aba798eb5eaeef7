from types import SimpleNamespace

import pytest

from app_pages.show import html_table
from app_pages.show.html_table import HtmlTable

HEADINGS = [{"name": "head", "title": "head", "sorted": "none"}, {"name": "role", "title": "role"}]
ROWS = [
    {"key": [0, 1], "current": True, "cells": []},
    {"key": [1, 2], "current": False, "cells": []},
    {"key": [3, 4], "current": False, "cells": [], "part": "foot"},
]


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"row": [1.0, 2.0], "column": "head"}, [[1, 2], "head"]),
        ({"row": [9, 9], "column": "role"}, []),
        ({"row": [3, 4], "column": None}, []),
        ({"row": None, "column": None}, []),
    ],
)
def test_a_click_is_taken_where_such_a_row_or_column_can_be_clicked(sent, taken, monkeypatch):
    drawn, received = {}, []
    table = HtmlTable.__new__(HtmlTable)
    table._component = lambda **options: drawn.update(options)
    monkeypatch.setattr(html_table.st, "session_state", {"table": SimpleNamespace(**sent)})
    table.draw(HEADINGS, ROWS, key="table", take_row=received.append, take_column=received.append)
    assert drawn["data"] == {"headings": HEADINGS, "rows": ROWS, "reveal": False}
    drawn["on_row_change"]()
    drawn["on_column_change"]()
    assert received == taken
