import pytest

from app_pages.inputs.input_list import Item
from app_pages.many_inputs.predictions import Prediction
from app_pages.many_inputs.row_filter import RowFilter
from model.inputs import Text

LINE = Prediction(number=0, answer="good", predicted=1, label=0)
PAIR = Item(text=Text("The Film", "STRASSE"))


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
def test_all_conditions_must_hold(wanted: dict, is_shown: bool) -> None:
    assert RowFilter(**wanted).matches(PAIR, LINE) is is_shown


def test_of_a_picture_the_name_is_searched() -> None:
    assert RowFilter(contained="DIGIT 1").matches(Item(name="test digit 12"), LINE)
    assert not RowFilter(contained="digit 3").matches(Item(name="test digit 12"), LINE)


def test_an_input_without_a_label_is_neither_wrong_nor_in_a_cell() -> None:
    unlabelled = Prediction(number=0, answer="good", predicted=1)
    assert not RowFilter(wrong_only=True).matches(PAIR, unlabelled)
    assert not RowFilter(cell=(0, 1)).matches(PAIR, unlabelled)


def test_the_conditions_are_said_without_markup_of_their_own() -> None:
    row_filter = RowFilter(contained="*a*", cell=(0, 1), wrong_only=True)
    expected = "containing “\\*a\\*”, labelled bad and answered good, wrong ones only"
    assert row_filter.conditions(("bad", "good")) == expected
    assert RowFilter().conditions(()) == ""
