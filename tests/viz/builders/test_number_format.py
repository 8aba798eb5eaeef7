import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.builders.number_format import (
    cell_numbers,
    fall_in_words,
    format_count,
    format_distinct,
    format_number,
    format_short,
    format_tex,
    head_name,
    one_two_five_ticks,
    percent,
    percent_with_error,
    powers_of_ten,
    share_below_one,
    stage_names,
    standard_error,
)

THIN = "\u2009"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.25, "+.2f", "−0.25"),
        (0.25, "+.2f", "+0.25"),
        (-0.0004, "+.3f", "0.000"),
        (0.0, "+.1f", "0.0"),
        (1234567, ",", "1,234,567"),
        (-0.5, ".0%", f"−50{THIN}%"),
        (-0.0001, "+.1%", f"0.0{THIN}%"),
        (math.nan, ".2f", "–"),
        (math.inf, ".2e", "–"),
    ],
)
def test_a_number_has_a_minus_and_zero_has_no_sign(value, form, text):
    assert format_number(value, form) == text


@pytest.mark.parametrize(
    ("fall", "text"),
    [
        (0.256, "falls by 0.26"),
        (-1.06, "rises by 1.06"),
        (-0.004, "stays as it is"),
        (0.0, "stays as it is"),
        (math.nan, "–"),
    ],
)
def test_a_fall_in_words_has_no_sign(fall, text):
    assert fall_in_words(fall, ".2f") == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-1e-9, ".2g", "−1 × 10⁻⁹"),
        (6.04e-7, ".1e", "6.0 × 10⁻⁷"),
        (1710.0, ".3g", "1.71 × 10³"),
        (2.5, ".1e", "2.5"),
        (123.4, "#.3g", "123"),
        (0.1, "#.2g", "0.10"),
        (0.0, ".1e", "0.0"),
        (1e-12, "+.1e", "+1.0 × 10⁻¹²"),
    ],
)
def test_a_power_of_ten_is_raised_and_that_of_0_is_left_out(value, form, text):
    assert format_number(value, form) == text


def test_what_is_not_finite_is_called_as_asked():
    assert format_number(math.nan, ".2f", otherwise="NaN") == "NaN"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (7.21e-7, ".2g", r"{7.2 \times 10^{-7}}"),
        (-1710.0, ".3g", r"{-1.71 \times 10^{3}}"),
        (23.1666, ".4g", "23.17"),
        (1e6, ".8g", "1000000"),
        (-0.5, ".3g", "-0.5"),
        (0.0, ".2e", "0.00"),
    ],
)
def test_in_formulas_a_power_of_ten_is_set_by_tex(value, form, text):
    assert format_tex(value, form) == text


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0.983, 1, "98.3"), (0.90361, 2, "90.36"), (0.5, 0, "50"), (0.0, 1, "0.0"), (1.0, 1, "100.0")],
)
def test_a_share_is_a_percentage_behind_a_thin_space(share, digits, text):
    assert percent(share, digits) == f"{text}{THIN}%"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0"),
        (1e-9, "<0.1"),
        (0.000499, "<0.1"),
        (0.0006, "0.1"),
        (0.9994, "99.9"),
        (0.9996, ">99.9"),
        (1.0, "100.0"),
    ],
)
def test_a_share_that_is_nearly_nothing_or_everything_says_so(share, text):
    assert percent(share, brief=True) == f"{text}{THIN}%"
    assert percent(share) == f"{text.replace('<', 'under ').replace('>', 'over ')}{THIN}%"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, 0.0], "100.00"),
        ([1.0, 1e-12], "over 99.99"),  # single precision rounds 1 − 1e-12 to 1
        ([0.5, 0.5], "50.00"),
        ([1.0], "100.00"),
    ],
)
def test_all_of_a_sum_is_said_only_where_nothing_else_has_any(values, text):
    assert percent(share_below_one(np.array(values, np.float32), 0), 2) == f"{text}{THIN}%"


@pytest.mark.parametrize(
    ("first", "second", "spec", "texts"),
    [
        (0.001478, 0.001462, ".1g", ("0.00148", "0.00146")),
        (0.001478, 0.002, ".1g", ("0.001", "0.002")),
        (0.5, 0.5, ".1g", ("0.5", "0.5")),
        (0.50001, 0.49999, ".2%", (f"50.001{THIN}%", f"49.999{THIN}%")),
        (-0.0004, 0.0, "+.2f", ("−0.0004", "0.0000")),
        (math.nan, 1.0, ".2f", ("–", "1.00")),
    ],
)
def test_two_numbers_have_as_many_digits_as_tell_them_apart(first, second, spec, texts):
    assert format_distinct(first, second, spec) == texts


def test_large_numbers_are_short():
    assert [format_short(value) for value in (3.14159, -0.001, 123456.0, -2500.0)] == [
        "3.14",
        "0.00",
        "1.23 × 10⁵",
        "−2.5 × 10³",
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1 k"),
        (4352, "4.35 k"),
        (999_600, "1 M"),
        (37_858_304, "37.9 M"),
        (11_283_726_336, "11.3 G"),
        (2 * 10**12, "2 T"),
    ],
)
def test_counts_are_abbreviated_to_three_digits(count, text):
    assert format_count(count) == text


def test_ticks_enclose_the_values():
    assert powers_of_ten([0.02, 300.0]) == [0.01, 0.1, 1, 10, 100, 1000]
    assert powers_of_ten([1.0]) == [1]
    assert powers_of_ten([]) == []


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.13, 1.3], [0.1, 0.2, 0.5, 1, 2]),
        ([2.0, 2.0], [2]),
        ([0.3, 5.0], [0.2, 0.5, 1, 2, 5]),
        ([6.0], [5, 10]),
        ([], []),
    ],
)
def test_ticks_of_a_logarithmic_axis_enclose_the_values(values, ticks):
    assert one_two_five_ticks(values) == pytest.approx(ticks)


def test_a_share_comes_with_its_error():
    assert percent_with_error(0.866, 0.01153) == "86.6 ± 1.2\u2009%"
    assert percent_with_error(0.9951, 0.0007, 2) == "99.51 ± 0.07\u2009%"
    assert percent_with_error(0.99964, 0.0002) == "99.96 ± 0.02\u2009%"
    assert percent_with_error(1.0, 0.0) == "100.0 ± 0.0\u2009%"


def test_the_error_of_a_share_is_that_of_a_binomial():
    shares = np.random.default_rng(0).binomial(400, 0.8, 20_000) / 400
    assert standard_error(0.8, 400) == pytest.approx(shares.std(), rel=0.03)
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert (standard_error(1.0, 10), standard_error(1.5, 10), standard_error(0.5, 0)) == (0, 0, 0.5)


def test_a_head_is_named_by_its_layer_and_its_number():
    assert head_name(2, 11) == "L2 H11"


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
        (9.996, "+10.0", ""),
        (99.96, "+100", ""),
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


def test_stages_in_words():
    stages = ("embed", "L0 mid", "L0 post", "L11 mid", "L0", "5")
    names = ["embedding", "L0 after attention", "L0 after feed-forward", "L11 after attention", "L0", "5"]
    assert stage_names(stages) == names
