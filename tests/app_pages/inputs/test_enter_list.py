import numpy as np
import pytest

from app_pages.controls.input_controls import EXAMPLE_PICTURES
from app_pages.inputs.enter_list import N_EXAMPLE_DIGITS, example_list
from app_pages.subject import encoders, shipped_inputs


def test_the_page_opens_with_inputs_of_the_kind_that_is_read():
    assert {item.text.text for item in example_list(encoders.TEXT).items} == set(
        shipped_inputs.sentences().values()
    )
    assert [item.digit for item in example_list(encoders.DIGIT).items] == list(range(N_EXAMPLE_DIGITS))


@pytest.mark.parametrize("number", range(len(EXAMPLE_PICTURES)))
def test_of_pictures_it_opens_with_the_examples_in_colour(number):
    items = example_list(encoders.PICTURE).items
    assert [item.name for item in items] == list(EXAMPLE_PICTURES)
    picture = shipped_inputs.example_picture(EXAMPLE_PICTURES[number])
    np.testing.assert_array_equal(items[number].colours.array, picture)
