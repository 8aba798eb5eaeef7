import numpy as np

from viz.builders.label_places import LabelPlace, label_places

RIGHT, LEFT, BELOW = LabelPlace("left", 8, 0), LabelPlace("right", -8, 0), LabelPlace("center", 0, 16)
PLACES = (RIGHT, LEFT, BELOW)


def test_a_name_with_room_takes_the_first_place() -> None:
    points = np.array([[0.0, 0.0], [0.0, 100.0]])
    assert label_places(points, [30, 30], 10, PLACES) == [RIGHT, RIGHT]


def test_a_name_gives_way_to_points_and_to_names_before_it() -> None:
    points = np.array([[0.0, 0.0], [20.0, 0.0]])
    # The first would lie on the second point, and the second, to the left, on the first point.
    assert label_places(points, [30, 30], 10, PLACES) == [LEFT, RIGHT]
    assert label_places(points[::-1], [30, 30], 10, PLACES) == [RIGHT, LEFT]


def test_without_a_free_place_it_is_where_least_is_covered() -> None:
    point = np.zeros((3, 2))
    assert label_places(point, [40, 40, 40], 10, PLACES) == [RIGHT, LEFT, BELOW]
    assert (
        label_places(np.zeros((4, 2)), [40, 40, 40, 10], 10, PLACES)[-1] == RIGHT
    )  # 100 pixels everywhere: the first


def test_a_name_that_is_not_drawn_takes_no_room() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0]])
    assert label_places(points, [0, 30], 10, PLACES) == [RIGHT, RIGHT]
