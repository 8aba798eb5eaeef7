import math

import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.builders.palette import ACCENT
from viz.positions.sinusoid_figures import MOST_CLOCKS, clock_hands, counter_table, wave_curves

QUARTERS = np.array([0, math.pi / 2, math.pi])
LENGTHS = np.array([6.28, 62.8, 62831.9])


def hands(angles, *, before=None, layer=2, per_step=None, t=0):
    """From the middle of each clock: to the right and up, in radii of its face, after `t` steps."""
    figure = clock_hands(angles, np.full(len(angles), 10.0), before=before, per_step=per_step)
    specification = figure.specification
    assert {"name": "t", "value": 0} in specification["params"]
    specification["params"] = [{"name": "t", "value": t}]
    layers = drawn(VegaFigure(specification, figure.frames), width=640)
    radius = math.sqrt(layers[3][0]["size"]) / 2
    return [
        ((item.get("x2", item["x"]) - item["x"]) / radius, (item["y"] - item.get("y2", item["y"])) / radius)
        for item in layers[layer]
    ]


def test_a_hand_points_to_sine_and_cosine_clockwise_from_the_top():
    assert np.array(hands(QUARTERS)) == pytest.approx(np.array([[0, 1], [1, 0], [0, -1]]), abs=1e-6)


def test_faint_hands_show_where_they_stood_before():
    before = hands(QUARTERS, before=np.full(3, math.pi / 2), layer=1)
    assert np.array(before) == pytest.approx(np.array([[1, 0]] * 3), abs=1e-6)


def test_all_hands_turn_by_their_own_angles_times_t():
    turned = {"per_step": QUARTERS / 2, "t": 2}  # by 0, a quarter and a half of a turn
    assert np.array(hands(QUARTERS, **turned)) == pytest.approx(np.array([[0, 1], [0, -1], [0, 1]]), abs=1e-6)
    before = hands(QUARTERS, before=np.zeros(3), layer=1, **turned)
    assert np.array(before) == pytest.approx(np.array([[0, 1], [1, 0], [0, -1]]), abs=1e-6)


def test_names_and_wavelengths():
    layers = drawn(clock_hands(QUARTERS, LENGTHS), width=640)
    assert [item["text"] for item in layers[4]] == ["0", "1", "2"]  # "clock 0" has no room
    assert [item["text"] for item in layers[5]] == ["λ 6.28", "λ 62.8", "λ 62.8k"]


def test_clocks_of_a_head_are_numbered_as_its_pairs():
    layers = drawn(clock_hands(QUARTERS, LENGTHS, counted="pair"), width=1200)
    assert [item["text"] for item in layers[4]] == ["pair 0", "pair 1", "pair 2"]


@pytest.mark.parametrize("width", [600, 900, 1600])
def test_of_many_frequencies_some_are_drawn_the_first_and_the_last_among_them(width):
    layers = drawn(clock_hands(np.zeros(256), np.full(256, 10.0)), width=width)
    names = [item["text"] for item in layers[4]]
    assert len(names) == MOST_CLOCKS
    assert (names[0], names[-1]) == ("clock 0", "clock 255") if width > 1500 else ("0", "255")
    assert max(item["x"] for item in layers[4]) < width


BITS = np.array([[0, 0], [1, 0], [0, 1]])


def table(**changes):
    options = {"texts": BITS.astype(str), "position": 9, "title": "in binary", "heading": "bit"} | changes
    return counter_table(1 - 2 * BITS, ["bit 0|2", "bit 1|4"], [8, 9, 10], **options)


def test_cells_row_by_row():
    colours, texts, *_ = drawn(table())
    assert [item["text"] for item in texts] == ["0", "0", "1", "0", "0", "1"]
    assert [item["y"] for item in texts] == sorted(item["y"] for item in texts)
    assert colours[0]["fill"] != colours[2]["fill"]


def test_without_texts_the_cells_hold_their_numbers():
    _, texts, *_ = drawn(table(texts=None))
    assert [item["text"] for item in texts] == ["+1.00", "+1.00", "−1.00", "+1.00", "+1.00", "−1.00"]


def test_the_row_of_the_position_is_framed():
    _, texts, _, (frame,) = drawn(table())
    assert frame["stroke"] == ACCENT
    framed = [text["text"] for text in texts if frame["y"] < text["y"] < frame["y"] + frame["height"]]
    assert framed == ["1", "0"]


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


def test_of_many_positions_the_dots_are_smaller():
    def dot_sizes(n):
        figure = wave_curves(["dim 0"], np.zeros((1, n)), np.arange(n), np.zeros((1, n)), position=0)
        return {item["size"] for items in drawn(figure, width=600) for item in items if "size" in item}

    assert min(dot_sizes(129)) < min(dot_sizes(128))
