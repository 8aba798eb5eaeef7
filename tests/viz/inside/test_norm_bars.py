import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import EMPHASIS
from viz.inside.norm_bars import norm_bars

EXAMPLE = np.array([0.5, -3, 8.5])


def layers(values):
    return drawn(norm_bars(values, title="x", reading="how to read it"), width=400)


def test_the_band_is_one_population_deviation_around_the_mean():
    (spread,) = norm_bars(EXAMPLE, title="x", reading="").frames["spread"].to_dict(orient="records")
    assert spread == pytest.approx({"mean": 2, "low": 2 - 4.8132, "high": 2 + 4.8132}, abs=1e-3)


def test_bars_reach_from_zero_to_their_values():
    band, bars, rule, texts = layers(EXAMPLE)
    assert [bar["fill"] for bar in bars] == [EMPHASIS] * 3
    heights = [bar["height"] for bar in bars]
    assert [heights[1] / heights[0], heights[2] / heights[0]] == pytest.approx([6, 17])
    assert bars[1]["y"] > bars[0]["y"]  # below zero
    assert [text["text"] for text in texts] == ["0.50", "−3.00", "8.50"]
    assert band[0]["y"] < rule[0]["y"] < band[0]["y"] + band[0]["height"]


def test_many_numbers_are_under_the_pointer_alone():
    found = layers(np.linspace(-1, 1, 128))
    assert len(found) == 3
    assert len(found[1]) == 128


def test_no_numbers_make_an_empty_chart():
    assert layers(np.zeros(0))[1] == []
