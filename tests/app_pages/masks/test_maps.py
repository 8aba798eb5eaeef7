import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.pages import MASKS
from app_pages.masks import page
from tests.app_pages.charts import weights

Open = Callable[..., AppTest]
KINDS = ("scores", "pattern", "change")


@pytest.fixture
def open_digit(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Five positions, of which two are shown to begin with, and three can be."""
    monkeypatch.setattr(page, "LEGIBLE", 2)
    monkeypatch.setattr(page, "MOST_DRAWN", 3)
    return lambda **query: open_app(MASKS, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"), **query)


def figures(app: AppTest) -> dict[str, dict]:
    assert not app.exception
    return {chart.key: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def test_of_maps_with_many_positions_only_the_chosen_part_is_sent(open_digit):
    app = open_digit()
    assert app.slider(key="masks_shown").value == (0, 1)
    shapes = [np.shape(weights(figures(app)[f"masks_map_{kind}"])) for kind in KINDS]
    assert shapes == [(2, 2)] * 3


def test_a_part_with_too_many_positions_is_cut_and_said_to_be(open_digit):
    app = open_digit()
    app.slider(key="masks_shown").set_value((1, 4)).run()
    figure = figures(app)["masks_map_pattern"]
    assert np.shape(weights(figure)) == (3, 3)
    assert "r0c0" in figure["data"][0]["x"]
    assert any("3 positions, here 1 to 3" in caption.value for caption in app.caption)


def test_maps_of_fewer_positions_are_sent_as_a_whole(open_digit, monkeypatch):
    monkeypatch.setattr(page, "MOST_DRAWN", 5)
    figure = figures(open_digit())["masks_map_pattern"]
    assert np.shape(weights(figure)) == (5, 5)
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 1.5]
