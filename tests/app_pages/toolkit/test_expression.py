import numpy as np
import pytest

from app_pages.toolkit.expression import Expression, call, named
from model.inputs import Picture, Text
from model.masks import causal
from viz.builders.palette import WeightScale


def run(expression: Expression) -> object:
    names: dict[str, object] = {}
    exec(expression.python(), names)
    return names["figure"]


def test_a_call_is_written_with_its_imports_and_without_what_is_the_default():
    expression = call(WeightScale, largest=0.5, shares=True)
    assert expression.python() == (
        "from loupe.viz.builders.palette import WeightScale\n\nfigure = WeightScale(largest=0.5)\nfigure"
    )
    assert run(expression) == expression() == WeightScale(largest=0.5)


def test_a_public_name_is_imported_from_the_library():
    assert call(Text, "a").python().startswith("from loupe import Text\n")


def test_a_value_is_made_once_and_a_variable_assigned_once():
    made = []
    mask = named("mask", call(causal, 2), lambda: made.append(1) or causal(2))
    both = call(np.stack, [mask, mask])
    assert both().shape == (2, 2, 2)
    assert made == [1]
    assert both.python().count("causal(2)") == 1


def test_another_value_of_the_same_name_has_a_number():
    one, other = (named("values", np.array([number])) for number in (1, 2))
    expression = call(np.add, one, other)
    assert "values_2 = np.array([2], 'int64')" in expression.python()
    np.testing.assert_array_equal(run(expression), [3])


def test_a_function_outside_of_the_library_is_refused():
    with pytest.raises(ValueError, match=r"run of .*test_expression cannot be written as Python"):
        call(run, 1).python()


def test_a_method_of_a_value_and_of_a_class_are_called():
    picture = named("picture", call(Picture.of, np.zeros((2, 2), np.uint8)))
    np.testing.assert_array_equal(run(call(picture.array.max)), 0)


def test_pixels_are_packed_and_what_is_too_large_is_refused():
    pixels = np.arange(400, dtype=np.uint8).reshape(20, 20)
    np.testing.assert_array_equal(run(named("pixels", pixels)), pixels)
    noise = np.random.default_rng(0).integers(0, 256, (100, 100), np.uint8)
    with pytest.raises(ValueError, match=r"an array of \(100, 100\) is too large"):
        named("noise", noise).python()


def test_what_has_no_python_is_refused():
    with pytest.raises(ValueError, match="object cannot be written as Python"):
        named("value", object()).python()
