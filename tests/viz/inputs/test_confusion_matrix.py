import numpy as np

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.inputs.confusion_matrix import confusion_matrix

COUNTS = np.array([[7, 1, 0], [2, 0, 0], [0, 3, 12]])
NAMES = ("bad", "so-so", "good")


def matrix(**options: object) -> VegaFigure:
    return confusion_matrix(COUNTS, NAMES, **{"selected": (2, 1)} | options)


def test_rows_are_labels_and_columns_are_answers():
    figure = matrix(selected=None)
    _, numbers, cover = drawn(figure)
    assert [text["text"] for text in numbers] == ["7", "1", "", "2", "0", "", "", "3", "12"]
    descriptions = [cell["description"] for cell in cover]
    assert descriptions[1] == "bad, answered so-so"
    assert cover[1]["y"] == cover[0]["y"] < cover[3]["y"]
    assert cover[3]["x"] == cover[0]["x"] < cover[1]["x"]


def test_shares_are_of_the_label():
    share = matrix(selected=None).frame["share"].to_numpy().reshape(3, 3)
    np.testing.assert_allclose(share, [[7 / 8, 1 / 8, 0], [1, 0, 0], [0, 3 / 15, 12 / 15]])


def test_colours_show_where_answers_are_wrong():
    frame = matrix(selected=None).frame
    np.testing.assert_allclose(
        frame["wrong_share"].to_numpy().reshape(3, 3), [[0, 1 / 8, 0], [1, 0, 0], [0, 3 / 15, 0]]
    )
    cells, *_ = drawn(confusion_matrix(np.array([[9, 1], [0, 90]]), NAMES[:2], selected=None))
    colours = [cell["fill"] for cell in cells]
    assert colours[0] == colours[2] == colours[3] != colours[1]


def test_where_nothing_is_wrong_all_have_one_colour():
    cells, *_ = drawn(confusion_matrix(np.eye(2, dtype=int), NAMES[:2], selected=None))
    assert len({cell["fill"] for cell in cells}) == 1


def test_a_label_without_inputs_has_no_share_that_is_not_a_number():
    empty_row = confusion_matrix(np.array([[0, 0], [1, 1]]), ("a", "b"), selected=None)
    assert empty_row.frame["share"].tolist() == [0, 0, 0.5, 0.5]


def test_two_classes_of_one_name_stay_two_rows():
    *_, cover = drawn(confusion_matrix(np.eye(2, dtype=int), ("other", "other"), selected=None))
    assert len({cell["y"] for cell in cover}) == len({cell["x"] for cell in cover}) == 2
