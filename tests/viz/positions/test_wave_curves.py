import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.palette import ACCENT
from viz.positions.wave_curves import wave_curves

T = np.linspace(0, 2, 5)
NAMES = ["i = 0", "i = 3"]
WAVES = np.stack([np.sin(T), np.cos(T)])
VALUES = WAVES[:, ::2]


def test_each_curve_has_its_band_and_its_name():
    zero, _, points, names = drawn(wave_curves(NAMES, VALUES, T, WAVES, position=1), width=600)
    assert [item["text"] for item in names] == NAMES
    assert names[0]["y"] < min(item["y"] for item in points[:3])
    assert max(item["y"] for item in points[:3]) < names[1]["y"]
    assert len(zero) == len(NAMES)


def test_the_position_is_marked_on_every_curve():
    _, rules, points, _ = drawn(wave_curves(NAMES, VALUES, T, WAVES, position=1), width=600)
    chosen = [item for item in points if item["fill"] == ACCENT]
    assert len(chosen) == len(rules) == 2
    assert {item["x"] for item in chosen} == {item["x"] for item in rules}


def test_dots_lie_on_their_waves():
    frames = wave_curves(NAMES, VALUES, T, WAVES, position=0).frames
    curves, points = frames["waves"], frames["frame"]
    on_waves = set(curves[["t", "place"]].itertuples(index=False, name=None))
    # Every second point of a wave is at a whole position.
    assert set(points[["t", "place"]].itertuples(index=False, name=None)) <= on_waves
    assert len(curves) == 2 * len(T)


def test_hover_gives_the_value():
    *_, points, _ = wave_curves(NAMES, VALUES, T, WAVES, position=1).specification["layer"]
    assert {"field": "value", "format": ".4f", "type": "quantitative"} in points["encoding"]["tooltip"]


def test_no_curves_make_an_empty_chart():
    empty = wave_curves([], np.zeros((0, 3)), T, np.zeros((0, 5)), position=1)
    assert drawn(empty, width=600)[2] == []


def test_numbers_of_curves_must_agree():
    with pytest.raises(ValueError, match="got 1 names, 2 rows of values and 2 waves"):
        wave_curves(NAMES[:1], VALUES, T, WAVES, position=1)
