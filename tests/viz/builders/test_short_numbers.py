import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.builders.short_numbers import cell_numbers


@pytest.mark.parametrize(
    ("largest", "written", "unit"),
    [
        (123.4, "+123", ""),
        (12.34, "+12.3", ""),
        (1.234, "+1.23", ""),
        (0.1234, "+0.12", ""),
        (0.01234, "+12.3", "in the cells: thousandths (10⁻³)"),
        (0.0001234, "+0.12", "in the cells: thousandths (10⁻³)"),
        (0.00001234, "+12.3", "in the cells: millionths (10⁻⁶)"),
    ],
)
def test_the_largest_has_its_first_digits(largest, written, unit):
    numbers = cell_numbers(np.array([[largest]]), largest, signed=True)
    assert (numbers.written, numbers.unit) == ([written], unit)


@given(st.floats(1e-6, 999))
def test_the_largest_is_never_written_as_zero_and_fits_into_a_cell(largest):
    (written,) = cell_numbers(np.array([-largest]), largest, signed=True).written
    assert any(digit in written for digit in "123456789")
    assert len(written) <= 5


def test_the_exact_text_has_four_digits_and_says_what_is_missing():
    numbers = cell_numbers(np.array([0.000123456, np.nan]), 1, signed=False)
    assert numbers.written == ["0.00", "–"]
    assert numbers.exact == ["0.0001235", "no partner"]


def test_smaller_values_of_interest_have_a_third_decimal():
    values = np.array([1.02, 0.0123])
    assert cell_numbers(values, 1.02, signed=True).written == ["+1.02", "+0.01"]
    assert cell_numbers(values, 1.02, signed=True, detail=0.0123).written == ["+1.020", "+0.012"]
    assert cell_numbers(values, 1.02, signed=True, detail=0.5).written == ["+1.02", "+0.01"]
