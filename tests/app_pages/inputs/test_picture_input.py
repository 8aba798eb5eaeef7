"""Pictures for encoders of colours: examples that come with the project."""

import numpy as np
import pytest

from app_pages.controls.input_controls import EXAMPLE_PICTURES
from app_pages.subject import encoders, shipped_inputs
from tests.app_pages.shown_subject import subject_of
from tests.model.huggingface.folders import build

PAGE = "app_pages/attention/page.py"


@pytest.mark.parametrize("name", EXAMPLE_PICTURES)
def test_examples_are_small_square_pictures_in_colour(name):
    image = shipped_inputs.example_picture(name)
    assert image.dtype == np.uint8
    assert image.shape == (336, 336, 3)
    assert np.ptp(image, axis=-1).max() > 50  # not grey


@pytest.mark.slow
def test_an_encoder_of_pictures_opens_with_an_example(open_app, checkpoints):
    build(checkpoints / "own", "ViTForImageClassification")
    assert encoders.kind_of("own") == encoders.PICTURE
    app = open_app(PAGE, kind="Picture", checkpoint="own")
    assert not app.exception
    np.testing.assert_array_equal(subject_of(app).model_input.array, shipped_inputs.example_picture("cat"))
    app.segmented_control(key="example_picture").set_value("coffee").run()
    np.testing.assert_array_equal(subject_of(app).model_input.array, shipped_inputs.example_picture("coffee"))


def test_pictures_are_offered_only_with_an_encoder_that_reads_them(open_app, checkpoints):
    assert "Picture" not in open_app(PAGE).segmented_control(key="kind").options
    build(checkpoints / "own", "ViTModel")
    assert "Picture" in open_app(PAGE).segmented_control(key="kind").options


def test_two_examples_are_compared(open_app, checkpoints):
    build(checkpoints / "own", "ViTForImageClassification")
    app = open_app("app_pages/compare/page.py", kind="Picture", checkpoint="own", compare_what="two inputs")
    assert not app.exception
    assert app.segmented_control(key="compare_picture").value == "coffee"


def test_a_grey_encoder_from_elsewhere_reads_digits(checkpoints):
    build(checkpoints / "own", "ViTForImageClassification", num_channels=1)
    assert encoders.kind_of("own") == encoders.DIGIT
