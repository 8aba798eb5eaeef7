import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.measures.predicted_classes import (
    class_index_of,
    confusion_counts,
    hardest_first,
    predicted_differently,
)

NAMES = ("negative", "Positive")


def test_counts_by_hand():
    """Of three zeros one is called a 2; the only 1 is called a 0; the 2 is right."""
    labels, predicted = np.array([0, 0, 1, 0, 2]), np.array([0, 2, 0, 0, 2])
    np.testing.assert_array_equal(confusion_counts(labels, predicted, 3), [[2, 0, 1], [1, 0, 0], [0, 0, 1]])


def test_of_no_examples_all_counts_are_zero():
    none = np.array([], int)
    np.testing.assert_array_equal(confusion_counts(none, none, 2), [[0, 0], [0, 0]])


def test_the_hardest_of_some_by_hand():
    losses = np.array([0.5, 3.0, 0.5, 9.0, 1.0])
    assert hardest_first(np.array([0, 1, 2, 4]), [losses]).tolist() == [1, 4, 0, 2]


def test_the_losses_of_two_are_added():
    first, second = np.array([1.0, 0.0, 2.0]), np.array([1.0, 4.0, 1.0])
    assert hardest_first(np.arange(3), [first, second]).tolist() == [1, 2, 0]


def test_those_called_differently_by_hand():
    first, second = np.array([7, 2, 4, 1], np.uint8), np.array([7, 3, 4, 7], np.uint8)
    assert predicted_differently(np.arange(4), first, second).tolist() == [1, 3]
    assert predicted_differently(np.array([3, 2]), first, second).tolist() == [3]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_the_order_is_that_of_a_stable_sort(losses):
    result = hardest_first(np.arange(len(losses)), [np.array(losses, float)])
    assert result.tolist() == sorted(range(len(losses)), key=lambda index: -losses[index])


@pytest.mark.parametrize("label", ["1", "1.0", "1.", "1,0", " 1.000 ", "positive", " POSITIVE ", 1, 1.0])
def test_a_class_is_named_by_its_name_or_its_number(label):
    assert class_index_of(label, NAMES) == 1


@pytest.mark.parametrize(
    "label", ["2", "2.0", "1.5", "0.01", "-1", "-1.0", "", ".0", "nan", "neutral", "1.0.0", "²"]
)
def test_other_labels_are_refused(label):
    with pytest.raises(ValueError, match="a label must be one of"):
        class_index_of(label, NAMES)


def test_a_name_counts_before_a_number():
    assert class_index_of("1.0", ("1.0", "0")) == 0
