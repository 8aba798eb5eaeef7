import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import CATEGORIES, EMPHASIS
from viz.inside.norm_figures import averaged_axis, norm_bars

VALUES = np.array([[0.5, -3.0, 8.5], [-1.0, 2.0, 5.0]])
OUTPUT = VALUES / 10


def table(over, mean, deviation=None):
    mean = np.array(mean, float)
    return averaged_axis(VALUES, OUTPUT, mean, mean if deviation is None else deviation, over=over)


def test_over_features_a_row_is_a_group():
    frames, before, after, upper, lower = drawn(table("features", [[2], [3]]), width=420)
    assert len(frames) == 2
    assert all(frame["width"] > 3 * frame["height"] for frame in frames)
    assert frames[0]["y"] < frames[1]["y"]
    assert [text["text"] for text in before] == ["0.50", "−3.00", "8.50", "−1.00", "2.00", "5.00"]
    assert [text["text"] for text in after] == ["0.05", "−0.30", "0.85", "−0.10", "0.20", "0.50"]
    assert [text["text"] for text in upper] == ["μ 2.00", "μ 3.00"]
    assert [text["text"] for text in lower] == ["σ 2.00", "σ 3.00"]
    assert all(text["x"] > frames[0]["x"] + frames[0]["width"] for text in upper)


def test_over_the_batch_a_column_is_a_group():
    frames, before, _, upper, _ = drawn(table("batch", [[1, 2, 3]]), width=420)
    assert len(frames) == 3
    assert [frame["fill"] for frame in frames] == list(CATEGORIES[:3])
    assert frames[0]["x"] < frames[1]["x"] < frames[2]["x"]
    assert all(text["y"] > frames[0]["y"] + frames[0]["height"] for text in upper)
    for number, text in enumerate(before):
        frame = frames[number % 3]
        assert frame["x"] < text["x"] < frame["x"] + frame["width"]


def test_there_are_more_groups_than_colours():
    chart = averaged_axis(np.ones((2, 8)), np.ones((2, 8)), np.ones(8), np.ones(8), over="batch")
    assert len(drawn(chart, width=600)[0]) == 8


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
    drawn_layers = layers(np.linspace(-1, 1, 128))
    assert len(drawn_layers) == 3
    assert len(drawn_layers[1]) == 128


def test_no_numbers_make_an_empty_chart():
    assert layers(np.zeros(0))[1] == []
