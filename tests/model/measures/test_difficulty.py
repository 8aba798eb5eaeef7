import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.measures.difficulty import hardest_first, predicted_differently


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
    found = hardest_first(np.arange(len(losses)), [np.array(losses, float)])
    assert found.tolist() == sorted(range(len(losses)), key=lambda at: -losses[at])
