import numpy as np

from tests.viz.pixels import pixels
from tests.viz.scene import drawn
from viz.attention.small_map import small_map


def pattern(n=200):
    weights = np.zeros((n, n), np.float32)
    weights[150, 30] = 1
    return weights


def test_a_lone_weight_stays_in_sight():
    figure = small_map(pattern(), shown=(range(130, 170), range(10, 50)))
    image = pixels(figure.frames["picture"]["on_light"][0])[..., :3].sum(axis=-1, dtype=int)
    row, column = np.unravel_index(image.argmin(), image.shape)
    assert abs(row / len(image) - 150 / 200) < 0.01
    assert abs(column / len(image) - 30 / 200) < 0.01


def test_the_frame_stands_around_what_is_shown():
    _, _, (window,), _ = drawn(small_map(pattern(), shown=(range(100, 150), range(20, 70))))
    side = 168
    assert (window["y"], window["height"]) == (side / 2, side / 4)
    assert (window["x"], window["width"]) == (side / 10, side / 4)


def test_a_click_names_the_position_in_the_middle_of_its_cell():
    frame = small_map(np.zeros((120, 120), np.float32), shown=(range(40), range(40))).frame
    assert len(frame) == 12 * 12
    last = frame.iloc[-1]
    assert (last["query"], last["key"]) == (115, 115)
    assert (frame.iloc[1]["query"], frame.iloc[1]["key"]) == (5, 15)


def test_a_pattern_need_not_be_square():
    figure = small_map(np.zeros((120, 60), np.float32), shown=(range(60, 100), range(15, 45)))
    _, _, (window,), _ = drawn(figure)
    assert (window["y"], window["x"], window["width"]) == (168 / 2, 168 / 4, 168 / 2)
    last = figure.frame.iloc[-1]
    assert (last["query"], last["key"]) == (115, 57)
