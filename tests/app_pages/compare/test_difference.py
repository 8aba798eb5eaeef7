from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.address import Control
from app_pages.show import all_heads, drawn_part
from app_pages.subject.subject import LiveSubject
from model.measures.head_measures import entropy
from tests.app_pages.charts import shown, table, weights
from tests.tolerance import rounding

Open = Callable[..., AppTest]

PAGE = "app_pages/compare/page.py"
BY_NUMBER = {
    "checkpoint": "imdb-pre-ln",
    "compare_view": "difference",
    "compare_pairing": "of the same number",
}
TEXT = "not great film"


def test_a_click_on_any_table_chooses_the_pair(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    clicks, taken = {}, {}
    monkeypatch.setattr(all_heads, "clickable", lambda _, key, take, **__: clicks.update({key: take}))
    assert not open_app(PAGE, text=TEXT, **BY_NUMBER).exception
    assert list(clicks) == ["grid_distance", "grid_entropy", "grid_mean_distance"]
    monkeypatch.setattr(Control, "take", lambda control, value: taken.update({control.key: value}))
    for take in clicks.values():
        taken.clear()
        take({"layer": 1.0, "head": 0.0})
        assert taken == {"layer": 1, "head": 0}


def test_the_change_is_that_of_the_second_minus_the_first(open_app: Open) -> None:
    app = open_app(PAGE, text=TEXT, **BY_NUMBER)
    first, second = (LiveSubject(f"imdb-{end}-ln", TEXT).record for end in ("pre", "post"))
    means = [entropy(record.pattern, record.mask).mean(axis=-1) for record in (first, second)]
    changes = table(app, "change of entropy", "layer", "head", "value").sort_values(["layer", "head"])
    np.testing.assert_allclose(changes["value"], (means[1] - means[0]).ravel(), atol=rounding(8 * 5))


def test_of_many_positions_the_first_are_drawn(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_part, "MOST_DRAWN", 4)
    monkeypatch.setattr(drawn_part, "DRAWN", 2)
    app = open_app(PAGE, text=TEXT, **BY_NUMBER)
    assert weights(shown(app, "difference")).shape == (2, 2)
    assert "Of 5 positions, 0 to 1 are drawn." in [caption.value for caption in app.caption]
