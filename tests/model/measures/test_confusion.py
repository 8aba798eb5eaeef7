import numpy as np
import pytest

from model.measures.confusion import confusion_counts


def test_counts_by_hand():
    """Of three zeros one is called a 2; the only 1 is called a 0; the 2 is right."""
    labels, predicted = np.array([0, 0, 1, 0, 2]), np.array([0, 2, 0, 0, 2])
    np.testing.assert_array_equal(confusion_counts(labels, predicted, 3), [[2, 0, 1], [1, 0, 0], [0, 0, 1]])


def test_of_no_examples_all_counts_are_zero():
    none = np.array([], int)
    np.testing.assert_array_equal(confusion_counts(none, none, 2), [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("labels", "predicted", "said"),
    [
        ([0, 2], [0, 1], "classes from 0 to 2, of which there are 2"),
        ([-1, 0], [0, 1], "classes from -1 to 1"),
    ],
)
def test_classes_that_do_not_exist_are_refused(labels, predicted, said):
    with pytest.raises(ValueError, match=said):
        confusion_counts(np.array(labels), np.array(predicted), 2)
