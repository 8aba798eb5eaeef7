import numpy as np
import pytest

from app_pages.inputs.input_list import Item
from app_pages.many_inputs.accuracy import (
    MOST_CLASSES,
    RowFilter,
    _class_table,
    _shown_classes,
    accuracy_text,
)
from app_pages.many_inputs.predictions import Prediction
from model.inputs import Text

LINE = Prediction(number=0, answer="good", predicted=1, label=0)
PAIR = Item(text=Text("The Film", "STRASSE"))


def test_the_accuracy_of_all_has_wilson_s_interval():
    """Worked by hand: 8 of 10 with z = 1.96 have the centre 0.8 + z²/20 over 1 + z²/10, 0.7167, and half of it 0.2266."""
    assert accuracy_text(8, 10) == "accuracy **80.0\u2009%**"
    (_, _, first, *_) = _class_table(np.array([[4, 1], [1, 4]]), ("a", "b")).splitlines()
    assert first == "| all | 8 of 10 | 80.0\u2009% | 49.0 to 94.3\u2009% |"


def test_of_few_inputs_no_percentage_is_written():
    assert accuracy_text(8, 9) == "too few for a percentage (n = 9)"


def test_the_table_has_a_row_for_each_class_that_is_a_label():
    counts = np.array([[9, 1, 0], [0, 0, 0], [0, 1, 8]])
    table = _class_table(counts, ("a|b", "none", "c")).splitlines()[3:]
    assert table == [
        "| a\\|b | 9 of 10 | 90.0\u2009% | 59.6 to 98.2\u2009% |",
        "| c | 8 of 9 | too few |  |",
    ]


def test_of_many_classes_the_most_frequent_are_shown():
    counts = np.diag([*range(1, MOST_CLASSES + 4), 0, 0])
    assert _shown_classes(counts) == (list(range(3, MOST_CLASSES + 3)), 3)
    assert _shown_classes(np.zeros((2, 2), int)) == ([0, 1], 0)


@pytest.mark.parametrize(
    ("wanted", "is_shown"),
    [
        ({}, True),
        ({"contained": "film"}, True),
        ({"contained": "straße"}, True),  # upper and lower case are the same, in the second text too
        ({"contained": "films"}, False),
        ({"cell": (0, 1)}, True),
        ({"cell": (1, 1)}, False),
        ({"wrong_only": True}, True),
        ({"contained": "film", "cell": (1, 0)}, False),
    ],
)
def test_all_conditions_must_hold(wanted, is_shown):
    assert RowFilter(**wanted).matches(PAIR, LINE) is is_shown


def test_of_a_picture_the_name_is_searched():
    assert RowFilter(contained="DIGIT 1").matches(Item(name="test digit 12"), LINE)
    assert not RowFilter(contained="digit 3").matches(Item(name="test digit 12"), LINE)


def test_an_input_without_a_label_is_neither_wrong_nor_in_a_cell():
    unlabelled = Prediction(number=0, answer="good", predicted=1)
    assert not RowFilter(wrong_only=True).matches(PAIR, unlabelled)
    assert not RowFilter(cell=(0, 1)).matches(PAIR, unlabelled)


def test_the_conditions_are_said_without_markup_of_their_own():
    row_filter = RowFilter(contained="*a*", cell=(0, 1), wrong_only=True)
    expected = "containing “\\*a\\*”, labelled bad and answered good, wrong ones only"
    assert row_filter.conditions(("bad", "good")) == expected
    assert RowFilter().conditions(()) == ""
