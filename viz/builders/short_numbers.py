"""Numbers written into small cells: a cell has room for a sign and four letters."""

from typing import NamedTuple

import numpy as np

from .number_format import format_number

_SMALLEST = 0.095  # of the largest number: below it, two decimals do not show two digits
_UNITS = {0: "", -3: "in the cells: thousandths (10⁻³)", -6: "in the cells: millionths (10⁻⁶)"}


class CellNumbers(NamedTuple):
    """Numbers as text, one for each value in C order."""

    written: list[str]  # short enough for a cell, in the `unit`
    exact: list[str]  # with four digits, for the tooltip
    unit: str  # a line for the title; "" if the cells hold the numbers themselves


def cell_numbers(
    values: np.ndarray,
    largest: float,
    *,
    signed: bool,
    digits: int = 2,
    missing: str = "no partner",
    detail: float = np.inf,
) -> CellNumbers:
    """The values as text, with as many decimals as the `largest` absolute value needs to show its first digits.

    If it is so small that they do not fit into a cell, the cells hold thousandths or millionths. `digits` are the decimals
    of a largest value between 0.095 and 10; `missing` is the exact text of NaN. Where the values of interest are smaller, up to
    `detail`, there are up to 3 decimals.
    """
    sign = "+" if signed else ""
    exponent = next((exponent for exponent in _UNITS if largest >= _SMALLEST * 10.0**exponent), -6)
    factor = 10.0**-exponent
    decimals = max(0, digits - max(0, int(np.log10(largest * factor))))
    if detail * factor < _SMALLEST:
        decimals = max(decimals, 3)
    numbers = np.asarray(values, float).ravel()
    return CellNumbers(
        [format_number(number * factor, f"{sign}.{decimals}f") for number in numbers],
        [format_number(number, f"{sign}.4g", otherwise=missing) for number in numbers],
        _UNITS[exponent],
    )
