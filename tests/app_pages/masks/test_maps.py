from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.pages import MASKS
from app_pages.masks import page
from tests.app_pages.charts import shown, weights

Open = Callable[..., AppTest]


@pytest.fixture
def open_digit(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Five positions, of which two are shown to begin with, and three can be."""
    monkeypatch.setattr(page, "LEGIBLE", 2)
    monkeypatch.setattr(page, "MOST_DRAWN", 3)
    return lambda **query: open_app(MASKS, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), **query)


def test_of_maps_with_many_positions_only_the_chosen_part_is_sent(open_digit):
    app = open_digit()
    assert app.slider(key="masks_shown").value == (0, 1)
    for name in ("scores", "pattern", "change"):
        assert weights(shown(app, f"masks_map_{name}")).shape == (2, 2)
    app.slider(key="masks_shown").set_value((1, 4)).run()
    figure = shown(app, "masks_map_pattern")
    assert weights(figure).shape == (3, 3)
    assert "r0c0" in figure["data"][0]["x"]
    assert any("3 positions, here 1 to 3" in caption.value for caption in app.caption)


def test_maps_of_fewer_positions_are_sent_as_a_whole(open_digit, monkeypatch):
    monkeypatch.setattr(page, "MOST_DRAWN", 5)
    figure = shown(open_digit(), "masks_map_pattern")
    assert weights(figure).shape == (5, 5)
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 1.5]
