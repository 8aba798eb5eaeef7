import numpy as np

from app_pages.many_inputs.accuracy import MOST_CLASSES, _class_table, _shown_classes, accuracy_text


def test_the_accuracy_of_all_has_wilson_s_interval() -> None:
    """Worked by hand: 8 of 10 with z = 1.96 have the centre 0.8 + z²/20 over 1 + z²/10, 0.7167, and half of it 0.2266."""
    assert accuracy_text(8, 10) == "accuracy **80.0\u2009%**"
    (_, _, first, *_) = _class_table(np.array([[4, 1], [1, 4]]), ("a", "b")).splitlines()
    assert first == "| all | 8 of 10 | 80.0\u2009% | 49.0 to 94.3\u2009% |"


def test_of_few_inputs_no_percentage_is_written() -> None:
    assert accuracy_text(8, 9) == "too few for a percentage (n = 9)"


def test_the_table_has_a_row_for_each_class_that_is_a_label() -> None:
    counts = np.array([[9, 1, 0], [0, 0, 0], [0, 1, 8]])
    table = _class_table(counts, ("a|b", "none", "c")).splitlines()[3:]
    assert table == [
        "| a\\|b | 9 of 10 | 90.0\u2009% | 59.6 to 98.2\u2009% |",
        "| c | 8 of 9 | too few |  |",
    ]


def test_of_many_classes_the_most_frequent_are_shown() -> None:
    counts = np.diag([*range(1, MOST_CLASSES + 4), 0, 0])
    assert _shown_classes(counts) == (list(range(3, MOST_CLASSES + 3)), 3)
    assert _shown_classes(np.zeros((2, 2), int)) == ([0, 1], 0)
