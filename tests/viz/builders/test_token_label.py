import numpy as np

from viz.builders.token_label import LabelPlacement, cells, label, place_labels, visible, width

RIGHT, LEFT, BELOW = (
    LabelPlacement("left", 8, 0),
    LabelPlacement("right", -8, 0),
    LabelPlacement("center", 0, 16),
)
PLACEMENTS = (RIGHT, LEFT, BELOW)


def test_a_short_token_is_written_as_it_is():
    assert label("##ing", 16) == "##ing"


def test_a_long_token_ends_in_an_ellipsis_and_fits():
    assert label("abcdefgh", 8) == "abcdefgh"
    assert label("abcdefghi", 8) == "abcdefg…"


def test_wide_letters_count_double():
    assert cells("ab") == 2
    assert cells("漢字") == 4
    assert label("漢字漢字", 6) == "漢字…"


def test_an_accent_takes_no_room_and_stays_with_its_letter():
    assert cells("e\u0301") == 1
    assert label("abe\u0301cd", 4) == "abe\u0301…"


def test_an_emoji_is_not_cut_at_a_joiner():
    assert label("👩\u200d👧\u200d👦", 4) == "👩…"


def test_scripts_that_a_monospace_font_may_lack_get_more_room_than_latin():
    assert width("שלום", 10) > width("abcd", 10)


def test_what_leaves_no_trace_is_made_visible():
    assert visible(" a\n\tb\x00") == "·a↵⇥b␣"
    assert visible("") == "·"
    assert visible("\u0301") == "◌\u0301"
    assert visible("\ud800") == "␣"


def test_markup_is_left_alone():
    assert label("<script>", 16) == "<script>"


def test_a_name_with_room_takes_the_first_place() -> None:
    points = np.array([[0.0, 0.0], [0.0, 100.0]])
    assert place_labels(points, [30, 30], 10, PLACEMENTS) == [RIGHT, RIGHT]


def test_a_name_gives_way_to_points_and_to_names_before_it() -> None:
    points = np.array([[0.0, 0.0], [20.0, 0.0]])
    # The first would lie on the second point, and the second, to the left, on the first point.
    assert place_labels(points, [30, 30], 10, PLACEMENTS) == [LEFT, RIGHT]
    assert place_labels(points[::-1], [30, 30], 10, PLACEMENTS) == [RIGHT, LEFT]


def test_without_a_free_place_it_is_where_least_is_covered() -> None:
    point = np.zeros((3, 2))
    assert place_labels(point, [40, 40, 40], 10, PLACEMENTS) == [RIGHT, LEFT, BELOW]
    assert (
        place_labels(np.zeros((4, 2)), [40, 40, 40, 10], 10, PLACEMENTS)[-1] == RIGHT
    )  # 100 pixels everywhere: the first


def test_a_name_that_is_not_drawn_takes_no_room() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0]])
    assert place_labels(points, [0, 30], 10, PLACEMENTS) == [RIGHT, RIGHT]
