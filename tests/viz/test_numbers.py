import math

import pytest

from viz.numbers import powers_of_ten, short, written


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.25, "+.2f", "−0.25"),
        (0.25, "+.2f", "+0.25"),
        (-0.0004, "+.3f", "0.000"),
        (0.0, "+.1f", "0.0"),
        (-1e-9, ".2g", "−1e−09"),
        (math.nan, ".2f", "–"),
    ],
)
def test_a_number_has_a_minus_and_zero_has_no_sign(value, form, text):
    assert written(value, form) == text


def test_large_numbers_are_short():
    assert [short(value) for value in (3.14159, -0.001, 123456.0, -2500.0)] == [
        "3.14",
        "0.00",
        "1.23e+05",
        "−2.5e+03",
    ]


def test_ticks_enclose_the_values():
    assert powers_of_ten([0.02, 300.0]) == [0.01, 0.1, 1, 10, 100, 1000]
    assert powers_of_ten([1.0]) == [1]
    assert powers_of_ten([]) == []
