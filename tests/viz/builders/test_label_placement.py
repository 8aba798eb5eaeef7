import numpy as np

from viz.builders.label_placement import LabelPlacement, place_labels

RIGHT, LEFT, BELOW = (
    LabelPlacement("left", 8, 0),
    LabelPlacement("right", -8, 0),
    LabelPlacement("center", 0, 16),
)
PLACEMENTS = (RIGHT, LEFT, BELOW)


def test_a_name_with_room_takes_the_first_place():
    points = np.array([[0.0, 0.0], [0.0, 100.0]])
    assert place_labels(points, [30, 30], 10, PLACEMENTS) == [RIGHT, RIGHT]


def test_a_name_gives_way_to_points_and_to_names_before_it():
    points = np.array([[0.0, 0.0], [20.0, 0.0]])
    # The first would lie on the second point, and the second, to the left, on the first point.
    assert place_labels(points, [30, 30], 10, PLACEMENTS) == [LEFT, RIGHT]
    assert place_labels(points[::-1], [30, 30], 10, PLACEMENTS) == [RIGHT, LEFT]


def test_without_a_free_place_it_is_where_least_is_covered():
    point = np.zeros((3, 2))
    assert place_labels(point, [40, 40, 40], 10, PLACEMENTS) == [RIGHT, LEFT, BELOW]
    assert (
        place_labels(np.zeros((4, 2)), [40, 40, 40, 10], 10, PLACEMENTS)[-1] == RIGHT
    )  # 100 pixels everywhere: the first


def test_a_name_that_is_not_drawn_takes_no_room():
    points = np.array([[0.0, 0.0], [0.0, 0.0]])
    assert place_labels(points, [0, 30], 10, PLACEMENTS) == [RIGHT, RIGHT]
